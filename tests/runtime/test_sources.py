"""Files in each format -> rows, and what is wrong with files -> findings that name them."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from penstock.codegen.program import Input, Program, QueryOutput, SparkQuery, View
from penstock.runtime import RunError, RuntimeSession
from tests.runtime.programs import COLUMNS, SETTINGS

pytestmark = pytest.mark.spark

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def reading(path: Path, sql: str = "SELECT id, v, ts, _malformed FROM raw", **options: str | int | bool) -> Program:
    source = Input("orders", "raw", "files", (("path", str(path)), *options.items()), COLUMNS)
    output = QueryOutput("seen", "memory", (), ())
    query = SparkQuery("seen", (source,), (View("result", sql),), "result", output, "append", False, (), (), "seen")
    return Program(SETTINGS, (replace(query, checked=not source.numbers_records),))


def rows(session: RuntimeSession, program: Program) -> list[tuple[Any, ...]]:
    session.run_once(program, drain=True)
    return sorted((tuple(row.values()) for row in session.rows("seen")), key=repr)


def refusal(session: RuntimeSession, program: Program) -> tuple[str, str, str]:
    """Code, message and detail of the only finding."""
    with pytest.raises(RunError) as failure:
        session.run_once(program, drain=True)
    (finding,) = failure.value.diagnostics
    return finding.code, finding.message, finding.detail or ""


def test_json_records(session: RuntimeSession, tmp_path: Path) -> None:
    good = [
        '{"id": 1, "v": 1, "ts": "2026-01-01T12:00:00Z"}',
        '{"id": 2, "v": null, "ts": "2026-01-01T12:00:00"}',
        '{"id": 3, "ts": "2026-01-01T14:00:00+02:00", "more": [1]}',
        '{"id": 4, "ts": "2026-01-01 12:00:00"}',
    ]
    bad = ['{"id": "x"}', '{"id": 5, "v": 99999999999}', '{"id": 6', "null", "7", '[{"id": 8}, {"id": 9}]']
    (tmp_path / "a.json").write_text("\n".join([*good, "", "   ", *bad]) + "\n")
    seen = rows(session, reading(tmp_path, format="json"))
    assert [row for row in seen if row[3] is None] == [
        (1, 1, NOON, None),
        (2, None, NOON, None),
        (3, None, NOON, None),
        (4, None, NOON, None),
    ]
    assert sorted(row[3] for row in seen if row[3] is not None) == sorted(bad)


@pytest.mark.parametrize("format_", ["json", "csv"])
def test_a_record_is_malformed_whatever_the_query_reads(session: RuntimeSession, tmp_path: Path, format_: str) -> None:
    text = {"json": '{"id": 1, "v": "x"}\n{"id": 2, "v": 2}\n', "csv": "1,x,\n2,2,\n"}[format_]
    (tmp_path / "a").write_text(text)
    program = reading(tmp_path, "SELECT _malformed IS NULL AS sound FROM raw", format=format_, header=False)
    assert rows(session, program) == [(False,), (True,)]


def test_csv_columns_are_matched_by_the_header(session: RuntimeSession, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("note,ts,ID,v\nhello,2026-01-01T12:00:00Z,1,2\n,2026-01-01 12:00:00,2,NA\nx,,3\n")
    (tmp_path / "b.csv").write_text("note,ts,ID,v\n,,4,NA\n")
    assert rows(session, reading(tmp_path, format="csv", null="NA")) == [
        (1, 2, NOON, None),
        (2, None, NOON, None),
        (3, None, None, "x,,3"),
        (4, None, None, None),
    ]


def test_csv_columns_without_a_header_are_matched_by_position(session: RuntimeSession, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1,2,2026-01-01T12:00:00Z\n3,4,5,6\n")
    assert rows(session, reading(tmp_path, format="csv", header=False)) == [(1, 2, NOON, None), (3, 4, None, "3,4,5,6")]


def test_a_csv_header_without_a_declared_column_is_refused(session: RuntimeSession, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,time\n1,2026-01-01T12:00:00Z\n")
    with pytest.raises(RunError) as failure:
        session.run_once(reading(tmp_path, format="csv"), drain=True)
    assert [finding.message for finding in failure.value.diagnostics] == [
        "CSV header of orders has no column v",
        "CSV header of orders has no column ts",
    ]
    assert "id, time" in (failure.value.diagnostics[0].detail or "")


def test_a_csv_file_with_its_columns_in_another_order_is_refused(session: RuntimeSession, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,v,ts\n1,2,\n")
    (tmp_path / "b.csv").write_text("v,id,ts\n2,1,\n")
    code, message, detail = refusal(session, reading(tmp_path, format="csv"))
    assert code == "R006"
    assert message.endswith(".csv")
    assert "CSV header" in detail


def test_parquet(session: RuntimeSession, tmp_path: Path) -> None:
    table = pa.table(
        {"id": [1, 2], "v": pa.array([1, None], pa.int32()), "ts": pa.array([NOON, None], pa.timestamp("us", "UTC"))}
    )
    pq.write_table(table, tmp_path / "a.parquet")
    assert rows(session, reading(tmp_path, format="parquet")) == [(1, 1, NOON, None), (2, None, None, None)]


def test_where_a_row_came_from(session: RuntimeSession, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"id": 1}\n')
    os.utime(tmp_path / "a.json", (NOON.timestamp(), NOON.timestamp()))
    seen = rows(session, reading(tmp_path, "SELECT _file, _arrived FROM raw", format="json"))
    assert seen == [(f"file:{tmp_path}/a.json", NOON)]


@pytest.mark.parametrize("pattern", ["", "deep", "deep/er=1/b.json", "*.json", "d*/*/*.json"])
def test_folders_files_and_patterns(session: RuntimeSession, tmp_path: Path, pattern: str) -> None:
    (tmp_path / "deep" / "er=1").mkdir(parents=True)
    (tmp_path / "a.json").write_text('{"id": 1}\n')
    (tmp_path / "deep" / "er=1" / "b.json").write_text('{"id": 2}\n')
    expected = {"": [1, 2], "*.json": [1]}.get(pattern, [2])
    assert [row[0] for row in rows(session, reading(tmp_path / pattern, format="json"))] == expected


def test_a_file_that_is_much_older_than_the_others_is_read(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    with RuntimeSession(spark, str(tmp_path / "checkpoint")) as session:
        for id_, year in ((1, 2026), (2, 2020)):  # Spark passes over an old file if it has read a newer one before
            file = tmp_path / "in" / f"{id_}.json"
            file.write_text(json.dumps({"id": id_}) + "\n")
            os.utime(file, (datetime(year, 1, 1, tzinfo=UTC).timestamp(),) * 2)
            seen = rows(session, reading(tmp_path / "in", format="json"))
    assert [row[0] for row in seen] == [1, 2]


def test_a_missing_path_is_named_before_anything_runs(session: RuntimeSession, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"id": 1}\n')
    good = reading(tmp_path, format="json").queries[0]
    bad = reading(tmp_path / "missing", format="json").queries[0]
    code, message, _ = refusal(session, Program(SETTINGS, (good, bad)))
    assert (code, message) == ("R003", f"path of orders does not exist: {tmp_path / 'missing'}")
    assert session.rows("seen") == []


def test_a_file_that_is_not_parquet_is_named(session: RuntimeSession, tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_text("id,v\n1,2\n")
    code, message, detail = refusal(session, reading(tmp_path, format="parquet"))
    assert (code, message) == ("R004", f"file cannot be read: {tmp_path}/a.parquet")
    assert "is not a Parquet file" in detail


def test_a_parquet_file_with_other_types_is_named(session: RuntimeSession, tmp_path: Path) -> None:
    table = pa.table({"id": ["one"], "v": pa.array([1], pa.int32()), "ts": pa.array([NOON], pa.timestamp("us", "UTC"))})
    pq.write_table(table, tmp_path / "a.parquet")
    code, message, detail = refusal(session, reading(tmp_path, format="parquet"))
    assert (code, message) == ("R006", f"file does not match the declared columns: {tmp_path}/a.parquet")
    assert detail.startswith("column id is ")


def rate(columns: tuple[tuple[str, str], ...]) -> Program:
    source = Input("ticks", "raw", "rate", (("rows_per_second", 50),), columns)
    output = QueryOutput("seen", "memory", (), ())
    views = (View("result", "SELECT * FROM raw"),)
    return Program(SETTINGS, (SparkQuery("seen", (source,), views, "result", output, "append", False, (), (), "seen"),))


def test_a_rate_stream_fills_its_columns_by_their_types(spark: SparkSession) -> None:
    with RuntimeSession(spark) as session:
        (handle,) = session.start(rate((("made", "TIMESTAMP"), ("n", "BIGINT"))))
        while not session.rows("seen"):
            assert not handle.await_done(0.2)
        handle.stop()
        numbers = [row["n"] for row in session.rows("seen")]
        assert sorted(numbers) == list(range(len(numbers)))
        assert all(isinstance(row["made"], datetime) for row in session.rows("seen"))


def test_a_rate_stream_with_a_string_is_refused(session: RuntimeSession) -> None:
    assert refusal(session, rate((("n", "STRING"),)))[:2] == ("R007", "rate stream ticks has a column of type STRING")
