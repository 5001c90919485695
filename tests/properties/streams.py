"""Hypothesis strategies: streams with disorder and micro-batch borders, and plans to run over them.

Times are whole seconds of a short span and keys are few, so that ties, matches, and times that equal a bound, a window's
end or the watermark come up all the time. Rows are mostly within the declared delay, sometimes beyond it (late), without
a time (rejected), or copies of an earlier row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from sqlglot import exp

from penstock.planner import types as t
from penstock.planner.plan import (
    Emission,
    Filter,
    Hop,
    IntervalJoin,
    JoinType,
    Node,
    Over,
    Scan,
    Session,
    Tumble,
    UnionAll,
    Window,
    WindowAggregate,
)

from tests.model import plans
from tests.model.history import History, Tables
from tests.model.plans import NOWHERE, STREAM, column
from tests.model.values import Row, milliseconds

SECOND = 1000
BASE = datetime(2026, 1, 1)
COLUMNS: Mapping[str, t.Type] = {
    "id": t.BIGINT, "k": t.STRING, "v": t.BIGINT, "price": t.Decimal(10, 2), "time": t.TIMESTAMP
}  # fmt: skip
LONGEST_DELAY = 4  # seconds

tried: Counter[str] = Counter()
"""Histories run so far, by what was run over them."""


@st.composite
def arrivals(draw: st.DrawFn, delay: int, max_rows: int) -> list[tuple[int, Row]]:
    """Rows of one input in order of arrival, each with the number of its micro-batch. `delay` in seconds."""
    clock, number, result = draw(st.integers(0, 60)), 0, []
    shape = st.tuples(
        st.sampled_from((0, 0, 1, 1, 2, 3, 5, 9)),  # seconds since the newest row
        st.integers(-1, delay + 4) if draw(st.booleans()) else st.integers(0, delay),  # seconds behind it; -1: no time
        st.sampled_from(("a", "b", None)),
        st.none() | st.integers(-3, 3),
        st.none() | st.decimals(-2, 2, places=2),
        st.sampled_from((0, 0, 0, 1, 1, 2)),  # borders before the row
        st.integers(0, 7),  # 0: a copy of an earlier row
    )
    for identity, (ahead, behind, key, v, price, borders, copied) in enumerate(draw(st.lists(shape, max_size=max_rows))):
        clock, number = clock + ahead, number + borders
        time = None if behind < 0 else BASE + milliseconds((clock - behind) * SECOND)
        row: Row = {"id": identity, "k": key, "v": v, "price": price, "time": time}
        result.append((number, dict(result[len(result) // 2][1]) if copied == 0 and result else row))
    return result


@st.composite
def histories(draw: st.DrawFn, delays: Mapping[str, int], max_rows: int = 10) -> History:
    """A history of inputs with the given watermark delays in seconds."""
    streams = {name: draw(arrivals(delay, max_rows)) for name, delay in delays.items()}
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
        None,
        None,
        exp.LT(this=column("l.v"), expression=column("r.v")),
        exp.NullSafeNEQ(this=column("l.v"), expression=column("r.v")),
        exp.Or(
            this=exp.GT(this=column("l.price"), expression=column("r.price")),
            expression=exp.Is(this=column("r.v"), expression=exp.Null()),
        ),
        exp.GT(this=exp.Add(this=column("l.v"), expression=column("r.v")), expression=exp.Literal.number(0)),
    )
)


@st.composite
def bounds(draw: st.DrawFn) -> plans.TimeBound:
    """Bounds around zero, on one side of it, of a single point, and (open ones) without any."""
    lower = draw(st.integers(-6, 6))
    upper = lower + draw(st.sampled_from((0, 1, 2, 4, 8)))
    return plans.bound(lower * SECOND, upper * SECOND, draw(st.booleans()), draw(st.booleans()))


@st.composite
def joins(draw: st.DrawFn, type_: JoinType) -> tuple[IntervalJoin, History]:
    """An interval join of two streams, and a history of both."""
    delays = {"a": draw(st.integers(0, LONGEST_DELAY)), "b": draw(st.integers(0, LONGEST_DELAY))}
    left, right = (draw(perhaps_filtered(stream(name, delay))) for name, delay in delays.items())
    return plans.interval_join(type_, left, right, draw(bounds()), draw(residuals)), draw(histories(delays))


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
    "session": st.builds(Session, seconds(1, 4)),
}


@st.composite
def window_aggregates(draw: st.DrawFn, kind: str) -> tuple[WindowAggregate, History]:
    """An aggregate over windows of one kind, and a history."""
    source, delays = draw(sources())
    node = plans.window_aggregate(
        source,
        draw(windows[kind]),
        plans.standard_aggregates(),
        keys=draw(st.sampled_from(((), ("k",), ("k", "v")))),
        emission=Emission.FINAL if kind == "session" else draw(st.sampled_from(Emission)),
        grace=draw(st.sampled_from((0, 0, 2 * SECOND))),
    )
    return node, draw(histories(delays, max_rows=14))


@st.composite
def overs(draw: st.DrawFn) -> tuple[Over, History]:
    """One to three aggregates over frames of different lengths, and a history."""
    source, delays = draw(sources())
    chosen = draw(st.lists(st.sampled_from(plans.standard_aggregates()), min_size=1, max_size=3, unique=True))
    framed = [(each, draw(seconds(0, 8))) for each in chosen]
    return plans.over(source, framed, draw(st.sampled_from(((), ("k",))))), draw(histories(delays, max_rows=14))


