"""Values of all types go in, and an independent reader and `fetch` find the same values."""

from __future__ import annotations

import datetime as dt
import json
import math
import struct
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from penstock.kit.databases.batch_changes import Changes
from penstock.kit.databases.faults import TableError
from penstock.kit.databases.spark_types import arrow_type
from tests.databases.places import Place
from tests.skips import skip_no_case

UTC = dt.UTC
VALUES: dict[str, list[Any]] = {
    "BOOLEAN": [True, False],
    "TINYINT": [-128, 0, 127],
    "SMALLINT": [-32768, 32767],
    "INT": [-(2**31), 2**31 - 1],
    "BIGINT": [-(2**63), 2**63 - 1, 2**53 + 1],
    "FLOAT": [1.100000023841858, 3.4028234663852886e38, 1.401298464324817e-45, math.inf, -math.inf],
    "DOUBLE": [0.1, 1.7976931348623157e308, 5e-324, 1e16 + 2, math.inf, -math.inf],
    "STRING": [
        "",
        "NULL",
        "\\N",
        "\\.",
        'a,"b"\r\nc\t',
        "'; DROP TABLE t --",
        "ß\u2028𝄞\ufeff",
        " x ",
        "1e5",
        "é" * 9000,
    ],
    "BINARY": [b"", b"\0\xff\\x00", bytes(range(256))],
    "DATE": [dt.date(1, 1, 1), dt.date(1582, 10, 10), dt.date(1969, 12, 31), dt.date(9999, 12, 31)],
    "TIMESTAMP": [
        dt.datetime(1, 1, 1, tzinfo=UTC),
        dt.datetime(1883, 11, 18, 12, 3, 58, 1, tzinfo=UTC),
        dt.datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
        dt.datetime(2024, 10, 27, 1, 30, tzinfo=UTC),
        dt.datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    ],
    "TIME": [dt.time(0), dt.time(10, 30), dt.time(23, 59, 59, 999999), dt.time(0, 0, 0, 1)],
    "DECIMAL(38, 18)": [
        Decimal("99999999999999999999.999999999999999999"),
        Decimal("-0.000000000000000001"),
        Decimal(0),
    ],
    "DECIMAL(5, 0)": [Decimal(99999), Decimal(-1)],
}
NESTED: dict[str, list[Any]] = {
    "ARRAY<INT>": [[], [1, None, 3]],
    "ARRAY<TIME>": [[], [dt.time(10, 30), None]],
    "MAP<STRING, BIGINT>": [[], [("a", 1), ("b", None)]],
    "STRUCT<`a b`: INT, c: ARRAY<STRUCT<`x``y`: STRING, d: DECIMAL(10, 2)>>>": [
        {"a b": 1, "c": [{"x`y": "z", "d": Decimal("1.50")}, None]},
        {"a b": None, "c": None},
    ],
}


def list_values(place: Place, type_: str) -> list[Any]:
    """The values of a type, as far as the database has them."""
    values = (VALUES | NESTED)[type_]
    if place.dialect == "mysql" and type_ in ("FLOAT", "DOUBLE"):
        return [value for value in values if math.isfinite(value)]
    return values


def read_plain(place: Place, type_: str, value: Any) -> Any:
    """A value as the driver gives it, as Python has it."""
    if place.dialect == "sqlite" and value is not None:
        if type_ == "BOOLEAN":
            return bool(value)
        if type_ == "DATE":
            return dt.date.fromisoformat(value)
        if type_ == "TIME":
            return dt.time.fromisoformat(value)
        if type_ == "TIMESTAMP":
            assert value.endswith("Z")
            return dt.datetime.fromisoformat(value)
    if place.dialect == "mysql" and type_ == "BOOLEAN" and value is not None:
        return bool(value)
    if isinstance(value, dt.timedelta):
        return (dt.datetime(1970, 1, 1) + value).time()
    if type_ == "TIMESTAMP" and isinstance(value, int):
        return dt.datetime(1970, 1, 1, tzinfo=UTC) + dt.timedelta(microseconds=value)
    if type_ == "TIMESTAMP" and value is not None:
        return value.replace(tzinfo=UTC)
    if type_ == "FLOAT" and value is not None:
        return struct.unpack("f", struct.pack("f", value))[0]
    if type_.startswith("MAP") and value is not None:
        return list(value.items())
    return value


