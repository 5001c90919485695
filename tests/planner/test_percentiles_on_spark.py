"""What MEDIAN, MODE and their kin are read as gives what Spark's own functions give."""

from __future__ import annotations

from math import isnan
from random import Random
from typing import TYPE_CHECKING

from penstock.parser.build.percentiles import CONTINUOUS, DISCRETE, MODE, fall

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SPECIAL = (None, float("nan"), float("inf"), float("-inf"), 0.0, 1.5)


def written(text: str, part: str) -> str:
    return text.replace("CAST(part AS", f"CAST({part} AS").replace("value", "x")


def test_percentiles_are_those_of_spark(spark: SparkSession) -> None:
    chance = Random(7)
    rows = [
        (group, chance.choice([*SPECIAL, *(chance.uniform(-5, 5) for _ in range(9))]))
        for group in range(40)
        for _ in range(chance.choice([1, 2, 3, 4, 7, 10]))
    ]
    spark.createDataFrame(rows, "g INT, x DOUBLE").createOrReplaceTempView("measured")
    parts = ("0", "0.1", "0.5", "0.9", "1")
    items = [
        f"PERCENTILE(x, {part}), {written(CONTINUOUS, part)}, "
        f"PERCENTILE_DISC({part}) WITHIN GROUP (ORDER BY x), {written(DISCRETE, part)}, "
        f"PERCENTILE_CONT({part}) WITHIN GROUP (ORDER BY x DESC), {written(fall(CONTINUOUS), part)}, "
        f"PERCENTILE_DISC({part}) WITHIN GROUP (ORDER BY x DESC), {written(fall(DISCRETE), part)}"
        for part in parts
    ]
    found = [tuple(row) for row in spark.sql(f"SELECT {', '.join(items)} FROM measured GROUP BY g").collect()]
    assert len(found) == 40
    for row in found:
        for own, ours in zip(row[::2], row[1::2], strict=True):
            assert own == ours or (isnan(own) and isnan(ours))


def test_the_mode_is_that_of_spark(spark: SparkSession) -> None:
    chance = Random(11)
    rows = [
        (group, chance.choice([None, 0.0, 1.5, 2.5, float("nan")]), chance.choice([None, "a", "b", "B", ""]))
        for group in range(60)
        for _ in range(chance.choice([1, 2, 3, 5, 8, 13]))
    ]
    spark.createDataFrame(rows, "g INT, x DOUBLE, t STRING").createOrReplaceTempView("chosen")
    items = [
        f"MODE() WITHIN GROUP (ORDER BY {column}{order}), {text.replace('value', column)}"
        for column in ("x", "t")
        for order, text in (("", MODE), (" DESC", fall(MODE)))
    ]
    found = [tuple(row) for row in spark.sql(f"SELECT {', '.join(items)} FROM chosen GROUP BY g").collect()]
    assert len(found) == 60
    for row in found:
        for own, ours in zip(row[::2], row[1::2], strict=True):
            assert own == ours or (isnan(own) and isnan(ours))
