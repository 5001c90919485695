"""Records that are read without Spark have the values that Spark reads, or are malformed for the same reason."""

from __future__ import annotations

import json
import random
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from penstock import compile
from penstock.codegen import lower_sampling
from penstock.codegen.sql.records import csv_records, json_records
from penstock.kit.files.csv_files import divide_records
from penstock.planner.catalog import Declared
from penstock.runtime.samples.look import look
from penstock.runtime.samples.record_values import MalformedError, make_columns, read_csv_values, read_json_values
from tests import campaign
from tests.formats import test_reasons

pytestmark = [pytest.mark.spark, pytest.mark.draws]

DRAWN = 20_000 if campaign.IS_RUNNING else 1_500
COLUMNS = (
    ("id", "BIGINT"),
    ("price", "DECIMAL(10, 2)"),
    ("at", "TIMESTAMP"),
    ("ratio", "DOUBLE"),
    ("half", "FLOAT"),
    ("small", "TINYINT"),
    ("day", "DATE"),
    ("ok", "BOOLEAN"),
    ("userId", "STRING"),
    ("bytes", "BINARY"),
    ("tags", "ARRAY<STRUCT<`n`: TINYINT, `s`: STRING>>"),
    ("counts", "MAP<STRING, BIGINT>"),
)
ATOMS = (
    *("1", "0", "-0", "1.0", "1.50", "1.005", "1e2", "1E400", "-1e-3", "127", "128", "99999999.99", "100000000"),
    *("9223372036854775807", "9223372036854775808", "3.5e38", "NaN", "Infinity", "-Infinity", "true", "false", "null"),
    *('"x"', '""', '"1"', '"NaN"', '"true"', '"2024-01-01"', '"2024-01-01T10:00:00Z"', '"2024-13-01"', '"12:00"'),
    *('"\\ud800"', '"\\ud83d\\ude00"', '"é\\n"', '"AQI="', '"*"', "[]", "{}", '[{"n": 1, "s": 1.10}]', '[{"n": 200}]'),
    *(
        '{"a": 1}',
        '{"a": 1, "a": 2}',
        '{"a": "x"}',
        "[1, 2]",
        "[null]",
        '[{"S": {"b":  [1]}}]',
        "01",
        "+1",
        ".5",
        "'x'",
    ),
)
NAMES = (*(name for name, _ in COLUMNS), "USERID", "userid", "Tags")
FIELDS = (
    *("", '""', "1", " 1 ", "+1", "1.0", "1.50", "1.005", "1e2", "1E400", ".5", "5.", "-", "127", "128", "NaN", "inf"),
    *("true", "TRUE", "t", "2024-01-01", "2024-1-1", "2024-01-01 10:00", "2024-01-01T10:00:00+02:00", "0000-01-01"),
    *("x", '"x"', '"a,b"', '"a""b"', 'a"b', '"a"b', "é", "\ufffd", "\t1", "1\t", "9223372036854775808", "00012"),
)


def draw_json(r: random.Random) -> str:
    """A record with one to three fields, sometimes with a sign too few or too many."""
    pairs = [f'"{name}": {r.choice(ATOMS)}' for name in r.sample(NAMES, r.randint(1, 2))]
    text = "{" + ", ".join(pairs) + "}"
    if r.random() < 0.1:
        place = r.randrange(len(text))
        text = text[:place] + r.choice(["", "}", "{", '"', " ", ",", "\\"]) + text[place + 1 :]
    return text


def read(record: str, reader: Any, columns: Any) -> tuple[dict[str, Any] | None, str | None]:
    try:
        return reader(record, columns), None
    except MalformedError as malformed:
        return None, str(malformed)


def plain(value: Any) -> Any:
    """A value in a form that can be compared: NaN is a text, and maps are dicts."""
    match value:
        case float():
            return repr(value)
        case datetime():
            return value.replace(tzinfo=None)
        case dict():
            return {name: plain(each) for name, each in value.items()}
        case list() if value and all(isinstance(each, tuple) for each in value):
            return {name: plain(each) for name, each in value}
        case list():
            return [plain(each) for each in value]
    return value


