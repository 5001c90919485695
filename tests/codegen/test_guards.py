"""Where Spark by itself would give wrong answers in silence: each guard has a test that fails without it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from penstock.codegen import lower
from penstock.planner.plan import JoinType, Settings
from penstock.runtime import RuntimeSession
from tests.codegen.plans import item, joined, project, query, scan
from tests.codegen.running import Running, at
from tests.codegen.test_join import FOR_FIVE, FROM_NOW

pytestmark = pytest.mark.spark
# Settings that results depend on: what a session may have been told before, and what they have to be.
HOSTILE = {
    "spark.sql.session.timeZone": ("Asia/Tokyo", "UTC"),
    "spark.sql.ansi.enabled": ("false", "true"),
    "spark.sql.caseSensitive": ("true", "false"),
    "spark.sql.groupByOrdinal": ("true", "false"),
    "spark.sql.parser.escapedStringLiterals": ("true", "false"),
    "spark.sql.variable.substitute": ("true", "false"),
    "spark.sql.runSQLOnFiles": ("true", "false"),
    "spark.sql.exchange.reuse": ("true", "false"),
    "spark.sql.streaming.multipleWatermarkPolicy": ("max", "min"),
    "spark.sql.shuffle.partitions": ("200", "2"),
}


def test_a_reused_exchange_loses_no_rows(spark: SparkSession, tmp_path: Path) -> None:
    """Spark reads one exchange for both sides of a self join of windows, and joins one row of four."""
    lines = [json.dumps({"k": k, "time": at(minute)}) for minute, k in [(0, "a"), (0, "b"), (1, "a"), (1, "b")]]
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "1.json").write_text("\n".join([*lines, json.dumps({"k": "z", "time": at(60)})]))
    rows = spark.readStream.schema("k STRING, time TIMESTAMP").json(str(tmp_path / "rows"))
    rows.withWatermark("time", "0 seconds").createOrReplaceTempView("timed")
    spark.sql(
        "SELECT window(time, '1 minute') AS w, k, count(*) AS n FROM timed GROUP BY window(time, '1 minute'), k"
    ).createOrReplaceTempView("windows")
    joined_rows = spark.sql("SELECT a.k, a.w FROM windows a JOIN windows b ON a.w = b.w AND a.k = b.k")
    found: list[object] = []
    writer = joined_rows.writeStream.foreachBatch(lambda batch, _: found.extend(batch.collect()))
    started = writer.option("checkpointLocation", str(tmp_path / "c")).trigger(availableNow=True).start()
    started.awaitTermination()
    assert len(found) == 4


def test_files_are_no_tables(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    with pytest.raises(AnalysisException):
        spark.sql(f"SELECT * FROM text.`{tmp_path}/secret`")


def test_the_environment_is_not_read_in_a_literal(spark: SparkSession) -> None:
    assert spark.sql("SELECT '${env:HOME}'").collect()[0][0] == "${env:HOME}"


def test_no_setting_of_a_session_is_left_to_it(only_spark: SparkSession) -> None:
    """Among them the one by which the fastest input, not the slowest, moves the watermark."""
    theirs = only_spark.newSession()
    for name, (value, _) in HOSTILE.items():
        theirs.conf.set(name, value)
    with RuntimeSession(theirs) as session:
        session.run_once(lower([], Settings(state_partitions=2)), drain=True)
    assert {name: theirs.conf.get(name) for name in HOSTILE} == {name: needed for name, (_, needed) in HOSTILE.items()}


def test_a_join_forgets_rows_whose_time_has_passed(spark: SparkSession, tmp_path: Path) -> None:
    """Spark keeps the rows of an inner join forever if it does not know the bound, or a watermark has been lost."""
    names = ("id", "k", "time", "v")
    left = project(
        scan("o"), *(item(each, each, kept.type) for each, kept in zip(names, scan("o").schema, strict=True))
    )
    running = Running(spark, query(joined(JoinType.INNER, left, scan("p"), lower=FROM_NOW, upper=FOR_FIVE)), tmp_path)
    for hour in range(3):
        rows = [{"id": f"{hour}-{n}", "k": "a", "time": at(60 * hour + n / 10), "v": 1} for n in range(10)]
        running.push(o=rows, p=rows)
    # The rows of the last hour: those of one side stand in two buckets at most.
    assert running.kept <= 30


def test_a_condition_on_one_side_is_no_bound(spark: SparkSession, tmp_path: Path) -> None:
    """Spark takes `v > 0` for a bound on the time, and waits for a watermark at 0: forever, or since long ago."""
    plan = joined(JoinType.FULL, scan("o"), scan("p"), lower=FROM_NOW, upper=FOR_FIVE, residual="l.v > 0 AND r.v > 0")
    running = Running(spark, query(plan), tmp_path)
    for hour in range(3):
        rows = [{"id": f"{hour}-{n}", "k": str(n), "time": at(60 * hour), "v": n} for n in range(2)]
        running.push(o=rows, p=[{**row, "time": at(60 * hour + 1)} for row in rows])
    # No more than the rows of the last hour.
    assert running.kept <= 4
    running.drain()
    assert sorted(((row[0], row[4]) for row in running.rows), key=repr) == sorted(
        [(f"{hour}-{left}", f"{hour}-{left}" if left else None) for hour in range(3) for left in range(2)]
        + [(None, f"{hour}-0") for hour in range(3)],
        key=repr,
    )
