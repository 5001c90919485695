"""Records of every kind -> what is read without Spark is what Spark reads. PENSTOCK_ROWS says how many of each type."""

from __future__ import annotations

import csv
import io
import os
import random
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import penstock
from penstock.codegen.program import LocalRead, Read
from penstock.compilation import compile_read
from penstock.diagnostics import Source
from penstock.rows import Rows
from penstock.runtime import answer_locally
from penstock.runtime.local_reads.arrow_types import arrow_type
from penstock.runtime.query.reading import read
from tests import campaign
from tests.formats.test_round_trip import NO_FIELD, NO_VALUE
from tests.formats.values import FLAT, csv_text, json_text

pytestmark = [pytest.mark.spark, pytest.mark.draws]

ROWS = int(os.environ.get("PENSTOCK_ROWS", "60"))
TYPES = {type_: draw for type_, draw in FLAT.items() if type_ not in ("FLOAT", "TIME")}
NAMES = {type_: f"c{place}" for place, type_ in enumerate(TYPES)}
TEXTS = ["", "x", "a b", "é", "😀", " x ", "null", "NaN", "-", "a,b", 'a"b', "\ue5f7x", "\ufffd", "\\", "a\tb"]
NUMBERS = ["0", "-0", "1", "-1", "007", "1.50", "1.500", "+1", " 1", "1e2", "1E-1", ".5", "5.", "0.1", "-0.0", "1_0"]
TIMES = [
    "2026-01-01T00:00:00Z",
    "2026-01-01T00:00:00.5Z",
    "2026-01-01T00:00:00+00:00",
    "2026-01-01T00:00:00+01:00",
    "2026-01-01T00:00:00",
    "2026-01-01 00:00:00",
    "2026-1-1",
    "2026-01-01",
    "1599-01-01",
    "1600-01-01T00:00:00Z",
    "2026-02-29",
    "2026-01-01T24:00:00Z",
    "2026-01-01T00:00:60Z",
    "2026-01-01T00:00:00.1234567Z",
]


def test_json(spark: SparkSession, tmp_path: Path) -> None:
    texts = drawn(json_text)
    for type_, values in NO_VALUE.items():
        texts += [(type_, value) for value in values if type_ in NAMES]
    for type_ in TYPES:
        texts += [(type_, each) for each in NUMBERS if "_" not in each]
        texts += [(type_, json_text(each)) for each in (*TEXTS, *TIMES, *NUMBERS)]
        texts += [(type_, each) for each in ("true", "null", "[]", r'"\u00e9"', r'"\ud83d\ude00"', r'"\ud83d"', "1 2")]
    records = [f'{{"id": {number}, "{NAMES[type_]}": {text}}}' for number, (type_, text) in enumerate(texts)]
    extra = len(records)
    records += [
        f'{{"id": {extra}, "other": 1}}',
        f'{{"ID": {extra + 1}}}',
        f'{{"id": 0, "id": {extra + 2}}}',
        f'  {{"id": {extra + 3}}}  ',
        f'{{"id": {extra + 4}}} {{"id": {extra + 4}}}',
        f'[{{"id": {extra + 5}}}]',
        "",
        f'{{"id": {extra + 7}, "c0": NaN}}',
        f'{{"id": {extra + 8}, "other": {"[" * 5000}{"]" * 5000}}}',
        f'{{"id": {extra + 9}, "C3": 4, "c3": 5}}',
        f'{{"id": {extra + 10}, "C3": 4}}',
    ]
    files = [record.encode("utf-8", "surrogatepass") + b"\n" for record in records]
    assert_alike(spark, tmp_path, "json", files, least=0.45)


