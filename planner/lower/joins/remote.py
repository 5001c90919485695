"""AST joins of streams with tables in databases -> lookups, with what ON says beside the key in filters above them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from sqlglot import exp

from penstock.diagnostics import Span
from penstock.parser import ast
from penstock.planner import scalars
from penstock.planner.connectors import connector_of
from penstock.planner.lower.from_rows import FromRows
from penstock.planner.lower.joins.conditions import Equality, find_side
from penstock.planner.lower.joins.sides import add_filter, find_right_span, join_columns, join_scopes
from penstock.planner.lower.select_items import find_value_column
from penstock.planner.plan import (
    Column,
    JoinType,
    KTable,
    LookupColumn,
    LookupKey,
    Named,
    Node,
    Origin,
    Project,
    RemoteLookup,
    Scan,
    conjunction,
    make_column,
)
from penstock.planner.scalars.literals import bare
from penstock.planner.types import BOOLEAN


class RemoteTable(msgspec.Struct, frozen=True):
    """A table in a database, and the columns of it that a relation shows, by their names in the relation."""

    origin: Origin
    columns: Mapping[str, str]


def find_remote_table(node: Node) -> RemoteTable | None:
    """The table behind the relation, if the relation selects plain columns and queries can only look rows up in
    the table.
    """
    columns = {each.name: each.name for each in node.schema}
    while isinstance(node, Project):
        values = {item.name: item.value for item in node.items}
        if not all(isinstance(each, exp.Column) for each in values.values()):
            return None
        columns = {name: str(values[below].name) for name, below in columns.items()}
        node = node.input
    if not (isinstance(node, Scan) and isinstance(node.shape, KTable)):
        return None
    connector = connector_of(node.origin.connector)
    return RemoteTable(node.origin, columns) if connector.looks_up and not connector.reads_table else None


class LookedUp(msgspec.Struct, frozen=True):
    """A lookup, a column of it that is NULL only where no row was found, and the conditions that it leaves to test."""

    node: RemoteLookup
    found: exp.Column
    conditions: list[exp.Expression]


def lower_remote_lookup(
    join: ast.Join,
    left: FromRows,
    right: FromRows,
    table: RemoteTable,
    equalities: tuple[Equality, ...],
    conditions: list[exp.Expression],
) -> FromRows:
    """The rows of the stream beside their rows of the table.

    `equalities` compare its whole key, `conditions` the rest.
    """
    kind = join.kind
    type_ = JoinType.LEFT if kind in (ast.JoinKind.LEFT, ast.JoinKind.ANTI) else JoinType.INNER
    looked = look_up_rows(type_, find_right_span(join), left, right, table, equalities, conditions)
    node: Node = looked.node
    match kind:
        case ast.JoinKind.LEFT:
            node = blank_columns(node, right.node, looked.found, looked.conditions)
        case ast.JoinKind.ANTI:
            node = add_filter(node, [miss_condition(looked.found, looked.conditions)])
        case _:
            node = add_filter(node, looked.conditions)
    name = f"{left.name} and {right.name}"
    if kind in (ast.JoinKind.SEMI, ast.JoinKind.ANTI):
        return FromRows(keep_columns(node, left.node), left.scope, name)
    return FromRows(node, join_scopes(left, right), name)


def look_up_rows(
    type_: JoinType,
    span: Span,
    left: FromRows,
    right: FromRows,
    table: RemoteTable,
    equalities: tuple[Equality, ...],
    conditions: Sequence[exp.Expression],
    any_row: str | None = None,
) -> LookedUp:
    """The lookup, INNER or LEFT. What it does not test by itself is left to the caller. `any_row`: as in the plan."""
    keys, compared = [], []
    for value, other in equalities:
        name = find_value_column(other, right.node)
        assert name is not None, "equalities compare columns of the key"
        if not isinstance(bare(other), exp.Column):
            # The table is asked in the type of its own column. What that rounds, the comparison finds to be different.
            compared.append(exp.EQ(this=value, expression=other))
            to = scalars.data_type(right.node.column(name).type)
            value = exp.TryCast(this=value.copy(), to=to, safe=True)
        keys.append(LookupKey(table.columns[name], value))
    conditions = [*conditions, *compared]
    below = left.node
    if type_ is JoinType.INNER:
        of_stream = [each for each in conditions if find_side(each, left.node, right.node) == "left"]
        below = add_filter(below, of_stream)
        conditions = [each for each in conditions if not any(each is one for one in of_stream)]
    schema = join_columns(type_, below.schema, right.node.schema)
    node = RemoteLookup(
        schema=schema if any_row is None else (*schema, Column(any_row, BOOLEAN, nullable=False)),
        shape=below.shape,
        span=span,
        input=below,
        origin=table.origin,
        type=type_,
        keys=tuple(keys),
        columns=tuple(LookupColumn(each.name, table.columns[each.name]) for each in right.node.schema),
        any_row=any_row,
    )
    return LookedUp(node, find_key_column(right.node, table), conditions)


def keep_columns(node: Node, left: Node) -> Node:
    """The rows with the columns of the stream alone."""
    items = tuple(Named(each.name, make_column(each.name), each.type) for each in left.schema)
    return Project(schema=left.schema, shape=left.shape, span=node.span, input=node, items=items)


def find_key_column(node: Node, table: RemoteTable) -> exp.Column:
    """A column of the table's rows that is NULL only where there is no row."""
    return make_column(next(each.name for each in node.schema if table.columns[each.name] in table.origin.key))


def match_condition(found: exp.Column, conditions: list[exp.Expression]) -> exp.Expression:
    """Whether there is a row of the table for which the conditions hold; NULL is no."""
    there = exp.Not(this=exp.Is(this=found.copy(), expression=exp.Null()))
    whole = conjunction([there, *conditions])
    assert whole is not None
    return whole


def miss_condition(
    found: exp.Column, conditions: list[exp.Expression], equality: exp.Expression | None = None
) -> exp.Expression:
    """Whether there is no row of the table for which the conditions hold; or the equality is false of it, not NULL."""
    if not conditions and equality is None:
        return exp.Is(this=found.copy(), expression=exp.Null())
    found_other = exp.Boolean(this=False) if equality is None else exp.Not(this=exp.Paren(this=equality))
    missing = exp.If(this=match_condition(found, conditions), true=found_other)
    return exp.Case(ifs=[missing], default=exp.Boolean(this=True))


def blank_columns(node: Node, right: Node, found: exp.Column, conditions: list[exp.Expression]) -> Node:
    """The joined rows, with NULL for the columns of the table where the conditions do not hold."""
    if not conditions:
        return node
    own = {each.name for each in right.schema}
    items = []
    for each in node.schema:
        value: exp.Expression = make_column(each.name)
        if each.name in own:
            value = exp.Case(ifs=[exp.If(this=match_condition(found, conditions), true=value)])
        items.append(Named(each.name, value, each.type))
    return Project(schema=node.schema, shape=node.shape, span=node.span, input=node, items=tuple(items))
