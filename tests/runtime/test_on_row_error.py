"""SET on_row_error = 'reject': the rows that an expression fails for are set aside, and no others."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import penstock
from penstock.codegen.program import SparkQuery, View
from penstock.runtime import InputAccount, RuntimeSession
from penstock.runtime.failure.failures import SPARK_ERRORS

pytestmark = [pytest.mark.spark, pytest.mark.draws]

COLUMNS = "id INT, v INT, w INT, l BIGINT, s STRING, a ARRAY<INT>, d DECIMAL(10, 2), ts TIMESTAMP"
BIG, LONG = 2147483647, 9223372036854775807
VALUES = (
    "(1, 6, 3, 5L, '7', ARRAY(1, 2), 1.50BD, TIMESTAMP '2024-01-01 10:00:00')",
    "(2, 6, 0, 5L, 'x', ARRAY(1, NULL), 0.00BD, TIMESTAMP '2024-01-01 10:00:00')",
    "(3, NULL, 0, NULL, NULL, NULL, NULL, NULL)",
    "(4, 1, NULL, 0L, '', ARRAY(), -3.25BD, TIMESTAMP '9999-12-31 23:59:59')",
    f"(5, {BIG}, {BIG}, {LONG}L, '2024-02-30', ARRAY(9), 99999999.99BD, TIMESTAMP '1900-01-01 00:00:00')",
    f"(6, -1, -{BIG}, -{LONG}L, '99999999999', ARRAY(3, 4, 5), 0.01BD, TIMESTAMP '2024-02-29 00:00:00')",
    "(7, 0, 1, 1L, '2024-02-29', ARRAY(1, 2), 7.00BD, TIMESTAMP '2024-02-29 00:00:00')",
)
EXPRESSIONS = (
    "v / w",
    "v % w",
    "v + w * 2",
    "l + v / w",
    "l * l - v",
    "CAST(s AS INT) + v",
    "CAST(v AS SMALLINT)",
    "v / w > 1 AND l * 2 > 0",
    "v > 0 OR 1 / v > 0",
    "s = 'x' OR v / w > 1",
    "CASE WHEN w = 0 THEN NULL WHEN v / w > 1 THEN l * 2 ELSE v - w END",
    "CASE WHEN v % w = 0 THEN 1 WHEN s = '' THEN 1 / (v - v) END",
    "IF(w = 0, 0, v / w)",
    "COALESCE(v, 1 / w, l * l)",
    "a[v]",
    "a[0] + a[1]",
    "d / (d - d)",
    "d * CAST('9999999999999999999999999999' AS DECIMAL(28, 0)) * d",
    "CAST(d AS DECIMAL(4, 2))",
    "CAST(s AS DATE)",
    "TO_DATE(s, 'yyyy-MM-dd')",
    "TO_TIMESTAMP(s, 'yyyy-MM-dd')",
    "TO_NUMBER(s, '9')",
    "URL_DECODE('%' || s)",
    "CAST(s || '1' AS INT) IN (71, 72)",
    "ts + INTERVAL '106751991' DAY",
    "MAKE_TIMESTAMP(2024, 2, v, 0, 0, 0)",
    "NOT (v / w) IS NULL",
    "v / w BETWEEN 1 AND 3",
    "UPPER(CAST(CAST(s AS INT) AS STRING))",
)
# PENSTOCK_ROW_ERRORS=1 in the environment tries all.
TRIED = EXPRESSIONS[:: 1 if os.environ.get("PENSTOCK_ROW_ERRORS") else 5]


def declared(folder: Path | str) -> str:
    stream = f"CREATE STREAM o ({COLUMNS}) WITH (connector = 'files', path = '{folder}', format = 'json');\n"
    return f"SET on_row_error = 'reject';\n{stream}"


def rows_of(where: str = "TRUE") -> str:
    names = [each.split(" ")[0] for each in COLUMNS.replace(", 2)", ")").split(", ")]
    return f"(SELECT * FROM VALUES {', '.join(VALUES)} AS t ({', '.join(names)}) WHERE {where})"


def computed(query: SparkQuery, where: str) -> str:
    """What the query's last view selects, of some of the rows."""
    view = query.views[-1]
    assert isinstance(view, View)
    return as_text(view.sql.replace(f"FROM `{query.views[-2].name}`", f"FROM {rows_of(where)}"))


