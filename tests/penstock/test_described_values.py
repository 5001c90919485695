"""What `penstock describe` says of values: numbers, numbers in quotes, and forms of times."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from penstock.describe.text_forms import NUMBER_FORMS, TEXT_FORMS
from tests.penstock.test_describe import describe, read_columns
from tests.penstock.writers import lines, records

TIMES = (
    ("2024/01/01 10:00:05", "TO_TIMESTAMP(at, 'yyyy/MM/dd HH:mm:ss')"),
    ("2024/01/01", "TO_TIMESTAMP(at, 'yyyy/MM/dd')"),
    ("2024-01-01 10:00:00,123", "CAST(REPLACE(at, ',', '.') AS TIMESTAMP)"),
    ("13.01.2024 10:00", "TO_TIMESTAMP(at, 'dd.MM.yyyy HH:mm')"),
    ("13/01/2024 10:00", "TO_TIMESTAMP(at, 'dd/MM/yyyy HH:mm')"),
    ("01/13/2024 10:00", "TO_TIMESTAMP(at, 'MM/dd/yyyy HH:mm')"),
    ("20240101100005", "TO_TIMESTAMP(at, 'yyyyMMddHHmmss')"),
    ("20240101", "TO_TIMESTAMP(at, 'yyyyMMdd')"),
    ("1704103200", "TIMESTAMP_SECONDS(CAST(at AS BIGINT))"),
    ("1704103200123", "TIMESTAMP_MILLIS(CAST(at AS BIGINT))"),
    ("Mon, 01 Jan 2024 10:00:00 GMT", "TO_TIMESTAMP(SUBSTRING(at, 6, 20), 'dd MMM yyyy HH:mm:ss')"),
    ("Mon, 01 Jan 2024 10:00:00 +0100", "TO_TIMESTAMP(SUBSTRING(at, 6), 'dd MMM yyyy HH:mm:ss Z')"),
)


@pytest.mark.parametrize(("text", "sql"), TIMES)
def test_a_form_of_times_is_an_event_time(text: str, sql: str, tmp_path: Path) -> None:
    (tmp_path / "1.json").write_bytes(records({"at": text, "n": 1}, {"at": text, "n": 2}))
    columns = read_columns(describe("--name", "found", tmp_path).stdout)
    assert (columns["at"], columns["event_time"]) == ("STRING", f"AS {sql}")


def test_decimals_may_be_up_to_nine(tmp_path: Path) -> None:
    texts = [f"2024-01-01T10:00:0{n}{'.123456789'[: n and n + 1]}Z" for n in range(10)]
    (tmp_path / "1.json").write_bytes(records(*({"at": text} for text in texts)))
    columns = read_columns(describe("--name", "found", tmp_path).stdout)
    assert columns["event_time"] == r"AS CAST(REGEXP_REPLACE(at, '([.][0-9]{6})[0-9]+', '$1') AS TIMESTAMP)"


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("20240101", "TO_TIMESTAMP(CAST(at AS STRING), 'yyyyMMdd')"),
        ("20240101100005", "TO_TIMESTAMP(CAST(at AS STRING), 'yyyyMMddHHmmss')"),
    ],
)
def test_compact_times_of_csv_are_an_event_time(text: str, sql: str, tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_bytes(lines("at,n", f"{text},1"))
    columns = read_columns(describe("--name", "found", tmp_path).stdout)
    assert (columns["at"], columns["event_time"]) == ("BIGINT", f"AS {sql}")


def test_no_two_forms_have_one_name() -> None:
    told = [form.told for form in (*TEXT_FORMS, *NUMBER_FORMS)]
    assert len({form.told for form in TEXT_FORMS}) == len(TEXT_FORMS), told


def test_doubles_are_double(tmp_path: Path) -> None:
    values = ["0.1234567890123456", "0.30000000000000004", "0.5", "12.345678901234567", "3"]
    (tmp_path / "1.json").write_bytes(lines(*(f'{{"v": {value}}}' for value in values)))
    assert read_columns(describe("--name", "found", tmp_path).stdout) == {"v": "DOUBLE"}


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        (["12345678901234.25", "1.50"], "DECIMAL(38, 2)"),
        (["12345678901.123456", "1.500000"], "DECIMAL(38, 6)"),
        (["0.123456789012345678", "0.5"], "DECIMAL(38, 18)"),
        (["12345678901234567", "0.5"], "DECIMAL(38, 1)"),
    ],
)
def test_exact_numbers_are_decimal(values: list[str], type_: str, tmp_path: Path) -> None:
    (tmp_path / "1.json").write_bytes(lines(*(f'{{"v": {value}}}' for value in values)))
    assert read_columns(describe("--name", "found", tmp_path).stdout) == {"v": type_}


@pytest.mark.parametrize(
    ("name", "values", "note"),
    [
        ("n", ["9007199254740993", "2"], "numbers in quotes: CAST(n AS BIGINT)"),
        ("n", ["9223372036854775808", "2"], "numbers in quotes: CAST(n AS DECIMAL(38, 0))"),
        ("n", ["1", "2.5"], "numbers in quotes: CAST(n AS DOUBLE)"),
        ("price", ["1.25", "2.50"], "numbers in quotes: CAST(price AS DECIMAL(18, 2))"),
        ("order_id", ["9007199254740993", "2"], None),
        ("n", ["20240101", "20240231"], "numbers in quotes: CAST(n AS BIGINT)"),
        ("n", ["20240101", "20240102"], "compact dates: TO_TIMESTAMP(n, 'yyyyMMdd')"),
    ],
)
def test_numbers_in_quotes_are_read_exactly(name: str, values: list[str], note: str | None, tmp_path: Path) -> None:
    (tmp_path / "1.json").write_bytes(records(*({name: value} for value in values)))
    told = json.loads(describe("--format", "json", tmp_path).stdout)
    assert [each["notes"] for each in told["columns"]] == [[note] if note else []]


def test_a_file_without_records_has_no_key(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_bytes(lines("id,name"))
    told = json.loads(describe("--format", "json", tmp_path).stdout)
    assert (told["key_note"], told["read"]) == (None, "0 records of 1 file")


def test_the_times_of_rows_are_whole(tmp_path: Path) -> None:
    (tmp_path / "1.json").write_bytes(records({"at": "2024-01-01T10:00:00.123456Z"}))
    assert "-- 2024-01-01T10:00:00.123456" in describe(tmp_path).stdout
