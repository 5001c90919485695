"""EXISTS (SELECT …) and IN (SELECT …) in the WHERE of a stream, over a table in a database -> lookups.

The subquery must compare the whole primary key of the table, so at most one row decides. Results are as in SQL, also
where values are NULL.
"""

from __future__ import annotations

from collections.abc import Set

import msgspec
from msgspec.structs import replace
from sqlglot import exp

from penstock.diagnostics import CompileError
from penstock.diagnostics.codes.joins import J014
from penstock.parser import ast, name_text
from penstock.planner.lower.context import Context, make_scope, resolve_condition, resolve_scalar
from penstock.planner.lower.from_names import lower_name
from penstock.planner.lower.from_rows import FromRows, is_now
from penstock.planner.lower.joins.conditions import Equality, compare_values, find_key_equality
from penstock.planner.lower.joins.kept_subqueries import KeptMembership, lower_kept
from penstock.planner.lower.joins.lookup import Reference, find_reference
from penstock.planner.lower.joins.membership import Membership, is_plain, read_membership
from penstock.planner.lower.joins.remote import (
    RemoteTable,
    find_remote_table,
    keep_columns,
    look_up_rows,
    miss_condition,
)
from penstock.planner.lower.joins.sides import add_filter, qualify_columns, qualify_name
from penstock.planner.lower.select_items import find_value_column
from penstock.planner.plan import JoinType, KStream, KTable, Node, conjuncts
from penstock.planner.scalars.scopes import Scope


class RemoteMembership(Membership, frozen=True, kw_only=True):
    """A condition of WHERE: EXISTS or IN with a subquery over a table in a database."""

    select: ast.Select
    source: ast.Table


class KeyComparison(msgspec.Struct, frozen=True):
    """What a subquery compares with the row of the table: its whole key, and other conditions."""

    reference: Reference
    equality: Equality | None
    """The equality of IN, None if it is part of the key or there is no IN."""


def find_membership(part: exp.Expression, context: Context) -> RemoteMembership | None:
    """The part of WHERE as EXISTS or IN over a table in a database, else None. Raises CompileError."""
    found = read_membership(part)
    if found is None or not isinstance(found.query, ast.Select) or not is_plain(found.query):
        return None
    source = found.query.relation
    if not isinstance(source, ast.Table) or source.over is not None or source.columns:
        return None
    if source.as_of is not None and not is_now(source.as_of):
        return None
    if find_remote_table(lower_name(source.name, context)) is None:
        return None
    return RemoteMembership(found.query, found.value, found.is_negated, found.span, select=found.query, source=source)


def lower_membership(rows: FromRows, membership: Membership, present: Set[str], context: Context) -> FromRows:
    """The rows for which the condition is true. `present`: columns that WHERE keeps from being NULL.

    Raises CompileError if the condition is not supported.
    """
    if isinstance(membership, KeptMembership):
        return lower_kept(rows, membership, present, context)
    assert isinstance(membership, RemoteMembership), "tables are kept, or in a database"
    if not isinstance(rows.node.shape, KStream):
        raise membership.refuse("of the rows of a table", "ask for the rows of a stream")
    right, table = lower_source(rows, membership, context)
    comparison = find_key_comparison(rows, right, membership, context)
    reference, span = comparison.reference, membership.span
    equality = None
    if comparison.equality is not None:
        equality = exp.EQ(this=comparison.equality[0], expression=comparison.equality[1])
    others = conjuncts(reference.condition)
    node: Node
    if not membership.is_negated:
        looked_up = look_up_rows(JoinType.INNER, span, rows, right, table, reference.equalities, others)
        node = add_filter(looked_up.node, [*looked_up.conditions, *([] if equality is None else [equality])])
    else:
        any_row = None
        value = find_null_value(rows, membership, comparison, present)
        if value is not None:
            any_row = name_any_row(rows.node, right)
        looked_up = look_up_rows(JoinType.LEFT, span, rows, right, table, reference.equalities, others, any_row)
        missed = miss_condition(looked_up.found, looked_up.conditions, equality)
        if value is not None and any_row is not None:
            empty = exp.Not(this=exp.column(any_row, quoted=True))
            is_null = exp.Is(this=value.copy(), expression=exp.Null())
            missed = exp.Case(ifs=[exp.If(this=is_null, true=empty)], default=missed)
        node = add_filter(looked_up.node, [missed])
    return replace(rows, node=keep_columns(node, rows.node))


