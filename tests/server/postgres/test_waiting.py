"""Clients that wait for the engine: they cancel, lose patience, or are told to go."""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import psycopg
import pytest

from penstock.server.client_limits import Limits
from penstock.server.engine_protocol import StatementAnswer
from penstock.server.postgres.relay import Upstream
from tests.server.postgres.door import Door, open_door, refuse
from tests.server.postgres.wire import SYNC, Wire, bind, execute, open_wire, parse, query

SLOW = "PAUSE QUERY slow"


@pytest.fixture
def wire(door: Door) -> Iterator[Wire]:
    with open_wire(door) as opened:
        yield opened


def wait_until_asked(door: Door, count: int = 1) -> None:
    deadline = time.monotonic() + 10
    while len(door.engine.asked) < count:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def cancel(door: Door, key: bytes) -> None:
    """Sends a CancelRequest, and waits until the relay has taken it."""
    with Wire(door) as other:
        other.send(struct.pack(">ii", 8 + len(key), 80877102), key)
        assert other.read().kind == ""


@pytest.mark.parametrize("is_prepared", [False, True])
@pytest.mark.parametrize("text", [SLOW, f"SELECT * FROM penstock.run('{SLOW}')"])
def test_a_wait_is_cancelled(door: Door, wire: Wire, text: str, is_prepared: bool) -> None:
    wire.send(query("BEGIN"))
    wire.until("Z")
    wire.send(parse(text) + bind() + execute() + SYNC if is_prepared else query(text))
    wait_until_asked(door)
    cancel(door, wire.key)
    *_, error, end = wire.until("Z")
    assert (error.short, end.short) == ("E 57014", "Z E")
    assert error.fields["M"] == "canceling statement due to user request"
    assert [each.text for each in door.engine.withdrawn] == [SLOW]
    assert wire.ask(query("ROLLBACK")) == ["C ROLLBACK", "Z I"]


def test_a_cancel_of_psycopg(door: Door) -> None:
    with door.connect() as connection, ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(connection.execute, SLOW)
        wait_until_asked(door)
        connection.cancel_safe(timeout=5)
        with pytest.raises(psycopg.errors.QueryCanceled):
            waiting.result(10)


def test_a_cancel_of_a_statement_of_postgresql(door: Door) -> None:
    with door.connect() as connection, ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(connection.execute, "SELECT pg_sleep(30)")
        time.sleep(0.3)
        connection.cancel_safe(timeout=5)
        with pytest.raises(psycopg.errors.QueryCanceled):
            waiting.result(10)


def test_a_wrong_key_cancels_nothing(door: Door, wire: Wire) -> None:
    wire.send(query(SLOW))
    wait_until_asked(door)
    for key in (wire.key[:4] + bytes(len(wire.key) - 4), b"", b"x", bytes(300)):
        cancel(door, key)
    assert door.engine.withdrawn == []
    cancel(door, wire.key)
    assert [each.short for each in wire.until("Z")] == ["E 57014", "Z I"]


def test_a_statement_that_takes_effect_although_it_is_cancelled(door: Door, wire: Wire) -> None:
    async def too_late(_: object) -> StatementAnswer:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            return StatementAnswer("PAUSE QUERY")
        raise AssertionError

    door.engine.replies[SLOW] = too_late
    wire.send(query(SLOW))
    wait_until_asked(door)
    cancel(door, wire.key)
    assert [each.short for each in wire.until("Z")] == ["C PAUSE QUERY", "Z I"]


def test_an_engine_that_does_not_answer(database: Upstream) -> None:
    with open_door(database, Limits(engine_seconds=0.3)) as door, open_wire(door) as wire:
        wire.send(query(SLOW))
        error, end = wire.until("Z")
        assert (error.short, end.short) == ("E 57P03", "Z I")
        assert error.fields["M"] == "the engine has not answered for 0.3 seconds"
        assert "SHOW QUERIES" in error.fields["H"]
        assert [each.text for each in door.engine.withdrawn] == [SLOW]
        assert wire.ask(query("SELECT 1"))[-2:] == ["C SELECT 1", "Z I"]


