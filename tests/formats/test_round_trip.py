"""Rows that others write -> Penstock -> what others read: the same values, or rejected with a reason.

Every format, and every type that it can hold. PENSTOCK_ROWS says how many rows of each.
"""

from __future__ import annotations

import csv
import json
import os
import random
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import penstock
from penstock.runtime import RuntimeSession
from tests import campaign
from tests.formats.values import FLAT, NESTED, csv_text, json_text, read_like, same

pytestmark = [pytest.mark.spark, pytest.mark.draws]

ROWS = int(os.environ.get("PENSTOCK_ROWS", "60"))
ALL = FLAT | NESTED
# By type, what is not a value of it, as JSON has it.
NO_VALUE = {
    "TINYINT": ["128", "200", "-129", '"1"', "1.0", "true"],
    "SMALLINT": ["32768", "1e3"],
    "INT": ["2147483648", "{}"],
    "BIGINT": ["9223372036854775808", '"5"', "[1]"],
    "FLOAT": ["1e39", '"1"', "-1e999"],
    "DOUBLE": ["1e400", '"1e400"', '"x"', "false"],
    "DECIMAL(10, 2)": ["1.005", '"1.5"', "1E-3", "123456789.0", "1e400"],
    "DECIMAL(38, 20)": ["1.123456789012345678901", '"0"'],
    "BOOLEAN": ["1", '"true"'],
    "DATE": ["19000", '"2026-02-30"', '"2026-01-01T00:00:00Z"', '"10000-01-01"', '""'],
    "TIMESTAMP": [
        "1735689600",
        "1735689600000",
        '"12:00:00"',
        '"0000-01-01T00:00:00Z"',
        '"2026-01-01T00:00:00.1234567Z"',
    ],
    "TIME": ['"24:00:00"', '"10:30:00.1234567"', '"10:30:00Z"', '"10:30 PM"', '"2026-01-01T10:30:00"', "10", '""'],
    "STRING": [r'"\ud800"'],
    "BINARY": ['"*"', "1"],
    "ARRAY<DECIMAL(10, 2)>": ["[1.005]", '["1"]', "{}"],
    "ARRAY<STRUCT<d: DOUBLE, t: TIMESTAMP>>": ['[{"d": 1e400}]', '[{"t": 5}]', "[5]"],
    "MAP<STRING, BIGINT>": ['{"a": 1, "a": 2}', '{"a": "1"}', "[]"],
    "MAP<STRING, ARRAY<TIMESTAMP>>": ['{"a": [null, 5]}', '{"a": null, "b": ["x"]}'],
    "ARRAY<TIME>": ['["10:30:00", "25:00"]', "[10]"],
    "MAP<INT, DATE>": ['{"1": null, "01": null}', '{"x": null}', '{"1": 5}'],
    "STRUCT<a: TINYINT, b: STRUCT<c: STRING>>": ['{"a": 200}', '{"b": 5}'],
}
# No records, whatever is declared.
NO_JSON = ['{"id": 1}{"id": 2}', '{"id": 1} x', '{"id": 1},', "{'id': 1}", "[]", "null", '{"id": 1', '{"id": 1}]', "\t"]
NO_CSV = ['1,"x"y', '1,"\0,"', '1,x"y"', "1", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", '"1', "1,\rx"]
NO_FIELD = {
    **{type_: ["1.0", "x", '""', "1e3", "9" * 20] for type_ in ("TINYINT", "SMALLINT", "INT", "BIGINT")},
    **{type_: ["1e400", "1d", "0x1p3", '""'] for type_ in ("FLOAT", "DOUBLE")},
    "DECIMAL(10, 2)": ["1.005", "x", "123456789"],
    "BOOLEAN": ["1", "yes"],
    "DATE": ["19000", "2026-02-30"],
    "TIMESTAMP": ["1735689600", "12:00:00"],
    "TIME": ["24:00:00", "10:30:60", "10", "10:30:00+02:00", "10:30:00.1234567"],
}


def drawn(types: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows of an id and a value of each type, some of which are missing."""
    r = random.Random(f"{ROWS}")
    names = dict(zip(columns(types), types.values(), strict=True))
    return [
        {"id": number, **{name: None if r.random() < 0.1 else draw(r) for name, draw in names.items()}}
        for number in range(ROWS)
    ]


def columns(types: dict[str, Any]) -> list[str]:
    return [f"c{place}" for place, _ in enumerate(types)]


class Run:
    """A stream that is copied by a query from one folder to another."""

    def __init__(
        self, spark: SparkSession, tmp_path: Path, types: dict[str, Any], format_: str, options: str = ""
    ) -> None:
        self.spark, self.format = spark, format_
        self.source, self.sink = tmp_path / "in", tmp_path / "out"
        self.source.mkdir()
        declared = ", ".join(f"{name} {type_}" for name, type_ in zip(columns(types), types, strict=True))
        self.sql = (
            f"CREATE STREAM a (id BIGINT, {declared}) "
            f"WITH (connector = 'files', path = '{self.source}', format = '{format_}'{options}); "
            f"CREATE STREAM b WITH (connector = 'files', path = '{self.sink}', format = '{format_}') "
            "AS SELECT STREAM * FROM a;"
        )

    def go(self) -> list[dict[str, str]]:
        """Copies, and returns the rejected records; in = rejected + used."""
        with RuntimeSession(self.spark) as session:
            (report,) = session.run_once(penstock.compile(self.sql).program, drain=True)
        (account,) = report.inputs
        assert account.read == account.rejected + account.used
        assert report.out == account.used
        folder = Path(f"{self.sink}_rejected") / "a"
        rejected = [json.loads(line) for file in folder.glob("*.json") for line in file.read_text().split("\n") if line]
        assert len(rejected) == account.rejected
        assert all(row["reason"].startswith("malformed record: ") for row in rejected)
        return rejected

    def written(self) -> Iterator[Path]:
        return self.sink.glob(f"part-*.{self.format}")


def check(expected: list[dict[str, Any]], found: list[dict[str, Any]]) -> None:
    """The rows are those expected, read by something that knows JSON or CSV and not their types."""
    rows = {int(row["id"]): row for row in found}
    assert len(found) == len(rows) == len(expected)
    for row in expected:
        mine = rows[row["id"]]
        wrong = {name: mine[name] for name, value in row.items() if not same(value, read_like(value, mine[name]))}
        assert not wrong, {name: (row[name], value) for name, value in wrong.items()}


def test_json_of_python(spark: SparkSession, tmp_path: Path) -> None:
    run, rows = Run(spark, tmp_path, ALL, "json"), drawn(ALL)
    names = dict(zip(ALL, columns(ALL), strict=True))
    bad = [f'{{"id": 0, "{names[type_]}": {value}}}' for type_, values in NO_VALUE.items() for value in values]
    bad += NO_JSON
    lines = [*map(json_text, rows), *bad]
    random.Random(0).shuffle(lines)
    (run.source / "a.json").write_text("\n".join(lines) + "\n")
    rejected = [row["record"] for row in run.go()]
    assert (set(rejected) - set(bad), set(bad) - set(rejected), len(rejected)) == (set(), set(), len(bad))
    texts = [line for file in run.written() for line in file.read_text().split("\n") if line]
    check(rows, [json.loads(text, parse_float=str, parse_int=str) for text in texts])


def test_json_of_duckdb(spark: SparkSession, tmp_path: Path) -> None:
    run, rows = Run(spark, tmp_path, ALL, "json"), drawn(ALL)
    binary = columns(ALL)[[*ALL].index("BINARY")]
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.register("given", in_arrow(rows))
        base64 = f"SELECT * REPLACE (base64({binary}) AS {binary}) FROM given"
        connection.execute(f"COPY ({base64}) TO '{run.source / 'a.json'}' (TIMESTAMPFORMAT '%Y-%m-%dT%H:%M:%S.%fZ')")
        assert run.go() == []
        found = connection.sql(f"SELECT json FROM read_ndjson_objects('{run.sink}/part-*.json')").fetchall()
    check(rows, [json.loads(text, parse_float=str, parse_int=str) for (text,) in found])


@pytest.mark.parametrize(
    ("ending", "multi_line"), campaign.take_some([("\n", True), ("\r\n", True), ("\n", False), ("\r\n", False)], 3)
)
def test_csv_of_python(spark: SparkSession, tmp_path: Path, ending: str, multi_line: bool) -> None:
    run, rows = Run(spark, tmp_path, FLAT, "csv", f", multi_line = {multi_line}"), drawn(FLAT)
    if not multi_line:
        rows = [{name: without_line_ends(value) for name, value in row.items()} for row in rows]
    for row in rows:  # to Python's csv module both are the same; and where lines end in LF, it writes CR without quotes
        row.update({name: None for name, value in row.items() if value == ""})
        if ending == "\n":
            row.update({name: value.replace("\r", "") or None for name, value in row.items() if isinstance(value, str)})
        row.update({name: without_enclosed_nul(value) for name, value in row.items() if isinstance(value, str)})
    with (run.source / "a.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator=ending)
        writer.writeheader()
        writer.writerows({name: csv_text(value) for name, value in row.items()} for row in rows)
    places = {type_: place for place, type_ in enumerate(FLAT, 1)}
    width = len(FLAT) + 1
    bad = [
        ",".join(value if place == places[type_] else "" for place in range(width))
        for type_, values in NO_FIELD.items()
        for value in values
    ]
    header = ",".join(rows[0])
    for number, record in enumerate([*bad, *NO_CSV]):
        (run.source / f"bad{number}.csv").write_text(f"{header}\n{record}\n", newline="")
    assert sorted(row["record"].rstrip('"\n') for row in run.go()) == sorted(x.rstrip('"\n') for x in [*bad, *NO_CSV])
    found = []
    for path in run.written():
        with path.open(newline="") as file:
            found += [{name: value or None for name, value in row.items()} for row in csv.DictReader(file)]
    check(rows, found)


def without_line_ends(value: Any) -> Any:
    return value.replace("\r", "").replace("\n", "") if isinstance(value, str) else value


def without_enclosed_nul(value: str) -> str | None:
    """A record is rejected for NUL in a field that Python encloses in quotes."""
    return value if {*value}.isdisjoint('",\r\n') else value.replace("\0", "") or None


PARTS_SETTING = "spark.sql.files.maxPartitionBytes"


def test_lines_of_csv_in_parts(spark: SparkSession, tmp_path: Path) -> None:
    """Each file has a header, also where several tasks read it. A line with a quote that is open is no record."""
    run = Run(spark, tmp_path, {"STRING": None, "INT": None}, "csv", ", multi_line = FALSE")
    for file in range(3):
        lines = [f'{100 * file + line},"a, ""{line}""",{line}' if line % 2 else f"{line},x," for line in range(100)]
        end = "\r\n" if file == 1 else "\n"
        (run.source / f"{file}.csv").write_text(end.join(["id,c0,c1", *lines, "", ""]), newline="")
    # A byte, an overlong NUL, a surrogate, and a character without its last byte; then CR in a field.
    bad = [b"3,\xff,4", b"3,\xc0\x80,4", b"3,\xed\xa0\x80,4", b"3,\xf0\x9f\x98,4", b"3,a\rb,4"]
    good = "5,\ufffd,6\n6,\U0001f600,7\n".encode()
    (run.source / "bad.csv").write_bytes(b'id,c0,c1\n1,"a\nb",2\n' + good + b"\n".join(bad))
    spark.conf.set(PARTS_SETTING, 200)
    try:
        rejected = run.go()
    finally:
        spark.conf.unset(PARTS_SETTING)
    told = ['1,"a', 'b",2', *(each.decode(errors="replace") for each in bad)]
    assert sorted(row["record"] for row in rejected) == sorted(told)
    found: list[tuple[str, ...]] = []
    for path in run.written():
        with path.open(newline="") as file_:
            found += [tuple(row.values()) for row in csv.DictReader(file_)]
    expected = [
        (str(100 * file + line), f'a, "{line}"', str(line)) if line % 2 else (str(line), "x", "")
        for file in range(3)
        for line in range(100)
    ]
    assert sorted(found) == sorted([*expected, ("5", "\ufffd", "6"), ("6", "\U0001f600", "7")])


def test_csv_of_duckdb(spark: SparkSession, tmp_path: Path) -> None:
    """Texts without characters and NULL are apart."""
    types = {type_: draw for type_, draw in FLAT.items() if type_ != "TIMESTAMP"}
    run, rows = Run(spark, tmp_path, types, "csv"), drawn(types)
    for row in rows:  # DuckDB ends a text at NUL
        row.update({name: value.replace("\0", "") for name, value in row.items() if isinstance(value, str)})
    with duckdb.connect() as connection:
        fill(connection, types, rows)
        connection.execute(f"COPY t TO '{run.source / 'a.csv'}' (HEADER, QUOTE '\"', ESCAPE '\"')")
        assert run.go() == []
        texts = dict.fromkeys(rows[0], "VARCHAR")
        connection.execute(
            f"CREATE TABLE back AS FROM read_csv('{run.sink}/part-*.csv', header = true, auto_detect = false, "
            f"quote = '\"', escape = '\"', strict_mode = true, allow_quoted_nulls = false, columns = {texts})"
        )
        check(rows, connection.table("back").arrow().read_all().to_pylist())


def fill(connection: duckdb.DuckDBPyConnection, types: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    """A table t of the rows in DuckDB."""
    names = {"BINARY": "BLOB", "STRING": "VARCHAR", "TIMESTAMP": "TIMESTAMPTZ"}
    declared = ", ".join(f"{name} {names.get(each, each)}" for name, each in zip(columns(types), types, strict=True))
    connection.execute(f"CREATE TABLE t (id BIGINT, {declared})")
    connection.executemany(
        f"INSERT INTO t VALUES ({', '.join('?' for _ in rows[0])})", [[*row.values()] for row in rows]
    )


ARROW = {
    **{"BOOLEAN": pa.bool_(), "TINYINT": pa.int8(), "SMALLINT": pa.int16(), "INT": pa.int32(), "BIGINT": pa.int64()},
    **{"FLOAT": pa.float32(), "DOUBLE": pa.float64(), "STRING": pa.string(), "BINARY": pa.binary()},
    **{"DECIMAL(10, 2)": pa.decimal128(10, 2), "DECIMAL(38, 20)": pa.decimal128(38, 20)},
    **{"DECIMAL(20, 0)": pa.decimal128(20, 0), "DATE": pa.date32(), "TIMESTAMP": pa.timestamp("us", "UTC")},
    **{"TIME": pa.time64("us"), "ARRAY<TIME>": pa.list_(pa.time64("us"))},
    "ARRAY<DECIMAL(10, 2)>": pa.list_(pa.decimal128(10, 2)),
    "ARRAY<STRUCT<d: DOUBLE, t: TIMESTAMP>>": pa.list_(
        pa.struct([("d", pa.float64()), ("t", pa.timestamp("us", "UTC"))])
    ),
    "MAP<STRING, BIGINT>": pa.map_(pa.string(), pa.int64()),
    "MAP<STRING, ARRAY<TIMESTAMP>>": pa.map_(pa.string(), pa.list_(pa.timestamp("us", "UTC"))),
    "MAP<INT, DATE>": pa.map_(pa.int32(), pa.date32()),
    "STRUCT<a: TINYINT, b: STRUCT<c: STRING>>": pa.struct([("a", pa.int8()), ("b", pa.struct([("c", pa.string())]))]),
}


@pytest.mark.parametrize("other", ["arrow", "duckdb"])
def test_parquet_of_others(spark: SparkSession, tmp_path: Path, other: str) -> None:
    run, rows = Run(spark, tmp_path, ALL, "parquet"), drawn(ALL)
    with duckdb.connect() as connection:
        connection.register("given", in_arrow(rows))
        if other == "arrow":
            pq.write_table(in_arrow(rows), run.source / "a.parquet")
        else:
            connection.execute(f"COPY (FROM given) TO '{run.source / 'a.parquet'}'")
        assert run.go() == []
        if other == "arrow":
            tables = [pq.read_table(file) for file in run.written()]
        else:
            connection.execute("SET TimeZone = 'UTC'")
            tables = [connection.sql(f"FROM '{run.sink}/part-*.parquet'").arrow().read_all()]
    read = [row for table in tables for row in table.to_pylist(maps_as_pydicts="strict")]
    found = {row["id"]: row for row in read}
    assert len(read) == len(found) == len(rows)
    for row in rows:
        wrong = {name: found[row["id"]][name] for name, value in row.items() if not same(value, found[row["id"]][name])}
        assert not wrong, {name: (row[name], value) for name, value in wrong.items()}


def in_arrow(rows: list[dict[str, Any]]) -> pa.Table:
    """A table of an id and a column of each type. Arrow takes maps as lists of pairs."""
    schema = pa.schema([("id", pa.int64()), *zip(columns(ALL), (ARROW[type_] for type_ in ALL), strict=True)])
    maps = {name for name, type_ in zip(columns(ALL), ALL, strict=True) if type_.startswith("MAP")}
    pairs = [{name: None if row[name] is None else [*row[name].items()] for name in maps} for row in rows]
    return pa.Table.from_pylist([row | mine for row, mine in zip(rows, pairs, strict=True)], schema)


def test_parquet_of_numbers_that_do_not_fit(spark: SparkSession, tmp_path: Path) -> None:
    types = {"TINYINT": None, "SMALLINT": None, "TIMESTAMP": None, "MAP<STRING, BIGINT>": None, "STRING": None}
    run = Run(spark, tmp_path, types, "parquet")
    last = datetime.fromisoformat("9999-12-31T23:59:59.999999+00:00")
    wide = [pa.int32(), pa.int32(), pa.timestamp("us", "UTC"), pa.map_(pa.string(), pa.int64()), pa.binary()]
    fields = ["id", *columns(types)]
    schema = pa.schema([*zip(fields, [pa.int64(), *wide], strict=True)])
    good: list[list[Any]] = [[1, 127, -32768, last, [("a", 1)], b"x"], [2, -128, 32767, None, None, None]]
    bad: list[list[Any]] = [
        [3, 128, 0, None, None, b""],
        [4, 0, 32768, None, None, b""],
        [5, 0, 0, None, None, b"\xff"],
    ]
    bad += [[6, 0, 0, None, [("a", 1), ("a", 2)], b""]]
    rows: list[dict[str, Any]] = [dict(zip(fields, row, strict=True)) for row in [*good, *bad]]
    table = pa.Table.from_pylist(rows, schema)
    late = pa.chunked_array([pa.array([253_402_300_800_000_000], pa.timestamp("us", "UTC"))])
    beyond = table.slice(0, 1).set_column(0, "id", [pa.array([7])]).set_column(3, "c2", late)
    pq.write_table(pa.concat_tables([table, beyond]), run.source / "a.parquet")
    assert sorted(json.loads(row["record"])["id"] for row in run.go()) == [3, 4, 5, 6, 7]
    read = [row["id"] for file in run.written() for row in pq.read_table(file).to_pylist()]
    assert sorted(read) == [1, 2]


@pytest.mark.parametrize("format_", ["json", "csv", "parquet"])
def test_columns_may_be_called_as_those_of_readers(spark: SparkSession, tmp_path: Path, format_: str) -> None:
    names = ["value", "_record", "_parsed", "_number", "_typed0"]
    row = {name: f"a {name}" for name in names}
    source = tmp_path / "in"
    source.mkdir()
    match format_:
        case "json":
            (source / "a.json").write_text(json.dumps(row) + "\n")
        case "csv":
            (source / "a.csv").write_text(f"{','.join(row)}\n{','.join(row.values())}\n")
        case "parquet":
            pq.write_table(pa.Table.from_pylist([row]), source / "a.parquet")
    declared = ", ".join(f"{name} STRING" for name in names)
    sql = (
        f"CREATE STREAM a ({declared}) WITH (connector = 'files', path = '{source}', format = '{format_}'); "
        "CREATE STREAM b WITH (connector = 'memory') AS SELECT STREAM * FROM a;"
    )
    with RuntimeSession(spark) as session:
        session.run_once(penstock.compile(sql).program, drain=True)
        assert session.rows("b") == [row]
