"""Spark compiles the code that reads rows once, and not in each micro-batch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import penstock
from penstock.runtime import RuntimeSession

pytestmark = pytest.mark.spark

STREAM = """
CREATE STREAM s (k BIGINT, t TIMESTAMP, WATERMARK FOR t AS t - INTERVAL '1' MINUTE)
WITH (connector = 'files', path = '{folder}/in', format = 'json', files_per_batch = 1);
CREATE STREAM counts WITH (connector = 'files', path = '{folder}/out', format = 'json') AS
SELECT STREAM k, COUNT(*) AS n, window_start FROM s GROUP BY k, TUMBLE(t, INTERVAL '1' MINUTE);
"""


def count_compiled(spark: SparkSession) -> int:
    jvm: Any = spark._jvm
    return int(jvm.org.apache.spark.metrics.source.CodegenMetrics.METRIC_COMPILATION_TIME().getCount())


def run(spark: SparkSession, folder: Path, files: int) -> tuple[int, int]:
    """Runs a window over so many files. How often Spark compiled code, and the number of micro-batches."""
    (folder / "in").mkdir(parents=True)
    for number in range(files):
        row = {"k": 1, "t": f"2024-01-01T00:{number:02}:00Z"}
        (folder / "in" / f"{number:02}.json").write_text(json.dumps(row) + "\n")
    before = count_compiled(spark)
    with RuntimeSession(spark, str(folder / "state")) as session:
        (report,) = session.run_once(penstock.compile(STREAM.format(folder=folder)).program, drain=False)
    return count_compiled(spark) - before, report.batches


def test_a_watermark_that_moves_changes_only_the_code_of_the_state(spark: SparkSession, tmp_path: Path) -> None:
    run(spark, tmp_path / "first", 3)
    compiled, batches = run(spark, tmp_path / "more", 12)
    assert batches >= 12
    # Spark asks with new code which windows have ended. The code for rows would be one or two more.
    assert compiled <= batches
