"""Spark agrees with the catalog of functions and with the types that expressions are given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from penstock.planner.functions import FUNCTIONS, REFUSED, Function
from penstock.planner.functions.aggregates import EXAMPLE_ROWS
from penstock.planner.names import Scope, ScopeColumn
from penstock.planner.types import BOOLEAN, DOUBLE, INT, STRING, Decimal
from tests.planner.expressions import calls_aggregate, columns_sql, expression, resolved, spark_sql
from tests.planner.spark_types import TYPES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

EXAMPLE_COLUMNS = (("n", INT), ("d", Decimal(3, 2)), ("x", DOUBLE), ("s", STRING), ("b", BOOLEAN))
EXAMPLES = Scope(tuple(ScopeColumn("t", name, name, type_) for name, type_ in EXAMPLE_COLUMNS))


def spark_type(type_: Any) -> str:
    """A type of a Spark schema as `str` of ours."""
    from pyspark.sql import types

    match type_:
        case types.DayTimeIntervalType():
            return "INTERVAL"
        case types.DecimalType():
            return f"DECIMAL({type_.precision}, {type_.scale})"
        case types.ArrayType():
            return f"ARRAY<{spark_type(type_.elementType)}>"
        case types.MapType():
            return f"MAP<{spark_type(type_.keyType)}, {spark_type(type_.valueType)}>"
        case types.StructType():
            return "STRUCT<" + ", ".join(f"`{field.name}`: {spark_type(field.dataType)}" for field in type_) + ">"
        case _:
            return str(type_.simpleString()).upper()


def kind_of(function: Function) -> str:
    return "aggregate" if function.aggregate else "framed" if function.framed else "scalar"


@pytest.mark.parametrize("kind", ["scalar", "aggregate", "framed"])
def test_every_example_has_its_value_and_type(spark: SparkSession, kind: str) -> None:
    functions: list[Function] = [function for function in FUNCTIONS if kind_of(function) == kind]
    examples = {function.name: resolved(function.example[0], EXAMPLES) for function in functions}
    over = " OVER (ORDER BY n)" if kind == "framed" else ""
    items = ", ".join(f"{spark_sql(example)}{over} AS `{name}`" for name, example in examples.items())
    rows = {"scalar": "VALUES (1)", "aggregate": EXAMPLE_ROWS, "framed": f"{EXAMPLE_ROWS} WHERE n IS NOT NULL"}
    frame = spark.sql(f"SELECT {items} FROM {rows[kind]}")
    row = frame.collect()[-1]
    assert {name: row[name] for name in examples} == {each.name: each.example[1] for each in functions}
    predicted = {name: str(example.type) for name, example in examples.items()}
    assert {field.name: spark_type(field.dataType) for field in frame.schema} == predicted


@pytest.mark.parametrize("printed", [False, True], ids=["as-written", "as-resolved"])
def test_spark_gives_expressions_these_types(spark: SparkSession, printed: bool) -> None:
    found: dict[str, str] = {}
    for aggregate in (False, True):  # the two do not mix in one SELECT
        texts = [text for text, _ in TYPES if calls_aggregate(expression(text)) == aggregate]
        items = [spark_sql(resolved(text)) if printed else text for text in texts]
        schema = spark.sql(f"SELECT {', '.join(f'{item} AS c' for item in items)} FROM {columns_sql()}").schema
        found |= dict(zip(texts, (spark_type(field.dataType) for field in schema), strict=True))
    assert found == dict(TYPES)


def test_what_is_refused_is_known_to_spark(spark: SparkSession) -> None:
    known = {row[0].upper() for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect()}
    # Spark reads these two in GROUP BY only, and does not list them.
    assert sorted(REFUSED.keys() - known) == ["CUBE", "ROLLUP"]


def test_timestamps_are_read_as_in_utc(spark: SparkSession) -> None:
    text = "TIMESTAMP '2024-03-05 06:07:08+01:00' = '2024-03-05 05:07:08'"
    assert spark.sql(f"SELECT {spark_sql(resolved(text))}").collect()[0][0] is True
