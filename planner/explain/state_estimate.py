"""Operators and the rates of their streams -> how many rows and bytes each keeps when it keeps most.

Windows and panes keep most at the moment before one closes. A micro-batch is taken to hold the rows of one interval
of the trigger. It is as far behind the watermark, because Spark moves the watermark after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

import msgspec
from sqlglot import exp

from penstock.planner.explain.open_windows import sum_growing_windows, sum_windows
from penstock.planner.explain.rates import Flow, Rates, UnknownFlow, find_flow
from penstock.planner.explain.state_bytes import (
    ENTRY,
    SESSION_ENTRY,
    TABLE_ENTRY,
    is_collected,
    list_kept,
    packed_bytes,
    row_bytes,
    table_bytes,
    value_bytes,
)
from penstock.planner.physical.choose import choose
from penstock.planner.physical.state_place import state_store
from penstock.planner.plan import (
    Cumulate,
    Distinct,
    ForeignKeyJoin,
    GroupAggregate,
    Hop,
    IntervalJoin,
    JoinType,
    Latest,
    Node,
    Over,
    OverRows,
    Ranked,
    RunningQuery,
    SessionWindow,
    Settings,
    Stateful,
    StateStore,
    TableJoin,
    TableLookup,
    TableRanked,
    Tumble,
    WindowAggregate,
)
from penstock.planner.plan.walk import find_assigned_windows, is_retracting
from penstock.planner.scalars.find_type import find_type
from penstock.planner.state import find_delay
from penstock.planner.types import BIGINT, BOOLEAN, Struct, Type

_BUCKETS = 16
"""The buckets of rows in panes, and for each partition of the state, of tables of sessions."""
_SPREAD = 4
"""A join one by one has buckets of time that are so many times as long as its bound, and at least a second."""
_WINDOW = Struct((("start", BIGINT), ("end", BIGINT)))
_NO_GROUPS = "how many groups there are does not follow from a rate"


class StateEstimate(msgspec.Struct, frozen=True):
    """What an operator keeps at its peak. `is_exact`: not merely a limit. `is_packed`: in tables of several rows."""

    rows: float
    bytes: float
    is_exact: bool
    streams: tuple[str, ...]
    is_packed: bool = False


class _Times(msgspec.Struct, frozen=True):
    """Seconds of event time: a micro-batch, and how far behind the newest row the watermark is when it ends."""

    batch: float
    lag: float


def estimate_state(
    node: Stateful, query: RunningQuery, settings: Settings, rates: Rates
) -> StateEstimate | UnknownFlow:
    """The rows and bytes that the operator keeps at its peak, or why they are not known."""
    if isinstance(node, Latest | TableJoin | ForeignKeyJoin | TableLookup | TableRanked):
        return UnknownFlow("how many keys a table has does not follow from a rate")
    flows = []
    for below in node.inputs:
        flow = find_flow(below, rates)
        if isinstance(flow, UnknownFlow):
            return flow
        flows.append(flow)
    batch = settings.realtime_batch if settings.real_time else query.every or settings.trigger_interval
    lag = max(map(find_delay, node.inputs)) + choose(node).grace + batch
    times = _Times(batch / 1000, lag / 1000)
    on_heap = state_store(node, settings) is StateStore.MEMORY
    match node:
        case IntervalJoin() if node.pane is not None:
            return _estimate_pane_join(node, node.pane, flows, times, on_heap=on_heap)
        case IntervalJoin():
            return _estimate_join(node, flows, times, on_heap=on_heap)
        case WindowAggregate() if node.merges_partials:
            return UnknownFlow("how many groups a micro-batch has does not follow from a rate")
        case WindowAggregate() if node.rows_leave:
            return _estimate_session_table(node, flows[0], times, settings.state_partitions, on_heap=on_heap)
        case WindowAggregate():
            return _estimate_windows(node, flows[0], times, on_heap=on_heap)
        case GroupAggregate():
            collects = node.keeps_values or any(map(is_collected, node.aggregates))
            if node.keys or collects or is_retracting(node):
                return UnknownFlow(_NO_GROUPS if node.keys else "how many different values there are is not known")
            kept = sum(each.entry.sketch_bytes for each in node.aggregates) + row_bytes(_kept_types(node))
            return StateEstimate(1, ENTRY * on_heap + kept, True, flows[0].streams)
        case Distinct():
            rows = flows[0].rate * times.lag
            key = row_bytes([*(each.type for each in node.schema if each.name != node.time), _WINDOW])
            return StateEstimate(rows, rows * (ENTRY * on_heap + key), False, flows[0].streams)
        case Over():
            length = _seconds(node.back + node.pane + node.forward)
            cuts = len({-node.back % node.pane, node.forward % node.pane}) / _seconds(node.pane)
            side = _PackedSide(flows[0], _types(node.input), sum_windows(length, _seconds(node.pane), times.lag))
            buckets = _BUCKETS if node.partition_by else 1
            size = _packed_size(side, times, buckets, cuts, on_heap=on_heap)
            rows = flows[0].rate * (length + times.lag)
            return StateEstimate(rows, size, flows[0].is_exact, flows[0].streams, is_packed=True)
        case Ranked():
            length = _seconds(node.pane or 0)
            held = times.lag if node.pane is None else sum_windows(length, length, times.lag)
            side, buckets = _PackedSide(flows[0], _types(node.input), held), _BUCKETS if _has_keys(node) else 1
            # Without panes, each time has tables of its own.
            cuts = flows[0].rate if node.pane is None else 1 / length
            size, rows = _packed_size(side, times, buckets, cuts, on_heap=on_heap), flows[0].rate * (length + times.lag)
            return StateEstimate(rows, size, flows[0].is_exact, flows[0].streams, is_packed=True)
        case OverRows():
            if node.partition_by:
                return UnknownFlow("how many partitions have last rows does not follow from a rate")
            rows = flows[0].rate * times.lag
            size = rows * packed_bytes(_types(node.input)) + 2 * table_bytes(_types(node.input)) + TABLE_ENTRY * on_heap
            return StateEstimate(rows, size, flows[0].is_exact, flows[0].streams, is_packed=True)
        case _:
            assert_never(node)


def _has_keys(node: Ranked) -> bool:
    """Whether rows are ranked by more than their window."""
    assigned, names = find_assigned_windows(node.input)
    windows = set() if assigned is None else {names.get(each.name) for each in assigned.schema[-2:]}
    return any(not isinstance(each, exp.Column) or each.name not in windows for each in node.partition_by)


def _estimate_windows(
    node: WindowAggregate, flow: Flow, times: _Times, *, on_heap: bool
) -> StateEstimate | UnknownFlow:
    """The state of Spark's own aggregation. There are at most as many groups as rows."""
    keys = [each.type for each in node.schema[: len(node.keys)]]
    value = row_bytes(_kept_types(node)) + sum(each.entry.sketch_bytes for each in node.aggregates)
    entry = ENTRY + row_bytes([*keys, _WINDOW])
    match node.window:
        case SessionWindow(gap):
            rows = flow.rate * (_seconds(gap) + times.lag)
            entry, value = SESSION_ENTRY + row_bytes([*keys, BIGINT]), value + row_bytes([*keys, _WINDOW])
            windows = times.lag // _seconds(gap) + 2
        case Cumulate(step, size):
            rows = flow.rate * sum_growing_windows(_seconds(size), _seconds(step), times.lag)
            windows = (times.lag + _seconds(size)) // _seconds(step) + 1
        case Tumble(size):
            rows = flow.rate * sum_windows(_seconds(size), _seconds(size), times.lag)
            windows = (times.lag + _seconds(size)) // _seconds(size) + 1
        case Hop(slide, size):
            rows = flow.rate * sum_windows(_seconds(size), _seconds(slide), times.lag)
            windows = (times.lag + _seconds(size)) // _seconds(slide) + 1
        case _:
            assert_never(node.window)
    if not on_heap:
        entry -= ENTRY if not isinstance(node.window, SessionWindow) else SESSION_ENTRY
    groups = rows if node.keys else min(rows, windows)
    collected = 0.0
    for each in node.aggregates:
        if is_collected(each):
            types = [find_type(part, node.input) for part in each.arguments]
            collected += sum(value_bytes(type_) for type_ in types if type_ is not None)
    is_exact = not node.keys and not collected and not isinstance(node.window, SessionWindow)
    return StateEstimate(groups, groups * (entry + value) + rows * collected, is_exact, flow.streams)


