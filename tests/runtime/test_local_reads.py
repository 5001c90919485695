"""Reads without Spark: the answer of Spark, or none."""

from __future__ import annotations

import json
import os
import random
import zlib
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

import penstock
from penstock.codegen.program import Read
from penstock.commands.cli import main
from penstock.compilation import compile_read
from penstock.diagnostics import Source
from penstock.rows import Rows
from penstock.runtime import answer_locally
from penstock.runtime.query.reading import read

TYPES = {
    "n": "BIGINT",
    "i": "INT",
    "price": "DECIMAL(10, 2)",
    "rate": "DECIMAL(5, 3)",
    "x": "DOUBLE",
    "word": "STRING",
    "ok": "BOOLEAN",
    "day": "DATE",
    "at": "TIMESTAMP",
}
SELECTS = [
    "SELECT * FROM a",
    "SELECT id, n + 1 AS n, n - i AS m, i * i AS j, n * 2 AS k FROM a",
    "SELECT id FROM a WHERE n > 3 AND NOT ok OR price <= 5",
    "SELECT id FROM a WHERE n IN (1, 2, i) AND word NOT IN ('a', 'é')",
    "SELECT id FROM a WHERE price BETWEEN rate AND 7.5 OR n NOT BETWEEN 2 AND 5",
    "SELECT id FROM a WHERE word LIKE '%b_' OR word LIKE 'é%'",
    "SELECT id FROM a WHERE x > 0.5 OR x = 0",
    "SELECT id FROM a WHERE day >= DATE '2024-06-01' AND at < TIMESTAMP '2024-07-01 10:00:00.5'",
    "SELECT id, n IS DISTINCT FROM i AS d, n IS NULL AS nothing, word || '!' AS loud FROM a",
    "SELECT id, CASE WHEN ok THEN n WHEN n > 2 THEN i END AS c, COALESCE(price, rate, 0) AS p FROM a",
    "SELECT id, NULLIF(word, 'a') AS w, CASE WHEN ok THEN NULL ELSE i END AS c, 'x' AS x, 5000000000 AS large FROM a",
    "SELECT id FROM a WHERE rate > price OR price = n OR rate <> 1.5",
    "SELECT COUNT(*) AS n FROM a",
    "SELECT COUNT(*) AS n, COUNT(x) AS m, SUM(n) AS s, SUM(price) AS p, SUM(rate) AS r FROM a WHERE id < 0",
    "SELECT ok, COUNT(*) AS n, SUM(n) AS s, SUM(i) AS si, SUM(price) AS p, AVG(n) AS mean FROM a GROUP BY ok",
    "SELECT word, MIN(at) AS a, MAX(day) AS b, MIN(x) AS c, MAX(word) AS d, MIN(ok) AS e FROM a GROUP BY word",
    "SELECT day, COUNT(DISTINCT n) AS n, SUM(DISTINCT i) AS s, COUNT(*) FILTER (WHERE n > 2) AS k FROM a GROUP BY day",
    "SELECT word, ok, MAX(rate) AS r FROM a GROUP BY word, ok HAVING COUNT(*) > 1",
    "SELECT x, COUNT(*) AS n FROM a GROUP BY x",
    "SELECT DISTINCT word, ok FROM a",
    "SELECT a.id, b.word, b.n FROM a JOIN b ON a.n = b.n",
    "SELECT a.id AS x, b.id AS y FROM a LEFT JOIN b ON a.word = b.word AND a.n < b.n",
    "SELECT a.id AS x, b.id AS y FROM a RIGHT JOIN b ON a.id = b.id",
    "SELECT a.id AS x, b.id AS y FROM a FULL JOIN b ON a.n = b.i",
    "SELECT a.id AS x, b.id AS y FROM a JOIN a AS b ON a.n = b.i",
    "SELECT a.id FROM a SEMI JOIN b ON a.n = b.n AND a.i < b.i",
    "SELECT a.id FROM a ANTI JOIN b ON b.n = a.n",
    "SELECT id, word FROM a INTERSECT SELECT id, word FROM b",
    "SELECT word FROM a EXCEPT SELECT word FROM b WHERE ok",
    "SELECT n FROM a UNION ALL SELECT n FROM b",
    "SELECT n FROM a UNION SELECT i FROM b",
    "SELECT * FROM v WHERE twice > 4",
]
ORDERED = [
    "SELECT * FROM a ORDER BY n, id",
    "SELECT id FROM a ORDER BY word DESC, id DESC LIMIT 10",
    "SELECT id, n + i AS s FROM a ORDER BY price DESC NULLS LAST, rate NULLS LAST, id OFFSET 3 LIMIT 5",
    "SELECT id FROM (SELECT id, n FROM a ORDER BY n, id LIMIT 5) AS t ORDER BY id",
    "SELECT word, COUNT(*) AS n FROM a GROUP BY word ORDER BY n DESC, word",
    "SELECT id FROM a ORDER BY ok DESC, at, x, id",
]
LEFT_TO_SPARK = [
    "SELECT id, NULL AS nothing FROM a",
    "SELECT id, UPPER(word) AS w FROM a",
    "SELECT id, n / 2 AS h FROM a",
    "SELECT SUM(x) AS s FROM a",
    "SELECT AVG(price) AS m FROM a",
    "SELECT id FROM a WHERE word LIKE 'a\\\\_'",
    "SELECT id, CAST(word AS INT) AS w FROM a",
    "SELECT id, CAST(at AS STRING) AS w FROM a",
    "SELECT id, ARRAY(n) AS w FROM a",
    "SELECT word, LISTAGG(word, ',') AS w FROM a GROUP BY word",
]


