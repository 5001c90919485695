"""Malformed records -> the reason why: the column, its type, and the text that stands there."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession

from penstock.codegen.record_parsing import Records
from penstock.codegen.record_reasons import NAMES
from penstock.codegen.sql.records import csv_records, json_records
from penstock.kit.files.csv_files import divide_records

pytestmark = pytest.mark.spark

COLUMNS = (
    ("id", "BIGINT"),
    ("price", "DECIMAL(10, 2)"),
    ("at", "TIMESTAMP"),
    ("ratio", "DOUBLE"),
    ("userId", "STRING"),
    ("tags", "ARRAY<STRUCT<n: TINYINT>>"),
)
JSON = {
    '{"id": 1, "at": "2026-01-01T00:00:00Z", "tags": [{"n": 1}]}': None,
    '{"id": "x"}': 'id is no BIGINT: "x"',
    '{"id": 1.0}': "id is no BIGINT: 1.0",
    '{"price": 1.005}': "price is no DECIMAL(10, 2): 1.005",
    '{"price": "1.5"}': 'price is no DECIMAL(10, 2): "1.5"',
    '{"ratio": 1e400}': "ratio is no DOUBLE: 1e400",
    '{"at": "2026-01-01T24:00:00Z"}': 'at is no TIMESTAMP: "2026-01-01T24:00:00Z"',
    '{"AT": 1767261602, "id": 1}': "at is no TIMESTAMP: 1767261602",
    '{"tags": [{"n": 1}, {"n": 200}]}': 'tags is no ARRAY<STRUCT<`n`: TINYINT>>: [{"n": 1}, {"n": 200}]',
    '{"id": [1,\t2]}': "id is no BIGINT: [1, 2]",
    '{"id": "' + "x" * 200 + '"}': f'id is no BIGINT: "{"x" * 79}…',
    '{"userid": 1, "USERID": 2}': NAMES,
    '{"id": 1': "it is not one JSON object",
    '{"id": 1}{"id": 2}': "it is not one JSON object",
    "[]": "it is not one JSON object",
    "null": "it is not one JSON object",
    '{"userId": "\\ud800"}': "it has half a surrogate pair",
}
CSV = {
    "1,2.50,2026-01-01T00:00:00Z,1,a": None,
    "x,,,,": 'id is no BIGINT: "x"',
    "1,1.005,,,": 'price is no DECIMAL(10, 2): "1.005"',
    '1,,"12:00\x1b",,': 'at is no TIMESTAMP: "12:00\\u001B"',
    "1,,,,,6": "the number of its fields is not that of the header or the columns: 6",
    "1": "the number of its fields is not that of the header or the columns: 1",
    '1,"x"y,,,': "a quote in it is not as RFC 4180 has it",
    "1,,,,\ufffd": "it has bytes that are not UTF-8",
}


def test_reasons_of_json(spark: SparkSession) -> None:
    rows = spark.createDataFrame([(each,) for each in JSON], "value STRING")
    assert reasons(rows, json_records(COLUMNS, explains=True)) == JSON


def test_reasons_of_csv(spark: SparkSession) -> None:
    columns = COLUMNS[:-1]
    rows = spark.createDataFrame([(each,) for each in CSV], "value STRING")
    assert reasons(divide_records(rows, [name for name, _ in columns]), csv_records(columns)) == CSV


def reasons(rows: DataFrame, records: Records) -> dict[str, str | None]:
    for step in records.steps:
        rows = rows.selectExpr("*", *step)
    found = rows.selectExpr("value", f"{records.why} AS why", records.malformed).collect()
    assert all((row["_malformed"] is None) == (row["why"] is None) for row in found)
    return {row["value"]: row["why"] for row in found}
