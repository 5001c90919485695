"""Hypothesis strategies: streams with disorder and micro-batch borders, and plans to run over them.

Times are whole seconds of a short span and keys are few, so that ties, matches, and times equal to a bound, a window's
end or the watermark come up all the time. Rows are mostly within the declared delay, sometimes beyond it (late),
without a time (rejected), or copies of an earlier row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from sqlglot import exp

from penstock.codegen.sql.trees import call
from penstock.evaluator.history import History, Tables
from penstock.evaluator.typed_values import Row, milliseconds
from penstock.planner import types as t
from penstock.planner.plan import (
    Cumulate,
    Distinct,
    Emission,
    Filter,
    Frame,
    Hop,
    IntervalJoin,
    JoinType,
    Node,
    Over,
    OverRows,
    RowsFrame,
    Scan,
    SessionWindow,
    TimeBound,
    Tumble,
    UnionAll,
    Window,
    WindowAggregate,
)
from tests.model import plans
from tests.model.plans import NOWHERE, STREAM, column

SECOND = 1000
BASE = datetime(2026, 1, 1, 0, 0, 7)
COLUMNS: Mapping[str, t.Type] = {
    "id": t.BIGINT, "k": t.STRING, "v": t.BIGINT, "price": t.Decimal(10, 2), "time": t.TIMESTAMP
}  # fmt: skip
LONGEST_DELAY = 4  # seconds

tried: Counter[str] = Counter()
"""Histories run so far, by what was run over them."""


@st.composite
def arrivals(draw: st.DrawFn, delay: int, max_rows: int, orderly: bool) -> list[tuple[int, Row]]:
    """Rows of one input in order of arrival, each with the number of its micro-batch. `delay` in seconds.

    The disorder of `orderly` rows is at most the delay, and all have a time.
    """
    clock, number = draw(st.integers(0, 3)), 0
    result: list[tuple[int, Row]] = []
    behind = (0, *range(delay + 1), delay, delay)  # rows at the watermark itself are the ones that bounds forget
    if not orderly and draw(st.booleans()):
        behind += (-1, delay + 1, delay + 2, delay + 5)
    shape = st.tuples(
        st.sampled_from((0, 0, 1, 1, 2, 4)),  # seconds since the newest row
        st.sampled_from(behind),  # seconds behind it, -1: without a time
        st.sampled_from(("a", "a", "a", "b", None)),
        st.none() | st.integers(-3, 3),
        st.none() | st.decimals(-2, 2, places=2),
        st.sampled_from((0, 0, 0, 1, 1, 2)),  # borders before the row
        st.integers(0, 7),  # 0: a copy of an earlier row
    )
    least = draw(st.sampled_from((0, max_rows // 2, max_rows - 2)))
    rows = st.lists(shape, min_size=least, max_size=max_rows)
    for identity, (ahead, lag, key, v, price, borders, copied) in enumerate(draw(rows)):
        clock, number = clock + ahead, number + borders
        time = None if lag < 0 else BASE + milliseconds((clock - lag) * SECOND)
        row: Row = {"id": identity, "k": key, "v": v, "price": price, "time": time}
        earlier = result[len(result) // 2][1] if copied == 0 and result else row
        behind_at_most = BASE + milliseconds((clock - delay) * SECOND)
        result.append((number, row if orderly and earlier["time"] < behind_at_most else dict(earlier)))
    return result


@st.composite
def histories(draw: st.DrawFn, delays: Mapping[str, int], max_rows: int = 10, orderly: bool = False) -> History:
    """A history of inputs with the given watermark delays in seconds."""
    streams = {name: draw(arrivals(delay, max_rows, orderly)) for name, delay in delays.items()}
    last = max((number for rows in streams.values() for number, _ in rows), default=0)
    batches: list[Tables] = [{name: [] for name in streams} for _ in range(last + 1)]
    for name, rows in streams.items():
        for number, row in rows:
            batches[number][name].append(row)
    return History(tuple(batches))


def stream(name: str, delay: int) -> Scan:
    """A declared stream with the columns of these histories; `delay` in seconds."""
    return plans.scan(name, dict(COLUMNS), delay=delay * SECOND)


@st.composite
def perhaps_filtered(draw: st.DrawFn, node: Node) -> Node:
    """The node, or its rows with `v > 0`."""
    if draw(st.integers(0, 3)):
        return node
    condition = exp.GT(this=column("v"), expression=exp.Literal.number(0))
    return Filter(schema=node.schema, shape=node.shape, span=NOWHERE, input=node, condition=condition)


residuals: SearchStrategy[exp.Expression | None] = st.sampled_from(
    (
        *[None] * 4,
        exp.LT(this=column("l.v"), expression=column("r.v")),
        exp.NullSafeNEQ(this=column("l.v"), expression=column("r.v")),
        exp.Or(
            this=exp.GT(this=column("l.price"), expression=column("r.price")),
            expression=exp.Is(this=column("r.v"), expression=exp.Null()),
        ),
        exp.GT(this=exp.Add(this=column("l.v"), expression=column("r.v")), expression=exp.Literal.number(0)),
    )
)


one_sided: SearchStrategy[exp.Expression | None] = st.sampled_from(
    (
        exp.GT(this=column("l.v"), expression=exp.Literal.number(0)),
        exp.And(
            this=exp.LT(this=column("r.v"), expression=exp.Literal.number(2)),
            expression=exp.Not(this=exp.Is(this=column("l.price"), expression=exp.Null())),
        ),
    )
)
mostly = st.sampled_from((True, True, False))


@st.composite
def bounds(draw: st.DrawFn) -> TimeBound:
    """Bounds around zero, on one side of it, of a single point, and (open ones) without any."""
    lower = draw(st.integers(-5, 3))
    upper = lower + draw(st.sampled_from((0, 1, 2, 3, 5, 8)))
    return plans.bound(lower * SECOND, upper * SECOND, draw(mostly), draw(mostly))


@st.composite
def joins(draw: st.DrawFn, type_: JoinType, at_once: int = 1) -> tuple[IntervalJoin, History]:
    """An interval join of two streams, and histories of both, side by side; every other one ends at an edge."""
    delays = {"a": draw(st.integers(0, LONGEST_DELAY)), "b": draw(st.integers(0, LONGEST_DELAY))}
    left, right = (draw(perhaps_filtered(stream(name, delay))) for name, delay in delays.items())
    bound, residual = draw(bounds()), draw(one_sided | residuals)
    crossing = residual is not None and len({each.name[0] for each in residual.find_all(exp.Column)}) == 2
    # A condition on both sides decides who is a partner, which panes leave to the joined rows.
    in_panes = draw(mostly) and (type_ is JoinType.INNER or not crossing)
    pane = draw(seconds(1, 6)) if in_panes else None
    grace = draw(st.sampled_from((0, 0, 1, 3)))
    join = plans.interval_join(type_, left, right, bound, residual, pane=pane, grace=grace * SECOND)
    in_time = {name: delay + grace for name, delay in delays.items()}
    history = side_by_side([draw(histories(in_time)) for _ in range(at_once)])
    reach = {"a": join.bound.upper.milliseconds, "b": -join.bound.lower.milliseconds}
    waiting = draw(st.sampled_from(("a", "b", None, None)))
    return join, history if waiting is None else at_the_edge(history, in_time, waiting, reach[waiting])


def side_by_side(drawn: Sequence[History]) -> History:
    """Histories of the same inputs in the same micro-batches, each with keys and numbers of its own."""
    batches: list[Tables] = [
        {name: [] for name in drawn[0].batches[0]} for _ in range(max(len(each.batches) for each in drawn))
    ]
    for place, history in enumerate(drawn):
        for into, batch in zip(batches, history.batches, strict=False):
            for name, rows in batch.items():
                own = ({**row, "id": row["id"] + 100 * place, "k": row["k"] and row["k"] * (place + 1)} for row in rows)
                into[name] += own
    return History(tuple(batches))


def at_the_edge(history: History, delays: Mapping[str, int], waiting: str, reach: int) -> History:
    """The history and three more micro-batches, in which the newest row of `waiting` meets its last possible match.

    In the first the watermark moves to that match's time, in the second nothing comes, in the third the match does.
    """
    rows = [row for row in history.tables()[waiting] if row["time"] is not None]
    if not rows:
        return history
    newest = max(rows, key=lambda row: row["time"])
    edge = newest["time"] + milliseconds(reach)
    match: Row = newest | {"id": -1, "time": edge}
    (other,) = delays.keys() - {waiting}
    push: Tables = {
        name: [{**newest, "id": -2, "k": None, "time": edge + milliseconds(delay * SECOND)}]
        for name, delay in delays.items()
    }
    return History((*history.batches, push, {waiting: [], other: []}, {waiting: [], other: [match]}))


@st.composite
def sources(draw: st.DrawFn) -> tuple[Node, dict[str, int]]:
    """One stream, or two of them with UNION ALL, and the delays."""
    delays = {"a": draw(st.integers(0, LONGEST_DELAY))}
    if draw(st.integers(0, 3)):
        return draw(perhaps_filtered(stream("a", delays["a"]))), delays
    delays["b"] = draw(st.integers(0, LONGEST_DELAY))
    scans = tuple(stream(name, delay) for name, delay in delays.items())
    return UnionAll(schema=scans[0].schema, shape=STREAM, span=NOWHERE, inputs=scans), delays


def seconds(least: int, most: int) -> SearchStrategy[int]:
    """A length in milliseconds that is a whole number of seconds."""
    return st.integers(least, most).map(lambda n: n * SECOND)


hops: SearchStrategy[Window] = st.builds(lambda slide, more: Hop(slide, slide + more), seconds(1, 5), seconds(0, 7))
windows: Mapping[str, SearchStrategy[Window]] = {
    "tumble": st.builds(Tumble, seconds(1, 8)),
    "hop": hops,
    "cumulate": st.builds(lambda step, times: Cumulate(step, step * times), seconds(1, 4), st.integers(1, 4)),
    "session": st.builds(SessionWindow, seconds(1, 4)),
}


@st.composite
def window_aggregates(draw: st.DrawFn, kind: str) -> tuple[WindowAggregate, History]:
    """An aggregate over windows of one kind, and a history."""
    source, delays = draw(sources())
    node = plans.window_aggregate(
        source,
        draw(windows[kind]),
        (
            *plans.standard_aggregates(),
            *plans.distinct_aggregates(),
            *plans.collecting_aggregates(),
            *plans.tie_aggregates(),
        ),
        keys=draw(st.sampled_from(((), ("k",), ("k", "v")))),
        emission=Emission.FINAL if kind == "session" else draw(st.sampled_from(Emission)),
        grace=draw(st.sampled_from((0, 0, 2 * SECOND))),
    )
    return node, draw(histories(delays, max_rows=14))


@st.composite
def changing_sessions(draw: st.DrawFn) -> tuple[WindowAggregate, History]:
    """An aggregate over sessions that are sent as they change, and a history."""
    source, delays = draw(sources())
    few = plans.standard_aggregates()[:2]  # for these no values are kept
    every = (*plans.standard_aggregates(), *plans.distinct_aggregates(), *plans.other_aggregates())
    node = plans.window_aggregate(
        source,
        draw(windows["session"]),
        draw(st.sampled_from((every, few))),
        keys=draw(st.sampled_from(((), ("k",), ("k",), ("k", "v")))),
        emission=Emission.CHANGES,
        grace=draw(st.sampled_from((0, 0, 2 * SECOND))),
    )
    return node, draw(histories(delays, max_rows=14))


SETS = (("k", "v"), ("k",), ("v",), ())


@st.composite
def grouped_by_sets(draw: st.DrawFn) -> tuple[WindowAggregate, History]:
    """An aggregate over windows by some sets of two keys, and a history."""
    source, delays = draw(sources())
    sets = draw(st.lists(st.sampled_from(SETS), min_size=1, unique=True))
    kind = draw(st.sampled_from(list(windows)))
    node = plans.window_aggregate(
        plans.grouping_sets(source, ("k", "v"), sets),
        draw(windows[kind]),
        (*plans.standard_aggregates()[:4], *plans.distinct_aggregates()[:3]),
        keys=("set_k", "set_v", "set_id"),
        emission=Emission.FINAL if kind == "session" else draw(st.sampled_from(Emission)),
    )
    return node, draw(histories(delays))


@st.composite
def distinct_rows(draw: st.DrawFn) -> tuple[Distinct, History]:
    """Some columns of a stream, of which many rows are equal, and a history."""
    source, delays = draw(sources())
    shown = draw(st.sampled_from((("k", "time"), ("time",), ("time", "k", "price"))))
    items = plans.project(source, [(name, column(name), source.column(name).type) for name in shown])
    return plans.distinct(items), draw(histories(delays, max_rows=14))


@st.composite
def united_windows(draw: st.DrawFn) -> tuple[UnionAll, History]:
    """The final rows of two windows of one stream or of two, each with a grace period of its own, and a history."""
    delays = {name: draw(st.integers(0, LONGEST_DELAY)) for name in draw(st.sampled_from(("a", "ab")))}
    names = (min(delays), max(delays))
    branches = tuple(
        plans.window_aggregate(
            draw(perhaps_filtered(stream(name, delays[name]))),
            draw(windows[draw(st.sampled_from(list(windows)))]),
            plans.standard_aggregates()[:4],
            grace=draw(st.sampled_from((0, SECOND, 3 * SECOND))),
        )
        for name in names
    )
    union = UnionAll(schema=branches[0].schema, shape=STREAM, span=NOWHERE, inputs=branches)
    return union, draw(histories(delays, max_rows=14))


@st.composite
def rows_of_windows(draw: st.DrawFn) -> tuple[UnionAll, History]:
    """The rows of one stream with their windows of all kinds, some filtered by these, and a history with times only."""
    delay = draw(st.integers(0, LONGEST_DELAY))
    scan = stream("a", delay)
    branches: list[Node] = []
    for kind in ("tumble", "hop", "cumulate"):
        window = draw(windows[kind])
        assert not isinstance(window, SessionWindow)
        rows = plans.assign_windows(scan, window)
        early = exp.LT(this=column("window_start"), expression=column("time"))
        filtered = Filter(schema=rows.schema, shape=rows.shape, span=NOWHERE, input=rows, condition=early)
        branches.append(filtered if draw(st.booleans()) else rows)
    union = UnionAll(schema=branches[0].schema, shape=STREAM, span=NOWHERE, inputs=tuple(branches))
    return union, with_times(draw(histories({"a": delay})))


ELEMENTS: SearchStrategy[tuple[exp.Expression, Mapping[str, t.Type]]] = st.sampled_from(
    (
        (call("ARRAY", column("k"), exp.Null(), column("k")), {"e": t.STRING}),
        (call("IF", exp.GT(this=column("v"), expression=exp.Literal.number(0)), call("ARRAY", column("v")), exp.Null()),
         {"e": t.BIGINT}),
        (call("MAP", column("id"), column("price")), {"e": t.BIGINT, "f": t.Decimal(10, 2)}),
    )
)  # fmt: skip


@st.composite
def unnested(draw: st.DrawFn) -> tuple[WindowAggregate, History]:
    """An aggregate over windows of the elements of a stream's rows, some of which have none, and a history."""
    source, delays = draw(sources())
    value, elements = draw(ELEMENTS)
    place = draw(st.booleans())
    rows = plans.unnest(source, value, elements, place=place, outer=draw(st.booleans()))
    keys = ("e", "place") if place else ("e",)
    node = plans.window_aggregate(rows, draw(windows["tumble"]), plans.standard_aggregates(), keys=keys)
    return node, draw(histories(delays))


