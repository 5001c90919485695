"""What Samza's remote tables are told to put, update and delete, as statements of SQL over the three databases."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

import penstock
from penstock.diagnostics import CompileError
from tests.conformance.differences import SAMZA_OTHERWISE, SAMZA_TABLES_NOT_OURS
from tests.conformance.samza_tables import (
    CASES,
    DELETE,
    DRIVEN,
    GET,
    PUT,
    SHOWN,
    UPDATE,
    UPDATE_OR_PUT,
    Query,
    count_statements,
    declare,
    differs,
    drives,
    expected,
    message,
    open_query,
)
from tests.databases.places import DIALECTS, SERVERS, Place

ROWS = "SELECT k, v, s FROM t ORDER BY k"


@drives("upd-with-defaults-first-time")
def test_an_update_puts_each_missing_row_once(place: Place) -> None:
    query = open_query(place, UPDATE_OR_PUT)
    messages = [
        message(each % 10, each, f"s{each}")
        for each in range(CASES["upd-with-defaults-first-time"]["given"]["messages"])
    ]
    for begin in range(0, len(messages), 5):
        query.write(*messages[begin : begin + 5])
    wanted = CASES["upd-with-defaults-first-time"]["expect"]
    assert query.report.puts == wanted["puts"]
    # An inserted row is updated at once, and counts as put.
    assert query.report.puts + query.report.updates == wanted["successful_updates"]
    assert place.rows(ROWS) == [(key, key + 10 if key < 5 else key, f"s{key}") for key in range(10)]


@drives("upd-only-missing-record", "upd-code-8")
def test_an_update_of_a_missing_row_fails(place: Place) -> None:
    query = open_query(place, UPDATE, ", on_missing = 'fail'", keys=1)
    assert query.refuse(message(0, 5), message(1, 5)) == "R064"
    assert (query.report.puts, query.report.updates) == (expected("upd-only-missing-record", name="puts"), 0)
    assert place.rows(ROWS) == [(0, 0, "old")]
    place.execute("DROP TABLE t")
    assert query.refuse(message(0, 5)) == "R061"


@drives("upd-other-failure")
def test_no_other_failure_puts_a_row(place: Place) -> None:
    query = open_query(
        place, UPDATE_OR_PUT, ddl="CREATE TABLE t (k BIGINT PRIMARY KEY, v INTEGER CHECK (v >= 0), s TEXT)", keys=1
    )
    query.write(message(0, -1, "default"))
    assert (query.report.rejected, query.report.puts) == (1, expected("upd-other-failure", name="puts"))
    place.execute("ALTER TABLE t RENAME COLUMN v TO w")
    assert query.refuse(message(0, 1, "default"), message(1, 1, "default")) == "R061"
    assert query.report.puts == 0
    assert place.rows("SELECT * FROM t") == [(0, 0, "old")]


@differs("upd-fails-after-put-default")
def test_no_default_stays_of_an_update_that_is_refused(place: Place) -> None:
    ddl = "CREATE TABLE t (k BIGINT PRIMARY KEY, v INTEGER CHECK (v >= 0), s TEXT)"
    query = open_query(place, UPDATE_OR_PUT.replace("(s) VALUES (m.s)", "(v, s) VALUES (1, m.s)"), ddl=ddl)
    query.write(message(1, -1), message(2, 2))
    assert place.rows(ROWS) == [(2, 2, "s")]
    assert (query.report.puts, query.report.rejected) == (1, 1)


@differs("upd-code-3", "upd-code-4", "sr-null-records")
def test_null_is_a_value(place: Place) -> None:
    query = open_query(place, UPDATE_OR_PUT, keys=1)
    query.write(message(0, None), message(1, 1, None))
    assert place.rows(ROWS) == [(0, None, "old"), (1, 1, None)]
    put = Query(declare(place) + PUT).open()
    put.write(message(1, None, None))
    assert place.rows(ROWS) == [(0, None, "old"), (1, None, None)]
    assert (put.report.puts, put.report.deletes) == (1, 0)


@differs("upd-default-given-but-update-only")
def test_else_insert_puts_a_missing_row(place: Place) -> None:
    query = open_query(place, UPDATE_OR_PUT, ", on_missing = 'fail'")
    query.write(message(1, 5))
    assert place.rows(ROWS) == [(1, 5, "s")]


@drives("upd-existing-records")
def test_an_update_of_present_rows_puts_none(place: Place) -> None:
    given = CASES["upd-existing-records"]["given"]
    query = open_query(place, UPDATE_OR_PUT, keys=10)
    for part in range(given["partitions"]):
        query.write(*(message(key, part) for key in range(given["messages"] // given["partitions"])))
    assert (query.report.updates, query.report.puts) == (expected("upd-existing-records", name="written"), 0)
    assert place.rows(ROWS) == [(key, 3, "old") for key in range(10)]


@drives("upd-code-2")
def test_another_writer_puts_the_row_first(postgres: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    from penstock.kit.databases.batch_changes import Changes

    query = open_query(postgres, UPDATE_OR_PUT)
    insert = Changes.insert

    def insert_late(changes: Changes, rows: Any) -> None:
        if query.report.retries == 0:
            postgres.execute("INSERT INTO t VALUES (1, 10, 'other')")
        insert(changes, rows)

    monkeypatch.setattr(Changes, "insert", insert_late)
    query.write(message(1, 5, "default"))
    assert postgres.rows(ROWS) == [(1, 5, "other")]
    assert (query.report.retries, query.report.updates, query.report.puts) == (1, 1, 0)


@drives("upd-batch-complete", "rt-putall", "rt-putallasync", "bt-putall", "rt-updateall", "rt-updateallasync")
@drives("bt-updateall", "rt-deleteall", "rt-deleteallasync", "bt-delete", "bt-deleteall")
@pytest.mark.parametrize(
    ("statement", "method", "keys", "batch_size", "calls"),
    [
        (UPDATE, "update", 16, 4, expected("upd-batch-complete", name="batch_writes")),
        (PUT, "upsert", 2, 100, expected("rt-putall", "rt-putallasync", "bt-putall", name="put_all_calls")),
        (UPDATE, "update", 2, 100, expected("rt-updateall", "bt-updateall", name="update_all_calls")),
        (DELETE, "delete", 2, 100, expected("rt-deleteall", "rt-deleteallasync", name="delete_all_calls")),
    ],
)
def test_many_rows_are_one_statement(
    place: Place, monkeypatch: pytest.MonkeyPatch, statement: str, method: str, keys: int, batch_size: int, calls: int
) -> None:
    query = open_query(place, statement, f", batch_size = {batch_size}", keys=0 if statement == PUT else keys)
    sizes = count_statements(monkeypatch, place, method)
    query.write(*(message(key, 7, "new") for key in range(keys)))
    assert sizes == [keys // calls] * calls
    s = "new" if statement == PUT else "old"
    wanted = [] if statement == DELETE else [(key, 7, s) for key in range(keys)]
    assert place.rows(ROWS) == wanted


@differs("bp-create", "bp-lookup", "bp-size-trigger", "bp-timer-trigger", "bt-put", "bt-update")
@pytest.mark.parametrize(("statement", "method"), [(PUT, "upsert"), (UPDATE, "update")])
def test_no_row_of_a_micro_batch_waits(
    place: Place, monkeypatch: pytest.MonkeyPatch, statement: str, method: str
) -> None:
    query = open_query(place, statement, ", batch_size = 3", keys=4)
    sizes = count_statements(monkeypatch, place, method)
    for keys in ((0,), (0, 1, 2), (0, 1, 2, 3)):
        query.write(*(message(key, len(keys)) for key in keys))
        assert place.rows(f"SELECT count(*) FROM t WHERE v = {len(keys)}") == [(len(keys),)]
    assert sizes == [1, 3, 3, 1]


@drives("rt-put", "rt-putasync", "rt-write-only", "sr-sink-with-key", "rt-update", "rt-updateasync")
@drives("rt-delete", "rt-deleteasync")
@differs("sr-update-op")
@pytest.mark.parametrize(
    ("statement", "keys", "counts", "rows"),
    [
        (PUT, 1, (expected("rt-put", "rt-putasync", name="put_calls"), 0, 0), [(0, 7, "new")]),
        (PUT, 0, (1, 0, 0), [(0, 7, "new")]),
        (UPDATE, 1, (0, expected("rt-update", "rt-updateasync", name="update_calls"), 0), [(0, 7, "old")]),
        (DELETE, 1, (0, 0, expected("rt-delete", "rt-deleteasync", name="delete_calls")), []),
    ],
)
def test_one_row(place: Place, statement: str, keys: int, counts: tuple[int, int, int], rows: list[Any]) -> None:
    query = open_query(place, statement, keys=keys)
    query.write(message(0, 7, "new"))
    report = query.report
    assert (report.puts, report.updates, report.deletes) == counts
    assert place.rows(ROWS) == rows


SUMS = """
INSERT INTO t (k, v, s)
SELECT k, CAST(SUM(v) AS INT) AS v, MAX(s) AS s FROM m WHERE k IS NOT NULL GROUP BY k HAVING SUM(v) > 0;
"""


@drives("rt-putdelete", "rt-putasyncdelete", "rt-putallhasdelete", "rt-putallasynchasdelete", "batch-code-3")
def test_a_row_that_leaves_a_result_is_deleted(place: Place) -> None:
    query = open_query(place, SUMS, keys=3)
    rows = [
        {**message(0), "_operation": "delete"},
        {**message(1, 7, "new"), "_operation": "update"},
        {**message(2, 7, "new"), "_operation": "update"},
        {**message(2), "_operation": "delete"},
    ]
    query.send(rows)
    assert (query.report.deletes, query.report.puts) == (2, 1)
    assert place.rows(ROWS) == [(1, 7, "new")]


@drives("sr-delete-op")
def test_rows_that_a_join_finds_are_deleted(place: Place) -> None:
    found = "CREATE STREAM found AS SELECT STREAM m.k FROM m JOIN t ON t.k = m.k AND t.v < m.v;"
    query = open_query(place, found + "DELETE FROM t USING STREAM found WHERE t.k = found.k;", keys=3)
    assert query.rows(message(0, 1)) == [{"k": 0}]
    query.write(message(0, 1), message(1, 0), message(9, 1), message(None, 1))
    assert place.rows(ROWS) == [(1, 0, "old"), (2, 0, "old")]
    assert (query.report.deletes, query.report.rejected) == (1, 0)


@drives("batch-code-1")
def test_the_last_row_of_a_key_is_written(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    query = open_query(place, PUT)
    sizes = count_statements(monkeypatch, place, "upsert")
    query.write(message(1, 1), message(2, 1), message(1, 2))
    assert sizes == [2]
    assert place.rows("SELECT k, v FROM t ORDER BY k") == [(1, 2), (2, 1)]


@drives("batch-code-6")
def test_complete_batches_keep_every_change_in_order(tmp_path: Any, postgres: Place) -> None:
    log = "CREATE TABLE log (n INTEGER)"
    triggers = {
        "sqlite": ["CREATE TRIGGER note_{0} AFTER {0} ON t BEGIN INSERT INTO log VALUES (NEW.v); END"],
        "postgres": [
            "CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN INSERT INTO log VALUES (NEW.v); RETURN NEW; END $$",
            "CREATE TRIGGER note_{0} AFTER {0} ON t FOR EACH ROW EXECUTE FUNCTION note()",
        ],
    }
    for place in (Place("sqlite", str(tmp_path / "t.db")), postgres):
        query = open_query(place, PUT, ", batch_mode = 'complete'")
        *first, trigger = triggers[place.dialect]
        place.execute(log, *first, *(trigger.format(event) for event in ("INSERT", "UPDATE")))
        query.write(message(1, 1), message(1, 2), message(1, 3), message(1, 2))
        assert place.rows("SELECT n FROM log") == [(1,), (2,), (3,), (2,)]
        assert place.rows("SELECT k, v FROM t") == [(1, 2)]


CACHE = ", cache_ttl = 5 MINUTES"
FILES = (
    "CREATE TABLE files (k BIGINT PRIMARY KEY, v INT) "
    "WITH (connector = 'files', path = 'f', format = 'json', operation = 'op');"
)


@drives(
    *("upd-with-cache-guava", "upd-with-default-cache", "ca-update-refused", "upd-batch-compact", "batch-code-4"),
    *("upd-code-5", "sr-sink-without-key", "sr-delete-needs-key", "sr-join-not-on-key"),
)
@differs("ca-write-through")
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("options", "statement", "code"),
    [
        pytest.param(CACHE, UPDATE_OR_PUT + GET, "C022", id="updates of a cached table"),
        pytest.param(CACHE + ", cache_size = 9", GET + PUT, "C022", id="puts to a cached table"),
        pytest.param(", batch_mode = 'compact'", UPDATE, "C021", id="updates in compact batches"),
        pytest.param("", "INSERT INTO t (v, s) SELECT STREAM v, s FROM m;", "K008", id="a put without a key"),
        pytest.param("", "DELETE FROM t USING STREAM m WHERE t.s = m.s;", "K021", id="a delete without a key"),
        pytest.param("", "SELECT STREAM m.k FROM m JOIN t ON t.v = m.v;", "J018", id="a join on another column"),
        pytest.param("", FILES + UPDATE.replace("t.", "files.").replace(" t ", " files "), "K021", id="no database"),
    ],
)
def test_check_refuses(dialect: str, options: str, statement: str, code: str) -> None:
    url = SERVERS.get(dialect, "shop.db")
    with pytest.raises(CompileError) as refused:
        penstock.compile(declare(Place(dialect, url), options) + statement)
    assert [each.code for each in refused.value.diagnostics] == [code]


def test_every_case_is_driven_or_has_a_reason() -> None:
    for name in ("test_samza_table_faults", "test_samza_lookups", "test_samza_tables_spark"):
        import_module(f"tests.conformance.{name}")
    not_ours = [each for ids in SAMZA_TABLES_NOT_OURS.values() for each in ids]
    otherwise = [each for ids in SAMZA_OTHERWISE.values() for each in ids]
    assert sorted([*DRIVEN, *not_ours, *otherwise]) == sorted(CASES)
    assert sorted(SHOWN) == sorted(otherwise)
