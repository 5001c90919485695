"""NOT NULL and computed columns of a declared stream, as its records are read."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import penstock
from tests.codegen.running import Running

DECLARED = """
CREATE STREAM sales (
  id BIGINT NOT NULL, written STRING, price DECIMAL(10, 2), pieces INT, cost AS price * pieces,
  sold AS CAST(written AS TIMESTAMP), WATERMARK FOR sold AS sold - INTERVAL '1' MINUTE
) WITH (connector = 'files', path = 'sales', format = 'json');
"""


def sale(id_: int | None, minute: int, pieces: int = 2) -> dict[str, object]:
    return {"id": id_, "written": f"2026-01-01 10:{minute:02}:00", "price": 1.5, "pieces": pieces}


@pytest.mark.spark
def test_columns_are_computed_and_the_event_time_is_one(spark: SparkSession, tmp_path: Path) -> None:
    totals = (
        "SELECT STREAM SUM(cost) AS total, COUNT(*) AS n, window_start FROM sales GROUP BY TUMBLE(sold, '10' MINUTE);"
    )
    (query,) = penstock.compile(DECLARED + totals).queries
    running = Running(spark, query, tmp_path)
    running.push(sales=[sale(1, 3), sale(2, 9, 4), sale(None, 4), {"id": 3, "written": "yesterday"}, {"id": 4}])
    running.push(sales=[sale(5, 25)])
    running.push(sales=[sale(6, 23), sale(7, 24)])  # the first is late
    (first, *rest) = running.rows
    assert (str(first[0]), first[1]) == ("9.00", 2)
    assert rest == []
    counts = {"in:sales": 8, "rejected:sales": 3, "late:sales": 1, "used:sales": 4}
    assert running.counts == counts
    assert sorted(reason for reason, _ in running.rejected("sales")) == ["NULL in id", "no event time", "no event time"]


@pytest.mark.spark
def test_records_show_what_was_read(spark: SparkSession, tmp_path: Path) -> None:
    (query,) = penstock.compile(DECLARED + "SELECT STREAM id, cost, MINUTE(sold) AS minute FROM sales;").queries
    running = Running(spark, query, tmp_path)
    running.push(sales=[sale(None, 4), sale(1, 5)])
    ((id_, cost, minute),) = running.rows
    assert (id_, str(cost), minute) == (1, "3.00", 5)
    assert [record for _, record in running.rejected("sales")] == [
        '{"written":"2026-01-01 10:04:00","price":1.50,"pieces":2}'
    ]
