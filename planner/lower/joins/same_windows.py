"""Conditions of a join of two windowed tables -> how far apart the windows lie whose rows meet."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from penstock.diagnostics import CompileError
from penstock.diagnostics.codes.joins import J010, J011, J021
from penstock.parser import ast
from penstock.planner.durations import duration_text
from penstock.planner.lower.from_rows import FromRows
from penstock.planner.lower.joins import bounds
from penstock.planner.lower.joins.linear import Times
from penstock.planner.lower.joins.lookup import find_window
from penstock.planner.lower.joins.sides import find_right_span, join_scopes
from penstock.planner.plan import Hop, TableJoin, Tumble, WTable

Windows = tuple[int, frozenset[str], list[exp.Expression]]


def match_windows(join: ast.Join, parts: Sequence[exp.Expression], left: FromRows, right: FromRows) -> Windows:
    """By how much later (ms) the right windows count, the left window columns compared, and all other conditions.

    Windows are the same where nothing is said. Raises CompileError for windows that do not have one length, and for
    comparisons that are not a fixed distance.
    """
    lefts, rights = left.node.shape, right.node.shape
    assert isinstance(lefts, WTable)
    assert isinstance(rights, WTable)
    window, other = find_window(left.node), find_window(right.node)
    place = find_right_span(join)
    if window != other:
        reason = "they have different lengths"
        raise CompileError([J021.at(place, "", left=left.name, right=right.name, reason=reason)])
    size = window.size if isinstance(window, Tumble | Hop) else None
    rest = list(parts)
    distance: int | None = None
    compared: set[str] = set()
    for one, one_end in list_left_columns(left, lefts):
        for two, two_end in ((rights.start, False), (rights.end, True)):
            split = bounds.split_bound(rest, Times(join_scopes(left, right), one, two), exact=True)
            used, rest = split.used, list(split.rest)
            if not used:
                continue
            bound = split.ends.bound()
            if bound is None or bound.width or not (bound.lower.closed and bound.upper.closed):
                reason = "a row has to meet the rows of one window"
                found = J021.at(used[0].meta["span"], "", left=left.name, right=right.name, reason=reason)
                raise CompileError([found.with_sql(f"{two} = {one} - INTERVAL '7' DAY")])
            if one_end != two_end and size is None:
                reason = "their lengths differ from window to window"
                raise CompileError([J021.at(used[0].meta["span"], "", left=left.name, right=right.name, reason=reason)])
            found_distance = bound.lower.milliseconds + (size or 0) * (one_end - two_end)
            if distance is not None and distance != found_distance:
                found = J010.at(used[0].meta["span"], "").because("No two windows satisfy all of this at once.")
                raise CompileError([found])
            distance = found_distance
            compared.add(one)
    step = window.slide if isinstance(window, Hop) else size
    if distance and (step is None or distance % step):
        found = J010.at(place, "").because(f"Windows do not begin {duration_text(abs(distance))} apart.")
        raise CompileError([found])
    if distance and join.kind is not ast.JoinKind.LEFT:
        found = J011.at(place, "", left="a windowed table", right="windows shifted", kind=join.kind.value)
        raise CompileError([found.with_hint("allowed here: LEFT")])
    return -(distance or 0), frozenset(compared), rest


def list_left_columns(left: FromRows, shape: WTable) -> list[tuple[str, bool]]:
    """The window columns of the left side, and whether each is an end.

    A join of tables has window columns of each table.
    """
    if not isinstance(left.node, TableJoin):
        return [(shape.start, False), (shape.end, True)]
    sides = [each.input.shape for each in left.node.sides if not each.shift]
    return [pair for each in sides if isinstance(each, WTable) for pair in ((each.start, False), (each.end, True))]
