"""Rows that the database refuses are set aside in the same transaction, and the others are written."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from penstock.kit.databases.batch_changes import Changes
from penstock.kit.databases.faults import TableError
from tests.databases.places import COLUMNS, DDL, POLICY, Place, keys_of, rows_of
from tests.skips import skip_no_case

REFUSALS = {
    "NOT NULL": ("s TEXT NOT NULL", (5, 1, None), "null"),
    "CHECK": ("s TEXT CHECK (s <> 'bad')", (5, 1, "bad"), "check"),
    "unique": ("s TEXT UNIQUE", (5, 1, "s7"), "unique"),
    "foreign key": ("s TEXT REFERENCES parents (s)", (5, 1, "orphan"), "foreign key"),
}


MYSQL_WORDS = {"CHECK": "constraint", "unique": "duplicate"}


def rows_with(bad: tuple[Any, ...], count: int = 1000) -> Any:
    return rows_of(*(bad if k == bad[0] else (k, k, f"s{k}") for k in range(count)))


@pytest.mark.parametrize("kind", REFUSALS)
@pytest.mark.parametrize("batch_size", [10_000, 64])
def test_one_bad_row_of_a_thousand(place: Place, kind: str, batch_size: int) -> None:
    column, bad, word = REFUSALS[kind]
    parents = [f"INSERT INTO parents VALUES {', '.join(f'({k!r})' for k in [f's{n}' for n in range(1000)])}"]
    place.execute("CREATE TABLE parents (s TEXT PRIMARY KEY)", *parents)
    place.execute(f"CREATE TABLE t (k BIGINT PRIMARY KEY, v INTEGER, {column})")
    writer = place.writer(policy=dataclasses.replace(POLICY, batch_size=batch_size))

    def work(changes: Changes) -> None:
        changes.upsert(rows_of((7, 7, "s7")))
        changes.upsert(rows_with(bad))

    writer.write(0, "d", work)
    assert place.rows("SELECT count(*), min(k), max(k) FROM t") == [(999, 0, 999)]
    assert place.rows("SELECT v, s FROM t WHERE k = 7") == [(7, "s7")]
    [(reason, record)] = place.rejected()
    assert (MYSQL_WORDS.get(kind, word) if place.dialect == "mysql" else word) in reason.lower()
    assert json.loads(record) == dict(zip("kvs", bad, strict=True))
    assert (writer.counters.rejected, writer.counters.refused, writer.counters.puts) == (1, 1, 1000)
    assert writer.counters.retries == 0


def test_a_number_that_is_too_large(place: Place) -> None:
    if place.dialect == "sqlite":
        skip_no_case("its integers have no ranges")
    place.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, v INTEGER, s TEXT)")
    writer = place.writer()
    # After the check the owner makes the column narrower.
    place.execute("ALTER TABLE t ALTER COLUMN v TYPE SMALLINT")
    writer.write(0, "d", lambda changes: changes.upsert(rows_of((1, 1, "a"), (2, 99_999, "b"), (3, 3, "c"))))
    assert place.rows("SELECT k FROM t ORDER BY k") == [(1,), (3,)]
    [(reason, record)] = place.rejected()
    assert "out of range" in reason.lower()
    assert json.loads(record)["k"] == 2


def test_a_text_with_nul(place: Place) -> None:
    place.execute(DDL)
    writer = place.writer()
    writer.write(0, "d", lambda changes: changes.upsert(rows_of((1, 1, "a"), (2, 2, "b\0c"), (3, 3, "d"))))
    if place.dialect == "postgres":
        [(reason, record)] = place.rejected()
        assert reason == 'invalid byte sequence for encoding "UTF8": 0x00'
        assert json.loads(record) == {"k": 2, "v": 2, "s": "b\0c"}
        assert place.rows("SELECT k FROM t ORDER BY k") == [(1,), (3,)]
    else:
        assert place.rows("SELECT s FROM t WHERE k = 2") == [("b\0c",)]


def test_a_key_that_the_database_cannot_have_is_not_there(postgres: Place) -> None:
    postgres.execute("CREATE TABLE t (s TEXT PRIMARY KEY, v INTEGER)", "INSERT INTO t VALUES ('a', 1)")
    found = []
    writer = postgres.writer(postgres.table((("s", "STRING", False), ("v", "INT", True)), ("s",)))
    keys = rows_of(("a",), ("b\0",), names=["s"])
    writer.write(0, "d", lambda changes: found.append(changes.fetch(keys, ["v"])))
    assert found[-1].to_pylist() == [{"s": "a", "v": 1}]
    assert writer.counters.rejected == 0


def test_all_rows_are_bad(place: Place) -> None:
    place.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, v INTEGER CHECK (v > 0), s TEXT)")
    rows = rows_of(*((k, -k, "a") for k in range(40)))
    writer = place.writer(policy=dataclasses.replace(POLICY, max_rejected=40))
    writer.write(0, "d", lambda changes: changes.upsert(rows))
    assert place.rows("SELECT * FROM t") == []
    assert sorted(json.loads(record)["k"] for _, record in place.rejected()) == list(range(40))
    assert writer.counters.puts == 0


def test_too_many_bad_rows_leave_nothing(place: Place) -> None:
    place.execute("CREATE TABLE t (k BIGINT PRIMARY KEY, v INTEGER CHECK (v > 0), s TEXT)")
    writer = place.writer(policy=dataclasses.replace(POLICY, max_rejected=3))
    rows = rows_of(*((k, -1 if k % 10 == 0 else 1, "a") for k in range(40)))
    with pytest.raises(
        TableError, match=r"refuses more than 3 rows of one batch: .*(check|CHECK|CONSTRAINT)"
    ) as refused:
        writer.write(0, "d", lambda changes: changes.upsert(rows))
    assert (refused.value.kind, writer.counters.failures) == ("rejected", 1)
    assert place.rows("SELECT * FROM t") == []
    assert place.rows("SELECT batch FROM penstock_ledger") == [(-1,)]


def test_refused_updates_inserts_and_deletes(place: Place) -> None:
    place.execute(
        "CREATE TABLE t (k BIGINT PRIMARY KEY, v INTEGER CHECK (v > 0), s TEXT)",
        "INSERT INTO t VALUES (1, 1, 'a'), (2, 2, 'b'), (3, 3, 'c')",
        "CREATE TABLE children (k BIGINT REFERENCES t (k))",
        "INSERT INTO children VALUES (2)",
    )
    missing = []

    def work(changes: Changes) -> None:
        missing.append(changes.update(rows_of((1, -1), (3, 33), (9, 9), names=["k", "v"])))
        changes.insert(rows_of((4, 4, "d"), (5, -5, "e")))
        changes.delete(keys_of(1, 2))

    writer = place.writer()
    writer.write(0, "d", work)
    assert missing[-1].to_pylist() == [{"k": 9, "v": 9}]
    assert place.rows("SELECT * FROM t ORDER BY k") == [(2, 2, "b"), (3, 33, "c"), (4, 4, "d")]
    assert sorted(json.loads(record)["k"] for _, record in place.rejected()) == [1, 2, 5]
    counters = writer.counters
    assert (counters.updates, counters.puts, counters.deletes, counters.refused) == (1, 1, 1, 3)


def test_a_null_key_is_refused_everywhere(place: Place) -> None:
    place.execute("CREATE TABLE t (k BIGINT UNIQUE, v INTEGER, s TEXT)")
    writer = place.writer()
    writer.write(0, "d", lambda changes: changes.upsert(rows_of((1, 1, "a"), (None, 2, "b"))))
    assert place.rows("SELECT * FROM t") == [(1, 1, "a")]
    assert place.rejected() == [("the key k is NULL", '{"k": null, "v": 2, "s": "b"}')]


def test_a_deferred_constraint_is_not_noticed_too_late(postgres: Place) -> None:
    postgres.execute("CREATE TABLE parents (s TEXT PRIMARY KEY)", "INSERT INTO parents VALUES ('a')")
    column = "s TEXT REFERENCES parents DEFERRABLE INITIALLY DEFERRED"
    postgres.execute(f"CREATE TABLE t (k BIGINT PRIMARY KEY, v INTEGER, {column})")
    postgres.writer().write(0, "d", lambda changes: changes.upsert(rows_of((1, 1, "a"), (2, 2, "b"))))
    assert postgres.rows("SELECT k FROM t") == [(1,)]
    assert len(postgres.rejected()) == 1


def test_a_trigger_refuses_a_row(postgres: Place) -> None:
    postgres.execute(
        DDL,
        "CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN IF NEW.v > 5 THEN RAISE 'v is % here', NEW.v; END IF; RETURN NEW; END $$",
        "CREATE TRIGGER no BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION no()",
    )
    postgres.writer().write(0, "d", lambda changes: changes.upsert(rows_of((1, 1, "a"), (2, 7, "b"))))
    assert postgres.rows("SELECT k FROM t") == [(1,)]
    assert postgres.rejected() == [("v is 7 here", '{"k": 2, "v": 7, "s": "b"}')]


def test_rejected_rows_of_the_work_come_once(place: Place) -> None:
    place.execute(DDL)
    tries = []

    def work(changes: Changes) -> None:
        tries.append(1)
        changes.reject([("first\0", '"a"'), ("second", "{}")])
        changes.insert(rows_of((1, 1, "a")))
        if len(tries) == 1:
            changes.insert(rows_of((1, 1, "a")))

    writer = place.writer(place.table(COLUMNS))
    writer.write(0, "d", work)
    assert len(tries) == 2
    assert sorted(place.rejected()) == [("first\\u0000", '"a"'), ("second", "{}")]
    assert (writer.counters.rejected, writer.counters.refused) == (2, 0)
    writer.write(1, "e", lambda changes: changes.reject([("third", "{}")]))
    assert place.rows("SELECT batch, count(*) FROM q_rejected GROUP BY batch ORDER BY batch") == [(0, 2), (1, 1)]