def compare(rows: Any, records: Any, reader: Any, columns: tuple[tuple[str, str], ...]) -> None:
    for step in records.steps:
        rows = rows.selectExpr("*", *step)
    told = rows.selectExpr("value", f"{records.why} AS _why", records.malformed, *records.items)
    # What a malformed record has in its columns need not be a value.
    kept = [f"IF(_malformed IS NULL, `{name}`, NULL) AS `{name}`" for name, _ in columns]
    table = told.selectExpr("value", "_why", "_malformed", *kept).toArrow()
    made, wrong, malformed = make_columns(columns), [], 0
    for row in table.to_pylist(maps_as_pydicts="strict"):
        values, why = read(row["value"], reader, made)
        malformed += why is not None
        if (why is None) != (row["_malformed"] is None):
            wrong.append((row["value"], why, row["_why"]))
        elif values is not None:
            found = {name: plain(row[name]) for name, _ in columns}
            if plain(values) not in (found, {**found, "counts": found.get("counts") or []}):
                wrong.append((row["value"], repr(values), repr(found)))
    assert not wrong, "\n".join(map(repr, wrong))
    assert 0 < malformed < table.num_rows


def test_json_is_read_as_spark_reads_it(spark: SparkSession) -> None:
    r = random.Random(3)
    drawn = sorted({draw_json(r) for _ in range(DRAWN)} | {*test_reasons.JSON})
    rows = spark.createDataFrame([(each,) for each in drawn], "value STRING")
    compare(rows, json_records(COLUMNS, explains=True), read_json_values, COLUMNS)


def test_csv_is_read_as_spark_reads_it(spark: SparkSession) -> None:
    r = random.Random(4)
    columns = tuple(each for each in COLUMNS if each[1] not in ("BINARY",) and "<" not in each[1])
    drawn = set()
    for _ in range(DRAWN):
        fields = [""] * len(columns)
        for _ in range(r.randint(1, 2)):
            fields[r.randrange(len(fields))] = r.choice(FIELDS)
        drawn.add(",".join(fields if r.random() < 0.95 else fields[1:]))
    rows = spark.createDataFrame([(each,) for each in sorted(drawn)], "value STRING")
    records = csv_records(columns)
    compare(divide_records(rows, [name for name, _ in columns]), records, read_csv_values, columns)


@pytest.mark.parametrize("texts", [test_reasons.JSON, test_reasons.CSV], ids=["json", "csv"])
def test_reasons_are_the_ones_of_spark(texts: dict[str, str | None]) -> None:
    is_json = texts is test_reasons.JSON
    columns = tuple((name, type_.replace("<n:", "<`n`:")) for name, type_ in test_reasons.COLUMNS)
    made = make_columns(columns if is_json else columns[:-1])
    reader = read_json_values if is_json else read_csv_values
    assert {record: read(record, reader, made)[1] for record in texts} == texts


@pytest.mark.parametrize(
    ("record", "why"),
    [
        ('{"half": true, "half": 99999999.99}', "half is no FLOAT: 99999999.99"),
        ('{"price": 100000000, "price": 1.50}', "price is no DECIMAL(10, 2): 1.50"),
        ('{"ratio": "é", "ratio": NaN}', "ratio is no DOUBLE: NaN"),
        ('{"id": 1, "id": 2, "at": "x", "at": "2024-01-01"}', None),
    ],
)
def test_all_values_of_a_name_have_to_be_of_its_type(record: str, why: str | None) -> None:
    """These are reasons that Spark gave."""
    assert read(record, read_json_values, make_columns(COLUMNS))[1] == why


def test_computed_columns_and_folders(tmp_path: Path) -> None:
    folder = tmp_path / "day=2024-01-01"
    folder.mkdir()
    (folder / "1.json").write_text(json.dumps({"ms": 1704103200123, "o": {"n": 2}}) + '\n{"day": "2024-01-02"}\n')
    script = f"""CREATE STREAM s (ms BIGINT, o STRUCT<n: BIGINT>, day DATE, file STRING METADATA FROM 'file.name',
      at AS TIMESTAMP_MILLIS(ms), m AS o.n, up AS UPPER(file), WATERMARK FOR at AS at - INTERVAL '1' SECOND)
      WITH (connector = 'files', path = '{tmp_path}', format = 'json')"""
    entry = compile(script).catalog.find("s")
    assert isinstance(entry, Declared)
    sample = look(lower_sampling(entry), 5)
    (row,) = sample.rows
    assert row["at"].isoformat() == "2024-01-01T10:00:00.123000+00:00"
    assert (row["m"], str(row["day"]), row["file"]) == (2, "2024-01-01", "1.json")
    assert sample.left_out == ["up"]
    assert [each.reason for each in sample.rejected] == [
        "malformed record: its folder has another value for a column, or one that is none of its type"
    ]
