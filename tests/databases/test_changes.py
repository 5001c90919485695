"""Upserts, inserts, updates, deletes and reads of one batch."""

from __future__ import annotations

import pyarrow as pa
import pytest

from penstock.kit.databases.batch_changes import Changes
from penstock.kit.databases.faults import TableError
from penstock.kit.databases.writer import WritePolicy
from tests.databases.places import COLUMNS, DDL, POLICY, Place, keys_of, rows_of
from tests.skips import skip_no_case

ALL = "SELECT k, v, s FROM t ORDER BY k"


def test_upserts_replace_and_add(place: Place) -> None:
    place.execute(DDL, "INSERT INTO t VALUES (1, 10, 'a'), (2, 20, 'b')")
    writer = place.writer()
    writer.write(0, "d", lambda changes: changes.upsert(rows_of((1, 11, ""), (3, None, None))))
    assert place.rows(ALL) == [(1, 11, ""), (2, 20, "b"), (3, None, None)]
    assert (writer.counters.puts, writer.counters.batches) == (2, 1)


def test_an_upsert_of_some_columns_keeps_the_others_and_takes_defaults(place: Place) -> None:
    place.execute(
        "CREATE TABLE t (k BIGINT PRIMARY KEY, v INTEGER, s TEXT DEFAULT 'new')", "INSERT INTO t VALUES (1, 10, 'a')"
    )
    place.writer().write(0, "d", lambda changes: changes.upsert(rows_of((1, 11), (2, 20), names=["k", "v"])))
    assert place.rows(ALL) == [(1, 11, "a"), (2, 20, "new")]


def test_an_upsert_of_some_columns_finds_a_row_whose_other_columns_are_required(place: Place) -> None:
    place.execute(
        "CREATE TABLE t (k BIGINT PRIMARY KEY, v INTEGER, s TEXT NOT NULL)", "INSERT INTO t VALUES (1, 10, 'a')"
    )
    writer = place.writer()
    writer.write(0, "d", lambda changes: changes.upsert(rows_of((1, 11), (2, 20), names=["k", "v"])))
    assert place.rows(ALL) == [(1, 11, "a")]
    assert [record for _, record in place.rejected()] == ['{"k": 2, "v": 20}']


def test_a_table_of_nothing_but_a_key(place: Place) -> None:
    place.execute("CREATE TABLE t (k BIGINT PRIMARY KEY)", "INSERT INTO t VALUES (1)")

    def work(changes: Changes) -> None:
        changes.upsert(keys_of(1, 2))
        assert changes.update(keys_of(1, 9)).to_pylist() == [{"k": 9}]

    place.writer(place.table(COLUMNS[:1])).write(0, "d", work)
    assert place.rows("SELECT k FROM t ORDER BY k") == [(1,), (2,)]


def test_updates_set_columns_and_give_the_rows_that_are_missing(place: Place) -> None:
    place.execute(DDL, "INSERT INTO t VALUES (1, 10, 'a'), (2, 20, 'b')")
    missing = []
    writer = place.writer(policy=WritePolicy(batch_size=2))
    rows = rows_of((5, 5), (2, 21), (1, 11), (None, 1), (7, 7), names=["k", "v"])
    writer.write(0, "d", lambda changes: missing.append(changes.update(rows)))
    assert place.rows(ALL) == [(1, 11, "a"), (2, 21, "b")]
    assert sorted(missing[0].to_pylist(), key=lambda row: row["k"] or 0) == [
        {"k": None, "v": 1},
        {"k": 5, "v": 5},
        {"k": 7, "v": 7},
    ]
    assert writer.counters.updates == 2


def test_deletes(place: Place) -> None:
    place.execute(DDL, "INSERT INTO t VALUES (1, 10, 'a'), (2, 20, 'b')")
    writer = place.writer()
    writer.write(0, "d", lambda changes: changes.delete(keys_of(2, 3)))
    assert place.rows(ALL) == [(1, 10, "a")]
    assert writer.counters.deletes == 2


