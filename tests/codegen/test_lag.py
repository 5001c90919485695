"""How far behind the watermark rows can come out: as far as is said, and no further, in every order of a row or two."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from penstock.evaluator.history import Tables
from penstock.evaluator.incremental import Incremental
from penstock.evaluator.typed_values import EPOCH, milliseconds
from penstock.planner.physical.lag import max_lag
from penstock.planner.plan import Cumulate, Hop, JoinType, Node, RowsFrame, SessionWindow, Tumble
from penstock.planner.types import BIGINT, STRING, TIMESTAMP
from tests.model import plans

TYPES = {"k": STRING, "time": TIMESTAMP}
COUNT = plans.aggregate("n", "COUNT", None, BIGINT)
TIMES = range(20, 36)
A, B = plans.scan("a", TYPES), plans.scan("b", TYPES)
Arrival = tuple[str, int, int]
"""An input, a time, and the watermark with which a row of that time comes. In milliseconds."""


def lags(node: Node, time: str, arrivals: list[Arrival], end: int) -> Iterator[int]:
    """Of the rows that come out, how far their times are behind the watermark of the micro-batch before."""
    query = Incremental(node)
    for watermark in range(1, end):
        for again in (False, True):  # the first micro-batch moves the watermark, rows come in the second
            batch: Tables = {"a": [], "b": []}
            for name, at, when in arrivals:
                if again and when == watermark:
                    batch[name].append({"k": "x", "time": EPOCH + milliseconds(at)})
            for row in query.step(batch, EPOCH + milliseconds(watermark)):
                yield watermark - (not again) - (row[time] - EPOCH) // timedelta(milliseconds=1)


@pytest.mark.parametrize(
    ("window", "time"),
    [
        *(
            (window, time)
            for window in (Tumble(6), Hop(2, 6), Cumulate(2, 6))
            for time in ("window_start", "window_end")
        ),
        (SessionWindow(4), "window_end"),
    ],
)
def test_windows(window: Tumble | Hop | Cumulate | SessionWindow, time: str) -> None:
    node = plans.window_aggregate(A, window, (COUNT,))
    furthest = max(lag for at in TIMES for when in (1, at) for lag in lags(node, time, [("a", at, when)], 50))
    assert max_lag(node, time) - 1 <= furthest <= max_lag(node, time)


BOUNDS = pytest.mark.parametrize(("lower", "upper"), [(-3, 5), (2, 6), (-6, -2), (0, 0)])
TIMES_OF = {
    JoinType.INNER: ("l.time", "r.time"),
    JoinType.SEMI: ("l.time",),
    JoinType.LEFT: ("l.time",),
    JoinType.RIGHT: ("r.time",),
}


@BOUNDS
@pytest.mark.parametrize("type_", TIMES_OF)
def test_joins_in_panes(type_: JoinType, lower: int, upper: int) -> None:
    check_join(type_, 7, lower, upper)


@BOUNDS
@pytest.mark.parametrize("type_", [JoinType.INNER, JoinType.SEMI])  # others have no event time without panes
def test_joins_one_by_one(type_: JoinType, lower: int, upper: int) -> None:
    check_join(type_, None, lower, upper)


def check_join(type_: JoinType, pane: int | None, lower: int, upper: int) -> None:
    node = plans.interval_join(type_, A, B, plans.bound(lower, upper), pane=pane)
    pairs = [(left, right) for left in TIMES for right in TIMES if lower <= right - left <= upper]
    for time in TIMES_OF[type_]:
        found = (
            lag
            for left, right in pairs
            for arrivals in ([("a", left, 1), ("b", right, right)], [("a", left, left), ("b", right, 1)])
            for lag in lags(node, time, arrivals, 60)
        )
        furthest = max(found)
        assert max_lag(node, time) - 1 <= furthest <= max_lag(node, time)


def test_over() -> None:
    node = plans.over(A, [(COUNT, 1000)])
    times = (1000, 1500, 1999)
    furthest = max(lag for at in times for lag in lags(node, "time", [("a", at, 1)], 2500))
    assert max_lag(node, "time") - 1 <= furthest <= max_lag(node, "time")


@pytest.mark.parametrize("node", [plans.distinct(A), plans.over(A, [(COUNT, RowsFrame(-2, 0))])])
def test_rows_that_come_when_their_time_is_past(node: Node) -> None:
    furthest = max(lag for at in TIMES for when in (1, at) for lag in lags(node, "time", [("a", at, when)], 50))
    assert max_lag(node, "time") == furthest == 0
