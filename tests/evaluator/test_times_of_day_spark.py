"""Times of the day, and JSON of single values: the model's values of random rows are Spark's."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from penstock.evaluator.expression_values import evaluate_scalar
from penstock.planner.scalars import Typed
from penstock.planner.scalars.scopes import Scope, ScopeColumn
from penstock.planner.types import BIGINT, BOOLEAN, DATE, INT, STRING, TIME, TIMESTAMP, Type
from penstock.planner.types import Decimal as DecimalType
from tests.planner.expressions import resolved, spark_sql
from tests.planner.installed import SPARK

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

TYPES: dict[str, Type] = {
    **{"a": TIME, "b": TIME, "at": TIMESTAMP, "day": DATE, "micros": BIGINT, "hour": INT, "s": STRING, "ok": BOOLEAN},
    "p": DecimalType(8, 6),
}
SCOPE = Scope(tuple(ScopeColumn("o", name, name, type_) for name, type_ in TYPES.items()))
UNITS = ("HOUR", "minute", "SECOND", "MILLISECOND", "microsecond")
EXPRESSIONS = (
    *("a < b", "a = b", "a IS DISTINCT FROM b", "a BETWEEN '06:00' AND b", "a IN (b, '12:30:00.5', NULL)", "a = s"),
    *("GREATEST(a, b)", "LEAST(a, b)", "COALESCE(a, b)", "NULLIF(a, b)", "CASE WHEN a > b THEN a ELSE '00:00' END"),
    *("CAST(a AS STRING)", "CAST(s AS TIME)", "TRY_CAST(s || ':99' AS TIME)", "CAST(at AS TIME)", "a || '!'"),
    *("HOUR(a)", "MINUTE(a)", "SECOND(a)", "MAKE_TIMESTAMP(day, a)", "MAKE_TIME(hour, hour, p)", "TO_TIME(s)"),
    *("TIME_TO_SECONDS(a)", "TIME_TO_MILLIS(a)", "TIME_TO_MICROS(a)", "TIME_FROM_MICROS(micros)"),
    *("TIME_FROM_MILLIS(micros DIV 1000)", "TIME_FROM_SECONDS(micros DIV 1000000)", "TRY_TO_TIME('9' || s)"),
    *(f"TIME_TRUNC('{unit}', a)" for unit in UNITS),
    *(f"TIME_DIFF('{unit}', a, b)" for unit in UNITS),
    *(
        "TO_JSON(a)",
        "TO_JSON(day)",
        "TO_JSON(micros)",
        "TO_JSON(s)",
        "TO_JSON(ok)",
        "TO_JSON(p)",
        "TO_JSON(ARRAY(a, b))",
    ),
    *("TO_JSON('a\"\\\\[]/é')", "TO_JSON('null')", "TO_JSON('[]')"),
)


def draw_row(chance: Random) -> dict[str, Any]:
    """A value for each column, or NULL."""
    start = datetime(1970, 1, 1)
    micros = chance.choice(
        [0, 1, 86_399_999_999, chance.randrange(86_400_000_000), chance.randrange(86_400) * 1_000_000]
    )
    clock, other = ((start + timedelta(microseconds=n)).time() for n in (micros, chance.randrange(86_400_000_000)))
    values: dict[str, Any] = {
        "a": clock,
        "b": chance.choice([clock, other, time(12, 30, 0, 500_000)]),
        "at": datetime(1999, 12, 31) + timedelta(microseconds=chance.randrange(10**15)),
        "day": date(1999, 12, 31) + timedelta(days=chance.randrange(20_000)),
        "micros": micros,
        "hour": chance.randrange(24),
        "s": chance.choice(["10:30", "1:2:3", "23:59:59.999999", " 00:00:00.1 ", "7:08:09.00"]),
        "ok": chance.random() < 0.5,
        "p": Decimal(chance.randrange(60_000_000)).scaleb(-6),
    }
    return {name: None if chance.random() < 0.1 else value for name, value in values.items()}


def test_the_model_and_spark_agree(spark: SparkSession) -> None:
    chance = Random(7)
    rows = [draw_row(chance) for _ in range(200)]
    columns = [f"CAST({name} AS {type_}) AS {name}" for name, type_ in TYPES.items()]
    texts = [[None if value is None else str(value) for value in row.values()] for row in rows]
    schema = ", ".join(f"{name} STRING" for name in TYPES)
    spark.createDataFrame(texts, schema).selectExpr(*columns).coalesce(1).createOrReplaceTempView("o")
    # Spark 4.2 has all but this one.
    texts_here = [text for text in EXPRESSIONS if SPARK >= (4, 3) or text != "CAST(at AS TIME)"]
    found = [resolved(text, SCOPE) for text in texts_here]
    values = [each for each in found if isinstance(each, Typed)]
    answers = spark.sql(
        f"SELECT {', '.join(f'{spark_sql(each)} AS c{place}' for place, each in enumerate(values))} FROM o"
    )
    for row, answer in zip(rows, answers.collect(), strict=True):
        for text, each, value in zip(texts_here, values, answer, strict=True):
            assert evaluate_scalar(each.expression, row, TYPES) == value, (text, row)
