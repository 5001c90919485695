"""Removes columns that nothing uses from the inputs of operators.

Rows that wait in an operator's state, or in an intermediate stream, are as wide as its input.
"""

from __future__ import annotations

from collections.abc import Set
from typing import assert_never

from msgspec.structs import replace

from penstock.planner.plan import (
    AssignWindows,
    Column,
    Distinct,
    Filter,
    ForeignKeyJoin,
    GroupAggregate,
    GroupingSets,
    Intermediate,
    IntervalJoin,
    KStream,
    Latest,
    Named,
    Node,
    Operator,
    Over,
    OverRows,
    Project,
    Ranked,
    Rekey,
    RemoteLookup,
    Scan,
    Shape,
    TableJoin,
    TableLookup,
    TableRanked,
    UnionAll,
    Unnest,
    WindowAggregate,
    WithLate,
    find_columns,
    make_column,
)


def prune_columns(root: Node) -> Node:
    """The plan with the schema that it had."""
    return _prune(root, _list_names(root))


def _prune(node: Node, wanted: Set[str]) -> Node:
    """The operator with at least the columns `wanted` of its schema."""
    wanted = wanted | _find_identity(node.shape)
    used = wanted | node.used_columns
    assert isinstance(node, Operator)
    match node:
        case Latest():
            input_ = _narrow(node.input, used)
            return replace(node, input=input_, schema=input_.schema)
        case IntervalJoin() | TableLookup() | ForeignKeyJoin() | TableJoin():
            below = tuple(_narrow(each, used) for each in node.inputs)
            kept = {each.name for side in below for each in side.schema}
            kept |= set(node.identity) if isinstance(node, TableJoin) else set()
            schema = tuple(each for each in node.schema if each.name in kept)
            return replace(node.with_inputs(below), schema=schema, shape=_narrow_shape(node, schema))
        case Filter() | Rekey():
            input_ = _prune(node.input, used)
            return replace(node, input=input_, schema=input_.schema, shape=_narrow_shape(node, input_.schema))
        case RemoteLookup():
            # What travels to Python workers is as narrow as can be.
            given = tuple(each for each in node.columns if each.name in wanted)
            input_ = _narrow(node.input, used - set(node.given_names))
            any_row = node.any_row if node.any_row in wanted else None
            names = {*_list_names(input_), *(each.name for each in given), any_row}
            schema = tuple(each for each in node.schema if each.name in names)
            return replace(
                node, input=input_, columns=given, any_row=any_row, schema=schema, shape=_narrow_shape(node, schema)
            )
        case Unnest():
            input_ = _prune(node.input, used - set(node.given_names))
            schema = (*input_.schema, *node.schema[-len(node.given_names) :])
            return replace(node, input=input_, schema=schema, shape=_narrow_shape(node, schema))
        case Project():
            # A relation has a column, even if rows are only counted.
            items = tuple(item for item in node.items if item.name in wanted) or node.items[:1]
            input_ = _prune(node.input, find_columns(*(item.value for item in items)))
            schema = tuple(node.column(item.name) for item in items)
            return replace(node, input=input_, items=items, schema=schema, shape=_narrow_shape(node, schema))
        case Over() | OverRows() | Ranked():
            # Rows of one time, or of one rank, are ordered by all columns where their order shows.
            input_ = _narrow(node.input, used | _list_names(node.input) if node.is_ordered else used)
            schema = (*input_.schema, *node.schema[len(node.input.schema) :])
            return replace(node, input=input_, schema=schema, shape=_narrow_shape(node, schema))
        case TableRanked():
            input_ = _narrow(node.input, used)
            schema = (*input_.schema, *node.schema[len(node.input.schema) :])
            return replace(node, input=input_, schema=schema, shape=_narrow_shape(node, schema))
        case WindowAggregate():
            return replace(node, input=_prune(node.input, node.used_columns))
        case GroupAggregate() if not isinstance(node.input.shape, KStream):
            return replace(node, input=_prune(node.input, node.used_columns))
        case Intermediate() if not node.shared:
            input_ = _narrow(node.input, used)
            return replace(node, input=input_, schema=input_.schema, shape=_narrow_shape(node, input_.schema))
        case GroupAggregate() | Intermediate() | Scan() | AssignWindows() | GroupingSets() | UnionAll():
            return node.with_inputs(tuple(_prune(each, _list_names(each)) for each in node.inputs))
        case Distinct() | WithLate():
            return node.with_inputs((_prune(node.input, _list_names(node.input)),))
        case _:
            assert_never(node)


def _list_names(node: Node) -> set[str]:
    return {each.name for each in node.schema}


def _narrow(node: Node, used: Set[str]) -> Node:
    """The operator with just the columns of its schema that are used."""
    used = used | _find_identity(node.shape)
    kept = tuple(each for each in node.schema if each.name in used) or node.schema[:1]
    below = _prune(node, {each.name for each in kept})
    if len(below.schema) == len(kept):
        return below
    items = tuple(Named(each.name, make_column(each.name), each.type) for each in kept)
    return Project(schema=kept, shape=_narrow_shape(below, kept), span=below.span, input=below, items=items)


def _find_identity(shape: Shape) -> set[str]:
    """The columns that tell the rows of a table apart."""
    if isinstance(shape, KStream):
        return set()
    return set(shape.identity)


def _narrow_shape(node: Node, schema: tuple[Column, ...]) -> Shape:
    """The operator's shape without the columns that are gone. The keys of tables are never among these columns."""
    if not isinstance(node.shape, KStream):
        return node.shape
    names = {each.name for each in schema}
    return node.shape.rename({name: name for name in names})
