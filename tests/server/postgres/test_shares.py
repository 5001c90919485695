"""What one role may take of the relay, and whom it leaves the rest."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import psycopg
import pytest

from penstock.server.client_limits import Limits
from penstock.server.postgres import shares as module
from penstock.server.postgres.relay import Upstream
from penstock.server.postgres.shares import Shares
from tests.server.postgres.door import Door, open_door


@pytest.fixture
def small(database: Upstream) -> Iterator[Door]:
    """A relay with small shares."""
    with open_door(database, Limits(role_connections=4, role_statements=2)) as opened:
        yield opened


def test_a_role_has_its_share_of_connections(small: Door) -> None:
    with ExitStack() as stack:
        for _ in range(4):
            stack.enter_context(small.connect("alice"))
        for _ in range(3):
            with pytest.raises(psycopg.OperationalError, match="role alice has too many connections"):
                small.connect("alice")
        stack.enter_context(small.connect("bob"))
    ends = time.monotonic() + 10
    while True:  # what was taken is given back
        try:
            small.connect("alice").close()
            break
        except psycopg.OperationalError:
            assert time.monotonic() < ends


def test_others_do_not_wait_for_statements_of_a_role(small: Door) -> None:
    def sleep(connection: psycopg.Connection) -> float:
        began = time.monotonic()
        connection.execute("SELECT pg_sleep(1)")
        return time.monotonic() - began

    with ExitStack() as stack, ThreadPoolExecutor(4) as pool:
        many = [stack.enter_context(small.connect("alice")) for _ in range(4)]
        seconds = list(pool.map(sleep, many))
        assert sorted(each > 1.9 for each in seconds) == [False, False, True, True], seconds
        running = [pool.submit(sleep, each) for each in many]
        time.sleep(0.2)
        with small.connect("bob") as other:
            began = time.monotonic()
            assert other.execute("SELECT 1").fetchone() == (1,)
            assert time.monotonic() - began < 0.7
        assert all(each.result() for each in running)


def test_transactions_have_turns_of_their_own(small: Door) -> None:
    """Two statements wait for what a transaction of the same role has locked."""
    with ExitStack() as stack, ThreadPoolExecutor(2) as pool:
        first, *others = [stack.enter_context(small.connect("bob")) for _ in range(3)]
        first.execute("BEGIN")
        first.execute("SELECT pg_advisory_xact_lock(1)")
        waiting = [pool.submit(each.execute, "SELECT pg_advisory_xact_lock_shared(1)") for each in others]
        time.sleep(0.3)
        first.execute("SELECT 1")
        first.execute("COMMIT")
        assert all(each.result(10) for each in waiting)


def test_turns_are_given_back(small: Door) -> None:
    """Whatever becomes of the statement."""
    with small.connect("alice") as connection:
        for _ in range(5):
            for text in ("SELECT 1 / 0", "SELECT nothing", "SHOW STREAMS", "CREATE STREAM bad", "SELECT 1; SELECT 2"):
                connection.pgconn.exec_(text.encode())
                connection.pgconn.exec_params(text.encode(), None)
    for _ in range(4):
        left = small.connect("alice", options="-c client_connection_check_interval=100ms")
        left.pgconn.send_query(b"SELECT pg_sleep(30)")
        left.close()
        time.sleep(1)
    with small.connect("alice") as connection:
        connection.execute("SET statement_timeout = '5s'")
        assert connection.execute("SELECT 1").fetchone() == (1,)


def try_password(door: Door, user: str, password: str) -> tuple[bool, float]:
    began = time.monotonic()
    try:
        psycopg.connect(
            host="127.0.0.1", port=door.relay.port, user=user, password=password, dbname="postgres", sslmode="disable"
        ).close()
    except psycopg.OperationalError:
        return False, time.monotonic() - began
    return True, time.monotonic() - began


def test_tries_of_passwords_are_slowed_down(small: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    """The right one is taken at once, also by a user whose name others try."""
    monkeypatch.setattr(module, "DELAY_SECONDS", 2)
    quick = [try_password(small, "alice", f"wrong {number}") for number in range(10)]
    assert not any(passed for passed, _ in quick)
    assert min(seconds for _, seconds in quick) < 1.5
    passed, seconds = try_password(small, "alice", "wrong")
    assert (passed, seconds > 1.9) == (False, True)
    for user, password in (("alice", "wonder land"), ("bob", "builder")):
        passed, seconds = try_password(small, user, password)
        assert passed
        assert seconds < 1.9


def test_tries_at_once_have_a_limit(small: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "DELAY_SECONDS", 3)
    for number in range(10):
        try_password(small, "alice", f"wrong {number}")
    with ThreadPoolExecutor(20) as pool:
        tried = list(pool.map(lambda _: try_password(small, "alice", "wrong"), range(20)))
    assert not any(passed for passed, _ in tried)
    assert sum(seconds > 2.9 for _, seconds in tried) <= 10


def test_failures_are_forgotten() -> None:
    now = 0.0
    shares = Shares(Limits(tries=2), lambda: now)
    assert [shares.note_failure("ada", "a") > 0 for _ in range(3)] == [False, False, True]
    assert shares.note_failure("ada", "b") == 0
    assert shares.note_failure("sam", "a") == 0
    now = 61
    assert shares.note_failure("ada", "a") == 0


def test_a_login_that_does_not_go_on_is_ended(database: Upstream) -> None:
    body = struct.pack(">I", 196608) + b"user\0alice\0database\0postgres\0\0"
    with (
        open_door(database, Limits(startup_seconds=1)) as quick,
        socket.create_connection(("127.0.0.1", quick.relay.port), 8) as plug,
    ):
        plug.sendall(struct.pack(">I", len(body) + 4) + body)
        assert plug.recv(1000)[:1] == b"R"  # it asks for the password
        began = time.monotonic()
        assert plug.recv(1000) == b""
        assert time.monotonic() - began < 6
