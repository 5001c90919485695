"""Windowed and unwindowed grouping, run on Spark."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.planner.plan import Emission, Hop, Session, Tumble
from penstock.planner.types import STRING
from tests.codegen.plans import MINUTE, aggregate, grouped, item, query, scan, where, windowed
from tests.codegen.running import Running, at

pytestmark = pytest.mark.spark

K = item("k", "k", STRING)


def row(id_: str, k: str | None, minute: float, v: int | None) -> dict[str, object]:
    return {"id": id_, "k": k, "time": at(minute), "v": v}


def test_final_rows_of_tumbling_windows_come_once(spark: SparkSession, tmp_path: Path) -> None:
    count, total = aggregate("n", "COUNT"), aggregate("total", "SUM", "v", condition="v > 1")
    running = Running(spark, query(windowed(scan(), Tumble(10 * MINUTE), count, total, keys=[K])), tmp_path)
    assert running.push(orders=[row("1", "a", 0, 1), row("2", None, 9.9, 2), row("3", "a", 12, 4)]) == []
    # The watermark is 12 - 5: a row of minute 7 is in time, one of minute 6.9 is not.
    assert running.push(orders=[row("4", "a", 7, 8), row("5", "a", 6.9, 16)]) == []
    assert running.push(orders=[row("6", "b", 15, 32)]) == [("a", 0.0, 10.0, 2, 8), (None, 0.0, 10.0, 1, 2)]
    assert running.drain() == [("a", 10.0, 20.0, 1, 4), ("b", 10.0, 20.0, 1, 32)]
    assert running.counts == {"in:orders": 6, "rejected:orders": 0, "late:orders": 1, "used:orders": 5}
    assert running.dropped == 0


def test_changing_rows_come_at_every_change(spark: SparkSession, tmp_path: Path) -> None:
    window = windowed(
        scan(), Hop(5 * MINUTE, 10 * MINUTE), aggregate("n", "COUNT"), keys=[K], emission=Emission.CHANGES
    )
    running = Running(spark, query(window, emission=Emission.CHANGES, key=("k", "window_start")), tmp_path)
    assert running.push(orders=[row("1", "a", 7, 1)]) == [("a", 0.0, 10.0, 1), ("a", 5.0, 15.0, 1)]
    assert running.push(orders=[row("2", "a", 3, 1)]) == [("a", -5.0, 5.0, 1), ("a", 0.0, 10.0, 2)]
    assert running.drain() == []
    assert running.query.mode == "update"
    assert running.dropped == 0


def test_grace_is_added_to_the_delay(spark: SparkSession, tmp_path: Path) -> None:
    window = windowed(scan(), Tumble(10 * MINUTE), aggregate("n", "COUNT"), keys=[K], grace=10 * MINUTE)
    running = Running(spark, query(window), tmp_path)
    assert running.push(orders=[row("1", "a", 0, 1), row("2", "a", 16, 1)]) == []
    assert running.push(orders=[row("3", "a", 2, 1)]) == []
    assert running.push(orders=[row("4", "a", 25, 1)]) == [("a", 0.0, 10.0, 2)]
    assert running.counts["late:orders"] == 0


def test_a_session_holds_rows_up_to_and_with_the_gap(spark: SparkSession, tmp_path: Path) -> None:
    running = Running(spark, query(windowed(scan(), Session(5 * MINUTE), aggregate("n", "COUNT"), keys=[K])), tmp_path)
    rows = [row("1", "a", 0, 1), row("2", "a", 5, 1), row("3", "a", 10.1, 1), row("4", "b", 0, 1), row("5", None, 3, 1)]
    assert running.push(orders=rows) == [("b", 0.0, 5.0, 1)]
    assert running.drain() == [("a", 0.0, 10.0, 2), ("a", 10.1, 15.1, 1), (None, 3.0, 8.0, 1)]
    assert running.dropped == 0


def test_a_row_at_the_gap_joins_the_session_when_the_watermark_is_there(spark: SparkSession, tmp_path: Path) -> None:
    running = Running(spark, query(windowed(scan(), Session(5 * MINUTE), aggregate("n", "COUNT"), keys=[K])), tmp_path)
    assert running.push(orders=[row("1", "a", 0, 1), row("2", "b", 10, 1)]) == []
    # The watermark is 5, so this row is in time, and it is 5 minutes after the first.
    assert running.push(orders=[row("3", "a", 5, 1)]) == []
    assert running.drain() == [("a", 0.0, 10.0, 2), ("b", 10.0, 15.0, 1)]


def test_a_table_is_updated_for_ever_and_takes_late_rows(spark: SparkSession, tmp_path: Path) -> None:
    table = grouped(where(scan(), "v > 0"), aggregate("total", "SUM", "v"), keys=[K])
    running = Running(spark, query(table, emission=Emission.CHANGES, key=("k",)), tmp_path)
    assert running.push(orders=[row("1", "a", 60, 1), row("2", None, 61, 2)]) == [("a", 1), (None, 2)]
    assert running.push(orders=[row("3", "a", 0, 4), row("4", "b", 0, 0)]) == [("a", 5)]
    assert running.counts == {"in:orders": 4, "rejected:orders": 0, "filtered:orders": 1, "used:orders": 3}


def test_a_number_as_key_is_no_position(spark: SparkSession, tmp_path: Path) -> None:
    table = grouped(scan(), aggregate("n", "COUNT"), keys=[item("one", "1", STRING), K])
    running = Running(spark, query(table, emission=Emission.CHANGES, key=("one", "k")), tmp_path)
    assert running.push(orders=[row("1", "a", 0, 1), row("2", "b", 0, 2)]) == [(1, "a", 1), (1, "b", 1)]