def test_reads_give_the_rows_that_are_there(place: Place) -> None:
    place.execute(DDL, "INSERT INTO t VALUES (1, 10, ''), (2, NULL, NULL), (3, 30, 'c,\"d\"')")
    found = []

    def work(changes: Changes) -> None:
        found.append(changes.fetch(keys_of(1, 2, 3, 4), ["s", "v"]))
        found.append(changes.fetch(keys_of(4), ["v"]))
        found.append(changes.fetch(keys_of(), ["v"]))

    writer = place.writer()
    writer.write(0, "d", work)
    assert sorted(found[0].to_pylist(), key=lambda row: row["k"]) == [
        {"k": 1, "s": "", "v": 10},
        {"k": 2, "s": None, "v": None},
        {"k": 3, "s": 'c,"d"', "v": 30},
    ]
    assert found[0].schema.types == [pa.int64(), pa.string(), pa.int32()]
    assert [each.num_rows for each in found[1:]] == [0, 0]
    assert writer.counters.gets == 5


def test_inserts_add_rows(place: Place) -> None:
    place.execute(DDL)
    place.writer().write(0, "d", lambda changes: changes.insert(rows_of((1, 10, "a"), (2, 20, "b"))))
    assert place.rows(ALL) == [(1, 10, "a"), (2, 20, "b")]


def test_an_insert_of_a_row_that_is_there_begins_again(place: Place) -> None:
    place.execute(DDL, "INSERT INTO t VALUES (1, 10, 'a')")
    tries = []

    def work(changes: Changes) -> None:
        tries.append(1)
        changes.upsert(rows_of((2, 20, "b")))
        if len(tries) == 1:
            changes.insert(rows_of((1, 11, "x")))

    writer = place.writer()
    writer.write(0, "d", work)
    assert (len(tries), writer.counters.retries) == (2, 1)
    assert place.rows(ALL) == [(1, 10, "a"), (2, 20, "b")]
    with pytest.raises(TableError, match="another writer has added rows") as refused:
        writer.write(1, "d", lambda changes: changes.insert(rows_of((1, 11, "x"))))
    assert (refused.value.kind, writer.counters.retries) == ("conflict", POLICY.attempts)


def test_changes_of_one_key_in_one_batch(place: Place) -> None:
    place.execute(DDL, "INSERT INTO t VALUES (1, 10, 'a')")

    def work(changes: Changes) -> None:
        changes.delete(keys_of(1))
        changes.upsert(rows_of((1, 1, "x"), (2, 2, "y")))
        changes.update(rows_of((2, 3), names=["k", "v"]))
        changes.delete(keys_of(1))
        changes.upsert(rows_of((1, 5, "z")))
        assert changes.fetch(keys_of(1, 2), ["v"]).sort_by("k").to_pylist() == [{"k": 1, "v": 5}, {"k": 2, "v": 3}]

    place.writer().write(0, "d", work)
    assert place.rows(ALL) == [(1, 5, "z"), (2, 3, "y")]


def test_names_may_have_any_letters(place: Place) -> None:
    name, column = 'a "b" %s :x', "c '%d' :y \"z\""
    quoted, of_column = ('"' + text.replace('"', '""') + '"' for text in (name, column))
    place.execute(f'CREATE TABLE {quoted} ({of_column} BIGINT PRIMARY KEY, "Group" INTEGER)')
    table = place.table(((column, "BIGINT", False), ("Group", "INT", True)), (column,), name=name)

    def work(changes: Changes) -> None:
        changes.upsert(pa.table({column: [1, 2], "Group": [10, 20]}))
        changes.update(pa.table({column: [1], "Group": [11]}))
        changes.delete(pa.table({column: [2]}))
        assert changes.fetch(pa.table({column: [1]}), ["Group"]).to_pylist() == [{column: 1, "Group": 11}]
        changes.reject([("no reason", "{}")])

    place.writer(table).write(0, "d", work)
    assert place.rows(f"SELECT * FROM {quoted}") == [(1, 11)]
    assert place.rejected() == [("no reason", "{}")]


def test_a_key_of_several_columns(place: Place) -> None:
    place.execute("CREATE TABLE t (s TEXT, k BIGINT, v INTEGER, PRIMARY KEY (s, k))")
    writer = place.writer(place.table(key=("k", "s")))

    def work(changes: Changes) -> None:
        changes.upsert(rows_of((1, 1, "a"), (1, 2, "b"), (2, 3, "a")))
        changes.delete(rows_of((1, "b"), names=["k", "s"]))
        missing = changes.update(rows_of((2, 4, "a"), (2, 4, "b")))
        assert missing.to_pylist() == [{"k": 2, "v": 4, "s": "b"}]

    writer.write(0, "d", work)
    assert place.rows(ALL) == [(1, 1, "a"), (2, 4, "a")]


