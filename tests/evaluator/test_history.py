"""Watermarks, late rows, files and the comparison of results. The watermarks asserted are those measured on Spark."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from penstock.evaluator.history import START, Clock, Fate, History, accepted, clocks, sort_out, watermarks
from penstock.evaluator.typed_values import EPOCH, Row, milliseconds
from penstock.planner.plan import Tumble
from penstock.planner.types import BIGINT, STRING, TIMESTAMP
from tests.model import plans
from tests.model.arrivals import write_json_lines
from tests.model.rows import assert_same_rows, difference

CLOCKS = {"a": Clock("time", 5), "b": Clock("time", 5)}


def at(*times: int | None) -> list[Row]:
    return [{"time": None if time is None else EPOCH + milliseconds(time)} for time in times]


def history(*batches: tuple[list[Row], list[Row]]) -> History:
    return History(tuple({"a": lefts, "b": rights} for lefts, rights in batches))


def offsets(times: list[datetime]) -> list[int]:
    return [(time - EPOCH) // milliseconds(1) for time in times]


def test_an_input_without_data_holds_the_watermark() -> None:
    stream = history((at(100), []), (at(120), []), (at(90), []), (at(60), at(200)), (at(130), at(40)))
    assert offsets(watermarks(stream, CLOCKS)) == [1, 1, 1, 1, 115, 125]
    assert sort_out(stream, CLOCKS)[Fate.LATE].tables() == {"a": [], "b": at(40)}


def test_the_watermark_never_goes_down() -> None:
    stream = history((at(100), at(100)), (at(96), at(96)), (at(300), at(97)))
    assert offsets(watermarks(stream, CLOCKS)) == [1, 95, 95, 95]


def test_a_resumed_query_remembers_its_watermark_and_no_more() -> None:
    stream = history((at(110), at(100)), (at(101), at(120)), (at(130), []))
    assert offsets(watermarks(stream, CLOCKS)) == [1, 95, 105, 115]
    assert offsets(watermarks(stream, CLOCKS, resumed=1)) == [1, 95, 96, 115]
    assert offsets(watermarks(stream, CLOCKS, resumed=2)) == [1, 95, 105, 105]


def test_a_row_at_the_watermark_is_not_late_and_one_before_it_is() -> None:
    stream = history((at(100), at(100)), (at(95, 94), []), (at(95, 94), []))
    assert accepted(stream, CLOCKS).tables() == {"a": at(100, 95, 95), "b": at(100)}


def test_rows_of_one_micro_batch_do_not_make_each_other_late() -> None:
    assert accepted(history((at(100, 1), at(100, 1))), CLOCKS).size() == 4


def test_rows_at_or_before_the_epoch_are_late_from_the_start() -> None:
    assert accepted(history((at(-5, 0, 1), [])), CLOCKS).tables() == {"a": at(1), "b": []}
    assert watermarks(history((at(3), at(3))), CLOCKS) == [START, START]


def test_rows_without_a_time_are_rejected_and_move_nothing() -> None:
    parts = sort_out(history((at(None, 100), at(100))), CLOCKS)
    assert parts[Fate.REJECTED].tables() == {"a": at(None), "b": []}
    assert parts[Fate.USED].size() == 2


def test_clocks_come_from_the_declarations_and_grace_adds_to_them() -> None:
    stream = plans.scan("a", {"k": STRING, "time": TIMESTAMP}, delay=7)
    count = plans.aggregate("n", "COUNT", None, BIGINT)
    assert clocks(stream) == {}
    assert clocks(plans.window_aggregate(stream, Tumble(10), (count,))) == {"a": Clock("time", 7)}
    assert clocks(plans.window_aggregate(stream, Tumble(10), (count,), grace=3)) == {"a": Clock("time", 10)}


def test_files_are_one_per_micro_batch_and_input_in_order(tmp_path: Path) -> None:
    time = datetime(2026, 1, 1, 12)
    row: Row = {"id": 1, "price": Decimal("1.50"), "name": 'a"b', "time": time, "none": None, "yes": True}
    folders = write_json_lines(History(({"a": [row, row], "b": []}, {"a": [], "b": [row]})), tmp_path)
    lines = (folders["a"] / "00000.json").read_text().splitlines()
    assert len(lines) == 2
    assert '"price": 1.50' in lines[0]
    assert json.loads(lines[0])["time"] == "2026-01-01T12:00:00.000000Z"
    assert (folders["b"] / "00000.json").read_text() == ""
    first, second = ((folders["b"] / f"0000{n}.json").stat().st_mtime for n in (0, 1))
    assert first == datetime(2026, 1, 2, 12, tzinfo=UTC).timestamp()
    assert second == first + 1


def test_results_are_compared_as_multisets() -> None:
    one, two = {"x": 1, "y": None}, {"y": "b", "x": 0.1 + 0.2}
    assert difference([one, two], [{"x": 0.3, "y": "b"}, {"y": None, "x": 1}]) == ""
    assert difference([one, one], [one]) == "unexpected 1x  x=1, y=None"
    with pytest.raises(AssertionError, match="missing 1x  x=1, y=None"):
        assert_same_rows([], [one])
    assert difference([{"t": datetime(2026, 1, 1, tzinfo=UTC)}], [{"t": datetime(2026, 1, 1)}]) == ""
