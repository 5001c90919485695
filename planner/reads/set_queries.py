"""UNION, INTERSECT and EXCEPT of reads, which compare whole rows. NULL equals NULL."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from penstock.diagnostics import CompileError, Span
from penstock.diagnostics.codes.kinds import K018
from penstock.parser import ast
from penstock.planner import scalars
from penstock.planner.lower.compound import LowerQuery, align_branches, lower_branches, lower_union
from penstock.planner.lower.context import Context
from penstock.planner.lower.select_items import rename_columns
from penstock.planner.plan import (
    Expression,
    GroupAggregate,
    JoinType,
    KStream,
    Named,
    Node,
    PlainJoin,
    conjunction,
    make_column,
)
from penstock.planner.plan.reserved import choose_unused_name


def lower_set_query(query: ast.SetQuery, context: Context, lower_query: LowerQuery) -> Node:
    """The different rows of UNION, INTERSECT or EXCEPT. Raises CompileError. Raises CompileError."""
    both = ast.UnionQuery((query.left, query.right), query.span)
    if query.operation is ast.SetOperation.UNION:
        united = lower_union(both, context, lower_query)
        return drop_repeated_rows(united, [query.span] * len(united.schema), query.span)
    left, right = align_branches(both, lower_branches(both, context, lower_query))
    taken = [each.name for each in left.schema]
    names = {each.name: choose_unused_name(f"right.{each.name}", taken) for each in right.schema}
    items = [Named(names[each.name], make_column(each.name), each.type) for each in right.schema]
    equal: list[Expression] = [
        exp.NullSafeEQ(this=make_column(each.name), expression=make_column(names[each.name])) for each in left.schema
    ]
    condition = conjunction(equal)
    assert condition is not None
    joined = PlainJoin(
        schema=left.schema,
        shape=KStream(),
        span=query.span,
        left=left,
        right=rename_columns(right, items, KStream(), right.span),
        type=JoinType.SEMI if query.operation is ast.SetOperation.INTERSECT else JoinType.ANTI,
        condition=condition,
    )
    return drop_repeated_rows(joined, [query.span] * len(joined.schema), query.span)


def drop_repeated_rows(node: Node, places: Sequence[Span], span: Span) -> Node:
    """Equal rows once. `places`: where the columns stand. Raises CompileError for types without equality."""
    for place, each in zip(places, node.schema, strict=True):
        if not scalars.is_ordered(each.type):
            raise CompileError([K018.at(place, "", type=each.type).because("Different rows are told by their values.")])
    keys = tuple(Named(each.name, make_column(each.name), each.type) for each in node.schema)
    return GroupAggregate(schema=node.schema, shape=KStream(), span=span, input=node, keys=keys, aggregates=())
