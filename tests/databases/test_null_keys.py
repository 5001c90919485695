"""Tables that a result makes: keys that may be NULL, and tables of one row, which have no key."""

from __future__ import annotations

import time
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.kit.databases.engine import DatabaseEngine
from penstock.kit.databases.faults import TableError
from penstock.kit.databases.postgres import PostgresEngine
from penstock.kit.databases.target_table import TargetTable
from penstock.kit.databases.writer import TableWriter
from penstock.kit.tables.table_rows import delete_rows, put_rows
from tests.databases.places import Place

KEY = ("k", "s")
COLUMNS = (("k", "DOUBLE", True), ("s", "STRING", True), ("v", "INT", True))
FIELDS = [("k", pa.float64()), ("s", pa.string()), ("v", pa.int32()), ("op", pa.string())]
KEYS = st.tuples(st.sampled_from([None, 0.0, 1.5]), st.sampled_from([None, "", "a"]))
BATCHES = st.lists(
    st.dictionaries(KEYS, st.tuples(st.none() | st.integers(0, 9), st.sampled_from(["put", "put", "delete"]))),
    min_size=1,
    max_size=4,
)


def rows_of(*rows: tuple[Any, ...], names: tuple[str, ...] = ("k", "s", "v", "op")) -> pa.Table:
    """Rows of a micro-batch, each with what it does."""
    schema = pa.schema([field for field in FIELDS if field[0] in names])
    return pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows], schema=schema)


def one_row(place: Place, **options: Any) -> TargetTable:
    """A table of one number."""
    return place.table([("v", "INT", True)], (), **options)


def put(writer: TableWriter, number: int, rows: pa.Table, key: tuple[str, ...] = KEY) -> None:
    """Writes a micro-batch."""
    writer.write(number, f"d{number}", lambda changes: put_rows(changes, rows, key, operation="op"))


def put_numbers(writer: TableWriter, number: int, *rows: tuple[Any, ...]) -> None:
    """A micro-batch of a table of one number."""
    put(writer, number, rows_of(*rows, names=("v", "op")), ())


def test_null_is_a_key_like_any_other(postgres: Place) -> None:
    table = postgres.table(COLUMNS, KEY, create=True)
    numbers = iter(range(10_000))

    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
    @given(BATCHES)
    def check(batches: list[dict[tuple[Any, Any], tuple[Any, str]]]) -> None:
        postgres.execute("DELETE FROM t")
        shown: dict[tuple[Any, Any], Any] = {}
        for batch in batches:
            put(writer, next(numbers), rows_of(*((*key, *values) for key, values in batch.items())))
            shown |= {key: v for key, (v, _) in batch.items()}
            shown = {key: v for key, v in shown.items() if batch.get(key, ("", "put"))[1] == "put"}
            assert {(k, s): v for k, s, v in postgres.rows("SELECT k, s, v FROM t")} == shown

    writer = postgres.writer(table)
    check()
    assert writer.counters.rejected == 0
    writer.close()


def test_of_several_rows_of_a_null_key_the_last_one_counts(postgres: Place) -> None:
    writer = postgres.writer(postgres.table(COLUMNS, KEY, create=True))
    rows = rows_of((None, "a", 1, ""), (1.5, None, 2, ""), (None, "a", 3, ""), (None, None, 4, ""), (1.5, None, 5, ""))
    ordered = rows.drop_columns(["op"]).append_column("place", pa.array(range(5), pa.int64()))
    writer.write(0, "d", lambda changes: put_rows(changes, ordered, KEY, ["place"]))
    writer.close()
    found = postgres.rows("SELECT k, s, v FROM t ORDER BY v")
    assert found == [(None, "a", 3), (None, None, 4), (1.5, None, 5)]


def test_only_columns_that_may_be_null_are_null(postgres: Place) -> None:
    """The table takes NULL in both, and the declaration in one."""
    postgres.writer(postgres.table(COLUMNS, KEY, create=True)).close()
    declared = (("k", "DOUBLE", False), *COLUMNS[1:])
    writer = postgres.writer(postgres.table(declared, KEY))
    put(writer, 0, rows_of((None, "a", 1, "put"), (1.5, None, 2, "put")))
    writer.close()
    assert postgres.rows("SELECT k, s, v FROM t") == [(1.5, None, 2)]
    assert [reason for reason, _ in postgres.rejected()] == ["no primary key"]


