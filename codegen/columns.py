"""A plan -> the same plan, in which the rows that joins and OVER hold in panes have no column that nothing above uses.

Spark leaves out by itself what nothing reads, but it does not see into the rows of a pane.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sqlglot import exp

from penstock.codegen.sql.trees import column
from penstock.planner.plan import (
    Expression,
    Filter,
    GroupAggregate,
    IntervalJoin,
    KStream,
    Named,
    Node,
    Over,
    Project,
    WindowAggregate,
)
from penstock.planner.plan.over import ORDERED
from penstock.planner.plan.walk import expressions, inputs, with_inputs


def narrowed(root: Node) -> Node:
    """The plan, its result with the same columns."""
    nodes = _in_order(root)
    used = {node: set[str]() for node in nodes}
    used[root] = _names(root)
    for node in reversed(nodes):
        used[node] |= _told_by(node)
        for whole in inputs(node):
            used[whole] |= _needed(node, used[node]) & _names(whole)
    narrow: dict[Node, Node] = {}
    for node in nodes:
        below = tuple(narrow[each] for each in inputs(node))
        if isinstance(node, IntervalJoin | Over):
            below = tuple(_cut(each, used[whole]) for each, whole in zip(below, inputs(node), strict=True))
        narrow[node] = _over(node, below, used[node])
    return narrow[root]


def _in_order(root: Node) -> list[Node]:
    """All nodes, each once, inputs before what reads them."""
    seen: dict[Node, None] = {}

    def visit(node: Node) -> None:
        if node not in seen:
            for below in inputs(node):
                visit(below)
            seen[node] = None

    visit(root)
    return list(seen)


def _names(node: Node) -> set[str]:
    return {each.name for each in node.schema}


def _told_by(node: Node) -> set[str]:
    """The columns of which the node's shape speaks."""
    times = (each.column for each in node.shape.times) if isinstance(node.shape, KStream) else ()
    return {*node.shape.key, *times} & _names(node)


def _needed(node: Node, used: set[str]) -> set[str]:
    """The columns of its inputs that the node needs, if those of `used` are read of its own."""
    match node:
        case Filter():
            return used | _columns([node.condition])
        case Project():
            return _columns(each.value for each in node.items if each.name in used)
        case WindowAggregate():
            return _columns(expressions(node)) | {node.time}
        case GroupAggregate():
            return _columns(expressions(node))
        case IntervalJoin():
            return used | _columns(expressions(node)) | {node.left_time, node.right_time}
        # The order of rows of one time is that of all their columns.
        case Over() if not any(each.aggregate.function in ORDERED for each in node.aggregates):
            return used | _columns(expressions(node)) | {node.time}
        case _:
            return {name for below in inputs(node) for name in _names(below)}


def _columns(values: Iterable[Expression]) -> set[str]:
    return {each.name for value in values for each in value.find_all(exp.Column)}


def _cut(node: Node, used: set[str]) -> Node:
    """The node with no columns but these."""
    if _names(node) <= used:
        return node
    kept = tuple(each for each in node.schema if each.name in used)
    items = tuple(Named(each.name, column(each.name), each.type) for each in kept)
    return Project(schema=kept, shape=node.shape, span=node.span, input=node, items=items)


def _over(node: Node, below: tuple[Node, ...], used: set[str]) -> Node:
    """The node over narrower inputs, and narrower itself where that costs nothing."""
    if isinstance(node, Project):
        items = tuple(each for each in node.items if each.name in used)
        node = replace(node, items=items, schema=tuple(each for each in node.schema if each.name in used))
    elif isinstance(node, Filter | IntervalJoin | Over):
        own = {each.aggregate.name for each in node.aggregates} if isinstance(node, Over) else set[str]()
        present = own | {name for each in below for name in _names(each)}
        node = replace(node, schema=tuple(each for each in node.schema if each.name in present))
    return with_inputs(node, below)
