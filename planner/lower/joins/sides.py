"""The two sides of a join: their columns, names, filters and places."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace
from sqlglot import exp

from penstock.diagnostics import CompileError, Span
from penstock.diagnostics.codes.joins import J014
from penstock.parser import ast
from penstock.planner.lower.from_rows import FromRows
from penstock.planner.lower.select_items import rename_shape
from penstock.planner.plan import (
    Column,
    Filter,
    JoinType,
    KStream,
    Named,
    Node,
    Project,
    conjunction,
    make_column,
)
from penstock.planner.scalars.scopes import Scope, ScopeColumn


def qualify_sides(join: ast.Join, left: FromRows, right: FromRows) -> tuple[FromRows, FromRows]:
    """Names the columns of both sides `alias.column`. Raises CompileError if the sides have the same alias."""
    left, right = qualify_columns(left, join.left.span), qualify_columns(right, join.right.span)
    if left.scope.has_relation(right.name):
        found = J014.at(join.right.span, "", name=right.name).also(join.left.span, "")
        raise CompileError([found.with_sql(f"{write_relation(join.right)} AS another")])
    return left, right


def qualify_columns(rows: FromRows, span: Span) -> FromRows:
    """Names the columns of a side of a join `alias.column`. Joined rows have such names already."""
    node = rows.node
    if all(each.column == qualify_name(each.relation or "", each.name) for each in rows.scope.columns):
        return rows
    names = {c.name: qualify_name(rows.name, c.name) for c in node.schema}
    names |= {c.column: qualify_name(c.relation, c.name) for c in rows.scope.columns if c.relation is not None}
    items = tuple(Named(names[c.name], make_column(c.name), c.type) for c in node.schema)
    schema = tuple(Column(names[c.name], c.type, c.nullable) for c in node.schema)
    renamed = Project(schema=schema, shape=rename_shape(node.shape, names), span=span, input=node, items=items)
    columns = tuple(ScopeColumn(c.relation, c.name, names[c.column], c.type) for c in rows.scope.columns)
    times = {names[each.column] for each in rows.scope.times}
    scope = Scope(columns, shared=rows.scope.shared, times=tuple(each for each in columns if each.column in times))
    return FromRows(renamed, scope, rows.name, as_of=rows.as_of)


def qualify_name(alias: str, name: str) -> str:
    """`alias.column`. Dots in the alias itself are percent-encoded, so that names stay unique."""
    return f"{alias.replace('%', '%25').replace('.', '%2E')}.{name}"


def join_scopes(left: FromRows, right: FromRows) -> Scope:
    """The scope with the columns of both sides.

    The event time of a stream stays the event time of the rows that a lookup in a table gives.
    """
    is_lookup = isinstance(left.node.shape, KStream) and not isinstance(right.node.shape, KStream)
    times = left.scope.times if is_lookup else (*left.scope.times, *right.scope.times)
    return Scope((*left.scope.columns, *right.scope.columns), shared=left.scope.shared, times=times)


def join_columns(type_: JoinType, left: Sequence[Column], right: Sequence[Column]) -> tuple[Column, ...]:
    """The columns of the joined rows. A padded side can be NULL; SEMI and ANTI keep only the left columns."""
    if type_ in (JoinType.SEMI, JoinType.ANTI):
        return tuple(left)
    pads_left, pads_right = type_ in (JoinType.RIGHT, JoinType.FULL), type_ in (JoinType.LEFT, JoinType.FULL)
    return (
        *(replace(each, nullable=each.nullable or pads_left) for each in left),
        *(replace(each, nullable=each.nullable or pads_right) for each in right),
    )


def add_filter(node: Node, conditions: Sequence[exp.Expression]) -> Node:
    """The rows for which all conditions hold."""
    condition = conjunction(conditions)
    if condition is None:
        return node
    return Filter(schema=node.schema, shape=node.shape, span=node.span, input=node, condition=condition)


def write_relation(relation: ast.Relation) -> str:
    """The text of a relation without its alias."""
    alias: ast.Name | None = getattr(relation, "alias", None)
    if alias is None:
        return relation.span.text
    start = relation.span.start
    return re.sub(r"\s+AS\s*$", "", relation.span.source.text[start : alias.span.start].rstrip(), flags=re.IGNORECASE)


def find_right_span(join: ast.Join) -> Span:
    """The place of the join's text after its left side, without leading spaces."""
    text = join.span.source.text
    start = join.left.span.end
    while start < join.span.end and text[start].isspace():
        start += 1
    return Span(join.span.source, start, join.span.end)
