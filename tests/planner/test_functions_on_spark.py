"""Spark agrees with the catalog of functions and with the types that expressions are given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from sqlglot import exp

from penstock.codegen.spark_versions import SPARK_VERSIONS
from penstock.parser import SYNONYMS
from penstock.parser.build.units import BUILT
from penstock.planner.functions import FUNCTIONS, REFUSED, Function
from penstock.planner.functions.aggregates import EXAMPLE_ROWS
from penstock.planner.functions.signature import ArrayOf, DecimalOf, LambdaOf, MapOf, Pattern, Variable, signature
from penstock.planner.scalars.scopes import Scope, ScopeColumn
from penstock.planner.types import BOOLEAN, DOUBLE, INT, STRING, Decimal, Simple
from tests.planner.expressions import calls_aggregate, columns_sql, expression, resolved, spark_sql
from tests.planner.installed import INSTALLED, SPARK
from tests.planner.spark_types import TYPES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

EXAMPLE_COLUMNS = (("n", INT), ("d", Decimal(3, 2)), ("x", DOUBLE), ("s", STRING), ("b", BOOLEAN))
EXAMPLES = Scope(tuple(ScopeColumn("t", name, name, type_) for name, type_ in EXAMPLE_COLUMNS))


def spark_type(type_: Any) -> str:
    """A type of a Spark schema as `str` of ours."""
    from pyspark.sql import types

    match type_:
        case types.DayTimeIntervalType():
            return "INTERVAL"
        case types.TimeType():
            return "TIME"
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
    functions: list[Function] = [function for function in INSTALLED if kind_of(function) == kind]
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
    if max(SPARK_VERSIONS) == SPARK:
        # Spark reads these two in GROUP BY only, and does not list them.
        assert sorted(REFUSED.keys() - known) == ["CUBE", "ROLLUP"]


# What Spark lists as functions, and the grammar has as operators and syntax. There is no `!x`, `a << b` and `a >>> b`.
SIGNS = "! != % & * + - / < << <= <=> <> = == > >= >> >>> ^ | || ~"
WORDS = "AND BETWEEN CASE CAST EXTRACT ILIKE IN LIKE NOT OR RLIKE WHEN"


def test_every_function_of_spark_is_allowed_or_refused(spark: SparkSession) -> None:
    known = {row[0].upper() for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect()}
    read = {text.partition("(")[0] for text, _ in SYNONYMS} | BUILT.keys()
    assert known - {each.name for each in FUNCTIONS} - REFUSED.keys() - read == {*SIGNS.split(), *WORDS.split()}


def test_timestamps_are_read_as_in_utc(spark: SparkSession) -> None:
    text = "TIMESTAMP '2024-03-05 06:07:08+01:00' = '2024-03-05 05:07:08'"
    assert spark.sql(f"SELECT {spark_sql(resolved(text))}").collect()[0][0] is True


# Of each type values that functions may stumble over.
HARD = {
    "INT": "0, -1, 100, 2147483647, -2147483648",
    "BIGINT": "0L, 3L, -1L, 9223372036854775807L, -9223372036854775807L",
    "DOUBLE": "0D, CAST('NaN' AS DOUBLE), -1e308D, CAST('Infinity' AS DOUBLE), 0.5D",
    "FLOAT": "CAST(0 AS FLOAT), CAST('NaN' AS FLOAT), CAST(1e38 AS FLOAT), CAST(-1 AS FLOAT), CAST(7 AS FLOAT)",
    "STRING": "'', 'x%', '([', 'a,b', '2024-13-45'",
    "BOOLEAN": "true, false, NULL, true, false",
    "DATE": "DATE '1900-01-01', DATE '9999-12-31', DATE '2024-02-29', NULL, DATE '1970-01-01'",
    "TIMESTAMP": "TIMESTAMP '1900-01-01', TIMESTAMP '9999-12-31 23:59:59', NULL, TIMESTAMP '2024-02-29', "
    "TIMESTAMP '1970-01-01'",
    "TIME": "TIME '00:00:00', TIME '23:59:59.999999', NULL, TIME '12:00:00', TIME '00:00:00.000001'",
    "BINARY": "X'', X'FF', X'00', X'FFFE', NULL",
    "INTERVAL": "INTERVAL '0' DAY, INTERVAL '-1' DAY, NULL, INTERVAL '106751991' DAY, INTERVAL '1' SECOND",
    "DECIMAL": "0.00BD, 1.50BD, -99999.99BD, 99999.99BD, NULL",
    "ARRAY": "ARRAY(), ARRAY(1, NULL), ARRAY(1, 1), NULL, ARRAY(2147483647)",
    "NESTED": "ARRAY(), ARRAY(ARRAY(1), NULL), NULL, ARRAY(ARRAY(1)), ARRAY(ARRAY())",
    "TEXTS": "ARRAY(), ARRAY('a', NULL), ARRAY('a', 'a'), NULL, ARRAY('')",
    "MAP": "MAP(), MAP('a', 1), MAP('', NULL), NULL, MAP('x', 2)",
}
OF_VARIABLES = {"K": "STRING", "F": "DOUBLE"}


def hard_column(pattern: Pattern) -> str | None:
    """A column of values for a parameter, None for one that takes no column."""
    match pattern:
        case LambdaOf():
            return None
        case Variable(name):
            return OF_VARIABLES.get(name, "INT")
        case DecimalOf():
            return "DECIMAL"
        case MapOf():
            return "MAP"
        case ArrayOf(ArrayOf()):
            return "NESTED"
        case ArrayOf(Variable("K")) | ArrayOf(Simple("STRING")):
            return "TEXTS"
        case ArrayOf():
            return "ARRAY"
        case Simple(name) if name in HARD:
            return name
    return None


def test_no_other_function_fails_for_a_row(spark: SparkSession) -> None:
    calls = []
    for function in INSTALLED:
        if function.name == "SUBSTRING_INDEX" and SPARK < (4, 3):
            continue  # Spark 4.2 fails for the count -2147483648; docs/deploy.md says so
        if function.aggregate or function.framed or function.operator or function.result:
            continue
        for text in function.signatures:
            columns = [hard_column(each) for each in signature(text).parameters]
            known = [exp.column(each) for each in columns if each is not None]
            if known and len(known) == len(columns) and function.never_fails(known):
                null_form = None if function.failing is None else function.failing.null_form
                name = function.name if null_form is None else null_form.function
                calls.append(f"{name}({', '.join(f'`{each.name}_{place % 2}`' for place, each in enumerate(known))})")
    # Two copies of each column, so that every value of an argument meets every value of the next one.
    values = ", ".join(f"ARRAY({each}) AS `{name}`" for name, each in HARD.items())
    places = "LATERAL VIEW EXPLODE(SEQUENCE(0, 4)) AS p LATERAL VIEW EXPLODE(SEQUENCE(0, 4)) AS q"
    items = ", ".join(f"`{name}`[p] AS `{name}_0`, `{name}`[q] AS `{name}_1`" for name in HARD)
    spark.sql(f"SELECT {items} FROM (SELECT {values}) {places}").createOrReplaceTempView("hard")
    frame = analysed(spark, calls)
    while isinstance(frame, str):  # Spark wants a literal there, and refuses the query before its first row
        calls.remove(frame)
        frame = analysed(spark, calls)
    assert len(calls) > 200
    frame.write.format("noop").mode("overwrite").save()


def analysed(spark: SparkSession, calls: list[str]) -> DataFrame | str:
    """All calls over the hard values, or the first one that Spark refuses."""
    from pyspark.errors import AnalysisException

    try:
        return spark.sql(f"SELECT {', '.join(f'{call} AS c{place}' for place, call in enumerate(calls))} FROM hard")
    except AnalysisException as refusal:
        return str(refusal.getQueryContext()[0].fragment())
