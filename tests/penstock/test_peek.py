"""`penstock peek`: rows as they are typed, rejected records with their reasons, and what cannot be peeked at."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from penstock.commands.cli import main

DECLARED = """CREATE STREAM orders (
  id BIGINT KEY, product STRING, price DECIMAL(10, 2), time TIMESTAMP, tags ARRAY<STRING>, doubled AS id + id,
  WATERMARK FOR time AS time - INTERVAL '10' SECOND
) WITH (connector = 'files', path = '{folder}', format = '{format}');
CREATE TABLE totals (product STRING PRIMARY KEY, n BIGINT)
WITH (connector = 'files', path = '{folder}', format = 'json');
CREATE STREAM big AS SELECT STREAM id FROM orders WHERE price > 100;
CREATE VIEW cheap AS SELECT STREAM id FROM orders WHERE price < 100;
CREATE TABLE counts WITH (connector = 'files', path = 'counts', format = 'json', operation = 'op')
AS SELECT product, COUNT(*) AS n FROM orders GROUP BY product;
CREATE STREAM ticks (n BIGINT, t TIMESTAMP) WITH (connector = 'rate');
CREATE STREAM drawn (n BIGINT, t TIMESTAMP) WITH (connector = 'datagen');
CREATE TABLE people (id BIGINT PRIMARY KEY) WITH (connector = 'sqlite', path = 'people.db', table = 'people');
"""
RECORDS = (
    '{"id": 1, "product": "lamp", "price": 40.00, "time": "2024-01-01T10:00:00Z", "tags": ["a", null]}',
    '{"id": 2, "product": "chair\\u001b[31m", "price": 1e2, "time": "2024-01-01T10:01:00+01:00"}',
    '{"id": "3", "time": "2024-01-01T10:02:00Z"}',
    '{"id": 4, "price": 1.005, "time": "2024-01-01T10:02:00Z", "product": "\x1b[2J"}',
    '{"id": 5, "product": "x"}',
    '{"id": 6, "time": "2100-01-01"}',
    '{"id": 7, "time": "1969-12-31"}',
    '{"id": 8, "time": "2024-01-01", "product": {"a":  1}}',
)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    folder = tmp_path / "orders"
    folder.mkdir()
    (folder / "1.json").write_text("\n".join(RECORDS) + "\n")
    path = tmp_path / "orders.sql"
    path.write_text(DECLARED.replace("{folder}", str(folder)).replace("{format}", "json"))
    return path


def peek(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["peek", *map(str, arguments)])


def test_rows_are_typed_and_rejected_records_told(script: Path) -> None:
    result = peek(script, "orders")
    assert result.exit_code == 0
    assert "orders: all 3 rows" in result.stdout
    assert "chair\\x1b[31m" in result.stdout
    assert "2024-01-01 09:01:00" in result.stdout
    assert '["a", null]' in result.stdout
    assert "\x1b" not in result.stdout
    assert "5 of 8 records are rejected" in result.stdout
    for reason in (
        'malformed record: id is no BIGINT: "3"',
        "malformed record: it is not one JSON object",
        "no event time",
        "event time more than an hour after arrival",
        "event time before 1970",
    ):
        assert reason in result.stdout


def test_rejected_records_of_parquet_are_shown(tmp_path: Path) -> None:
    ids, times = pa.array([1, 2, None, 1 << 40]), pa.array([datetime(2024, 1, 1), None, datetime(1969, 1, 1), None])
    pq.write_table(pa.table({"id": ids, "time": times}), tmp_path / "a.parquet")
    script = tmp_path / "a.sql"
    script.write_text(
        "CREATE STREAM a (id INT, time TIMESTAMP, WATERMARK FOR time AS time - INTERVAL '1' SECOND) "
        f"WITH (connector = 'files', path = '{tmp_path}/a.parquet', format = 'parquet');"
    )
    shown = peek(script, "a").stdout
    for reason, record in (
        ("no event time", "{'id': 2}"),
        ("event time before 1970", "{'time': datetime.datetime(1969, 1, 1, 0, 0)}"),
        ('malformed record: id is no INT: "1099511627776"', "{'id': 1099511627776}"),
    ):
        assert any(reason in line and record in line for line in shown.splitlines()), shown


def test_json_and_csv_are_for_programs(script: Path) -> None:
    result = peek("--format", "json", "--limit", "1", script, "ORDERS")
    (row,) = [json.loads(line) for line in result.stdout.splitlines()]
    assert row == {
        "id": 1,
        "product": "lamp",
        "price": "40.00",
        "time": "2024-01-01T10:00:00.000000Z",
        "tags": ["a", None],
        "doubled": 2,
    }
    lines = peek("--format", "csv", script, "orders")
    assert lines.stdout.splitlines()[0] == "id,product,price,time,tags,doubled"
    assert "5 of 8 records are rejected" in lines.stderr


def test_a_limit_reads_no_further(script: Path, tmp_path: Path) -> None:
    (tmp_path / "orders" / "2.json.gz").write_bytes(b"damaged")
    os.utime(tmp_path / "orders" / "2.json.gz", (4_000_000_000, 4_000_000_000))
    assert "orders: the first 2 rows" in peek("--limit", "2", script, "orders").stdout
    whole = peek(script, "orders")
    assert (whole.exit_code, "error[R004]" in whole.stderr) == (3, True)


def test_records_of_a_table_need_a_key(script: Path) -> None:
    result = peek("--limit", "2", script, "totals")
    assert "totals: the first 2 rows" in result.stdout


@pytest.mark.parametrize(
    ("name", "code", "hint"),
    [
        ("big", "R097", "penstock run --once shows its rows"),
        ("cheap", "R097", "penstock run --once shows its rows"),
        ("counts", "R097", 'penstock query … "SELECT * FROM counts LIMIT 20"'),
        ("ticks", "R097", "penstock run --once shows rows of a query over it"),
        ("drawn", "R097", "penstock run --once shows rows of a query over it"),
        ("people", "R097", 'penstock query … "SELECT * FROM people LIMIT 20"'),
        ("ordres", "K012", "did you mean orders?"),
    ],
)
def test_what_cannot_be_peeked_at(name: str, code: str, hint: str, script: Path) -> None:
    result = peek(script, name)
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"error[{code}]" in result.stderr
    assert hint in result.stderr


def test_places_that_are_not_there(script: Path, tmp_path: Path) -> None:
    missing = tmp_path / "missing.sql"
    missing.write_text(script.read_text().replace(str(tmp_path / "orders"), str(tmp_path / "none")))
    result = peek(missing, "orders")
    assert (result.exit_code, "error[R003]" in result.stderr) == (3, True)
    assert peek(tmp_path / "no.sql", "orders").exit_code == 2
    assert peek("orders").exit_code == 2


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"id,name\n1,a\n", "R005"),
        (b"id,product,price,time,tags\n1,a\n", None),
    ],
)
def test_headers_of_csv(content: bytes, code: str | None, script: Path, tmp_path: Path) -> None:
    (tmp_path / "orders" / "1.json").unlink()
    (tmp_path / "orders" / "1.csv").write_bytes(content)
    text = (
        script.read_text().replace("tags ARRAY<STRING>", "tags STRING").replace("format = 'json'", "format = 'csv'", 1)
    )
    script.write_text(text)
    result = peek(script, "orders")
    assert result.exit_code == (0 if code is None else 3)
    if code is None:
        assert "the number of its fields is not that of the header or the columns: 2" in result.stdout
    else:
        assert f"error[{code}]" in result.stderr


def test_an_open_quote_is_one_long_record(script: Path, tmp_path: Path) -> None:
    (tmp_path / "orders" / "1.json").unlink()
    lines = 'id,product\n1,"a""\n,b"\n2,x"y\n3,"never closed\n' + "4,x\n" * 200_000
    (tmp_path / "orders" / "1.csv").write_text(lines)
    place = f"connector = 'files', path = '{tmp_path}/orders', format = 'csv'"
    declared = f"CREATE STREAM o (id BIGINT, product STRING) WITH ({place})"
    script.write_text(declared)
    result = peek("--format", "json", script, "o")
    assert [json.loads(line)["product"] for line in result.stdout.splitlines()] == ['a"\n,b']
    assert "2 of 3 records are rejected" in result.stderr


def test_neither_command_loads_pyspark(script: Path, tmp_path: Path) -> None:
    for arguments in (["peek", str(script), "orders"], ["describe", str(tmp_path / "orders")]):
        code = (
            "import sys; from penstock.commands.cli import main\n"
            f"try: main({arguments!r})\nexcept SystemExit as end: assert not end.code, end.code\n"
            "assert 'pyspark' not in sys.modules"
        )
        ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stderr


def test_query_of_a_stream_names_peek(script: Path) -> None:
    for select in ("SELECT * FROM orders LIMIT 20", "SELECT STREAM * FROM orders"):
        result = CliRunner().invoke(main, ["query", str(script), select])
        assert result.exit_code == 1
        assert "penstock peek" in result.stderr


def test_a_malformed_header_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('id,na"me\n1,x\n')
    script = tmp_path / "a.sql"
    script.write_text(
        "CREATE STREAM a (id BIGINT, name STRING) "
        f"WITH (connector = 'files', path = '{tmp_path}/a.csv', format = 'csv');"
    )
    result = peek(script, "a")
    assert result.exit_code == 3
    assert "R006" in result.stderr
    assert "its header is malformed: a quote in it is not as RFC 4180 has it" in result.stderr


def test_truth_values_and_bytes_are_as_files_have_them(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"ok": true, "data": "AQI="}\n')
    script = tmp_path / "a.sql"
    script.write_text(
        "CREATE STREAM a (ok BOOLEAN, data BINARY) "
        f"WITH (connector = 'files', path = '{tmp_path}/a.json', format = 'json');"
    )
    shown = peek(script, "a").stdout
    assert "true" in shown
    assert "AQI=" in shown
    assert "True" not in shown


def ask(script: Path, select: str, *options: str) -> Result:
    return CliRunner().invoke(main, ["query", *options, str(script), select])


def test_a_select_of_a_stream_with_limit_shows_its_first_rows(script: Path) -> None:
    result = ask(script, "SELECT STREAM id + 1 AS next FROM orders WHERE id > 1 LIMIT 1", "--format", "json")
    (row,) = [json.loads(line) for line in result.stdout.splitlines()]
    assert list(row) == ["next"]
    assert row["next"] > 2


@pytest.mark.parametrize(
    ("select", "code"),
    [
        ("SELECT STREAM id FROM orders LIMIT 1 OFFSET 1", "R097"),
        ("SELECT STREAM o.id FROM orders o JOIN orders p WITHIN 1 MINUTE ON o.id = p.id LIMIT 1", "R097"),
        ("SELECT STREAM nope FROM orders LIMIT 1", "N001"),
        ("SELECT STREAM id FROM orders", "R031"),
    ],
)
def test_a_look_is_at_one_declared_stream(script: Path, select: str, code: str) -> None:
    result = ask(script, select)
    assert (result.exit_code, code in result.stderr) == (1, True), result.stderr
