"""`penstock translate`: Spark gives for a translated expression what the other system gives for the written one."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

from penstock.planner.scalars.scopes import Scope, ScopeColumn
from penstock.planner.types import BIGINT, BOOLEAN, DOUBLE, INT, STRING, TIMESTAMP, Array, Decimal, Type
from penstock.translate import System
from tests.penstock.test_translate_meanings import DECLARED, run
from tests.planner.expressions import resolved, spark_sql

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

# The columns of one row: type, and value for Spark.
ROW: dict[str, tuple[Type, str]] = {
    "n": (INT, "7"),
    "m": (INT, "2"),
    "big": (BIGINT, "0L"),
    "d": (DOUBLE, "-1.5D"),
    "c": (Decimal(10, 2), "CAST(-2.5 AS DECIMAL(10, 2))"),
    "b": (BOOLEAN, "true"),
    "t": (TIMESTAMP, "TIMESTAMP '2024-03-05 06:07:08.5'"),
    "txt": (STRING, "'o-brien'"),
    "u": (STRING, "CAST(NULL AS STRING)"),
    "k": (STRING, "'|'"),
    "a": (Array(INT), "ARRAY(1, NULL, 3)"),
    "ta": (Array(STRING), "ARRAY('x', NULL)"),
}
NONE = "CAST(NULL AS INT)"
# What is written, and its value there, by the references and the code of the systems.
VALUES: tuple[tuple[System, str, Any], ...] = (
    (System.KSQLDB, "n / m", 3),
    (System.KSQLDB, "-n / m", -3),
    (System.KSQLDB, "n / big", None),
    (System.KSQLDB, "ROUND(d)", -1),
    (System.KSQLDB, "ROUND(c)", -2),
    (System.KSQLDB, "ROUND(2.5)", 3),
    (System.KSQLDB, "ROUND(-2.5)", -2),
    (System.KSQLDB, "CEIL(d)", -1.0),
    (System.KSQLDB, "SIGN(n)", 1),
    (System.KSQLDB, "CAST(t AS STRING)", "2024-03-05T06:07:08.500"),
    (System.KSQLDB, "CAST(b AS STRING)", "true"),
    (System.KSQLDB, "CAST(txt AS INT)", None),
    (System.KSQLDB, "CAST(txt AS BOOLEAN)", False),
    (System.KSQLDB, "CAST(u AS BOOLEAN)", None),
    (System.KSQLDB, "SLICE(a, 2, 3)", [None, 3]),
    (System.KSQLDB, "SLICE(a, 2, 4)", None),
    (System.KSQLDB, "SLICE(a, m, n)", None),
    (System.KSQLDB, "SLICE(a, m, m)", [None]),
    (System.KSQLDB, "ARRAY_CONTAINS(a, 2)", False),
    (System.KSQLDB, "NOT ARRAY_CONTAINS(a, 2)", True),
    (System.KSQLDB, f"ARRAY_CONTAINS(a, {NONE})", True),
    (System.KSQLDB, "ARRAY_CONTAINS(SPLIT(u, ','), 'x')", False),
    (System.KSQLDB, "ARRAY_JOIN(ta)", "x,null"),
    (System.KSQLDB, "ARRAY_SORT(a)", [1, 3, None]),
    (System.KSQLDB, "ARRAY_SORT(a, 'DESC')", [3, 1, None]),
    (System.KSQLDB, "a[1]", 1),
    (System.KSQLDB, "a[-1]", 3),
    (System.KSQLDB, "a[9]", None),
    (System.KSQLDB, "INSTR(u, 'a')", 0),
    (System.KSQLDB, "CONCAT(txt, u, '!')", "o-brien!"),
    (System.KSQLDB, "SPLIT('a.b', '.')", ["a", "b"]),
    (System.KSQLDB, "SPLIT('a|b', k)", ["a", "b"]),
    (System.KSQLDB, "'a\\xb' LIKE 'a\\_b'", True),
    (System.KSQLDB, "'a_b' LIKE 'a\\_b'", False),
    (System.KSQLDB, "ELT(n, 'a', 'b')", None),
    (System.KSQLDB, "ELT(m, 'a', 'b')", "b"),
    (System.KSQLDB, "FROM_UNIXTIME(1000)", datetime(1970, 1, 1, 0, 0, 1)),
    (System.KSQLDB, "UNIX_TIMESTAMP(t)", 1709618828500),
    (System.KSQLDB, "REGEXP_EXTRACT('(b)(r)', txt)", "br"),
    (System.KSQLDB, "REGEXP_EXTRACT('(b)(r)', txt, 2)", "r"),
    (System.KSQLDB, "REGEXP_EXTRACT('q', txt)", None),
    (System.KSQLDB, "MASK('My Test $123')", "Xx-Xxxx--nnn"),
    (System.KSQLDB, "URL_EXTRACT_HOST('http://a b')", None),
    (System.FLINK, "n / m", 3),
    (System.FLINK, "FLOOR(d)", -2.0),
    (System.FLINK, "SIGN(n)", 1),
    (System.FLINK, "CAST(t AS STRING)", "2024-03-05 06:07:08.500"),
    (System.FLINK, "CAST(b AS STRING)", "TRUE"),
    (System.FLINK, "ROUND(d)", -2.0),
    (System.FLINK, "ARRAY_CONTAINS(a, 2)", False),
    (System.FLINK, f"ARRAY_CONTAINS(a, {NONE})", True),
    (System.FLINK, "ARRAY_CONTAINS(SPLIT(u, ','), 'x')", None),
    (System.FLINK, "ARRAY_SORT(a)", [None, 1, 3]),
    (System.FLINK, "ARRAY_SORT(a, FALSE)", [3, 1, None]),
    (System.FLINK, "ARRAY_SORT(a, TRUE, FALSE)", [1, 3, None]),
    (System.FLINK, "LTRIM('xxa', 'x')", "a"),
    (System.FLINK, "RTRIM('axx', 'x')", "a"),
    (System.FLINK, "STR_TO_MAP('a=1,b=2')", {"a": "1", "b": "2"}),
    (System.FLINK, "JSON_VALUE('{\"a\": {\"b\": 1}}', 'lax $.a.b')", "1"),
    (System.FLINK, "JSON_VALUE('{\"a\": {\"b\": 1}}', 'strict $.a.b' RETURNING INTEGER)", 1),
    (System.FLINK, "JSON_VALUE('{\"a b\": 2}', '$.[''a b'']')", "2"),
    (System.FLINK, "TO_TIMESTAMP(txt)", None),
    (System.FLINK, "TO_DATE(txt)", None),
    (System.FLINK, "EXTRACT(SECOND FROM t)", 8),
    (System.FLINK, "PARSE_URL('http://a b', 'HOST')", None),
    (System.FLINK, "REGEXP_EXTRACT('foothebar', 'foo(.*?)(bar)', 2)", "bar"),
    (System.FLINK, "REGEXP_EXTRACT(txt, 'q')", None),
    (System.FLINK, "'a\\xb' LIKE 'a\\_b'", True),
    (System.FLINK, "ELT(n, 'a', 'b')", None),
    (System.FLINK, "a[3]", 3),
    (System.SPARK, "'\\u0041\\t\\101'", "A\tA"),
    (System.SPARK, "'a_b' LIKE 'a\\_b'", True),
    (System.SPARK, "n / m", 3.5),
)


def translate_expression(system: System, written: str) -> str:
    """The expression as Spark is told it."""
    found = run(f"{DECLARED[system]}\nCREATE VIEW v AS SELECT {written} AS x FROM s;", system)
    text = found.sql.removeprefix("CREATE VIEW v AS").strip().removeprefix("SELECT").strip()
    scope = Scope(tuple(ScopeColumn("s", name, name, type_) for name, (type_, _) in ROW.items()))
    return spark_sql(resolved(text.rpartition("FROM s")[0].strip().rpartition(" AS x")[0], scope))


def test_translated_expressions_have_the_values_of_the_other_system(spark: SparkSession) -> None:
    items = [
        f"{translate_expression(system, written)} AS `{number}`" for number, (system, written, _) in enumerate(VALUES)
    ]
    row = ", ".join(f"{value} AS {name}" for name, (_, value) in ROW.items())
    (found,) = spark.sql(f"SELECT {', '.join(items)} FROM (SELECT {row})").collect()
    given = {f"{system.value}: {written}": found[str(number)] for number, (system, written, _) in enumerate(VALUES)}
    expected = {f"{system.value}: {written}": value for system, written, value in VALUES}
    wrong = {name: (given[name], expected[name]) for name in expected if _plain(given[name]) != expected[name]}
    assert not wrong


def _plain(value: Any) -> Any:
    """A value without the classes of Spark and of decimals."""
    return int(value) if type(value).__name__ == "Decimal" else value
