"""LATE INTO: every row is either in the result or among the late ones, and those are late by law."""

from __future__ import annotations

import random
from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import penstock
from penstock.codegen import lower
from penstock.evaluator.history import Clock, Fate, History, sort_out, watermarks
from penstock.evaluator.typed_values import Row
from penstock.planner.plan import Settings
from penstock.runtime import RuntimeSession
from tests.model.arrivals import write_json_lines
from tests.properties.streams import BASE

pytestmark = pytest.mark.spark

ROWS, BATCHES, DELAY = 500, 4, 5
SCRIPT = """
CREATE STREAM orders (id BIGINT KEY, product STRING, time TIMESTAMP,
  WATERMARK FOR time AS time - INTERVAL '{delay}' SECOND)
WITH (connector = 'files', path = '{folder}/orders', format = 'json', files_per_batch = 1);
CREATE STREAM late (lateness BIGINT, id BIGINT, time TIMESTAMP) WITH (connector = 'memory');
CREATE STREAM counted AS
  SELECT STREAM id, COUNT(*) OVER (PARTITION BY product ORDER BY time RANGE 3 SEC PRECEDING) AS n
  FROM orders LATE INTO late;
"""


def orders() -> History:
    """Random orders, many of them behind the delay; ids are unique."""
    chance = random.Random(1)
    rows: list[Row] = [
        {
            "id": number,
            "product": chance.choice("abc"),
            "time": BASE + timedelta(milliseconds=max(0, 100 * number - chance.choice([0, 0, 900, 5000, 9000, 20000]))),
        }
        for number in range(ROWS)
    ]
    size = ROWS // BATCHES
    return History(tuple({"orders": rows[start : start + size]} for start in range(0, ROWS, size)))


def test_every_order_is_counted_or_late(only_spark: SparkSession, tmp_path: Path) -> None:
    history = orders()
    write_json_lines(history, tmp_path)
    program = lower(penstock.compile(SCRIPT.format(delay=DELAY, folder=tmp_path)).queries, Settings(state_partitions=2))
    with RuntimeSession(only_spark.newSession()) as session:
        stage, *_ = session.run_once(program, drain=True)
        result, late = session.rows("counted"), session.rows("late")
    assert len(result) + len(late) == ROWS == stage.out
    clock = {"orders": Clock("time", DELAY * 1000)}
    fates = sort_out(history, clock)
    assert sorted(row["id"] for row in result) == sorted(row["id"] for row in fates[Fate.USED].tables()["orders"])
    law = {
        (row["id"], -((row["time"] - watermark) // timedelta(milliseconds=1)))
        for batch, watermark in zip(fates[Fate.LATE].batches, watermarks(history, clock), strict=False)
        for row in batch["orders"]
    }
    assert {(row["id"], row["lateness"]) for row in late} == law
    assert len(law) > ROWS // 10
