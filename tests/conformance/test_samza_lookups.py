"""What Samza's remote tables are asked for, as joins of SQL over the three databases, with caches and failures."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import pytest

from penstock.kit.databases import finder
from penstock.kit.databases.faults import TableError
from penstock.kit.databases.reads import find_rows
from tests.conformance.samza_tables import (
    CASES,
    GET,
    QUICK,
    Outage,
    Query,
    count_statements,
    declare,
    differs,
    drives,
    expected,
    message,
)
from tests.databases.places import DDL, Place

JOIN = "SELECT STREAM m.k, CONCAT(m.s, t.s) AS joined FROM m JOIN t ON t.k = m.k;"
CACHE = ", cache_ttl = 5 MINUTES"
FailFirst = Callable[[float], Outage]


def ask(place: Place, statement: str = GET, options: str = "", keys: int = 10) -> Query:
    """A join with a new table whose rows have the keys from 1."""
    rows = [f"INSERT INTO t VALUES ({key}, {key * 10}, 'r{key}')" for key in range(1, keys + 1)]
    place.execute(DDL, *rows)
    return Query(declare(place, options) + statement)


def counters(query: Query) -> Any:
    """What the only lookup of a query has asked for."""
    [lookup] = query.lookups.values()
    return lookup.counters


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of keys in the statements that databases have got."""
    sizes: list[int] = []

    def find(connection: Any, table: Any, names: Any, batches: Any) -> Any:
        sizes.extend(keys.num_rows for keys in batches)
        return find_rows(connection, table, names, batches)

    monkeypatch.setattr(finder, "find_rows", find)
    return sizes


@drives("stj-hit", "stj-miss-null-result", "stj-join-fn-called-once")
def test_a_join_hits_or_misses(place: Place) -> None:
    messages = [
        message(int(CASES[case]["given"]["message"][0]), s=CASES[case]["given"]["message"][1])
        for case in ("stj-hit", "stj-miss-null-result")
    ]
    query = ask(place, JOIN, keys=1)
    rows = [[row["joined"] for row in query.rows(each)] for each in messages]
    assert rows == [CASES["stj-hit"]["expect"]["output"], CASES["stj-miss-null-result"]["expect"]["output"]]
    # With LEFT JOIN a message without a record is one row as well.
    left = Query(declare(place) + JOIN.replace("FROM m JOIN", "FROM m LEFT JOIN"))
    assert left.rows(*messages) == [{"k": 1, "joined": "m1r1"}, {"k": 2, "joined": None}]


@drives("rt-get", "rt-getasync", "rt-getall", "rt-getallasync", "rt-getallpartialresult", "bt-get", "bt-getall")
@drives("batch-code-2")
def test_rows_are_found_by_one_statement(place: Place, asked: list[int]) -> None:
    query = ask(place)
    assert query.rows(message(1)) == [{"k": 1, "v": 10}]
    assert asked == [1]
    assert len(query.rows(message(1), message(2))) == expected("rt-getall", "rt-getallasync", name="rows")
    assert asked == [1, 2]
    assert len(query.rows(message(1), message(99))) == expected("rt-getallpartialresult", name="rows")
    assert counters(query).misses == 1
    del asked[:]
    assert [row["v"] for row in query.rows(*map(message, (7, 3, 7, 10, 3)))] == [70, 30, 70, 100, 30]
    assert asked == [3]
    assert len(asked) == expected("bt-get", "bt-getall", name="get_all_calls")


@drives("rt-getmultipletables")
def test_two_tables_are_independent(place: Place) -> None:
    place.execute("CREATE TABLE other (k BIGINT PRIMARY KEY, v INTEGER)", "INSERT INTO other VALUES (1, -1), (20, -2)")
    second = declare(place).strip().splitlines()[1].replace("TABLE t", "TABLE u").replace("'t'", "'other'")
    join = "SELECT STREAM m.k, t.v, u.v AS w FROM m JOIN t ON t.k = m.k LEFT JOIN u ON u.k = t.v;"
    query = ask(place, second.replace(", s STRING", "") + join)
    assert query.rows(message(1), message(2), message(20)) == [
        {"k": 1, "v": 10, "w": None},
        {"k": 2, "v": 20, "w": -2},
    ]


