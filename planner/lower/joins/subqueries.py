"""EXISTS (SELECT …) and IN (SELECT …) in the WHERE of a stream, over a table in a database -> lookups.

The subquery must compare the whole primary key of the table, so at most one row decides. Results are those of SQL, also
where values are NULL.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, replace

from sqlglot import exp

from penstock.diagnostics import CompileError, Span
from penstock.diagnostics.codes.building import B002
from penstock.diagnostics.codes.joins import J014
from penstock.parser import ast
from penstock.planner.lower.context import Context, list_subqueries, make_scope, resolve_condition, resolve_scalar
from penstock.planner.lower.grouped import has_aggregate
from penstock.planner.lower.items import find_value_column
from penstock.planner.lower.joins.conditions import Equality, compare_values, find_key_equality
from penstock.planner.lower.joins.lookup import Reference, find_reference
from penstock.planner.lower.joins.remote import (
    RemoteTable,
    find_remote_table,
    keep_columns,
    look_up_rows,
    miss_condition,
)
from penstock.planner.lower.joins.sides import add_filter, qualify_columns, qualify_name
from penstock.planner.lower.over import has_over
from penstock.planner.lower.relations import lower_name
from penstock.planner.lower.rows import FromRows
from penstock.planner.plan import JoinType, KStream, KTable, Node, conjuncts
from penstock.planner.scalars.names import Scope


@dataclass(frozen=True, slots=True)
class Membership:
    """A condition of WHERE: EXISTS or IN with a subquery over a table in a database."""

    query: ast.Select
    source: ast.Table
    value: exp.Expression | None
    """The value before IN, None for EXISTS."""
    is_negated: bool
    span: Span

    @property
    def words(self) -> str:
        """The construct as messages call it."""
        return f"{'NOT ' * self.is_negated}{'EXISTS' if self.value is None else 'IN'} (SELECT …)"

    def refuse(self, what: str, hint: str) -> CompileError:
        """The error that the construct is not supported; `what` describes the unsupported part."""
        return CompileError([B002.at(self.span, "", construct=f"{self.words} {what}").with_hint(hint)])


@dataclass(frozen=True, slots=True)
class KeyComparison:
    """What a subquery compares with the row of the table: its whole key, and other conditions."""

    reference: Reference
    equality: Equality | None
    """The equality of IN, None if it is part of the key or there is no IN."""


def find_membership(part: exp.Expression, context: Context) -> Membership | None:
    """The part of WHERE as EXISTS or IN over a table in a database, else None. Raises CompileError."""
    node, is_negated = part.unnest(), False
    while isinstance(node, exp.Not):
        node, is_negated = node.this.unnest(), not is_negated
    if not isinstance(node, exp.In | exp.Exists):
        return None
    query = node.args.get("query") if isinstance(node, exp.In) else node.this
    if not isinstance(query, ast.Select) or not is_plain(query) or not isinstance(query.relation, ast.Table):
        return None
    source = query.relation
    if source.over is not None or source.as_of is not None:
        return None
    if find_remote_table(lower_name(source.name, context)) is None:
        return None
    value = node.this if isinstance(node, exp.In) else None
    return Membership(query, source, value, is_negated, part.meta["span"])


def is_plain(query: ast.Select) -> bool:
    """Whether the subquery has no clauses but WHERE and DISTINCT, and no aggregates, OVER or subqueries in it."""
    clauses = (
        *(query.stream, query.deduplicate, query.group_by, query.having, query.windows, query.qualify),
        *(query.partition_by, query.emit, query.grace, query.retention, query.late, query.order_by, query.limit),
    )
    values = [each.value for each in query.items]
    return (
        not any(clauses)
        and not any(has_aggregate(each) or has_over(each) for each in values)
        and not any(True for each in (*values, *conjuncts(query.where)) for _ in list_subqueries(each))
    )


def lower_membership(rows: FromRows, membership: Membership, present: Set[str], context: Context) -> FromRows:
    """The rows of the stream for which the condition is true. `present`: columns that WHERE keeps from being NULL.

    Raises CompileError if the condition is not supported.
    """
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


def lower_source(rows: FromRows, membership: Membership, context: Context) -> tuple[FromRows, RemoteTable]:
    """The table of the subquery, with its columns called `alias.column`; raises CompileError."""
    source = membership.source
    name = (source.alias or source.name).text
    node = lower_name(source.name, context)
    right = qualify_columns(FromRows(node, make_scope(node, name), name), source.span)
    table = find_remote_table(right.node)
    assert table is not None, "the table of a membership is in a database"
    known = {each.name.casefold() for each in rows.node.schema}
    if rows.scope.has_relation(name) or any(each.name.casefold() in known for each in right.node.schema):
        raise CompileError([J014.at(source.span, "", name=name).with_hint(f"{source.name.text} AS another")])
    return right, table


def find_key_comparison(rows: FromRows, right: FromRows, membership: Membership, context: Context) -> KeyComparison:
    """What the subquery compares. Raises CompileError if that does not determine one row of the table."""
    query, scope = membership.query, Scope(right.scope.columns, rows.scope.columns)
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
    rows: FromRows, right: FromRows, membership: Membership, scope: Scope, context: Context
) -> Equality | None:
    """The equality of IN, None for EXISTS. Raises CompileError if IN does not select one column of the table."""
    items = [each.value for each in membership.query.items]
    typed = [resolve_scalar(each, scope) for each in items if not is_star(each)]
    if membership.value is None:
        return None
    value = resolve_scalar(membership.value, rows.scope)
    if len(items) == len(typed) == 1:
        found = compare_values(value, typed[0], rows, right, membership.span, context)
        if found is not None:
            return found
    raise membership.refuse("of anything but one column of the table", "WHERE EXISTS (SELECT 1 FROM … WHERE …)")


def is_star(value: exp.Expression) -> bool:
    """Whether an item is `*` or `relation.*`."""
    return isinstance(value, exp.Star) or (isinstance(value, exp.Column) and isinstance(value.this, exp.Star))


def find_key(right: FromRows) -> list[str]:
    """The primary key of the table, as the script calls its columns."""
    shape, names = right.node.shape, {each.column: each.name for each in right.scope.columns}
    assert isinstance(shape, KTable), "databases have tables without windows"
    return [names[each] for each in shape.key]


def find_null_value(
    rows: FromRows, membership: Membership, comparison: KeyComparison, present: Set[str]
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
    hint = f"WHERE {text} IS NOT NULL AND {text} NOT IN (SELECT …), or NOT EXISTS (SELECT …)"
    raise membership.refuse("with WHERE, of a value that may be NULL", hint)


def name_any_row(left: Node, right: FromRows) -> str:
    """A name for the column that says whether the table has any row."""
    known = {each.name.casefold() for each in (*left.schema, *right.node.schema)}
    name = qualify_name(right.name, "_any_row")
    while name.casefold() in known:
        name += "_"
    return name