@pytest.mark.parametrize("type_", [*VALUES, *NESTED])
@pytest.mark.parametrize("way", ["upsert", "insert", "update"])
def test_values_come_back(place: Place, type_: str, way: str) -> None:
    if place.dialect != "duckdb" and (type_ in NESTED or (place.dialect == "sqlite" and "DECIMAL" in type_)):
        skip_no_case("the database has no such type")
    values = [None, *list_values(place, type_)]
    writer = place.writer(place.table([("k", "INT", False), ("v", type_, True)], create=True))
    rows = pa.table({"k": pa.array(range(len(values)), pa.int32()), "v": pa.array(values, arrow_type(type_))})
    if way == "update":
        writer.close()
        place.execute(f"INSERT INTO t (k) VALUES {', '.join(f'({k})' for k in range(len(values)))}")
    writer.write(0, "d", lambda changes: getattr(changes, way)(rows))
    writer.close()
    # DuckDB's driver needs one more module for times with a zone.
    value = "epoch_us(v)" if (place.dialect, type_) == ("duckdb", "TIMESTAMP") else "v"
    found = [read_plain(place, type_, value) for (value,) in place.rows(f"SELECT {value} FROM t ORDER BY k")]
    assert found == values
    assert writer.counters.rejected == 0
    fetched = []
    writer.write(1, "e", lambda changes: fetched.append(changes.fetch(rows.select(["k"]), ["v"])))
    assert fetched[0].sort_by("k").equals(rows)


@pytest.mark.parametrize("type_", [name for name in VALUES if name not in ("FLOAT", "DOUBLE")])
def test_values_are_keys(place: Place, type_: str) -> None:
    if place.dialect == "sqlite" and "DECIMAL" in type_:
        skip_no_case("the database has no such type")
    if place.dialect == "mysql" and type_ in ("STRING", "BINARY"):
        skip_no_case("keys of a new table have no texts without a length")
    values = [value for value in VALUES[type_] if not isinstance(value, str) or len(value) < 1000]
    writer = place.writer(place.table([("k", type_, False), ("v", "INT", True)], create=True))
    keys = pa.array(values, arrow_type(type_))

    def rows(number: int) -> pa.Table:
        return pa.table({"k": keys, "v": pa.array([number] * len(keys), pa.int32())})

    fetched = []
    writer.write(0, "d", lambda changes: changes.upsert(rows(1)))
    writer.write(1, "e", lambda changes: changes.upsert(rows(2)))
    writer.write(2, "f", lambda changes: fetched.append(changes.fetch(rows(2).select(["k"]), ["v"])))
    assert place.rows("SELECT count(*), min(v) FROM t") == [(len(values), 2)]
    assert fetched[0].num_rows == len(values)
    writer.write(3, "g", lambda changes: fetched.append(changes.update(rows(3))))
    assert fetched[1].num_rows == 0
    writer.write(4, "h", lambda changes: changes.delete(rows(3)))
    assert place.rows("SELECT count(*) FROM t") == [(0,)]


@pytest.mark.parametrize("type_", ["FLOAT", "DOUBLE"])
def test_a_number_that_is_none(place: Place, type_: str) -> None:
    writer = place.writer(place.table([("k", "INT", False), ("v", type_, True)], create=True))
    values = pa.array([math.nan, 1.0, None], arrow_type(type_))
    writer.write(0, "d", lambda changes: changes.upsert(pa.table({"k": [1, 2, 3], "v": values})))
    if place.dialect in ("mysql", "sqlite"):
        assert place.rows("SELECT * FROM t ORDER BY k") == [(2, 1.0), (3, None)]
        told = {
            "mysql": "v is NaN or infinite, which MySQL does not have",
            "sqlite": "v is NaN, which SQLite does not have",
        }
        assert place.rejected() == [(told[place.dialect], '{"k": 1, "v": "nan"}')]
    else:
        assert math.isnan(place.rows("SELECT v FROM t WHERE k = 1")[0][0])