@drives("e2e-batch-read-write", "e2e-batch-read", "e2e-batch-write")
def test_reads_and_writes_in_batches(place: Place, asked: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = CASES["e2e-batch-read-write"]["expect"]
    written = count_statements(monkeypatch, place, "upsert")
    place.execute("CREATE TABLE enriched (k BIGINT PRIMARY KEY, v INTEGER)")
    [_, table] = declare(place, ", batch_size = 4").strip().splitlines()
    table = table.replace("TABLE t", "TABLE enriched").replace("'t'", "'enriched'").replace(", s STRING", "")
    query = ask(place, f"{table} INSERT INTO enriched {GET}", ", batch_size = 4", keys=16).open()
    query.write(*(message(key) for key in range(1, 17)))
    assert place.rows("SELECT k, v FROM enriched ORDER BY k") == [
        (key, key * 10) for key in range(1, wanted["rows"] + 1)
    ]
    assert asked == written == [4] * wanted["batch_writes"]


@drives("sr-null-foreign-keys-inner", "sr-null-foreign-keys-right")
def test_keys_that_are_null(place: Place) -> None:
    inner = ask(place)
    left = Query(declare(place) + GET.replace("FROM m JOIN", "FROM m LEFT JOIN"))
    messages = [message(2), message(None), message(1)]
    assert inner.rows(*messages) == [{"k": 2, "v": 20}, {"k": 1, "v": 10}]
    assert left.rows(*messages) == [{"k": 2, "v": 20}, {"k": None, "v": None}, {"k": 1, "v": 10}]


@drives("ry-get-no-failure", "ry-getall-one-retry", "rt-getasyncerrorretried")
def test_a_failure_of_a_lookup_passes(place: Place, fail_first: FailFirst) -> None:
    query = ask(place, options=QUICK)
    outage = fail_first(1)
    assert query.rows(message(1), message(2)) == [{"k": 1, "v": 10}, {"k": 2, "v": 20}]
    wanted, found = CASES["ry-getall-one-retry"]["expect"], counters(query)
    assert (outage.calls, found.retries, found.failures) == (
        wanted["calls"],
        wanted["retry_count"],
        wanted["perm_failures"],
    )
    none = Query(declare(place) + GET)
    for key in (1, 2):
        assert len(none.rows(message(key))) == 1
    wanted, found = CASES["ry-get-no-failure"]["expect"], counters(none)
    assert (found.gets, found.retries, found.failures) == (
        wanted["success_count"],
        wanted["retry_count"],
        wanted["perm_failures"],
    )


@drives("ry-get-max-attempts")
@differs("ry-get-timeout")
def test_a_failure_of_a_lookup_does_not_pass_in_time(place: Place, fail_first: FailFirst) -> None:
    wanted = CASES["ry-get-max-attempts"]["expect"]
    query = ask(place, options=f"{QUICK}, retry_attempts = {wanted['retry_count'] + 1}")
    outage = fail_first(inf)
    with pytest.raises(TableError, match=rf"\({wanted['calls_at_least']} attempts\)"):
        query.rows(message(1))
    found = counters(query)
    assert outage.calls == wanted["calls_at_least"]
    assert (found.retries, found.failures) == (wanted["retry_count"], wanted["perm_failures"])


@drives("rt-getasyncerror", "rt-getallasyncerror", "rt-catch-reader", "ry-get-not-retriable")
def test_a_lookup_in_a_table_that_is_gone(place: Place, fail_first: FailFirst) -> None:
    query = ask(place, options=QUICK)
    place.execute("DROP TABLE t")
    outage = fail_first(0)
    with pytest.raises(TableError) as refused:
        query.rows(message(1), message(2))
    assert str(refused.value).startswith("table t of ")
    assert refused.value.hint == "create the table, or set create = 'if_missing'"
    wanted, found = CASES["ry-get-not-retriable"]["expect"], counters(query)
    assert (outage.calls, found.retries) == (wanted["calls"], wanted["retry_count"])


@drives("ca-write-around")
def test_a_cache_that_others_write_around(place: Place) -> None:
    query = ask(place, options=CACHE)
    query.rows(message(1))
    query.rows(message(1))
    place.execute("UPDATE t SET v = 7 WHERE k IN (1, 2)")
    assert query.rows(message(2), message(1)) == [{"k": 2, "v": 7}, {"k": 1, "v": 10}]
    wanted, found = CASES["ca-write-around"]["expect"], counters(query)
    assert found.gets - found.cache_hits == wanted["table_gets"]
    # The last two answers are one hit and one miss.
    assert f"{found.cache_hits - 1}/{found.gets - 1}" == wanted["hit_rate"]


@drives("ca-eviction")
def test_a_cache_that_keeps_one_row(place: Place, asked: list[int]) -> None:
    query = ask(place, options=f"{CACHE}, cache_size = 1")
    for key in (1, 2, 1):
        assert query.rows(message(key)) == [{"k": key, "v": key * 10}]
    gets_of_first = asked[::2]
    assert len(gets_of_first) == expected("ca-eviction", name="table_gets_for_two_gets")
    assert counters(query).cache_hits == 0


@drives("ca-guava-remote")  # Its puts and deletes are what C022 refuses.
def test_a_cache_asks_only_for_what_is_missing(place: Place, asked: list[int]) -> None:
    query = ask(place, options=f"{CACHE}, retry_attempts = 1")
    for messages, keys in (((1,), 1), ((1,), 0), ((1, 2, 3), 2), ((3, 2, 1), 0)):
        assert [row["k"] for row in query.rows(*map(message, messages))] == list(messages)
        assert sum(asked) == keys
        del asked[:]
    place.execute("DROP TABLE t")
    assert query.rows(message(1), message(3)) == [{"k": 1, "v": 10}, {"k": 3, "v": 30}]
    with pytest.raises(TableError):
        query.rows(message(1), message(4))


@differs("ca-missing-key-not-cached")
def test_a_cache_keeps_that_a_row_is_missing(place: Place, asked: list[int]) -> None:
    query = ask(place, options=CACHE, keys=1)
    assert query.rows(message(2)) == []
    place.execute("INSERT INTO t VALUES (2, 20, 'late')")
    assert query.rows(message(2)) == []
    assert sum(asked) == 1


@differs("sr-join-two-conjuncts")
def test_what_on_says_beside_the_key_is_tested(place: Place, asked: list[int]) -> None:
    both = "ON t.k = m.k AND t.k = CAST(m.v AS BIGINT)"
    query = ask(place, f"SELECT STREAM m.k, t.v FROM m JOIN t {both};")
    assert query.rows(message(1, 1), message(2, 3)) == [{"k": 1, "v": 10}]
    assert asked == [2]
