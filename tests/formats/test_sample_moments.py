"""Texts that are read without Spark are the times that Spark reads."""

from __future__ import annotations

import random
from datetime import UTC

import pytest
from pyspark.sql import SparkSession

from penstock.codegen.sql.printing import print_sql
from penstock.codegen.sql.read_values import parse
from penstock.codegen.sql.trees import alias, column, select
from penstock.planner.types import DATE, TIME, TIMESTAMP
from penstock.runtime.samples.moments import read_clock, read_day, read_moment
from tests import campaign
from tests.formats.test_times import draw_time

pytestmark = [pytest.mark.spark, pytest.mark.draws]

DRAWN = 300_000 if campaign.IS_RUNNING else 20_000
ZONES = (
    "+1",
    "+01",
    "+0130",
    "-19:00",
    "+18:00",
    "+1:5",
    " PST",
    "CET",
    "[UTC]",
    "Z ",
    " Z",
    "z",
    "UTC+01:30",
    "GMT-3",
)


def test_times_are_the_ones_that_spark_reads(spark: SparkSession) -> None:
    r = random.Random(7)
    texts = {draw_time(r) for _ in range(DRAWN)}
    texts |= {f"{date} 03:04:05{zone}" for zone in ZONES for date in ("2024-01-02", "9999-12-31")}
    texts |= {
        "2024-03-10 02:30:00 America/New_York",
        "2024-11-03 01:30:00 America/New_York",
        "12:30",
        "3:4:5.123456000",
    }
    spark.createDataFrame([(each,) for each in sorted(texts)], "written STRING").createOrReplaceTempView("texts")
    types = {"moment": TIMESTAMP, "day": DATE, "clock": TIME}
    parsed = [alias(parse(column("written"), type_), name) for name, type_ in types.items()]
    rows = spark.sql(print_sql(select([column("written"), *parsed], "texts")))
    calendar = "moment BETWEEN TIMESTAMP'0001-01-01 00:00:00' AND TIMESTAMP'9999-12-31 23:59:59.999999'"
    table = rows.selectExpr("written", f"CASE WHEN {calendar} THEN moment END AS moment", "day", "clock").toArrow()
    wrong = []
    for row in table.to_pylist():
        moment = read_moment(row["written"])
        found = None if moment is None else moment.replace(tzinfo=UTC), read_day(row["written"])
        if found != (row["moment"], row["day"]) or read_clock(row["written"]) != row["clock"]:
            wrong.append((row, found))
    assert not wrong, "\n".join(map(repr, wrong))
    assert sum(row["moment"] is not None for row in table.to_pylist()) > DRAWN // 100