def test_csv(spark: SparkSession, tmp_path: Path) -> None:
    texts = drawn(csv_text)
    for type_, values in NO_FIELD.items():
        texts += [(type_, value) for value in values if type_ in NAMES]
    for type_ in TYPES:
        texts += [(type_, each) for each in (*NUMBERS, *TEXTS, *TIMES, "true", "TRUE")]
    header = ["id", *NAMES.values()]
    files = []
    for number, (type_, text) in enumerate(campaign.take_some(texts, 11)):
        written = io.StringIO(newline="")
        writer = csv.writer(written, lineterminator="\n")
        writer.writerow(header)
        row: list[Any] = [number, *[None for _ in NAMES]]
        row[header.index(NAMES[type_])] = text
        writer.writerow(row)
        files.append(written.getvalue().encode())
    assert_alike(spark, tmp_path, "csv", files, least=0.45)


def test_parquet(spark: SparkSession, tmp_path: Path) -> None:
    files = []
    for number, (type_, value) in enumerate(drawn(lambda value: value)):
        fields = {"id": "BIGINT", **{name: each for each, name in NAMES.items()}}
        schema = pa.schema([(name, arrow_type(each)) for name, each in fields.items()])
        table = pa.Table.from_pylist([{"id": number, NAMES[type_]: value}], schema)
        written = io.BytesIO()
        pq.write_table(table, written)
        files.append(written.getvalue())
    assert_alike(spark, tmp_path, "parquet", files, least=0.7)


def drawn(write: Callable[[Any], Any]) -> list[tuple[str, Any]]:
    """Values of each type, those of everyday more often."""
    chance = random.Random(ROWS)
    everyday: dict[str, Callable[[], Any]] = {
        "STRING": lambda: "".join(chance.choice("abc é") for _ in range(5)).strip() or "a",
        "DATE": lambda: date(2000, 1, 1) + timedelta(days=chance.randrange(10_000)),
        "TIMESTAMP": lambda: datetime(2000, 1, 1) + timedelta(microseconds=chance.randrange(10**15)),
        "DOUBLE": lambda: chance.gauss(0, 100),
    }
    values = []
    for type_, draw in TYPES.items():
        for _ in range(ROWS):
            if type_ in everyday and chance.random() < 0.7:
                value = everyday[type_]()
                if isinstance(value, datetime):
                    value = value.replace(tzinfo=datetime.fromisoformat("2000-01-01T00:00:00Z").tzinfo)
            else:
                value = draw(chance)
            values.append((type_, write(value)))
    return values


def assert_alike(spark: SparkSession, tmp_path: Path, format_: str, files: list[bytes], *, least: float) -> None:
    """Each file is read by itself without Spark, and all by Spark. `least`: the part that is not left to it."""
    folder, alone = tmp_path / "all", tmp_path / "alone"
    folder.mkdir()
    for number, content in enumerate(files):
        (folder / f"f{number}.{format_}").write_bytes(content)
    whole = compile_all(folder, format_)
    expected: dict[int, Any] = {row["id"]: row for row in read(spark, replace(whole, local=None), {})}
    answered = 0
    for number, content in enumerate(files):
        alone.mkdir()
        file = alone / f"one.{format_}"
        file.write_bytes(content)
        answer = answer_alone(whole, alone)
        if answer is not None:
            answered += 1
            wanted = [expected[number]] if number in expected else []
            assert list(answer) == wanted, content
        file.unlink()
        alone.rmdir()
    assert answered >= least * len(files), f"{answered} of {len(files)}"


def compile_all(folder: Path, format_: str) -> Read:
    declared = ", ".join(f"{name} {type_}" for type_, name in NAMES.items())
    options = f"connector = 'files', path = '{folder}', format = '{format_}'"
    script = f"CREATE TABLE t (id BIGINT PRIMARY KEY, {declared}) WITH ({options});"
    return compile_read(Source("", "SELECT * FROM t"), penstock.compile(script).catalog, memory=False)


def answer_alone(whole: Read, folder: Path) -> Rows | None:
    assert whole.local is not None
    (table,) = whole.local.tables
    options = tuple((name, str(folder) if name == "path" else value) for name, value in table.input.options)
    here = replace(table, input=replace(table.input, options=options))
    return answer_locally(LocalRead((here,), whole.local.sql, whole.local.constants, whole.local.columns))