def lower_source(rows: FromRows, membership: RemoteMembership, context: Context) -> tuple[FromRows, RemoteTable]:
    """The table of the subquery, with its columns called `alias.column`; raises CompileError."""
    source = membership.source
    name = (source.alias or source.name).text
    node = lower_name(source.name, context)
    right = qualify_columns(FromRows(node, make_scope(node, name), name), source.span)
    table = find_remote_table(right.node)
    assert table is not None, "the table of a membership is in a database"
    known = {each.name.casefold() for each in rows.node.schema}
    if rows.scope.has_relation(name) or any(each.name.casefold() in known for each in right.node.schema):
        raise CompileError([J014.at(source.span, "", name=name).with_sql(f"{name_text(source.name.text)} AS another")])
    return right, table


def find_key_comparison(
    rows: FromRows, right: FromRows, membership: RemoteMembership, context: Context
) -> KeyComparison:
    """What the subquery compares. Raises CompileError if that does not determine one row of the table."""
    query, scope = membership.select, right.scope.inside(rows.scope)
    equalities: list[Equality] = []
    conditions: list[exp.Expression] = []
    for part in conjuncts(query.where):
        found = find_key_equality(part, rows, right, scope, context)
        if found is None:
            conditions.append(resolve_condition(part, scope, "WHERE"))
        else:
            equalities.append(found)
    equality = find_equality(rows, right, membership, scope, context)
    reference = find_reference(right.node, equalities, conditions)
    if reference is not None:
        return KeyComparison(reference, equality)
    reference = None if equality is None else find_reference(right.node, [*equalities, equality], conditions)
    if reference is not None:
        return KeyComparison(reference, None)
    key = ", ".join(f"{right.name}.{each}" for each in find_key(right))
    raise membership.refuse(f"that does not compare the whole primary key of {right.name}", f"compare {key}")


def find_equality(
    rows: FromRows, right: FromRows, membership: RemoteMembership, scope: Scope, context: Context
) -> Equality | None:
    """The equality of IN, None for EXISTS. Raises CompileError if IN does not select one column of the table."""
    items = [each.value for each in membership.select.items]
    typed = [resolve_scalar(each, scope) for each in items if not ast.is_star(each)]
    if membership.value is None:
        return None
    value = resolve_scalar(membership.value, rows.scope)
    if len(items) == len(typed) == 1:
        found = compare_values(value, typed[0], rows, right, membership.span, context)
        if found is not None:
            return found
    raise membership.refuse(
        "of anything but one column of the table",
        "EXISTS compares several columns",
    )


def find_key(right: FromRows) -> list[str]:
    """The primary key of the table, as the script calls its columns."""
    shape, names = right.node.shape, {each.column: each.name for each in right.scope.columns}
    assert isinstance(shape, KTable), "databases have tables without windows"
    return [names[each] for each in shape.key]


def find_null_value(
    rows: FromRows, membership: RemoteMembership, comparison: KeyComparison, present: Set[str]
) -> exp.Expression | None:
    """The value before NOT IN if it may be NULL, else None. For NULL, NOT IN is true only if the table is empty.

    Raises CompileError if WHERE narrows the rows of the subquery: then it is not known whether there are any.
    """
    if membership.value is None or comparison.equality is not None:
        return None
    reference = comparison.reference
    value = resolve_scalar(membership.value, rows.scope).expression
    name = find_value_column(value, rows.node)
    if name is not None and (name in present or not rows.node.column(name).nullable):
        return None
    if len(reference.equalities) == 1 and reference.condition is None:
        return value
    text = membership.value.meta["span"].text
    hint = f"WHERE {text} IS NOT NULL AND {text} NOT IN the subquery, or NOT EXISTS"
    raise membership.refuse("with WHERE, of a value that may be NULL", hint)


def name_any_row(left: Node, right: FromRows) -> str:
    """A name for the column that says whether the table has any row."""
    known = {each.name.casefold() for each in (*left.schema, *right.node.schema)}
    name = qualify_name(right.name, "_any_row")
    while name.casefold() in known:
        name += "_"
    return name