def as_text(sql: str) -> str:
    """The rows as texts: Python has no times as late as Spark."""
    return f"SELECT CAST(STRUCT(*) AS STRING) AS row FROM ({sql})"


def fails(spark: SparkSession, sql: str) -> bool:
    try:
        spark.sql(sql).collect()
    except SPARK_ERRORS:
        return True
    return False


def test_rows_are_rejected_for_which_spark_fails_and_no_others(spark: SparkSession) -> None:
    selects = [f"SELECT STREAM id, {text} AS v{number} FROM o;\n" for number, text in enumerate(TRIED)]
    rejecting = penstock.compile(declared("in") + "".join(selects)).program.queries
    failing = penstock.compile(declared("in").replace("'reject'", "'fail'") + "".join(selects)).program.queries
    for text, query, plain in zip(TRIED, rejecting, failing, strict=True):
        raw = f"SELECT *, CAST(NULL AS STRING) AS _malformed, 'f' AS _file FROM {rows_of()}"
        spark.sql(raw).createOrReplaceTempView(query.inputs[0].view)
        for view in query.views:
            spark.sql(view.sql).createOrReplaceTempView(view.name)  # type: ignore[union-attr]
        reasons = {
            row["id"]: row["_reason"] for row in spark.table(query.views[0].name).select("id", "_reason").collect()
        }
        rejected = [id_ for id_, reason in reasons.items() if reason is not None]
        assert rejected == [id_ for id_ in reasons if fails(spark, computed(plain, f"id = {id_}"))], (text, reasons)
        others = computed(plain, f"NOT ARRAY_CONTAINS(ARRAY({', '.join(map(str, [0, *rejected]))}), id)")
        assert spark.sql(as_text(f"SELECT * FROM {query.result}")).collect() == spark.sql(others).collect(), text


def test_rejected_rows_are_counted_and_written(session: RuntimeSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    records = [
        {"id": 1, "v": 6, "w": 3, "s": "7"},
        {"id": 2, "v": 6, "w": 0, "s": "7"},
        {"id": 3, "v": 6, "w": 0, "s": "hidden by WHERE", "l": 9},
        {"id": 4, "v": 6, "w": 1, "s": "x"},
        {"id": 5, "v": None, "w": 0, "s": "7"},
        {"id": "six"},
    ]
    (tmp_path / "in" / "a.json").write_text("\n".join(map(json.dumps, records)))
    program = penstock.compile(
        declared(tmp_path / "in")
        + "CREATE STREAM q AS SELECT STREAM id, v / w AS r, CAST(s AS INT) AS n FROM o WHERE COALESCE(l, 0) < 5;\n"
        + "CREATE TABLE g AS SELECT s, SUM(v % w) AS m FROM o WHERE l IS NULL GROUP BY s;"
    ).program
    of_rows, of_groups = session.run_once(program, drain=True)
    assert of_rows.inputs == (
        InputAccount("o", read=6, rejected=3, late=0, filtered=1, used=2, rejected_to="q_rejected/o"),
    )
    assert session.rows("q") == [{"id": 1, "r": 2.0, "n": 7}, {"id": 5, "r": None, "n": 7}]
    aside = {row["reason"]: json.loads(row["record"]).get("id") for row in session.rows("q_rejected/o")}
    assert aside == {"R020: v / w": 2, "R021: CAST(s AS INT)": 4, 'malformed record: id is no INT: "six"': "six"}
    assert (of_groups.inputs[0].rejected, of_groups.inputs[0].used) == (2, 3)
    assert {row["s"]: row["m"] for row in session.rows("g")} == {"7": 0, "x": 0}
