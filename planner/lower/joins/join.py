"""AST joins -> plan joins. matrix.py says which are legal, the other modules lower them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from sqlglot import exp

from penstock.diagnostics import CompileError
from penstock.diagnostics.codes.event_time import W005
from penstock.diagnostics.codes.joins import J011, J015
from penstock.parser import ast, name_text
from penstock.planner.lower.context import Context
from penstock.planner.lower.from_rows import FromRows
from penstock.planner.lower.joins import matrix
from penstock.planner.lower.joins.conditions import split_conditions
from penstock.planner.lower.joins.lookup import explain_outside_join, lower_foreign_key, lower_lookup
from penstock.planner.lower.joins.primary_joins import explain_wrong_key, lower_primary_join
from penstock.planner.lower.joins.remote import find_remote_table
from penstock.planner.lower.joins.same_windows import match_windows
from penstock.planner.lower.joins.semi import lower_semi_join
from penstock.planner.lower.joins.sides import find_right_span, join_scopes, qualify_sides
from penstock.planner.lower.joins.streams import join_streams
from penstock.planner.plan import KStream, KTable, WTable, conjuncts
from penstock.planner.plan.texts import kind_text


def lower_join(
    join: ast.Join, left: FromRows, right: FromRows, where: Sequence[exp.Expression], context: Context
) -> FromRows:
    """The joined rows; their columns are called `alias.column`. An INNER join takes its WHERE into the condition."""
    check_matrix(join, left, right)
    check_times(join, left, right)
    if isinstance(left.node.shape, KStream) and isinstance(right.node.shape, KStream):
        return join_streams(join, left, right, where, context)
    return lower_table_join(join, left, right, where, context)


def check_matrix(join: ast.Join, left: FromRows, right: FromRows) -> None:
    """Raises CompileError where matrix.py has no such join, or ON is missing."""
    left_kind, right_kind = kind_text(left.node.shape), kind_text(right.node.shape)
    cell = matrix.find_cell(left.node.shape, right.node.shape)
    place = find_right_span(join)
    if isinstance(cell, matrix.Illegal):
        found = J011.at(place, "", left=f"a {left_kind}", right=f"a {right_kind}", kind=join.kind.value)
        raise CompileError([found.also(join.left.span, left_kind).because(cell.reason).with_hint(cell.hint)])
    if join.kind not in cell.kinds:
        found = J011.at(place, "", left=f"a {left_kind}", right=f"a {right_kind}", kind=join.kind.value)
        hints = [f"allowed here: {', '.join(kind.value for kind in cell.kinds)}"]
        if cell.reason is not None:
            found = found.because(cell.reason)
        if cell.hint is not None:
            hints.append(cell.hint.format(left=left.name, right=right.name))
        raise CompileError([found.also(join.left.span, left_kind).with_hint("; ".join(hints))])
    if join.on is None:
        hint = propose_equality(left, right) + (" AND the bound on the two event times" * cell.bounded)
        raise CompileError([J015.at(place, "", kind=join.kind.value).with_hint(hint)])


def check_times(join: ast.Join, left: FromRows, right: FromRows) -> None:
    """Raises CompileError for FOR SYSTEM_TIME AS OF where no row of a stream looks a row of a table up.

    Former rows are not kept for windowed tables.
    """
    looked_up = KTable if right.as_of_time is not None else KTable | WTable
    is_lookup = isinstance(left.node.shape, KStream) and isinstance(right.node.shape, looked_up)
    if left.as_of is not None:
        raise CompileError([explain_outside_join(join.left.span)])
    if right.as_of is not None and not is_lookup:
        raise CompileError([explain_outside_join(join.right.span)])


def propose_equality(left: FromRows, right: FromRows) -> str:
    """ON with columns that may be compared: a key of the right side first, and then what has the same name."""
    keys = {each.casefold() for each in getattr(right.node.shape, "key", ())}
    times = {(side.node.shape.time or "").casefold() for side in (left, right) if isinstance(side.node.shape, KStream)}
    pairs = [
        (one, other)
        for one, other in itertools.product(left.scope.columns, right.scope.columns)
        if one.type == other.type and not {one.name.casefold(), other.name.casefold()} & times
    ]
    if not pairs:
        return f"ON with an equality of a column of {left.name} and one of {right.name}"
    one, other = max(
        pairs, key=lambda pair: (pair[1].name.casefold() in keys, pair[0].name.casefold() == pair[1].name.casefold())
    )
    sides = ((one, left), (other, right))
    names = [f"{name_text(column.relation or rows.name)}.{name_text(column.name)}" for column, rows in sides]
    return f"ON {' = '.join(names)}"


def lower_table_join(
    join: ast.Join, left: FromRows, right: FromRows, where: Sequence[exp.Expression], context: Context
) -> FromRows:
    """A join in which one side or both are tables."""
    if join.within is not None:
        raise CompileError([W005.at(join.within.span, "", clause="WITHIN", needed="join of two streams")])
    left, right = qualify_sides(join, left, right)
    scope = join_scopes(left, right)
    parts, filters = conjuncts(join.on), list(where if join.kind is ast.JoinKind.INNER else ())
    shift, through = 0, frozenset[str]()
    both_windowed = isinstance(left.node.shape, WTable) and isinstance(right.node.shape, WTable)
    if both_windowed:
        shift, through, rest = match_windows(join, [*parts, *filters], left, right)
        parts, filters = ([each for each in some if any(each is one for one in rest)] for some in (parts, filters))
    equalities, conditions = split_conditions(join, parts, left, right, scope, context, filters)
    if join.kind in matrix.ONE_SIDED and find_remote_table(right.node) is None:
        return lower_semi_join(join, left, right, equalities, conditions)
    if isinstance(left.node.shape, KStream):
        return lower_lookup(join, left, right, equalities, conditions, context)
    if type(left.node.shape) is type(right.node.shape):
        joined = lower_primary_join(join, left, right, equalities, conditions, shift, through)
        if joined is not None:
            return joined
        if both_windowed:
            raise explain_wrong_key(join, right, [other for _, other in equalities])
    return lower_foreign_key(join, left, right, equalities, conditions, context)
