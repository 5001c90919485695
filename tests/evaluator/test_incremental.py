"""When state is let go and rows are sent, at the exact millisecond; one too early would lose an answer."""

from __future__ import annotations

import pytest

from penstock.evaluator.history import Tables
from penstock.evaluator.incremental import Incremental
from penstock.evaluator.typed_values import EPOCH, Row, Unsupported, milliseconds
from penstock.planner.plan import Emission, Hop, JoinType, Node, SessionWindow, TimeBound, Tumble
from penstock.planner.types import BIGINT, STRING, TIMESTAMP
from tests.model import plans

TYPES = {"k": STRING, "time": TIMESTAMP}
COUNT = plans.aggregate("n", "COUNT", None, BIGINT)


def at(key: str | None, *times: int) -> list[Row]:
    return [{"k": key, "time": EPOCH + milliseconds(time)} for time in times]


def sent(query: Incremental, watermark: int, **tables: list[Row]) -> int:
    """How many rows one step sends."""
    batch: Tables = {"a": [], "b": [], **tables}
    return len(query.step(batch, EPOCH + milliseconds(watermark)))


def join(type_: JoinType, bound: TimeBound) -> Incremental:
    return Incremental(plans.interval_join(type_, plans.scan("a", TYPES), plans.scan("b", TYPES), bound))


def windowed(window: Tumble | Hop | SessionWindow, emission: Emission = Emission.FINAL) -> Incremental:
    return Incremental(plans.window_aggregate(plans.scan("a", TYPES), window, (COUNT,), emission=emission))


def test_a_left_row_waits_until_the_upper_end_has_passed() -> None:
    query = join(JoinType.LEFT, plans.bound(0, 10))
    assert (sent(query, 1, a=at("x", 90)), query.size()) == (0, 1)
    assert (sent(query, 100), query.size()) == (0, 1)  # a right row at 100 could still come
    assert (sent(query, 101), query.size()) == (1, 0)


def test_with_an_open_end_it_waits_one_millisecond_less() -> None:
    query = join(JoinType.LEFT, plans.bound(0, 10, upper_closed=False))
    assert (sent(query, 99, a=at("x", 90)), query.size()) == (0, 1)
    assert (sent(query, 100), query.size()) == (1, 0)


def test_a_right_row_waits_until_the_lower_end_has_passed() -> None:
    query = join(JoinType.RIGHT, plans.bound(-10, 0))
    assert (sent(query, 100, b=at("x", 90)), query.size()) == (0, 1)
    assert (sent(query, 101), query.size()) == (1, 0)


def test_a_row_that_nothing_to_come_can_match_does_not_wait() -> None:
    query = join(JoinType.FULL, plans.bound(-10, -5))
    assert (sent(query, 100, a=at("x", 100)), query.size()) == (1, 0)
    assert (sent(query, 100, a=at(None, 200), b=at(None, 200)), query.size()) == (2, 0)


def test_a_semi_join_sends_at_the_first_match_and_forgets() -> None:
    query = join(JoinType.SEMI, plans.bound(0, 10))
    assert (sent(query, 1, a=at("x", 90)), query.size()) == (0, 1)
    assert (sent(query, 1, b=at("x", 91)), query.size()) == (1, 1)
    assert (sent(query, 1, b=at("x", 92)), query.size()) == (0, 2)


def test_a_window_closes_when_the_watermark_reaches_its_end() -> None:
    query = windowed(Tumble(10))
    assert (sent(query, 1, a=at("x", 5)), query.size()) == (0, 1)
    assert (sent(query, 9), query.size()) == (0, 1)
    assert (sent(query, 10), query.size()) == (1, 0)


def test_a_session_stays_open_for_a_row_at_its_very_end() -> None:
    query = windowed(SessionWindow(10))
    assert (sent(query, 1, a=at("x", 5, 30)), query.size()) == (0, 2)
    assert (sent(query, 15, a=at("x", 15)), query.size()) == (0, 2)
    assert (sent(query, 25, a=at("x", 20)), query.size()) == (0, 1)  # bridges both
    assert (sent(query, 41), query.size()) == (1, 0)


def test_changes_are_sent_in_each_micro_batch() -> None:
    query = windowed(Hop(5, 10), Emission.CHANGES)
    assert (sent(query, 1, a=at("x", 12)), query.size()) == (2, 2)
    assert (sent(query, 1, a=at("x", 12, 12)), query.size()) == (2, 2)
    assert (sent(query, 20), query.size()) == (0, 0)


def test_over_answers_when_its_pane_is_final_and_keeps_the_frame() -> None:
    query = Incremental(plans.over(plans.scan("a", TYPES), [(COUNT, 1000)]))
    assert (sent(query, 990, a=at("x", 995)), query.size()) == (0, 1)
    assert (sent(query, 999), query.size()) == (0, 1)
    assert (sent(query, 1000), query.size()) == (1, 1)
    assert (sent(query, 1999), query.size()) == (0, 1)  # in the frame of a row at 1995
    assert (sent(query, 2000), query.size()) == (0, 0)


def test_what_cannot_be_run_is_refused() -> None:
    with pytest.raises(Unsupported, match="sessions"):
        windowed(SessionWindow(10), Emission.CHANGES)
    lower: Node = plans.over(plans.scan("a", TYPES), [(COUNT, 10)])
    with pytest.raises(Unsupported, match="above another"):
        Incremental(plans.over(lower, [(plans.aggregate("m", "COUNT", None, BIGINT), 10)]))
