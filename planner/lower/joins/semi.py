"""LEFT SEMI and LEFT ANTI joins with a table, IN and EXISTS among them -> a reference, and what is left without it.

A row has at most one partner if the whole primary key of the table is compared. If other columns are compared, the
table is grouped by these first, and the row refers to a group.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from penstock.diagnostics import CompileError, Span
from penstock.diagnostics.codes.building import B002
from penstock.parser import ast
from penstock.planner.lower.from_rows import FromRows
from penstock.planner.lower.intermediates import materialise_changes
from penstock.planner.lower.joins.conditions import Equality, find_side
from penstock.planner.lower.joins.lookup import Reference, find_reference, make_foreign_key_join, make_lookup
from penstock.planner.lower.joins.remote import keep_columns
from penstock.planner.lower.joins.sides import add_filter, find_right_span, qualify_name
from penstock.planner.lower.select_items import find_value_column, is_nullable
from penstock.planner.plan import (
    Column,
    GroupAggregate,
    JoinType,
    KStream,
    KTable,
    Named,
    Node,
    conjunction,
    find_columns,
    make_column,
)
from penstock.planner.scalars.find_type import find_type
from penstock.planner.types import Type


def lower_semi_join(
    join: ast.Join,
    left: FromRows,
    right: FromRows,
    equalities: Sequence[Equality],
    conditions: Sequence[exp.Expression],
) -> FromRows:
    """LEFT SEMI or LEFT ANTI with a table that changes; raises CompileError."""
    span = find_right_span(join)
    if right.as_of_time is not None:
        raise CompileError([B002.at(span, "", construct=f"FOR SYSTEM_TIME AS OF in a {join.kind.value} JOIN")])
    is_negated = join.kind is ast.JoinKind.ANTI
    node = keep_matched(left.node, right.node, equalities, conditions, span, is_negated=is_negated)
    return FromRows(node, left.scope, left.name)


def keep_matched(
    left: Node,
    right: Node,
    equalities: Sequence[Equality],
    conditions: Sequence[exp.Expression],
    span: Span,
    *,
    is_negated: bool,
) -> Node:
    """The rows of `left` that have a partner in the table `right`, or with `is_negated` the rows that have none.

    Raises CompileError if that cannot be computed.
    """
    of_right = [each for each in conditions if find_side(each, left, right) == "right"]
    others = [each for each in conditions if not any(each is one for one in of_right)]
    table = add_filter(right, of_right)
    reference = find_reference(table, equalities, others)
    if reference is None:
        own = {each.name for each in right.schema}
        if any(find_columns(each) & own for each in others):
            found = B002.at(span, "", construct="a condition on both sides beside columns that are not the primary key")
            raise CompileError(
                [found.with_hint("compare the whole primary key of the table, or single columns with =")]
            )
        table = group_compared(left, table, [other for _, other in equalities], span)
        keys = [make_column(each.name) for each in table.schema]
        pairs = tuple((one, key) for (one, _), key in zip(equalities, keys, strict=True))
        reference = Reference(pairs, conjunction(others))
    type_ = JoinType.LEFT if is_negated else JoinType.INNER
    node: Node
    if isinstance(left.shape, KStream):
        node = make_lookup(type_, span, left, table, reference)
    else:
        node = make_foreign_key_join(type_, span, left, table, reference)
    if is_negated:
        # A row that is referred to has values in its key.
        key = find_value_column(reference.equalities[0][1], table)
        assert key is not None, "a reference compares columns of the key"
        node = add_filter(node, [exp.Is(this=make_column(key), expression=exp.Null())])
    return keep_columns(node, left)


def group_compared(left: Node, table: Node, values: Sequence[exp.Expression], span: Span) -> GroupAggregate:
    """The different values that the rows of the table have, one column for each expression."""
    relation, taken = "group", {each.name.casefold() for each in left.schema}
    while any(qualify_name(relation, f"key{place + 1}") in taken for place in range(len(values))):
        relation += "_"
    names = [qualify_name(relation, f"key{place + 1}") for place in range(len(values))]
    keys = tuple(Named(name, value, find_known_type(value, table)) for name, value in zip(names, values, strict=True))
    return GroupAggregate(
        schema=tuple(Column(key.name, key.type, is_nullable(key.value, table)) for key in keys),
        shape=KTable(tuple(key.name for key in keys)),
        span=span,
        input=materialise_changes(table),
        keys=keys,
        aggregates=(),
    )


def find_known_type(value: exp.Expression, node: Node) -> Type:
    """The type of one side of an equality."""
    type_ = find_type(value, node)
    assert type_ is not None, "no equality compares a bare NULL"
    return type_
