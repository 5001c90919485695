"""Retries, failures, rate limits and privileges of Samza's remote tables, over the three databases."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from math import inf
from types import SimpleNamespace

import pytest

import penstock
from penstock import RunError
from penstock.codegen.connectors.database_calls import list_arguments, list_find_arguments
from penstock.codegen.program import RemoteView
from tests.conformance.samza_tables import (
    CASES,
    DELETE,
    GET,
    PUT,
    QUICK,
    UPDATE,
    UPDATE_OR_PUT,
    Outage,
    Query,
    count_connections,
    count_statements,
    declare,
    differs,
    drives,
    expected,
    message,
    open_query,
)
from tests.databases.places import DIALECTS, SERVERS, Place

STATEMENTS = pytest.mark.parametrize("statement", [PUT, UPDATE, DELETE], ids=["put", "update", "delete"])
FailFirst = Callable[[float], Outage]


def fail_next(query: Query, fail_first: FailFirst, failing: float) -> Outage:
    """Lets the next connections of a query fail. It has opened its ledger."""
    query.write()
    query.sink.close()
    return fail_first(failing)


@drives("ry-put-no-failure", "ry-update-no-failure")
@pytest.mark.parametrize(
    ("case", "statement", "method"),
    [("ry-put-no-failure", PUT, "upsert"), ("ry-update-no-failure", UPDATE, "update")],
)
def test_nothing_fails(place: Place, monkeypatch: pytest.MonkeyPatch, case: str, statement: str, method: str) -> None:
    query = open_query(place, statement, keys=1)
    sizes = count_statements(monkeypatch, place, method)
    operations = CASES[case]["given"]["operations"]
    for number in range(operations):
        query.write(message(0, number))
    wanted, report = CASES[case]["expect"], query.report
    assert sizes == [1] * wanted["calls_each"] * operations
    assert (report.batches, report.retries) == (wanted["success_count"], wanted["retry_count"])
    assert report.failures == wanted["perm_failures"]


@drives("rt-putasyncerrorretried", "ry-putall-one-retry", "ry-update-one-retry", "ry-updateall-one-retry")
@drives("upd-code-10")
@STATEMENTS
def test_a_failure_passes(place: Place, fail_first: FailFirst, statement: str) -> None:
    query = open_query(place, statement, QUICK, keys=2)
    outage = fail_next(query, fail_first, 1)
    query.write(message(0, 7), message(1, 7))
    cases = ("ry-putall-one-retry", "ry-update-one-retry", "ry-updateall-one-retry")
    assert outage.calls == expected(*cases, name="calls")
    assert query.report.retries == expected(*cases, name="retry_count")
    assert query.report.failures == 0
    assert place.rows("SELECT k, v FROM t ORDER BY k") == ([] if statement == DELETE else [(0, 7), (1, 7)])
    assert place.rows("SELECT count(*) FROM penstock_ledger WHERE batch = 1") == [(1,)]


@drives("ry-put-max-attempts", "ry-update-max-attempts")
@differs("ry-put-timeout")
@pytest.mark.parametrize(
    ("case", "statement"), [("ry-put-max-attempts", PUT), ("ry-update-max-attempts", UPDATE_OR_PUT)]
)
def test_a_failure_does_not_pass_in_time(place: Place, fail_first: FailFirst, case: str, statement: str) -> None:
    wanted = CASES[case]["expect"]
    query = open_query(place, statement, f"{QUICK}, retry_attempts = {wanted['retry_count'] + 1}", keys=1)
    outage = fail_next(query, fail_first, inf)
    assert query.refuse(message(0, 7)) == "R060"
    assert outage.calls == wanted["calls_at_least"]
    assert (query.report.retries, query.report.failures) == (wanted["retry_count"], wanted["perm_failures"])


@drives("rp-none")
def test_one_attempt_is_none_again(place: Place, fail_first: FailFirst) -> None:
    query = open_query(place, PUT, ", retry_attempts = 1")
    outage = fail_next(query, fail_first, inf)
    assert query.refuse(message(0)) == "R060"
    assert (outage.calls, query.report.retries) == (1, 0)


@drives(
    *("rt-putasyncerror", "rt-putallasyncerror", "rt-updateasyncerror", "rt-updateallasyncerror", "rt-catch-writer"),
    *("rt-deleteasyncerror", "rt-deleteallasyncerror", "rt-catch-writer-update"),
    *("ry-put-not-retriable", "ry-update-not-retriable"),
)
@STATEMENTS
def test_a_failure_that_does_not_pass_is_told_at_once(place: Place, fail_first: FailFirst, statement: str) -> None:
    query = open_query(place, statement, QUICK, keys=2)
    outage = fail_next(query, fail_first, 0)
    place.execute("ALTER TABLE t RENAME TO elsewhere")
    assert query.refuse(message(0, 7), message(1, 7)) == "R061"
    cases = ("ry-put-not-retriable", "ry-update-not-retriable")
    assert outage.calls == expected(*cases, name="calls")
    assert query.report.retries == expected(*cases, name="retry_count")
    # Samza counts only the failures of what was tried again.
    assert query.report.failures == 1
    assert place.rows("SELECT v FROM elsewhere") == [(0,), (0,)]


@drives("rp-predicate")
def test_each_failure_is_judged_by_itself(place: Place, fail_first: FailFirst) -> None:
    query = open_query(place, PUT, QUICK)
    outage = fail_next(query, fail_first, 2)
    place.execute("DROP TABLE t")
    assert query.refuse(message(0)) == "R061"
    assert (outage.calls, query.report.retries) == (3, 2)


@drives("rp-exponential")
@differs("rp-fixed", "rp-random")
def test_pauses_grow_to_a_limit(place: Place, fail_first: FailFirst, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = CASES["rp-exponential"]["expect"]
    options = (
        f"retry_backoff = {wanted['delay_ms']} MILLISECONDS, retry_max_delay = {wanted['max_delay_ms']} MILLISECONDS"
    )
    query = open_query(place, PUT, f", {options}")
    outage = fail_next(query, fail_first, 4)
    pauses: list[float] = []
    own, sleep = threading.current_thread(), time.sleep

    def pause(seconds: float) -> None:
        """Other threads of the process sleep as they are told."""
        if threading.current_thread() is own:
            pauses.append(seconds)
        else:
            sleep(seconds)

    monkeypatch.setattr("tenacity.nap.time.sleep", pause)
    monkeypatch.setattr("tenacity.wait.random.uniform", lambda low, high: high)
    query.write(message(0))
    assert outage.calls == 5
    # The factor is 2, and a pause is any time up to these.
    assert [seconds for seconds in pauses if seconds] == [1, 2, 2, 2]


@drives("de-tableretrypolicytoconfig")
@differs("de-readwriteratelimittoconfig", "batch-code-7")
@pytest.mark.parametrize("dialect", DIALECTS)
def test_options_say_how_often_is_tried(dialect: str) -> None:
    options = ", retry_attempts = 4, retry_backoff = 1 SECOND, retry_max_delay = 1 MINUTE, rate_limit = 1000"
    place = Place(dialect, SERVERS.get(dialect, "shop.db"))
    put, get = penstock.compile(declare(place, options) + PUT + GET).program.queries
    [view] = [each for each in get.views if isinstance(each, RemoteView)]
    wanted = {"attempts": 4, "backoff_ms": 1000, "max_delay_ms": 60_000, "batch_size": 10_000}
    writing, asking = list_arguments(put).policy, list_find_arguments(view).policy
    for policy in (writing, asking):
        assert {name: policy[name] for name in wanted} == wanted
    assert writing["rate_limit"] == 1000
    assert "rate_limit" not in asking


@drives("batch-code-8")
def test_a_micro_batch_that_fails_leaves_nothing(place: Place) -> None:
    ddl = "CREATE TABLE t (k BIGINT PRIMARY KEY, v INTEGER CHECK (v >= 0), s TEXT)"
    query = open_query(place, PUT, ", max_rejected = 1", ddl=ddl)
    query.write(message(0, 1), message(1, -1))
    assert (query.report.puts, query.report.rejected) == (1, 1)
    assert query.refuse(message(2, 1), message(3, -1), message(4, -1)) == "R060"
    assert place.rows("SELECT k FROM t") == [(0,)]
    assert place.rows("SELECT batch, count(*) FROM t_rejected GROUP BY batch") == [(0, 1)]


@drives("rl-putasync", "rl-putallasync", "rl-updateasync", "rl-updateallasync", "rl-deleteasync", "rl-deleteallasync")
@differs("rl-getasync", "rl-getallasync")
@STATEMENTS
def test_each_row_that_is_written_counts_once_for_the_rate(
    place: Place, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    query = open_query(place, statement, ", rate_limit = 10", keys=20)
    pauses: list[float] = []
    # Not that of the module time, which others call meanwhile.
    clock = SimpleNamespace(monotonic=time.monotonic, sleep=pauses.append)
    monkeypatch.setattr("penstock.kit.databases.writer.time", clock)
    began = time.monotonic()
    query.write(*(message(key, 7) for key in range(20)))
    first = time.monotonic() - began
    query.write(message(0, 8))
    second = time.monotonic() - began
    assert pauses[0] == 0
    # 20 rows are 2 seconds, of which some have passed.
    assert 2 - second <= pauses[1] <= 2
    assert first < 2
    # Lookups are not slowed down.
    other = Query(declare(place, ", rate_limit = 1") + GET)
    other.rows(*(message(key) for key in range(20)))
    other.rows(message(0))
    assert len(pauses) == 2


@drives(
    *("ar-putasync", "ar-putallasync", "ar-updateasync", "ar-updateallasync", "ar-deleteasync", "ar-deleteallasync"),
    *("ar-getasync", "ar-getallasync", "rt-no-writer"),
)
@STATEMENTS
def test_a_user_who_may_only_read(reader: Place, postgres: Place, statement: str) -> None:
    with pytest.raises(RunError, match="privilege INSERT") as refused:
        Query(declare(reader) + statement).open()
    assert [each.code for each in refused.value.diagnostics] == ["R060"]
    assert Query(declare(reader) + GET).rows(message(1), message(2)) == [{"k": 1, "v": 10}]
    owner = Query(declare(postgres) + statement).open()
    owner.write(message(1, 7))
    report = owner.report
    assert (report.puts, report.updates, report.deletes) == (statement == PUT, statement == UPDATE, statement == DELETE)
    assert postgres.rows("SELECT v FROM t") == ([] if statement == DELETE else [(7,)])


@drives("ar-close")
def test_a_closed_query_has_no_connection(reader: Place, postgres: Place) -> None:
    postgres.execute("GRANT ALL ON t TO samza")
    query, lookup = Query(declare(reader) + PUT).open(), Query(declare(reader) + GET)
    query.write(message(1))
    assert len(lookup.rows(message(1))) == 1
    assert count_connections(postgres, "samza") == 2
    query.sink.close()
    for each in lookup.lookups.values():
        each.finder._reader.close()
    wait_until(lambda: count_connections(postgres, "samza") == 0)


def wait_until(condition: Callable[[], bool]) -> None:
    """Waits for what a server does a moment later."""
    end = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)
