"""UNION, INTERSECT and EXCEPT of tables -> groups of equal rows, which know how many rows of each side they have."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from penstock.diagnostics import CompileError, Diagnostic
from penstock.diagnostics.codes.building import B002
from penstock.diagnostics.codes.joins import J007
from penstock.diagnostics.codes.kinds import K018
from penstock.diagnostics.codes.syntax import S010
from penstock.parser import ast
from penstock.planner import scalars
from penstock.planner.lower.compound import LowerQuery, lower_branches, unite_tables
from penstock.planner.lower.context import Context
from penstock.planner.lower.intermediates import materialise_changes
from penstock.planner.plan import (
    Aggregate,
    Column,
    Filter,
    GroupAggregate,
    KStream,
    KTable,
    Named,
    Node,
    Project,
    conjunction,
    make_column,
)
from penstock.planner.plan.reserved import choose_unused_name
from penstock.planner.types import BIGINT


def lower_set_query(query: ast.SetQuery, context: Context, lower_query: LowerQuery) -> Node:
    """The different rows of UNION, INTERSECT or EXCEPT of two tables. Raises CompileError. Raises CompileError."""
    both = ast.UnionQuery((query.left, query.right), query.span)
    branches = lower_branches(both, context, lower_query)
    if not all(isinstance(each.shape, KTable) for each in branches):
        raise CompileError([explain_set_query(query, branches)])
    united = unite_tables(both, branches)
    assert isinstance(united.shape, KTable)
    branch, shown = united.shape.key[0], tuple(each for each in united.schema if not each.hidden)
    for each in shown:
        if not scalars.is_ordered(each.type):
            raise CompileError([K018.at(query.span, "", type=each.type).because("Different rows are told by values.")])
    names = tuple(each.name for each in shown)
    counts = [] if query.operation is ast.SetOperation.UNION else list_counts(names, branch)
    groups = GroupAggregate(
        schema=(*shown, *(Column(each.name, each.type) for each in counts)),
        shape=KTable(names),
        span=query.span,
        input=materialise_changes(united),
        keys=tuple(Named(each.name, make_column(each.name), each.type) for each in shown),
        aggregates=tuple(counts),
    )
    if not counts:
        return groups
    is_everywhere = query.operation is ast.SetOperation.INTERSECT
    one, other = (make_column(each.name) for each in counts)
    nothing = exp.Literal.number(0)
    in_right = exp.GT(this=other, expression=nothing) if is_everywhere else exp.EQ(this=other, expression=nothing)
    condition = conjunction([exp.GT(this=one, expression=nothing.copy()), in_right])
    assert condition is not None
    kept = Filter(schema=groups.schema, shape=groups.shape, span=query.span, input=groups, condition=condition)
    return Project(schema=shown, shape=groups.shape, span=query.span, input=kept, items=groups.keys)


def list_counts(names: Sequence[str], branch: str) -> list[Aggregate]:
    """How many rows of the left side, and how many of the right one, a group has."""
    counts: list[Aggregate] = []
    for number, name in ((1, "of_left"), (2, "of_right")):
        is_of_side = exp.EQ(this=make_column(branch), expression=exp.Literal.number(number))
        chosen = choose_unused_name(name, names)
        counts.append(Aggregate(chosen, "COUNT_IF", (is_of_side,), False, None, BIGINT))
    return counts


def explain_set_query(query: ast.SetQuery, branches: Sequence[Node]) -> Diagnostic:
    """The finding for what compares all rows of streams, or of windowed tables."""
    word, place = query.operation.value, query.left.span.to(query.right.span)
    are_streams = [isinstance(each.shape, KStream) for each in branches]
    if not any(are_streams):
        return B002.at(place, "", construct=f"{word} of windowed tables")
    if query.operation is ast.SetOperation.UNION:
        reason = "finding duplicates among all rows of a stream means to keep all of them forever"
        return S010.at(place).because(reason).with_hint("UNION ALL")
    kind = "SEMI" if query.operation is ast.SetOperation.INTERSECT else "ANTI"
    found = J007.at(place, "", construct=word)
    hint = f"LEFT {kind} JOIN, and ON the columns with a bound on the two event times"
    return found.with_hint(hint if all(are_streams) else None)