def test_a_table_in_a_schema(place: Place) -> None:
    if place.dialect == "sqlite":
        skip_no_case("SQLite has no schemas")
    place.execute("CREATE SCHEMA other", DDL.replace("TABLE t", "TABLE other.t"))

    def work(changes: Changes) -> None:
        changes.upsert(rows_of((1, 1, "a")))
        changes.reject([("r", "{}")])

    place.writer(place.table(name="other.t")).write(0, "d", work)
    assert place.rows("SELECT k FROM other.t") == [(1,)]
    assert place.rows("SELECT batch FROM other.penstock_ledger ORDER BY batch") == [(-1,), (0,)]
    assert place.rows("SELECT batch, reason FROM other.q_rejected") == [(0, "r")]


def test_an_error_of_the_work_leaves_nothing(place: Place) -> None:
    place.execute(DDL)
    writer = place.writer()

    def work(changes: Changes) -> None:
        changes.upsert(rows_of((1, 1, "a")))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        writer.write(0, "d", work)
    assert place.rows(ALL) == []
    writer.write(0, "d", lambda changes: changes.upsert(rows_of((1, 2, "b"))))
    assert place.rows(ALL) == [(1, 2, "b")]


def test_postgres_adds(postgres: Place) -> None:
    """A sum that is too large, and a row that PostgreSQL cannot have, come back and change nothing."""
    postgres.execute(
        "CREATE TABLE t (k BIGINT PRIMARY KEY, v INTEGER, d NUMERIC(5, 2), s TEXT NOT NULL)",
        "INSERT INTO t VALUES (1, 10, 1.5, 'a'), (2, 2147483647, 1, 'b'), (3, NULL, NULL, 'c'), (4, 0, 999, 'd')",
        "INSERT INTO t VALUES (5, 5, 5, 'e'), (6, 6, 6, 'f')",
    )
    table = postgres.table((*COLUMNS[:2], ("d", "DECIMAL(5, 2)", True), COLUMNS[2]))
    sums = [
        (9, 1, 1, "x"),
        (6, 1, 1, None),
        (5, 1, 1, "\0"),
        (4, 1, 1, "x"),
        (3, 1, 1, "x"),
        (2, 1, 1, "x"),
        (1, 1, -2, "x"),
    ]
    rows = pa.Table.from_pylist(
        [dict(zip(("k", "v", "d", "s"), row, strict=True)) for row in sums], schema=table.arrow_schema()
    )
    given: list[pa.Table] = []
    writer = postgres.writer(table)
    writer.write(0, "d", lambda changes: given.extend(changes.add(rows, ["v", "d"])))
    missing, refused = (sorted(each["k"].to_pylist()) for each in given)
    assert (missing, refused) == ([9], [2, 4, 5, 6])
    assert postgres.rows("SELECT k, v, d::float, s FROM t WHERE s = 'x' ORDER BY k") == [
        (1, 11, -0.5, "x"),
        (3, None, None, "x"),
    ]
    assert (writer.counters.updates, writer.counters.rejected) == (2, 0)


@pytest.mark.parametrize(
    ("declared", "made", "adds"),
    [
        ("BIGINT", "BIGINT", True),
        ("INT", "INTEGER", True),
        ("SMALLINT", "SMALLINT", True),
        ("DECIMAL(18, 2)", "NUMERIC(18, 2)", True),
        ("INT", "BIGINT", False),
        ("TINYINT", "SMALLINT", False),
        ("DECIMAL(18, 2)", "NUMERIC(19, 2)", False),
        ("DECIMAL(18, 2)", "NUMERIC(19, 3)", False),
        ("DECIMAL(18, 2)", "NUMERIC", False),
    ],
)
def test_sums_are_left_to_a_column_of_the_same_type(postgres: Place, declared: str, made: str, adds: bool) -> None:
    """A wider one would take a sum that is too large."""
    postgres.execute(f"CREATE TABLE t (k BIGINT PRIMARY KEY, v {made})")
    found = []
    writer = postgres.writer(postgres.table((COLUMNS[0], ("v", declared, True))))
    writer.write(0, "d", lambda changes: found.append(changes.plan_sums(["v"]) is not None))
    assert found == [adds]


def test_other_databases_do_not_add(place: Place) -> None:
    place.execute(DDL)
    found = []
    place.writer().write(0, "d", lambda changes: found.append(changes.plan_sums(["v"]) is not None))
    assert found == [place.dialect == "postgres"]
