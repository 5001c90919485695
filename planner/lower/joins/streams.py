"""Joins of two streams, by keys and by a bound on the difference of their event times, which bounds.py reads."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace
from sqlglot import exp

from penstock.diagnostics import CompileError, Diagnostic
from penstock.diagnostics.codes.joins import J010
from penstock.parser import ast
from penstock.planner.durations import fixed_milliseconds, positive_milliseconds
from penstock.planner.lower.context import Context, resolve_condition
from penstock.planner.lower.from_rows import FromRows, require_event_time
from penstock.planner.lower.intermediates import materialise_input
from penstock.planner.lower.joins import bounds
from penstock.planner.lower.joins.conditions import find_side, split_conditions
from penstock.planner.lower.joins.join_times import JoinTimes
from penstock.planner.lower.joins.linear import Near, Times
from penstock.planner.lower.joins.near_misses import Attempt, find_near_miss
from penstock.planner.lower.joins.sides import add_filter, join_columns, join_scopes, qualify_sides
from penstock.planner.plan import (
    AssignWindows,
    BoundEnd,
    Filter,
    Hop,
    IntervalJoin,
    JoinType,
    KStream,
    Node,
    Project,
    TimeBound,
    Tumble,
    WindowAggregate,
    conjunction,
    conjuncts,
)
from penstock.planner.scalars.scopes import Scope

OPERATOR = "a stream-stream join"
SHORTEST_PANE = 1_000  # milliseconds; shorter ones cost more than they save

# The sides whose rows may be filtered before the join by a condition of ON on that side alone.
PUSHED = {
    ast.JoinKind.INNER: ("left", "right"),
    ast.JoinKind.LEFT: ("right",),
    ast.JoinKind.RIGHT: ("left",),
    ast.JoinKind.FULL: (),
    ast.JoinKind.SEMI: ("left", "right"),
    ast.JoinKind.ANTI: ("right",),
}


def join_streams(
    join: ast.Join, left: FromRows, right: FromRows, where: Sequence[exp.Expression], context: Context
) -> FromRows:
    """The joined rows of two streams; an INNER join takes its WHERE into the condition. Raises CompileError."""
    require_event_time(left, OPERATOR, join.left.span)
    require_event_time(right, OPERATOR, join.right.span)
    left, right = qualify_sides(join, left, right)
    is_inner = join.kind is ast.JoinKind.INNER
    parts = [*conjuncts(join.on), *(where if is_inner else ())]
    times = find_compared_times(parts, left, right)
    grace = None if join.within is None else join.within.grace
    derived = derive_bound(parts, left, right)
    if derived is None or bounds.split_bound(parts, times).ends.bound() is not None:
        try:
            bound, rest = find_time_bound(join, parts, [] if is_inner else where, times)
        except CompileError as error:
            raise CompileError(collect_problems(error, join, parts, left, right, times.scope, context)) from None
    else:
        (times, bound), rest = derived, parts
    equalities, conditions = split_conditions(join, rest, left, right, times.scope, context)
    pushed = PUSHED[join.kind]
    residual: list[exp.Expression] = []
    filters: dict[str, list[exp.Expression]] = {"left": [], "right": []}
    for resolved in conditions:
        side = find_side(resolved, left.node, right.node)
        (filters[side] if side in pushed else residual).append(resolved)
    one_sided = join.kind in (ast.JoinKind.SEMI, ast.JoinKind.ANTI)
    type_ = JoinType[join.kind.name]
    crossing = any(not find_side(each, left.node, right.node) for each in residual)
    pane = None if crossing and not is_inner else choose_pane(type_, bound)
    joined = JoinTimes(type_, bound, pane, stream_shape(left), stream_shape(right), times.left, times.right)
    key = tuple(each.name for each, _ in equalities if isinstance(each, exp.Column))
    node = IntervalJoin(
        schema=join_columns(type_, left.node.schema, right.node.schema),
        shape=KStream(key, joined.times(), joined.near_times()),
        span=join.span,
        left=materialise_input(add_filter(left.node, filters["left"]), times.left),
        right=materialise_input(add_filter(right.node, filters["right"]), times.right),
        type=type_,
        equalities=tuple(equalities),
        left_time=times.left,
        right_time=times.right,
        bound=bound,
        residual=conjunction(residual),
        pane=pane,
        grace=0 if grace is None else positive_milliseconds(grace, "grace period", least=0),
    )
    scope = left.scope if one_sided else times.scope
    return FromRows(node, scope, f"{left.name} and {right.name}")


def find_compared_times(parts: Sequence[exp.Expression], left: FromRows, right: FromRows) -> Times:
    """The event times that the conditions bound the difference of; the default ones if they bound none."""
    scope = join_scopes(left, right)
    near = find_window_columns(left.node) | find_window_columns(right.node)
    ends = find_window_ends(left.node) | find_window_ends(right.node)
    pairs = [
        Times(scope, one.column, other.column, near, ends)
        for one in stream_shape(left).times
        for other in stream_shape(right).times
    ]
    return next((times for times in pairs if bounds.split_bound(parts, times).ends.bound()), pairs[0])


def derive_bound(parts: Sequence[exp.Expression], left: FromRows, right: FromRows) -> tuple[Times, TimeBound] | None:
    """The bound that follows where a right time is bounded by a left column that is near to the left event time.

    That column is the time of a row which may be missing, as in `a LEFT JOIN b LEFT JOIN c ON … b.time …`.
    """
    scope = join_scopes(left, right)
    for near in stream_shape(left).near_times:
        for other in stream_shape(right).times:
            found = bounds.split_bound(parts, Times(scope, near.column, other.column)).ends.bound()
            if found is not None:
                lower = BoundEnd(found.lower.milliseconds + near.offset_min, found.lower.closed)
                upper = BoundEnd(found.upper.milliseconds + near.offset_max, found.upper.closed)
                times = Times(scope, stream_shape(left).times[0].column, other.column)
                return times, TimeBound(lower, upper)
    return None


def find_window_columns(node: Node) -> dict[str, Near]:
    """The columns of a stream that are the start or the end of a window around its event time."""
    if isinstance(node, AssignWindows):
        size = 1_000 * node.window.size
        start, end = node.schema[-2:]
        return {start.name: Near(node.time, size - 1, 0), end.name: Near(node.time, 0, size)}
    below = find_window_columns(node.input) if isinstance(node, Filter | Project) else {}
    if not isinstance(node, Project):
        return below
    kept = [(each.name, each.value.name) for each in node.items if isinstance(each.value, exp.Column)]
    names = {source: name for name, source in kept}
    found = [(name, below[source]) for name, source in kept if source in below]
    return {name: replace(near, time=names[near.time]) for name, near in found if near.time in names}


def find_window_ends(node: Node) -> dict[str, int]:
    """The end of the windows that a stream of groups has, and their size in milliseconds."""
    while isinstance(node, Filter | Project):
        node = node.input
    if not isinstance(node, WindowAggregate) or not isinstance(node.window, Tumble | Hop):
        return {}
    return {"window_end": node.window.size}


def stream_shape(rows: FromRows) -> KStream:
    assert isinstance(rows.node.shape, KStream)
    return rows.node.shape


def choose_pane(type_: JoinType, bound: TimeBound) -> int | None:
    """How long the panes of a join are: its reach, so that every row is kept about twice. None if panes do not pay.

    They do not where partners are far apart: a pane would hold all that lies between them.
    """
    back, forward = bound.reach(type_)
    return max(back + forward, SHORTEST_PANE) if back + forward <= 2 * max(bound.width, SHORTEST_PANE) else None


def collect_problems(
    bound: CompileError,
    join: ast.Join,
    parts: Sequence[exp.Expression],
    left: FromRows,
    right: FromRows,
    scope: Scope,
    context: Context,
) -> list[Diagnostic]:
    """What is wrong with the bound and with the other conditions; only the unknown names where there are any.

    An unknown name may be the bound that is missing.
    """
    try:
        split_conditions(join, parts, left, right, scope, context)
    except CompileError as others:
        names = [each for each in others.diagnostics if each.code.startswith("N")]
        return names or [*bound.diagnostics, *(each for each in others.diagnostics if each not in bound.diagnostics)]
    return list(bound.diagnostics)


def find_time_bound(
    join: ast.Join,
    parts: Sequence[exp.Expression],
    where: Sequence[exp.Expression],
    times: Times,
) -> tuple[TimeBound, list[exp.Expression]]:
    """The bound of the join, and the conjuncts that it does not stand for."""
    split = bounds.split_bound(parts, times)
    ends, used = split.ends, split.used
    for part in used:
        resolve_condition(part, times.scope, "ON")
    if join.within is not None:
        before = fixed_milliseconds(join.within.before, "time bound")
        after = fixed_milliseconds(join.within.after, "time bound")
        ends = ends.meet(bounds.bound_within(before, after))
    bound = ends.bound()
    if bound is None:
        others = [part for part in split.rest if part not in used]
        raise CompileError([find_near_miss(Attempt(join, times, ends, used, others, where))])
    if bounds.is_empty(bound):
        places = [part.meta["span"] for part in used] or [join.span]
        found = J010.at(places[0], "")
        for place in places[1:]:
            found = found.also(place)
        raise CompileError([found.because("No two times satisfy all of this at once.")])
    return bound, list(split.rest)
