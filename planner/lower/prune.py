"""Plan -> the same plan in which what an operator keeps has only the columns that are used above it.

Rows that wait in an operator's state, or in an intermediate stream, are as wide as its input.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from penstock.planner.lower.context import column
from penstock.planner.plan import (
    Column,
    Filter,
    ForeignKeyJoin,
    GroupAggregate,
    Intermediate,
    IntervalJoin,
    KStream,
    Latest,
    Named,
    Node,
    Over,
    OverRows,
    Project,
    Ranked,
    Rekey,
    Shape,
    TableJoin,
    TableLookup,
    WindowAggregate,
)
from penstock.planner.plan.over import ORDERED
from penstock.planner.plan.walk import expressions, inputs, with_inputs


def pruned(root: Node) -> Node:
    """The plan with the schema that it had."""
    return _pruned(root, {each.name for each in root.schema})


def _pruned(node: Node, wanted: set[str]) -> Node:
    """The operator with at least the columns `wanted` of its schema."""
    wanted = wanted | _identity(node.shape)
    used = wanted | _used(node)
    match node:
        case Latest():
            below = _narrow(node.input, used)
            return replace(node, input=below, schema=below.schema)
        case TableJoin():
            sides = tuple(replace(side, input=_narrow(side.input, used)) for side in node.sides)
            kept = {each.name for side in sides for each in side.input.schema} | set(node.identity)
            schema = tuple(each for each in node.schema if each.name in kept)
            return replace(node, sides=sides, schema=schema, shape=_shape(node, schema))
        case ForeignKeyJoin():
            left, right = _narrow(node.left, used), _narrow(node.right, used)
            names = {each.name for each in (*left.schema, *right.schema)}
            return replace(node, left=left, right=right, schema=tuple(c for c in node.schema if c.name in names))
        case TableLookup():
            left, right = _narrow(node.stream, used), _narrow(node.table, used)
            names = {each.name for each in (*left.schema, *right.schema)}
            schema = tuple(each for each in node.schema if each.name in names)
            return replace(node, stream=left, table=right, schema=schema, shape=_shape(node, schema))
        case GroupAggregate() if not isinstance(node.input.shape, KStream):
            return replace(node, input=_pruned(node.input, _used(node)))
        case Filter() | Rekey():
            below = _pruned(node.input, used)
            return replace(node, input=below, schema=below.schema, shape=_shape(node, below.schema))
        case Project():
            # A relation has a column, even if rows are only counted.
            items = tuple(item for item in node.items if item.name in wanted) or node.items[:1]
            below = _pruned(node.input, {each.name for item in items for each in item.value.find_all(exp.Column)})
            schema = tuple(Column(item.name, item.type) for item in items)
            return replace(node, input=below, items=items, schema=schema, shape=_shape(node, schema))
        case Over() | OverRows() | Ranked():
            below = _narrow(node.input, used | _that_order(node))
            schema = (*below.schema, *node.schema[len(node.input.schema) :])
            return replace(node, input=below, schema=schema, shape=_shape(node, schema))
        case IntervalJoin():
            left, right = _narrow(node.left, used), _narrow(node.right, used)
            kept = {each.name for each in (*left.schema, *right.schema)}
            schema = tuple(each for each in node.schema if each.name in kept)
            return replace(node, left=left, right=right, schema=schema, shape=_shape(node, schema))
        case WindowAggregate():
            return replace(node, input=_pruned(node.input, _used(node)))
        case Intermediate() if not node.shared:
            below = _narrow(node.input, used)
            return replace(node, input=below, schema=below.schema, shape=_shape(node, below.schema))
        case _:
            return with_inputs(node, tuple(_pruned(each, {c.name for c in each.schema}) for each in inputs(node)))


def _narrow(node: Node, used: set[str]) -> Node:
    """The operator with just the columns of its schema that are used."""
    used = used | _identity(node.shape)
    kept = tuple(each for each in node.schema if each.name in used) or node.schema[:1]
    below = _pruned(node, {each.name for each in kept})
    if len(below.schema) == len(kept):
        return below
    items = tuple(Named(each.name, column(each.name), each.type) for each in kept)
    return Project(schema=kept, shape=_shape(below, kept), span=below.span, input=below, items=items)


def _that_order(node: Over | OverRows | Ranked) -> set[str]:
    """The columns by which rows of one time or one rank are ordered where that shows: all of them."""
    if isinstance(node, OverRows):
        shows = True
    elif isinstance(node, Over):
        shows = any(each.aggregate.function in ORDERED for each in node.aggregates)
    else:
        shows = any(each.function == "ROW_NUMBER" for each in node.rankings)
    return {each.name for each in node.input.schema} if shows else set()


def _used(node: Node) -> set[str]:
    """The columns of its inputs that the operator itself looks at."""
    used = {each.name for expression in expressions(node) for each in expression.find_all(exp.Column)}
    match node:
        case IntervalJoin():
            return used | {node.left_time, node.right_time}
        case WindowAggregate() | Over() | OverRows() | Ranked():
            return used | {node.time}
        case TableLookup():
            return used if node.as_of is None else used | {node.as_of}
        case Intermediate():
            shape = node.shape
            return {time.column for time in shape.times} if isinstance(shape, KStream) else set()
        case _:
            return used


def _identity(shape: Shape) -> set[str]:
    """The columns that tell the rows of a table apart."""
    if isinstance(shape, KStream):
        return set()
    return set(shape.identity)


def _shape(node: Node, schema: tuple[Column, ...]) -> Shape:
    """The operator's shape without the columns that are gone. The keys of tables are never among those."""
    if not isinstance(node.shape, KStream):
        return node.shape
    names = {each.name for each in schema}
    return node.shape.rename({name: name for name in names})