@pytest.mark.parametrize("old", [False, True])
def test_other_tables_reject_null_keys(place: Place, old: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of other databases, of a PostgreSQL before version 15, and those with a primary key."""
    if old:
        monkeypatch.setattr(PostgresEngine, "takes_null_keys", DatabaseEngine.takes_null_keys)
    elif place.dialect == "postgres":
        place.execute("CREATE TABLE t (k DOUBLE PRECISION, s TEXT, v INT, PRIMARY KEY (k, s))")
    if place.dialect == "mysql":
        place.execute("CREATE TABLE t (k DOUBLE, s TEXT, v INT, PRIMARY KEY (k, s))")
    writer = place.writer(place.table(COLUMNS, KEY, create=True))
    put(writer, 0, rows_of((None, "a", 1, "put"), (1.5, "a", 2, "put"), (None, None, 3, "delete")))
    writer.close()
    assert place.rows("SELECT k, s, v FROM t") == [(1.5, "a", 2)]
    assert [reason for reason, _ in place.rejected()] == ["no primary key"] * 2


def test_rows_are_found_by_the_index(postgres: Place) -> None:
    table = postgres.table(COLUMNS, KEY, create=True)
    postgres.writer(table).close()
    postgres.execute(
        "INSERT INTO t SELECT i, 'a', i FROM generate_series(1, 20000) AS i",
        "INSERT INTO t SELECT i, NULL, i FROM generate_series(1, 200) AS i",
        "INSERT INTO t VALUES (NULL, 'a', 1), (NULL, NULL, 2)",
        "VACUUM ANALYZE t",
    )
    scans = "SELECT seq_scan, idx_scan FROM pg_stat_user_tables WHERE relid = 't'::regclass"
    time.sleep(0.1)
    [(before, by_index)] = postgres.rows(scans)
    gone = rows_of((7.0, "a", 0, ""), (8.0, None, 0, ""), (None, "a", 0, ""), (None, None, 0, ""))
    kept = rows_of((7.0, "a", 1, "put"), (None, None, 2, "put"), (None, "b", 3, "put"))
    writer = postgres.writer(table)
    writer.write(0, "d", lambda changes: delete_rows(changes, gone, KEY))
    put(writer, 1, kept)
    writer.close()
    deadline = time.monotonic() + 10
    while postgres.rows(scans)[0][1] < by_index + 4:  # counted when the connection has ended
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert postgres.rows(scans)[0][0] == before
    assert postgres.rows("SELECT count(*) FROM t") == [(20_000 + 200 + 2 - 4 + 3,)]


@pytest.mark.parametrize("dialect", ["postgres", "sqlite"])
def test_a_table_of_one_row(dialect: str, request: pytest.FixtureRequest, tmp_path: Any) -> None:
    place = request.getfixturevalue("postgres") if dialect == "postgres" else Place("sqlite", str(tmp_path / "rows"))
    writer = place.writer(one_row(place, create=True))
    steps: list[tuple[list[tuple[Any, str]], list[tuple[Any]]]] = [
        ([(1, "put")], [(1,)]),
        ([(2, "put")], [(2,)]),
        ([(None, "delete")], []),
        ([(None, "delete")], []),
        ([(None, "put")], [(None,)]),
        ([], [(None,)]),
    ]
    for number, (rows, shown) in enumerate(steps):
        put_numbers(writer, number, *rows)
        assert place.rows("SELECT v FROM t") == shown
    assert (writer.counters.puts, writer.counters.deletes, writer.counters.rejected) == (3, 2, 0)
    writer.close()
    again = place.writer(one_row(place, create=True))
    put_numbers(again, 6, (5, "put"))
    again.close()
    assert place.rows("SELECT v FROM t") == [(5,)]
    with pytest.raises(Exception, match=r"(?i)unique"):
        place.execute("INSERT INTO t VALUES (6)")


@pytest.mark.parametrize("dialect", ["postgres", "sqlite"])
def test_a_table_of_many_rows_is_not_taken_for_one(dialect: str, request: pytest.FixtureRequest, tmp_path: Any) -> None:
    place = request.getfixturevalue("postgres") if dialect == "postgres" else Place("sqlite", str(tmp_path / "rows"))
    place.execute("CREATE TABLE t (v INTEGER UNIQUE)", "CREATE UNIQUE INDEX part ON t ((true)) WHERE v > 1")
    with pytest.raises(TableError) as refused:
        place.writer(one_row(place))
    assert refused.value.kind == "key"
    assert "may have more than one row" in str(refused.value)
    assert refused.value.hint is not None
    place.execute(refused.value.hint)
    writer = place.writer(one_row(place))
    put_numbers(writer, 0, (1, "put"))
    writer.close()
    assert place.rows("SELECT v FROM t") == [(1,)]