def write_rows(path: Path, seed: int, count: int = 60) -> None:
    chance = random.Random(seed)
    draw: dict[str, Callable[[], Any]] = {
        "id": lambda: chance.randrange(count // 2),
        "n": lambda: chance.randrange(-2, 7),
        "i": lambda: chance.randrange(-2, 7),
        "price": lambda: Decimal(chance.randrange(-300, 1000)) / 100,
        "rate": lambda: Decimal(chance.randrange(-3000, 10000)) / 1000,
        "x": lambda: chance.choice([0.0, 0.5, 1.5, -2.25, 1e300]),
        "word": lambda: chance.choice(["a", "ab", "abc", "é", "Z", ""]),
        "ok": lambda: chance.random() < 0.5,
        "day": lambda: str(date(2024, 1, 1) + timedelta(days=chance.randrange(8) * 50)),
        "at": lambda: (datetime(2024, 1, 1) + timedelta(hours=chance.randrange(9) * 999)).isoformat() + "Z",
    }
    path.mkdir(parents=True, exist_ok=True)
    for part in range(2):
        lines = []
        for _ in range(count // 2):
            row = {name: None if name != "id" and chance.random() < 0.15 else one() for name, one in draw.items()}
            row["op"] = "delete" if chance.random() < 0.1 else "upsert"
            lines.append(json.dumps(row, default=float) + "\n")
        (path / f"{part}.json").write_text("".join(lines))


def compile_over(folder: Path, select: str, declared: str = "") -> Read:
    columns = ", ".join(f"{name} {type_}" for name, type_ in TYPES.items())
    script = "".join(
        f"CREATE TABLE {each} (id BIGINT PRIMARY KEY, {columns}{declared}) "
        f"WITH (connector = 'files', path = '{folder / each}', format = 'json', operation = 'op');"
        for each in "ab"
    )
    script += "CREATE VIEW v AS SELECT id, n * 2 AS twice FROM a;"
    return compile_read(Source("", select), penstock.compile(script).catalog, memory=False)


def answer(folder: Path, select: str = "SELECT * FROM a", declared: str = "") -> Rows | None:
    return answer_locally(compile_over(folder, select, declared).local)


@pytest.mark.spark
@pytest.mark.parametrize("select", [*SELECTS, *ORDERED])
def test_the_answer_is_that_of_spark(spark: SparkSession, tmp_path: Path, select: str) -> None:
    write_rows(tmp_path / "a", 1)
    write_rows(tmp_path / "b", 2)
    compiled = compile_over(tmp_path, select)
    found = answer_locally(compiled.local)
    assert found is not None
    expected = read(spark, replace(compiled, local=None), {})
    schemas = [each.to_arrow().schema for each in (found, expected)]
    assert schemas[0].types == schemas[1].types
    assert schemas[0].names == schemas[1].names
    if select in ORDERED:
        assert list(found) == list(expected)
    else:
        assert sorted(map(str, found)) == sorted(map(str, expected))


@pytest.mark.parametrize("select", LEFT_TO_SPARK)
def test_what_may_mean_something_else_is_left_to_spark(tmp_path: Path, select: str) -> None:
    assert compile_over(tmp_path, select).local is None


def put(folder: Path, name: str, *rows: dict[str, Any], written: int | None = None) -> Path:
    path = folder / "a" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    if written is not None:
        os.utime(path, (written, written))
    return path


def values(found: Rows | None) -> dict[int, Any] | None:
    return None if found is None else {row["id"]: row["n"] for row in found}


def test_the_newest_record_of_a_key_is_in_the_file_written_last(tmp_path: Path) -> None:
    put(tmp_path, "a.json", {"id": 1, "n": 3}, {"id": 2, "n": 3}, {"id": 2, "n": 4}, written=2_000_000_000)
    put(tmp_path, "b.json", {"id": 1, "n": 1}, {"id": 3, "n": 1}, written=1_900_000_000)
    put(tmp_path, "sub/c.json", {"id": 3, "op": "Delete"}, written=1_950_000_000)
    assert values(answer(tmp_path)) == {1: 3, 2: 4}


def test_a_sequence_comes_before_the_order_of_files(tmp_path: Path) -> None:
    put(tmp_path, "a.json", {"id": 1, "n": 3, "v": 7}, {"id": 1, "n": 4, "v": 6}, {"id": 1, "n": 5, "v": 7})
    options = f"connector = 'files', path = '{tmp_path / 'a'}', format = 'json', sequence = 'v'"
    catalog = penstock.compile(f"CREATE TABLE a (id INT PRIMARY KEY, n INT, v INT) WITH ({options});").catalog
    assert values(answer_locally(compile_read(Source("", "SELECT id, n FROM a"), catalog, memory=False).local)) == {
        1: 5
    }


def test_of_a_folder_that_a_query_writes_the_files_of_its_log_are_read_in_its_order(tmp_path: Path) -> None:
    paths = [put(tmp_path, f"{name}.json", {"id": 1, "n": number}) for number, name in enumerate("cba")]
    log = tmp_path / "a" / "_spark_metadata"
    log.mkdir()
    for batch, path in enumerate(paths[:2]):
        entry = {"path": f"file://{path}", "size": path.stat().st_size, "action": "add"}
        (log / f"{batch}").write_text(f"v1\n{json.dumps(entry)}")
    assert values(answer(tmp_path)) == {1: 1}
    (log / "0").unlink()
    assert answer(tmp_path) is None
    (log / "1").unlink()
    log.rmdir()
    assert answer(tmp_path) is not None


def test_a_file_that_does_not_fit_its_checksums_is_left_to_spark(tmp_path: Path) -> None:
    path = put(tmp_path, "a.json", *({"id": number, "n": number} for number in range(100)))
    content = path.read_bytes()
    sums = [zlib.crc32(content[start : start + 512]).to_bytes(4) for start in range(0, len(content), 512)]
    path.with_name(".a.json.crc").write_bytes(b"crc\0" + (512).to_bytes(4) + b"".join(sums))
    assert len(answer(tmp_path) or ()) == 100
    path.write_bytes(content.replace(b"99}", b"98}", 1))
    assert answer(tmp_path) is None


@pytest.mark.parametrize(
    "spoil",
    [
        lambda a: (a / "1.json").write_text('{"id": 1} x\n'),
        lambda a: (a / "1.json").write_text('{"n": 1}\n'),
        lambda a: (a / "1.json").write_bytes(b'{"id": 1, "word": "\xff"}\n'),
        lambda a: (a / "1.json").write_bytes(b'{"id": 1}\r\n'),
        lambda a: (a / "1.json").write_text('{"id": 1}\n' * 1_000_000),
        lambda a: (a / "1.json.gz").write_text('{"id": 1}\n'),
        lambda a: (a / "x y.json").write_text('{"id": 1}\n'),
        lambda a: (a / "x.json").symlink_to(a / "0.json"),
        lambda a: (a / "0.json").rename(a.parent / "0.json") and a.rmdir(),
    ],
)
def test_what_is_not_plain_is_left_to_spark(tmp_path: Path, spoil: Callable[[Path], object]) -> None:
    put(tmp_path, "0.json", {"id": 5, "n": 5})
    assert values(answer(tmp_path)) == {5: 5}
    spoil(tmp_path / "a")
    assert answer(tmp_path) is None


ODD_JSON = {
    "deep": b'{"id": 1, "word": ' + b"[" * 5000 + b"]" * 5000 + b"}",
    "deep and not declared": b'{"id": 1, "other": ' + b'{"a":' * 5000 + b"1" + b"}" * 5001,
    "deep and open": b'{"id": 1, "word": ' + b"[" * 100_000,
    "many digits": b'{"id": 1, "n": ' + b"9" * 5000 + b"}",
    "many decimals": b'{"id": 1, "price": 1.' + b"0" * 5000 + b"}",
    "large exponent": b'{"id": 1, "x": 1e999999999999}',
    "NaN": b'{"id": 1, "x": NaN, "price": Infinity}',
    "year 0": b'{"id": 1, "day": "0000-01-01"}',
    "year -1": b'{"id": 1, "at": "-0001-01-01T00:00:00Z"}',
    "year 10000": b'{"id": 1, "at": "10000-01-01T00:00:00Z"}',
    "UTF-16": '{"id": 1}'.encode("utf-16"),
    "half a character": b'{"id": 1, "word": "\xe2\x82"}',
    "half a pair": b'{"id": 1, "word": "\\ud83d"}',
    "another case": b'{"ID": 1, "N": 5}',
    "text of a number": b'{"id": 1, "word": 1.10}',
    "only zeros": b"\0" * 4096,
}


@pytest.mark.parametrize("content", ODD_JSON.values(), ids=ODD_JSON)
def test_odd_records_of_json_are_left_to_spark(tmp_path: Path, content: bytes) -> None:
    put(tmp_path, "0.json", {"id": 5, "n": 5}).write_bytes(content + b"\n")
    assert answer(tmp_path) is None


FAR = 1 << 60
"""Microseconds that no year of Python's calendar has."""
ODD_PARQUET: dict[str, Callable[[], pa.Table]] = {
    "behind 9999": lambda: pa.table({"id": [1], "at": pa.array([FAR], pa.timestamp("us", tz="UTC"))}),
    "before year 1": lambda: pa.table({"id": [1], "at": pa.array([-FAR], pa.timestamp("us", tz="UTC"))}),
    "day behind 9999": lambda: pa.table({"id": [1], "day": pa.array([1 << 30], pa.int32()).cast(pa.date32())}),
    "a column twice": lambda: pa.table([pa.array([1]), pa.array([2])], names=["id", "id"]),
    "nanoseconds": lambda: pa.table({"id": [1], "at": pa.array([1], pa.timestamp("ns", tz="UTC"))}),
    "without a zone": lambda: pa.table({"id": [1], "at": pa.array([1], pa.timestamp("us"))}),
    "dictionary": lambda: pa.table({"id": [1], "word": pa.array(["a"]).dictionary_encode()}),
    "large text": lambda: pa.table({"id": [1], "word": pa.array(["a"], pa.large_string())}),
    "bytes": lambda: pa.table({"id": [1], "word": pa.array([b"\xff"])}),
    "nothing but NULL": lambda: pa.table({"id": [1], "word": pa.nulls(1)}),
    "lists": lambda: pa.table({"id": [1], "n": [[1]]}),
    "wide decimals": lambda: pa.table({"id": [1], "price": pa.array([Decimal(1)], pa.decimal256(70, 2))}),
    "no columns": lambda: pa.table({}),
}
DECLARED = {"at": "TIMESTAMP", "day": "DATE", "word": "STRING", "n": "BIGINT", "price": "DECIMAL(10, 2)"}


@pytest.mark.parametrize("make", ODD_PARQUET.values(), ids=ODD_PARQUET)
@pytest.mark.parametrize("int96", [False, True])
def test_odd_tables_of_parquet_are_left_to_spark(tmp_path: Path, make: Callable[[], pa.Table], int96: bool) -> None:
    table, folder = make(), tmp_path / "a"
    folder.mkdir()
    pq.write_table(table, folder / "0.parquet", use_deprecated_int96_timestamps=int96)
    others = [name for name in table.column_names if name != "id"]
    assert answer_parquet(folder, *others) is None
    (folder / "0.parquet").write_bytes(b"PAR1 PAR1")
    assert answer_parquet(folder, *others) is None
    (folder / "0.parquet").write_bytes(b"")
    assert answer_parquet(folder, *others) is None


def test_plain_tables_of_parquet_are_read(tmp_path: Path) -> None:
    times = pa.array([1], pa.timestamp("us", tz="UTC"))
    pq.write_table(pa.table({"id": [1], "at": times, "word": ["a"]}), tmp_path / "0.parquet")
    assert [row["word"] for row in answer_parquet(tmp_path, "at", "word") or ()] == ["a"]


def answer_parquet(folder: Path, *names: str) -> Rows | None:
    columns = "".join(f", {name} {DECLARED[name]}" for name in names)
    options = f"connector = 'files', path = '{folder}', format = 'parquet'"
    catalog = penstock.compile(f"CREATE TABLE a (id BIGINT PRIMARY KEY{columns}) WITH ({options});").catalog
    return answer_locally(compile_read(Source("", "SELECT * FROM a"), catalog, memory=False).local)


@pytest.mark.parametrize(("time", "is_plain"), [("2024-01-01", True), ("1969-12-31", False), ("2040-01-01", False)])
def test_rows_whose_event_time_is_not_believed_are_left_to_spark(tmp_path: Path, time: str, is_plain: bool) -> None:
    put(tmp_path, "0.json", {"id": 5, "n": 5, "at": f"{time}T00:00:00Z"})
    found = answer(tmp_path, declared=", WATERMARK FOR at AS at - INTERVAL '1' SECOND")
    assert values(found) == ({5: 5} if is_plain else None)


def test_a_sum_that_overflows_is_left_to_spark(tmp_path: Path) -> None:
    put(tmp_path, "0.json", *({"id": number, "n": 2**62} for number in range(2)))
    assert answer(tmp_path, "SELECT SUM(n) AS s FROM a") is None
    assert answer(tmp_path, "SELECT AVG(n) AS s FROM a") is None
    assert answer(tmp_path, "SELECT n * 4 AS s FROM a") is None
    assert answer(tmp_path, "SELECT MAX(n) AS s FROM a") is not None


def test_a_query_of_the_command_line_needs_no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "none"))
    monkeypatch.setenv("PATH", "")
    put(tmp_path, "0.json", {"id": 5, "n": 5})
    script = tmp_path / "script.sql"
    options = f"connector = 'files', path = '{tmp_path / 'a'}', format = 'json'"
    script.write_text(f"CREATE TABLE a (id INT PRIMARY KEY, n INT) WITH ({options});")
    found = CliRunner().invoke(main, ["query", "--format", "json", str(script), "SELECT * FROM a"])
    assert (found.exit_code, json.loads(found.stdout)) == (0, {"id": 5, "n": 5})