def _estimate_session_table(
    node: WindowAggregate, flow: Flow, times: _Times, partitions: int, *, on_heap: bool
) -> StateEstimate:
    """The state of sessions in buckets. Each session has its key, a count, its times, and exact sums or values."""
    assert isinstance(node.window, SessionWindow)
    keys = [each.type for each in node.schema[: len(node.keys)]]
    fields = [*keys, BOOLEAN, *[BIGINT] * 4, *_kept_types(node)]
    rows = flow.rate * (_seconds(node.window.gap) + times.lag)
    buckets = min(rows, partitions * _BUCKETS) if keys else 1
    size = rows * packed_bytes(fields) + buckets * (table_bytes(fields) + TABLE_ENTRY * on_heap)
    return StateEstimate(rows, size, False, flow.streams, is_packed=True)


def _estimate_join(node: IntervalJoin, flows: Sequence[Flow], times: _Times, *, on_heap: bool) -> StateEstimate:
    """The state of Spark's own join: rows of each side, by key and number, and the number of rows of each key."""
    left, right = (
        max(_seconds(reach) + times.lag, 0) for reach in (node.bound.upper.milliseconds, -node.bound.lower.milliseconds)
    )
    # Rows that can meet rows of two buckets are kept in both.
    if node.type is JoinType.RIGHT:
        left += _sum_shared(left, _seconds(node.bound.width))
    elif node.type is not JoinType.FULL:
        right += _sum_shared(right, _seconds(node.bound.width))
    left, right = left * flows[0].rate, right * flows[1].rate
    size = 0.0
    compared = [find_type(one, node.left) or BIGINT for one, _ in node.equalities]
    key = row_bytes([*compared, BIGINT])
    for rows, side in zip((left, right), node.inputs, strict=True):
        stored = row_bytes([*_types(side), BIGINT, BIGINT])
        size += rows * (2 * ENTRY * on_heap + 2 * key + stored + row_bytes([BIGINT]))
    is_exact = all(each.is_exact for each in flows)
    return StateEstimate(left + right, size, is_exact, _streams(flows))


