"""Rows found by their keys, and read by conditions, in each database; without Spark."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
import sqlalchemy as sa

from penstock.kit.databases.attempts import TableConnection
from penstock.kit.databases.faults import TABLE_ERROR, TableError
from penstock.kit.databases.finder import FindCounters, FindPolicy, RowFinder, TableReader
from penstock.kit.databases.reads import ColumnCondition, find_rows
from penstock.kit.databases.secret_refs import KnownSecret
from penstock.kit.databases.target_table import TargetTable
from penstock.kit.tables.table_lookup import LookupRows, join_batches, join_found
from tests.databases.places import DDL, Place, rows_of
from tests.skips import skip_no_case

POLICY = FindPolicy(attempts=5, backoff_ms=10, max_delay_ms=200)
ROWS = "INSERT INTO t VALUES (1, 10, 'a'), (2, NULL, 'b'), (3, 30, NULL)"


def keys(*values: Any, type_: pa.DataType | None = None) -> pa.Table:
    return pa.table({"k": pa.array(values, type_ or pa.int64())})


def found(finder: RowFinder, *values: Any) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.values()) for row in finder.find(keys(*values)).to_pylist())


def test_rows_are_found_by_distinct_keys(place: Place) -> None:
    place.execute(DDL, ROWS)
    finder = RowFinder(place.table(), ["s", "k", "v"], FindPolicy(batch_size=2))
    assert found(finder, 3, 1, None, 4, 1, 3) == [(1, "a", 10), (3, None, 30)]
    assert found(finder) == []
    taken = finder.counters.take()
    seconds = taken.pop("batch_seconds")
    assert len(seconds) == 2
    assert all(0 < each < 30 for each in seconds)
    assert [taken[each] for each in ("gets", "hits", "misses", "cache_hits", "batches")] == [3, 2, 1, 0, 2]
    assert not any(finder.counters.take().values())


def test_rows_stay_in_order(place: Place) -> None:
    place.execute(DDL, ROWS)
    batch = pa.table({"c0": [9, 8, 7, 6], "k0": pa.array([3, None, 5, 1], pa.int64())})
    for outer, expected in ((True, [(9, 30), (8, None), (7, None), (6, 10)]), (False, [(9, 30), (6, 10)])):
        rows = LookupRows([("k", "k0")], [("p0", "v")], outer)
        result = join_found(batch, RowFinder(place.table(), ["v"], POLICY), place.table(), rows)
        assert list(zip(*result.to_pydict().values(), strict=True)) == expected
        assert result.column_names == ["c0", "p0"]


def test_figures_are_the_last_row_of_a_task(place: Place) -> None:
    place.execute(DDL, ROWS)
    rows = LookupRows([("k", "k0")], [("p0", "v")], outer=False)
    finder = RowFinder(place.table(), ["v"], POLICY)
    found(finder, 1, 5)  # of a task that has failed
    assert list(join_batches(iter(()), finder, place.table(), rows, "view")) == []
    batches = [pa.RecordBatch.from_pydict({"c0": [1, 2], "k0": keys}) for keys in ([1, 1], [4, 3])]
    *joined, last = pa.Table.from_batches(join_batches(iter(batches), finder, place.table(), rows, "view")).to_pylist()
    assert joined == [{"c0": c0, "p0": p0, "figures": None} for c0, p0 in ((1, 10), (2, 10), (2, 30))]
    figures = last.pop("figures")
    assert last == {"c0": None, "p0": None}
    counts = {"gets": 3, "hits": 2, "misses": 1, "cache_hits": 0, "batches": 2, "retries": 0, "seconds_retrying": 0.0}
    assert figures == counts | {"batch_seconds": figures["batch_seconds"]}
    assert len(figures["batch_seconds"]) == 2


def test_whether_there_is_any_row_is_known_beside_a_null_key(place: Place) -> None:
    place.execute(DDL)
    finder = RowFinder(place.table(), ["v"], FindPolicy(cache_ttl_ms=60_000))
    rows = LookupRows([("k", "k0")], [("p0", "v")], outer=True, any_row="a0")

    def ask(*values: int | None) -> list[bool]:
        batch = pa.table({"c0": list(range(len(values))), "k0": pa.array(values, pa.int64())})
        return list(join_found(batch, finder, place.table(), rows)["a0"].to_pylist())

    assert ask(None, 1) == [False, False]
    place.execute(ROWS)
    assert ask(1, None, None) == [True, True, True]
    place.execute("DROP TABLE t")
    assert ask() == []
    with pytest.raises(TableError, match=r"no such table|does not exist|doesn't exist"):
        ask(None)


@pytest.mark.parametrize(
    ("type_", "value", "other"),
    [
        ("BOOLEAN", True, False),
        ("SMALLINT", -5, 7),
        ("INT", 2**31 - 1, 0),
        ("BIGINT", -(2**63), 2**63 - 1),
        ("DOUBLE", -0.0, 1.5),
        ("DECIMAL(10, 2)", Decimal("1.50"), Decimal("2.00")),
        ("STRING", "50% 'of' {it} \\ \"", "é"),
        ("BINARY", b"\x00\xff", b""),
        ("DATE", date(2025, 2, 28), date(1, 1, 1)),
        ("TIMESTAMP", datetime(2025, 1, 1, 12, 0, 0, 7, tzinfo=UTC), datetime(1970, 1, 1, tzinfo=UTC)),
    ],
)
def test_keys_of_all_types(place: Place, type_: str, value: Any, other: Any) -> None:
    if place.dialect == "sqlite" and type_.startswith("DECIMAL"):
        skip_no_case("SQLite has no decimals")
    if place.dialect == "mysql" and type_ in ("STRING", "BINARY"):
        skip_no_case("keys of a new table have no texts without a length")
    table = place.table([("k%", type_, False), ("n", "INT", True)], ["k%"], name="odd", create=True)
    kind = table.arrow_schema(["k%"]).field(0).type
    writer = place.writer(table)
    row = pa.table({"k%": pa.array([value], kind), "n": pa.array([1], pa.int32())})
    writer.write(0, "d", lambda changes: changes.upsert(row))
    writer.close()
    batch = pa.table({"c0": [1, 2, 3], "k0": pa.array([other, value, None], kind)})
    rows = LookupRows([("k%", "k0")], [("p0", "n"), ("p1", "k%")], outer=True)
    result = join_found(batch, RowFinder(table, ["n", "k%"], POLICY), table, rows)
    assert result["p0"].to_pylist() == [None, 1, None]
    assert result["p1"].to_pylist() == [None, value, None]


def test_keys_that_the_database_cannot_have(place: Place) -> None:
    columns = [("k", "STRING", False), ("v", "INT", True)]
    place.execute("CREATE TABLE t (k VARCHAR(10) PRIMARY KEY, v INTEGER)", "INSERT INTO t VALUES ('a', 1), ('b', 2)")
    finder = RowFinder(place.table(columns), ["v"], POLICY)
    asked = keys("a", "nul\0", "b", "x" * 1000, type_=pa.string())
    assert sorted(finder.find(asked)["v"].to_pylist()) == [1, 2]


def test_a_cache_keeps_answers(place: Place) -> None:
    place.execute(DDL, ROWS)
    finder = RowFinder(place.table(), ["s"], FindPolicy(cache_ttl_ms=300, cache_size=2))
    assert found(finder, 1, 4) == [(1, "a")]
    place.execute("UPDATE t SET s = 'z' WHERE k = 1", "INSERT INTO t VALUES (4, 0, 'd')")
    assert found(finder, 1, 4) == [(1, "a")]
    counters = finder.counters
    assert (counters.gets, counters.hits, counters.misses, counters.cache_hits) == (4, 2, 2, 2)
    assert counters.batches == 1
    assert found(finder, 2, 4) == [(2, "b")]  # which takes the place of key 1
    assert found(finder, 1) == [(1, "z")]
    time.sleep(0.4)
    assert found(finder, 4) == [(4, "d")]


def test_a_lost_connection_is_made_anew(postgres: Place) -> None:
    postgres.execute(DDL, ROWS)
    finder = RowFinder(postgres.table(), ["s"], POLICY)
    assert found(finder, 1) == [(1, "a")]
    postgres.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'penstock'")
    assert found(finder, 1) == [(1, "a")]
    assert (finder.counters.batches, finder.counters.retries) == (2, 1)


def test_nothing_is_locked_or_written(place: Place) -> None:
    place.execute(DDL, ROWS)
    finder = RowFinder(place.table(), ["s"], POLICY)
    for number in range(2):
        assert len(found(finder, 1, 2)) == 2
        writer = place.writer()
        writer.write(number, "d", lambda changes: changes.upsert(rows_of((7, 7, "g"))))
        writer.close()
    assert found(finder, 7) == [(7, "g")]


@pytest.mark.parametrize("key", [("k",), ("k", "v")], ids=["one", "two"])
def test_many_keys_are_found_by_their_index(postgres: Place, key: tuple[str, ...]) -> None:
    """PostgreSQL itself would read the whole table for them."""
    count, step = 20_000, 2
    rows = f"INSERT INTO t SELECT n, n, 'a' FROM generate_series(1, {count}) AS n ORDER BY hashint8(n)"
    postgres.execute(
        "CREATE TABLE t (k BIGINT, v INTEGER, s TEXT)", rows, f"ALTER TABLE t ADD PRIMARY KEY ({', '.join(key)})"
    )
    postgres.execute("VACUUM ANALYZE t")
    table = replace(postgres.table(), key=key)
    asked = pa.table(
        {"k": pa.array(range(0, count, step), pa.int64()), "v": pa.array(range(0, count, step), pa.int32())}
    )

    def scan(connection: sa.Connection) -> tuple[int, Any]:
        found = find_rows(connection, table, ["k", "s"], [asked.select(key)])
        scans = "SELECT seq_scan, idx_scan > 0 FROM pg_stat_xact_user_tables WHERE relid = 't'::regclass"
        return found.num_rows, connection.exec_driver_sql(scans).one()

    connection = TableConnection(table, POLICY, FindCounters(), read_only=True)
    assert connection.run(scan) == (count // step - 1, (0, True))
    connection.close()


def test_no_transaction_is_left_open(postgres: Place) -> None:
    postgres.execute(DDL, ROWS)
    finder = RowFinder(postgres.table(), ["s"], POLICY)
    assert found(finder, 1) == [(1, "a")]
    assert len(TableReader(postgres.table(), POLICY).select(["k"])) == 3
    postgres.execute("SET lock_timeout = '2s'", "ALTER TABLE t ADD COLUMN more TEXT")


def test_a_user_who_may_only_read(postgres: Place) -> None:
    [(schema,)] = postgres.rows("SELECT current_schema()")
    postgres.execute(
        DDL,
        ROWS,
        "DROP ROLE IF EXISTS reader",
        "CREATE ROLE reader LOGIN",
        f"GRANT USAGE ON SCHEMA {schema} TO reader",
    )
    reader = Place("postgres", postgres.url.replace("postgres@", "reader@"))
    with pytest.raises(TableError, match="permission denied") as refused:
        TableReader(reader.table(), POLICY).check()
    assert refused.value.kind == "permission"
    postgres.execute("GRANT SELECT ON t TO reader")
    TableReader(reader.table(), POLICY).check()
    assert found(RowFinder(reader.table(), ["s"], POLICY), 1) == [(1, "a")]
    postgres.execute("DROP OWNED BY reader", "DROP ROLE reader")


def test_an_error_tells_no_secret(postgres: Place) -> None:
    address = postgres.address
    secret = KnownSecret("hush-hush")
    url = "postgresql://postgres@127.0.0.1:1/postgres"
    table = TargetTable(type(address)("postgres", url, secret), "t", (("k", "BIGINT", False),), ("k",))
    finder = RowFinder(table, [], FindPolicy(attempts=3, backoff_ms=1))
    batches = [pa.RecordBatch.from_pydict({"c0": [1], "k0": [1]})]
    with pytest.raises(LookupError) as refused:
        list(join_batches(iter(batches), finder, table, LookupRows([("k", "k0")], [], outer=False), "q_found"))
    told = json.loads(str(refused.value).removeprefix(TABLE_ERROR))
    assert (told["view"], told["table"], told["retries"]) == ("q_found", "t", 2)
    assert 0 < told["seconds_retrying"] < 30
    assert "127.0.0.1:1" in told["message"]
    assert "\n" not in str(refused.value)
    assert "hush" not in repr(table) + str(refused.value)


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ([], [1, 2, 3]),
        ([ColumnCondition("k", ">", (1,)), ColumnCondition("k", "<=", (2,))], [2]),
        ([ColumnCondition("k", "IN", (1, 3, 5))], [1, 3]),
        ([ColumnCondition("v", "IS NULL")], [2]),
        ([ColumnCondition("s", "IS NOT NULL"), ColumnCondition("v", "=", (10,))], [1]),
        ([ColumnCondition("s", "=", ("b",))], [2]),
        ([ColumnCondition("s", "=", ("'; DROP TABLE t; --%s",))], []),
    ],
)
def test_rows_are_read_by_conditions(place: Place, conditions: list[ColumnCondition], expected: list[int]) -> None:
    place.execute(DDL, ROWS)
    rows = TableReader(place.table(), POLICY).select(["v", "k"], conditions)
    assert rows.schema.names == ["v", "k"]
    assert sorted(rows["k"].to_pylist()) == expected


def test_dates_are_compared(place: Place) -> None:
    columns = [("k", "BIGINT", False), ("d%", "DATE", True)]
    table = place.table(columns, name="days", create=True)
    writer = place.writer(table)
    days = pa.table({"k": [1, 2], "d%": pa.array([date(2024, 12, 31), date(2025, 1, 1)], pa.date32())})
    writer.write(0, "d", lambda changes: changes.upsert(days))
    writer.close()
    rows = TableReader(table, POLICY).select(["k", "d%"], [ColumnCondition("d%", ">=", (date(2025, 1, 1),))])
    assert rows.to_pylist() == [{"k": 2, "d%": date(2025, 1, 1)}]
