"""What expressions fail with in some row: a code, the place in the script, and a hint that is accepted when pasted.

The views of one script are computed over one row as Spark would in a query, without starting queries.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import penstock
from penstock.codegen.program import SparkQuery
from penstock.diagnostics import Diagnostic, render
from penstock.runtime.failure.failures import SPARK_ERRORS, explain

pytestmark = [pytest.mark.spark, pytest.mark.draws]

# Rows that Spark finds in the query itself are computed while it optimises: no job, no generated code.
ROW = {
    **{"i INT": "1", "z INT": "0", "n INT": "-1", "big INT": "2147483647", "l BIGINT": "9223372036854775807L"},
    **{"s STRING": "'x'", "p STRING": "'('", "e STRING": "'%'", "esc STRING": r"'a\\'", "esc2 STRING": r"'a\\b'"},
    **{"d DATE": "DATE '9999-12-31'", "t TIMESTAMP": "TIMESTAMP '2024-01-01'", "a ARRAY<INT>": "ARRAY(1, 2)"},
    **{"k ARRAY<STRING>": "ARRAY('a', 'a')", "nk ARRAY<STRING>": "ARRAY('a', NULL)", "url STRING": "'http://a b'"},
    **{"r STRING": "'$9'", "years STRING": "'YYYY'", "quarters STRING": "'qqq'", "whole STRING": "'%d'"},
    **{"x DOUBLE": "1e308D", "m DECIMAL(9, 2)": "9999999.99BD", "mm MAP<STRING, INT>": "MAP('a', 1, 'b', 2)"},
}
COLUMNS = ", ".join(ROW)
# What is computed, the code, and what the caret is under if not all of it.
FAILURES: tuple[tuple[str, str, str], ...] = (
    ("1 + i / z", "R020", "i / z"),
    ("i % z", "R020", ""),
    ("i DIV z", "R020", ""),
    ("PMOD(i, z)", "R020", ""),
    ("INTERVAL '1' DAY / z", "R020", ""),
    ("EXISTS(a, v -> v / z > 0)", "R020", "v / z"),
    ("CASE WHEN i = 1 THEN '😀' || CAST(i / z AS STRING) END", "R020", "i / z"),
    ("UPPER('a') || CAST(CAST(s AS INT) AS STRING)", "R021", "CAST(s AS INT)"),
    ("CAST(s AS TIMESTAMP)", "R021", ""),
    ("CAST(k AS ARRAY<INT>)", "R021", ""),
    ("TO_DATE(s)", "R021", ""),
    ("TO_TIMESTAMP(s)", "R021", ""),
    ("big + 1", "R022", ""),
    ("l * 2 - 1", "R022", "l * 2"),
    ("-(n - big)", "R022", ""),
    ("ABS(n - big)", "R022", ""),
    ("CAST(l AS INT)", "R022", ""),
    ("CAST(m AS DECIMAL(5, 2))", "R022", ""),
    ("CONV('-9999999999999999999999999', 10, 16 + z)", "R022", ""),
    ("INTERVAL '106751991' DAY * big", "R022", ""),
    ("t + INTERVAL '106751991' DAY", "R022", ""),
    ("a[big]", "R023", ""),
    ("ELEMENT_AT(a, big)", "R023", ""),
    ("ELEMENT_AT(a, z)", "R023", ""),
    ("TRY_ELEMENT_AT(a, z)", "R023", ""),
    ("ELT(z, s, s)", "R023", ""),
    ("SPLIT_PART(s, '.', z)", "R023", ""),
    ("ARRAY_INSERT(a, z, 1)", "R023", ""),
    ("MAP(s, 1, s, 2)", "R024", ""),
    ("MAP_FROM_ARRAYS(k, a)", "R024", ""),
    ("MAP_FROM_ARRAYS(nk, a)", "R024", ""),
    ("MAP_FROM_ARRAYS(k, ARRAY(1))", "R024", ""),
    ("STR_TO_MAP('a:1,a:2' || s, ',', ':')", "R024", ""),
    ("TRANSFORM_KEYS(mm, (q, v) -> s)", "R024", ""),
    ("TO_DATE(s, 'yyyy-MM-dd')", "R025", ""),
    ("TO_TIMESTAMP(s, 'yyyy')", "R025", ""),
    ("UNIX_TIMESTAMP(s, 'yyyy')", "R025", ""),
    ("TO_TIME(s)", "R025", ""),
    ("TO_NUMBER(s, '999')", "R025", ""),
    ("URL_DECODE(e)", "R025", ""),
    ("PARSE_URL(url, 'HOST')", "R025", ""),
    ("UNBASE64(s)", "R025", ""),
    ("DECODE(UNHEX('ff' || HEX(s)), 'UTF-8')", "R025", ""),
    ("s LIKE esc", "R026", ""),
    ("s LIKE esc2", "R026", ""),
    ("s RLIKE p", "R026", ""),
    ("REGEXP_COUNT(s, p)", "R026", ""),
    ("REGEXP_SUBSTR(s, p)", "R026", ""),
    ("REGEXP_REPLACE(s, '(x)', r)", "R026", ""),
    ("SPLIT(s, p)", "R026", ""),
    ("STR_TO_MAP(s, p, ':')", "R026", ""),
    ("DATE_FORMAT(t, years)", "R026", ""),
    ("TO_DATE(s, quarters)", "R026", ""),
    ("PRINTF(e, i)", "R026", ""),
    ("FORMAT_STRING(whole, s)", "R026", ""),
    ("SLICE(a, z, 1)", "R027", ""),
    ("SLICE(a, 1, n)", "R027", ""),
    ("SEQUENCE(i, n, i)", "R027", ""),
    ("NEXT_DAY(d, s)", "R027", ""),
    ("ENCODE(s, s)", "R027", ""),
    ("BIT_GET(i, n)", "R027", ""),
    ("REGEXP_EXTRACT(s, 'x', i)", "R027", ""),
    ("TO_UTC_TIMESTAMP(t, s)", "R027", ""),
    ("MAKE_DATE(2024, 13, i)", "R028", ""),
    ("MAKE_TIMESTAMP(2024, 2, 30, z, z, z)", "R028", ""),
    ("MAKE_TIME(24, z, z)", "R028", ""),
    ("TIME_FROM_SECONDS(l)", "R028", ""),
    ("TIME_FROM_MILLIS(l)", "R028", ""),
    ("TIME_FROM_MICROS(l)", "R028", ""),
    ("TIMESTAMP_SECONDS(l)", "R028", ""),
    ("SEQUENCE(1, big)", "R029", ""),
    ("ARRAY_REPEAT(1, big)", "R029", ""),
    ("REPEAT('ab', big)", "R029", ""),
    ("LPAD('é' || s, big)", "R029", ""),
    ("MOD(i, z)", "R020", ""),
)


# A quarter of them; PENSTOCK_ROW_ERRORS=1 in the environment tries all.
TRIED = FAILURES[:: 1 if os.environ.get("PENSTOCK_ROW_ERRORS") else 4]


def stream(folder: Path) -> str:
    return f"CREATE STREAM o ({COLUMNS}) WITH (connector = 'files', path = '{folder}', format = 'json');\n"


def rows(spark: SparkSession) -> None:
    """The row as the views of a query find it."""
    names = ", ".join(each.split(" ")[0] for each in ROW)
    values = f"VALUES ({', '.join(ROW.values())}, CAST(NULL AS STRING), 'f') AS t ({names}, _malformed, _file)"
    spark.sql(f"SELECT * FROM {values}").createOrReplaceTempView("raw")


def failure(spark: SparkSession, query: SparkQuery) -> Diagnostic | None:
    """The finding for what Spark says when it computes the query."""
    try:
        for source in query.inputs:
            spark.table("raw").createOrReplaceTempView(source.view)
        for view in query.views:
            spark.sql(view.sql).createOrReplaceTempView(view.name)  # type: ignore[union-attr]
        spark.table(query.result).collect()
    except SPARK_ERRORS as error:
        return explain(error, query.name, query.printed, query.span)
    return None


def test_each_failure_has_its_code_its_place_and_a_hint_that_is_accepted(spark: SparkSession, tmp_path: Path) -> None:
    rows(spark)
    selects = [f"SELECT STREAM i, -- '😀'\n  {text} AS v FROM o;\n" for text, _, _ in TRIED]
    compiled = penstock.compile(stream(tmp_path) + "".join(selects), name="rows.sql")
    wrong, mended = [], []
    for (text, code, part), query in zip(TRIED, compiled.program.queries, strict=True):
        found = failure(spark, query)
        marked = [] if found is None else [label.span.text for label in found.labels]
        if found is None or (found.code, marked) != (code, [part or text]):
            wrong.append((text, found))
        elif tried := re.fullmatch(r"((?:TRY_|GET\().*) gives NULL instead", found.hint or ""):
            mended.append(f"SELECT STREAM {text.replace(part or text, tried[1])} AS v FROM o;\n")
    assert wrong == []
    assert len(mended) > len(TRIED) / 5
    for query in penstock.compile(stream(tmp_path) + "".join(mended)).program.queries:
        assert failure(spark, query) is None, query.views[-1]


def test_the_caret_is_under_the_expression(spark: SparkSession, tmp_path: Path) -> None:
    rows(spark)
    text = stream(tmp_path) + "CREATE STREAM u AS\nSELECT STREAM i, '😀' AS w,\n  i + a[big]\n    AS v FROM o;\n"
    (query,) = penstock.compile(text, name="rows.sql").program.queries
    found = failure(spark, query)
    assert found is not None
    assert render(found).splitlines()[1:4] == ["  --> rows.sql:4:7", "4 |   i + a[big]", "  |       ^^^^^^"]


BOTH = "(SELECT STREAM s, l FROM o UNION ALL SELECT STREAM s, l FROM o) AS q"
FIVE = ", ".join(f"NEXT_DAY(d, s || '{number}') AS v{number}" for number in range(5))


@pytest.mark.parametrize(
    ("select", "places"),
    [
        ("SELECT STREAM URL_DECODE(e) AS v, URL_DECODE(s) AS w FROM o", ["URL_DECODE(e)", "URL_DECODE(s)"]),
        ("SELECT STREAM REGEXP_COUNT(s, p) AS v, REGEXP_LIKE(s, s) AS w FROM o", ["REGEXP_COUNT(s, p)"]),
        ("SELECT STREAM v FROM (SELECT STREAM 1 + i / z AS v FROM o) AS q WHERE v > 1", ["i / z"]),
        ("SELECT STREAM i FROM o WHERE TO_DATE(s, 'yyyy') > d", ["TO_DATE(s, 'yyyy')"]),
        (f"SELECT s, SUM(l) AS v FROM {BOTH} GROUP BY s", ["SUM(l)"]),
        (f"SELECT STREAM {FIVE} FROM o", [f"SELECT STREAM {FIVE} FROM o"]),
    ],
    ids=["both", "not the other one", "through a subquery", "where", "sum", "too many"],
)
def test_where_spark_names_no_place_those_that_it_can_be_are_named(
    spark: SparkSession, tmp_path: Path, select: str, places: list[str]
) -> None:
    rows(spark)
    (query,) = penstock.compile(stream(tmp_path) + select + ";").program.queries
    found = failure(spark, query)
    assert found is not None
    assert [label.span.text for label in found.labels] == places