def _sum_shared(held: float, width: float) -> float:
    """The most seconds, among the `held` ones, whose rows are in two buckets. There is a stretch of them in each."""
    length = max(1.0, _SPREAD * width)
    whole = held // length
    return whole * width + min(width, held - whole * length)


def _estimate_pane_join(
    node: IntervalJoin, pane: int, flows: Sequence[Flow], times: _Times, *, on_heap: bool
) -> StateEstimate:
    """Both sides keep rows in windows that reach beyond a pane.

    The side of the panes is in one window, the other in all.
    """
    back, forward = node.bound.reach(node.type)
    length, step = _seconds(back + pane + forward), _seconds(pane)
    in_all = sum_windows(length, step, times.lag)
    in_own = sum_windows(length, step, times.lag, begin=_seconds(back), own=step)
    seconds = {JoinType.RIGHT: (in_all, in_own), JoinType.FULL: (in_all, in_all)}.get(node.type, (in_own, in_all))
    cuts = len({0, -back % pane, forward % pane}) / step
    keys = [find_type(one, node.left) or BIGINT for one, _ in node.equalities]
    both = [Struct(tuple((each.name, each.type) for each in side.schema)) for side in node.inputs]
    size = 0.0
    for place, flow in enumerate(flows):
        # A row has the columns of the other side, too. They are NULL, which takes nothing but their part of the table.
        held = [BIGINT, BOOLEAN, BOOLEAN, *keys, both[place]]
        side = _PackedSide(flow, held, seconds[place], (*held, both[1 - place]))
        size += _packed_size(side, times, _BUCKETS if keys else 1, cuts, on_heap=on_heap)
    own, other = step + _seconds(forward) + times.lag, length + times.lag
    reaches = {JoinType.RIGHT: (other, own), JoinType.FULL: (other, other)}.get(node.type, (own, other))
    rows = sum(flow.rate * reach for flow, reach in zip(flows, reaches, strict=True))
    return StateEstimate(rows, size, all(each.is_exact for each in flows), _streams(flows), is_packed=True)


class _PackedSide(msgspec.Struct, frozen=True):
    """Rows of one stream in tables.

    `seconds`: the event time that the rows cover. It counts once for each window that holds the rows.
    """

    flow: Flow
    types: Sequence[Type]
    seconds: float
    fields: Sequence[Type] = ()
    """The fields of the tables, where rows have more of them than values."""


def _packed_size(side: _PackedSide, times: _Times, buckets: int, cuts: float, *, on_heap: bool) -> float:
    """The bytes of all tables. In a micro-batch, each bucket and task has one table. `cuts`: more per second."""
    flow = side.flow
    tables = min(flow.rate, flow.tasks * buckets * (1 / times.batch + cuts))
    each = table_bytes(side.fields or side.types) + TABLE_ENTRY * on_heap
    return side.seconds * (flow.rate * packed_bytes(side.types) + tables * each)


def _types(node: Node) -> list[Type]:
    return [each.type for each in node.schema]


def _kept_types(node: WindowAggregate | GroupAggregate) -> list[Type]:
    return [type_ for each in node.aggregates for type_ in list_kept(each, node.input)]


def _streams(flows: Sequence[Flow]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(stream for each in flows for stream in each.streams))


def _seconds(milliseconds: int) -> float:
    return milliseconds / 1000
