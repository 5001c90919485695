"""DEDUPLICATE, run on Spark: what comes out, and what the rows left out are counted as."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import penstock
from tests.codegen.running import Running, at

pytestmark = pytest.mark.spark
SCRIPT = """CREATE STREAM orders (id STRING, k STRING, time TIMESTAMP, v BIGINT,
  WATERMARK FOR time AS time - INTERVAL '5' MINUTE)
WITH (connector = 'files', path = 'orders', format = 'json');
CREATE STREAM result AS SELECT STREAM id FROM orders WHERE v > 0 DEDUPLICATE ON (k) WITHIN 10 MINUTES;
"""


def row(id_: str, k: str | None, minute: float, v: int = 1) -> dict[str, object]:
    return {"id": id_, "k": k, "time": at(minute), "v": v}


def test_rows_left_out_are_filtered(spark: SparkSession, tmp_path: Path) -> None:
    (query,) = penstock.compile(SCRIPT).queries
    running = Running(spark, query, tmp_path)
    running.push(
        orders=[row("1", "a", 10), row("0", "a", 8), row("2", None, 3), row("3", None, 13), row("x", "a", 0, 0)]
    )
    assert running.counts["used:orders"] == 4
    running.push(orders=[row("4", "a", 20), row("5", "a", 30.01), row("6", None, 12.9), row("late", "a", 7.9)])
    running.push(orders=[row("7", "b", 31), row("8", "b", 31)])
    running.drain()
    assert sorted(running.rows) == [("0",), ("2",), ("5",), ("7",)]
    assert running.counts == {
        "in:orders": 11,
        "rejected:orders": 0,
        "late:orders": 1,
        "filtered:orders": 1 + 5,
        "used:orders": 4,
    }
