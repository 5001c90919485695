"""Sums of partial aggregates that do not fit their type end a query with a code, wherever they are too large."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import penstock
from penstock.runtime import RunError, RuntimeSession

pytestmark = pytest.mark.spark

SCRIPT = """SET partial_aggregates = ON;
CREATE STREAM a (n BIGINT, time TIMESTAMP, WATERMARK FOR time AS time - 1 SECOND)
WITH (connector = 'files', path = '{path}', format = 'json', files_per_batch = 1);
CREATE STREAM sums WITH (connector = 'memory') AS SELECT STREAM SUM(n) AS total FROM a GROUP BY HOP(time, 1 SEC, 3 SEC);
"""
GREATEST = 2**63 - 1


@pytest.mark.parametrize("files", [[[GREATEST, 1]], [[GREATEST], [1]]], ids=["in a micro-batch", "while it is merged"])
def test_a_sum_that_is_too_large_has_a_code(files: list[list[int]], spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    for place, values in enumerate(files):
        rows = (json.dumps({"n": each, "time": "2026-01-01T00:00:00Z"}) + "\n" for each in values)
        (folder / f"{place}.json").write_text("".join(rows))
    with RuntimeSession(spark) as session, pytest.raises(RunError) as failure:
        session.run_once(penstock.compile(SCRIPT.format(path=folder)).program, drain=True)
    (finding,) = failure.value.diagnostics
    assert (finding.code, finding.detail) == ("R022", "in a sum")
