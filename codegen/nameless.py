"""A plan -> the same plan in which the columns that a script names are numbered.

Two plans that differ in such names alone become equal. Columns of scans keep their names, by which they are read, and
so do those that operators name themselves, such as `window_start`. Nothing is run under these names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from itertools import count
from typing import Any

from sqlglot import exp

from penstock.planner.plan import (
    Aggregate,
    Expression,
    FramedAggregate,
    GroupAggregate,
    KStream,
    Named,
    Node,
    Project,
    Ranking,
    Scan,
    Shape,
    Sorting,
    UnionAll,
    WindowAggregate,
    WithLate,
    WTable,
)
from penstock.planner.plan.substitute import substitute
from penstock.planner.plan.table import Side, Step
from penstock.planner.plan.walk import folded

Names = Mapping[str, str]


def nameless(root: Node) -> Node:
    """The plan with the types, and the order of columns, that it had."""
    numbers = count()
    done: dict[Node, Node] = {}

    def renamed(node: Node, below: tuple[Node, ...]) -> Node:
        if node not in done:
            given = {name: f"#{next(numbers)}" for name in node.given_names}
            done[node] = _renamed(node, below, given)
        return done[node]

    return folded(root, renamed)


def _renamed(node: Node, below: tuple[Node, ...], given: Names) -> Node:
    """The operator over the renamed inputs `below`, with the names that it gives."""
    if isinstance(node, Scan):
        return node
    # A union has the names of its first input.
    sources = list(zip(node.inputs, below, strict=True))[: 1 if isinstance(node, UnionAll) else None]
    passed = {old.name: new.name for source, now in sources for old, new in zip(source.schema, now.schema, strict=True)}
    moved = node.with_inputs(below)
    if isinstance(node, WithLate):  # its columns have names of their own
        return moved
    fresh = isinstance(node, Project | WindowAggregate | GroupAggregate)
    known = given if fresh else {**passed, **given}
    own = {each.name: known.get(each.name, each.name) for each in node.schema}
    parts = {
        each.name: _part(getattr(moved, each.name), passed, given)
        for each in fields(moved)
        if each.init and each.name not in ("schema", "shape", "span")
    }
    schema = tuple(replace(each, name=own[each.name]) for each in node.schema)
    return replace(moved, **parts, schema=schema, shape=_shape(node.shape, own))


def _part(part: Any, passed: Names, given: Names) -> Any:
    """A field of an operator, or a part of one, with the names that its inputs have now."""

    def changed(value: Any) -> Any:
        return _part(value, passed, given)

    match part:
        case str():
            return passed.get(part, given.get(part, part))
        case exp.Expression():
            return _expression(part, passed)
        case tuple():
            return tuple(map(changed, part))
        case Named():
            return replace(part, name=given[part.name], value=changed(part.value))
        case Aggregate():
            arguments, condition = changed(part.arguments), changed(part.condition)
            return replace(part, name=given[part.name], arguments=arguments, condition=condition)
        case FramedAggregate():
            return replace(part, aggregate=changed(part.aggregate))
        case Ranking():
            return replace(part, name=given[part.name], order_by=changed(part.order_by))
        case Sorting():
            return replace(part, value=changed(part.value))
        case Side():
            return replace(part, keys=changed(part.keys))
        case Step():
            return replace(part, condition=changed(part.condition))
        case _:
            return part


def _expression(value: Expression, names: Names) -> Expression:
    return substitute(value, {old: exp.column(new, quoted=True) for old, new in names.items()})


def _shape(shape: Shape, names: Names) -> Shape:
    if isinstance(shape, KStream):
        return shape.renamed(names)
    key = tuple(names[each] for each in shape.key)
    same = tuple(tuple(frozenset(names.get(each, each) for each in group) for group in groups) for groups in shape.same)
    if isinstance(shape, WTable):
        return WTable(key, names[shape.start], names[shape.end], same)
    return replace(shape, key=key, same=same)
