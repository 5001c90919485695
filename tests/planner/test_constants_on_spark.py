"""Spark refuses the literals and the types that are refused, and takes all others."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import TYPE_CHECKING

import pytest
from sqlglot import exp

from penstock.planner.functions import Function
from penstock.planner.functions.signature import LambdaOf, signature
from penstock.planner.scalars import resolve, resolve_aggregate
from penstock.planner.scalars.formats import number_format_problem, time_format_problem
from penstock.planner.scalars.regex import read_regex
from penstock.planner.scalars.scopes import Scope, ScopeColumn
from penstock.planner.types import Array, Simple, Struct
from tests.planner.expressions import COLUMNS, columns_sql, expression, resolved, spark_sql
from tests.planner.installed import INSTALLED
from tests.planner.test_constants import ACCEPTED
from tests.properties.script_literals import REGEX, TIMES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

MAP = dict(COLUMNS)["m"]
NESTED = (*COLUMNS, ("am", Array(MAP)), ("stm", Struct((("k", MAP),))))
SCOPE = Scope(tuple(ScopeColumn("o", name, name, type_) for name, type_ in NESTED))
ARGUMENTS = [expression(each) for each in ("i", "s", "b", "ts", "a", "m", "am", "st", "stm", "NULL", "ARRAY()", "'a'")]
FEWER = ARGUMENTS[:2] + ARGUMENTS[4:7] + ARGUMENTS[-3:]  # of functions with three arguments


def accepted_calls(function: Function) -> list[str]:
    """Calls over columns of all types that the planner accepts, as Spark SQL; none where only simple types fit."""
    shapes = [signature(text) for text in function.signatures]
    patterns = [each for shape in shapes for each in shape.parameters]
    is_simple = all(isinstance(each, Simple) for each in patterns) and not any(shape.kinds for shape in shapes)
    if is_simple or any(isinstance(each, LambdaOf) for each in patterns):
        return []
    counts = {len(shape.parameters) + more for shape in shapes for more in (0, int(shape.variadic))}
    nodes = [
        exp.Anonymous(this=function.name, expressions=list(arguments))
        for count in counts
        if count <= 3
        for arguments in product(ARGUMENTS if count < 3 else FEWER, repeat=count)
    ]
    rows = function.aggregate or function.framed
    values = [resolve_aggregate(node, SCOPE, []) if rows else resolve(node, SCOPE, []) for node in nodes]
    return [spark_sql(each) + (" OVER (ORDER BY i)" if function.framed else "") for each in values if each is not None]


@pytest.mark.parametrize("kind", ["scalar", "aggregate", "framed"])
def test_spark_takes_what_functions_accept(spark: SparkSession, kind: str) -> None:
    functions = [each for each in INSTALLED if (each.aggregate, each.framed) == (kind == "aggregate", kind == "framed")]
    calls = [call for function in functions for call in accepted_calls(function)]
    more = ", CAST(NULL AS ARRAY<MAP<STRING, INT>>) AS am, CAST(NULL AS STRUCT<k: MAP<STRING, INT>>) AS stm"
    spark.sql(f"SELECT *{more} FROM {columns_sql()}").createOrReplaceTempView("o")
    assert calls
    for start in range(0, len(calls), 500):
        spark.sql(f"SELECT {', '.join(f'{call} AS c' for call in calls[start : start + 500])} FROM o")


def test_spark_takes_accepted_literals(spark: SparkSession) -> None:
    values = "1 AS i, 'a' AS s, TIMESTAMP '2024-03-05' AS ts, DATE '2024-03-05' AS d, 1.5D AS x, ARRAY(1, 2) AS a"
    values += ", CAST(1.5 AS DECIMAL(10, 2)) AS p, MAP('0', 1) AS m, NAMED_STRUCT('k', 1, 'v', 'x') AS st"
    # Times that are read, and character sets from columns, depend on the row.
    texts = [each for each in ACCEPTED if not each.startswith(("TO_DATE", "ENCODE(s, s)", "FROM_UTC_TIMESTAMP(ts, s)"))]
    # Only the lengths come back: some values have a million characters.
    items = ", ".join(f"LENGTH(CAST({spark_sql(resolved(each))} AS STRING)) AS c{n}" for n, each in enumerate(texts))
    (row,) = spark.sql(f"SELECT {items} FROM (SELECT {values})").collect()
    assert len(row) == len(texts)


def test_java_compiles_regular_expressions_that_are_accepted(spark: SparkSession) -> None:
    jvm = spark._jvm
    assert jvm is not None
    pattern = jvm.java.util.regex.Pattern
    chance = Random(1)
    drawn = {"".join(chance.choice(REGEX) for _ in range(chance.randint(1, 6))) for _ in range(300)}
    compiled = 0
    for text in drawn:
        found = read_regex(text)
        try:
            groups = pattern.compile(text).matcher("").groupCount()
        except Exception:
            assert found.problem, text
        else:
            assert (found.problem, found.groups) == (None, groups), text
            compiled += 1
    assert 50 < compiled < len(drawn) - 50


def test_spark_takes_formats_that_are_accepted_and_no_others(spark: SparkSession) -> None:
    def takes(call: str) -> bool:
        try:
            spark.sql(f"SELECT {call} FROM VALUES (TIMESTAMP '2024-03-05 06:07:08', 1.5) AS v(t, x)").collect()
        except Exception:
            return False
        return True

    times = [letter * count for letter in TIMES + "Ynw" for count in range(1, 8)] + ["[HH", "HH]", "]HH[", "{", "'a"]
    sound = [each for each in times if time_format_problem(each, parsing=False) is None]
    assert takes("CONCAT(" + ", ".join(f'DATE_FORMAT(t, "{each}")' for each in sound) + ")")
    wrong = [each for each in times if each not in sound]
    shortest = [each for each in wrong if each[:-1] in ("", *sound)]
    assert [each for each in shortest if takes(f'DATE_FORMAT(t, "{each}")')] == []
    chance = Random(2)
    pieces = ["9", "0", "99", ",", ".", "D", "G", "$", "S", "MI", "PR", "x"]
    for _ in range(30):
        text = "".join(chance.choice(pieces) for _ in range(chance.randint(1, 4)))
        assert takes(f"TO_CHAR(x, '{text}')") == (number_format_problem(text) is None), text