def test_an_engine_that_is_away(door: Door, wire: Wire) -> None:
    away = refuse("", "57P03", "the engine is away", hint="it is restarted")
    door.engine.replies["CREATE STREAM"] = away
    wire.send(query("CREATE STREAM a"))
    fields = wire.until("Z")[0].fields
    assert (fields["C"], fields["M"], fields["H"]) == ("57P03", "the engine is away", "it is restarted")


@pytest.mark.parametrize("is_prepared", [False, True])
@pytest.mark.parametrize("text", ["CREATE STREAM a", "SELECT * FROM penstock.run('CREATE STREAM a')"])
def test_statement_timeout_does_not_count_the_wait(door: Door, wire: Wire, text: str, is_prepared: bool) -> None:
    async def answer_later(_: object) -> StatementAnswer:
        await asyncio.sleep(0.6)
        return StatementAnswer("CREATE STREAM")

    door.engine.replies["CREATE STREAM"] = answer_later
    wire.ask(query("SET statement_timeout = 300"))
    message = parse(text) + bind() + execute() + SYNC if is_prepared else query(text)
    assert wire.ask(message)[-2:] in (["C CREATE STREAM", "Z I"], ["C SELECT 1", "Z I"])
    assert wire.ask(query("SELECT pg_sleep(5)"))[-2:] == ["E 57014", "Z I"]


def test_other_sessions_go_on_meanwhile(door: Door) -> None:
    with ExitStack() as stack:
        waiting = [stack.enter_context(open_wire(door)) for _ in range(20)]
        for wire in waiting:
            wire.send(query(SLOW))
        wait_until_asked(door, 20)
        other = stack.enter_context(open_wire(door))
        assert other.ask(query("SHOW STREAMS"))[-2:] == ["C SHOW", "Z I"]
        cancel(door, waiting[7].key)
        assert [each.short for each in waiting[7].until("Z")] == ["E 57014", "Z I"]
        assert len(door.engine.withdrawn) == 1


def test_a_statement_is_not_lost_with_its_client(door: Door) -> None:
    with open_wire(door) as wire:
        wire.send(query("CREATE STREAM a"), query("CREATE STREAM b"))
    wait_until_asked(door, 2)
    assert door.engine.texts == ["CREATE STREAM a", "CREATE STREAM b"]


def test_a_client_that_says_it_has_no_more(door: Door, wire: Wire) -> None:
    wire.send(query("SHOW STREAMS"), query("SELECT 1"))
    wire.plug.shutdown(socket.SHUT_WR)
    assert [each.short for each in wire.until("")][-4:-1] == ["D", "C SELECT 1", "Z I"]


def test_the_end_of_the_relay(database: Upstream) -> None:
    with open_door(database) as door:
        idle, waiting, failed = (open_wire(door) for _ in range(3))
        silent = Wire(door)
        waiting.send(query(SLOW))
        failed.ask(query("BEGIN"))
        wait_until_asked(door)
        port, begin = door.relay.port, time.monotonic()
        door.await_(door.relay.stop())
        assert time.monotonic() - begin < 5
        for wire in (idle, waiting, failed, silent):
            assert [each.short for each in wire.until("")] == ["E 57P01", ""]
            wire.__exit__(None, None, None)
        assert [each.text for each in door.engine.withdrawn] == [SLOW]
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))


def test_the_end_of_the_server(door: Door, database: Upstream, wire: Wire) -> None:
    pid = struct.unpack(">i", wire.key[:4])[0]
    wire.send(query(SLOW))
    wait_until_asked(door)
    with psycopg.connect(host=database.host, user="postgres", autocommit=True) as direct:
        direct.execute("SELECT pg_terminate_backend(%s)", [pid])
    assert [each.short for each in wire.until("")] == ["E 57P01", ""]
    assert [each.text for each in door.engine.withdrawn] == [SLOW]