@pytest.mark.parametrize(
    ("type_", "numbers"),
    [
        ("DATE", [-719163, -719162, 2932896, 2932897]),
        ("TIMESTAMP", [-62135596800000001, -62135596800000000, 253402300799999999, 253402300800000000]),
    ],
)
def test_times_outside_of_the_years_1_to_9999(place: Place, type_: str, numbers: list[int]) -> None:
    writer = place.writer(place.table([("k", "INT", False), ("v", type_, True)], create=True))
    whole = pa.array(numbers, pa.int32() if type_ == "DATE" else pa.int64())
    rows = pa.table({"k": [1, 2, 3, 4], "v": whole.cast(arrow_type(type_))})
    writer.write(0, "d", lambda changes: changes.upsert(rows))
    assert place.rows("SELECT k FROM t ORDER BY k") == [(2,), (3,)]
    assert [reason for reason, _ in place.rejected()] == ["v is outside of the years 1 to 9999"] * 2
    assert [json.loads(record)["k"] for _, record in place.rejected()] == [1, 4]


def test_wider_columns_are_read_as_declared(postgres: Place) -> None:
    postgres.execute(
        "CREATE TABLE t (k BIGINT PRIMARY KEY, a DOUBLE PRECISION, b NUMERIC, c VARCHAR(3), d NUMERIC(20, 5))",
        "INSERT INTO t VALUES (1, 0.5, 1.5, 'abc', 2.25)",
    )
    columns = [("k", "INT"), ("a", "FLOAT"), ("b", "DECIMAL(10, 2)"), ("c", "STRING"), ("d", "DECIMAL(4, 2)")]
    writer = postgres.writer(postgres.table([(name, type_, name != "k") for name, type_ in columns]))
    fetched = []
    writer.write(0, "d", lambda changes: fetched.append(changes.fetch(pa.table({"k": [1]}), ["a", "b", "c", "d"])))
    assert fetched[0].to_pylist() == [{"k": 1, "a": 0.5, "b": Decimal("1.50"), "c": "abc", "d": Decimal("2.25")}]


FOREIGN = {
    "postgres": [
        ("v TIMESTAMPTZ", "TIMESTAMP", "'infinity'"),
        ("v DATE", "DATE", "'0044-03-15 BC'"),
        ("v BIGINT", "INT", "3000000000"),
        ("v NUMERIC", "DECIMAL(10, 2)", "0.001"),
        ("v NUMERIC", "DECIMAL(10, 2)", "'NaN'"),
    ],
    "mysql": [
        ("v BIGINT", "INT", "3000000000"),
        ("v TINYINT(1)", "BOOLEAN", "7"),
        ("v DECIMAL(12, 4)", "DECIMAL(10, 2)", "0.001"),
    ],
    "sqlite": [
        ("v TEXT", "TIMESTAMP", "'yesterday'"),
        ("v TEXT", "TIMESTAMP", "'2020-01-01 00:00:00'"),
        ("v INTEGER", "INT", "'x'"),
        ("v INTEGER", "INT", "3000000000"),
        ("v BOOLEAN", "BOOLEAN", "7"),
    ],
    "duckdb": [("v BIGINT", "INT", "3000000000"), ("v TIMESTAMPTZ", "TIMESTAMP", "'infinity'")],
}


@pytest.mark.parametrize("number", range(5))
def test_values_that_the_declaration_does_not_allow(place: Place, number: int) -> None:
    if number >= len(FOREIGN[place.dialect]):
        skip_no_case("there are fewer cases")
    column, type_, value = FOREIGN[place.dialect][number]
    place.execute(f"CREATE TABLE t (k INTEGER PRIMARY KEY, {column})", f"INSERT INTO t VALUES (1, {value})")
    writer = place.writer(place.table([("k", "INT", False), ("v", type_, True)]))

    def read(changes: Changes) -> None:
        changes.fetch(pa.table({"k": [1]}), ["v"])

    with pytest.raises(TableError, match="has a value that its declaration does not allow") as refused:
        writer.write(0, "d", read)
    assert refused.value.kind == "types"