def with_times(history: History) -> History:
    """The history without rows that have no time."""
    return History(
        tuple(
            {name: [row for row in rows if row["time"] is not None] for name, rows in batch.items()}
            for batch in history.batches
        )
    )


@st.composite
def frames(draw: st.DrawFn) -> Frame:
    """Mostly up to the row, else around it, after it, or before it."""
    start = draw(st.integers(-8, 0))
    end = draw(st.sampled_from((0, 0, 0, 0, 1, 3, 5, -1)))
    shift = draw(st.sampled_from((0, 0, 0, 0, 2)))
    return Frame((min(start, end) + shift) * SECOND, (end + shift) * SECOND)


@st.composite
def overs(draw: st.DrawFn, most: int = 3) -> tuple[Over, History]:
    """Some functions over frames of different lengths, and a history."""
    source, delays = draw(sources())
    chosen = draw(st.lists(st.sampled_from(plans.framed_functions()), min_size=1, max_size=most, unique=True))
    framed = [(each, draw(frames())) for each in chosen]
    framed = [
        (each, frame if frame.start <= 0 <= frame.end or each.function not in plans.RANKS else Frame(frame.start, 0))
        for each, frame in framed
        if frame.start <= 0 or each.function not in plans.RANKS
    ] or [(plans.aggregate("n", "COUNT", None, t.BIGINT), Frame(-SECOND, 0))]
    node = plans.over(source, framed, draw(st.sampled_from(((), ("k",)))))
    assert isinstance(node, Over)
    return node, draw(histories(delays, max_rows=14))


@st.composite
def overs_of_rows(draw: st.DrawFn, most: int = 3) -> tuple[OverRows, History]:
    """Some functions over frames of different numbers of rows, and a history.

    The first column of a stream numbers its rows by arrival: here others stand before it, so that ties are disordered.
    """
    below, delays = draw(sources())
    shown = draw(st.sampled_from((("v", "price", "id", "k", "time"), ("price", "k", "id", "v", "time"))))
    source = plans.project(below, [(name, column(name), below.column(name).type) for name in shown])
    chosen = draw(st.lists(st.sampled_from(plans.framed_functions()), min_size=1, max_size=most, unique=True))
    ends = [0 if each.name.upper() in plans.RANKS else draw(st.sampled_from((0, 0, 0, -1, -2))) for each in chosen]
    framed = [(each, RowsFrame(end - draw(st.integers(0, 4)), end)) for each, end in zip(chosen, ends, strict=True)]
    node = plans.over(source, framed, draw(st.sampled_from(((), ("k",), ("k",), ("k", "v")))))
    assert isinstance(node, OverRows)
    return node, draw(histories(delays, max_rows=14))
