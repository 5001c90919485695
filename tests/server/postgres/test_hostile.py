"""Clients that break the protocol, or do not read. The relay stays up, and others go on."""

from __future__ import annotations

import random
import resource
import socket
import ssl
import struct
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from penstock.server.postgres.relay import Upstream
from tests.server.postgres.door import Door, open_door
from tests.server.postgres.wire import SYNC, Wire, bind, execute, message, open_wire, parse, query


@pytest.fixture
def wire(door: Door) -> Iterator[Wire]:
    with open_wire(door) as opened:
        yield opened


def assert_others_go_on(door: Door) -> None:
    with open_wire(door) as other:
        assert other.ask(query("SHOW STREAMS"))[-2:] == ["C SHOW", "Z I"]


def header(kind: str, length: int) -> bytes:
    return kind.encode("latin-1") + struct.pack(">I", length)


@pytest.mark.parametrize(
    "data",
    [
        header("Q", 0),
        header("Q", 3),
        header("Q", 0x40000000),
        header("Q", 0xFFFFFFFF),
        header("S", 10_001),
        header("p", 70_000),
        header("\0", 4),
        header("z", 4),
        header("\xff", 4),
        b"\x00" * 64,
    ],
)
def test_wrong_messages_end_the_session(door: Door, wire: Wire, data: bytes) -> None:
    wire.send(query("SELECT 1"), data)
    found = [each.short for each in wire.until("")]
    assert found[-2:] == ["E 08P01", ""]
    assert_others_go_on(door)


@pytest.mark.parametrize(
    "data",
    [
        message("Q", b"SHOW STREAMS"),
        message("Q", b"SHOW STREAMS\0 more\0"),
        message("Q", b""),
        message("P", b"\0SHOW STREAMS\0"),
        message("P", b"\0SHOW STREAMS\0\xff\xff"),
        message("P", b"SHOW STREAMS"),
        message("B", b"\0"),
        message("B", b"\0\0\0\0\0\1\x7f\xff\xff\xff"),
        message("B", b"\0\0\0\0\0\1\xff\xff\xff\xfe\0\0"),
        message("E", b""),
        message("D", b""),
        message("D", b"X\0"),
        message("C", b"S"),
        message("F", b""),
        message("S", b"x"),
        message("H", b"x"),
    ],
)
def test_wrong_bodies_answer_as_in_postgresql(door: Door, database: Upstream, wire: Wire, data: bytes) -> None:
    with open_wire(database) as direct:
        answers = []
        for each in (direct, wire):
            each.ask(parse("SELECT $1::text"), SYNC)
            each.send(data, SYNC, query("SELECT 1"))
            each.plug.shutdown(socket.SHUT_WR)
            answers.append([found.short for found in each.until("")])
    assert answers[1] == answers[0]
    assert_others_go_on(door)


def test_wrong_bodies_for_a_statement_of_penstock(door: Door, wire: Wire) -> None:
    for body in (b"\0", b"\0\0\0\0\0\1\x7f\xff\xff\xff", b"\0\0\0\1\0\2", b"\0\0" + b"\xff" * 6):
        wire.ask(parse("SHOW STREAMS"), SYNC)
        assert wire.ask(message("B", body), SYNC) == ["E 08P01", "Z I"]
    assert door.engine.asked == []


@pytest.mark.parametrize(
    "text", [b"SHOW STREAMS \xff", b"\xff\xfe", b"CREATE STREAM a '\xc3'", b"\xed\xa0\x80 DROP STREAM x"]
)
def test_texts_that_are_not_in_utf_8(door: Door, wire: Wire, text: bytes) -> None:
    assert wire.ask(message("Q", text + b"\0")) == ["E 22021", "Z I"]
    assert wire.ask(message("P", b"\0" + text + b"\0\0\0"), SYNC) == ["E 22021", "Z I"]
    assert door.engine.asked == []


def test_a_parameter_of_run_that_is_not_in_utf_8(door: Door, wire: Wire) -> None:
    value = b"SHOW STREAMS \xff"
    body = b"\0\0\0\0\0\1" + struct.pack(">i", len(value)) + value + b"\0\0"
    wire.ask(parse("SELECT * FROM penstock.run($1)"), SYNC)
    assert wire.ask(message("B", body), execute(), SYNC) == ["E 22021", "Z I"]
    assert door.engine.asked == []


def test_half_a_message_and_the_end(door: Door) -> None:
    whole = query("CREATE STREAM a")
    for size in range(1, len(whole)):
        with open_wire(door) as wire:
            wire.send(whole[:size])
    for size in range(0, len(whole), 5):
        with open_wire(door) as wire:
            wire.send(parse("SELECT 1") + bind() + whole[:size])
            wire.plug.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # resets
    assert_others_go_on(door)
    assert door.engine.texts == ["SHOW STREAMS"]


def test_byte_by_byte(wire: Wire) -> None:
    wire.plug.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for byte in parse("SHOW STREAMS") + bind() + execute() + SYNC:
        wire.send(bytes([byte]))
    assert [each.short for each in wire.until("Z")] == ["1", "2", "D", "D", "C SHOW", "Z I"]


@pytest.mark.parametrize("seed", range(20))
def test_garbage(door: Door, seed: int) -> None:
    rng = random.Random(seed)
    kinds = "QPBDECSHFXdcfp"
    parts = [query("SHOW STREAMS"), parse("SHOW STREAMS", "s"), bind(name="s"), execute(), SYNC]
    with open_wire(door) as wire:
        wrong = [message(rng.choice(kinds), rng.randbytes(rng.randrange(30))) for _ in range(25)]
        data = b"".join(rng.sample(parts * 5 + wrong, 50))
        with suppress(ConnectionError):
            wire.send(data)
            wire.plug.shutdown(socket.SHUT_WR)
            assert wire.until("")[-1].kind == ""
    assert_others_go_on(door)


def test_a_thousand_idle_connections(door: Door) -> None:
    with ExitStack() as stack:
        busy = stack.enter_context(open_wire(door))
        for _ in range(990):
            stack.enter_context(Wire(door))
        begin = time.monotonic()
        for _ in range(20):
            assert busy.ask(query("SELECT 1"))[-1] == "Z I"
        assert time.monotonic() - begin < 5
        assert_others_go_on(door)


def memory() -> int:
    """The resident bytes of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


@pytest.mark.parametrize("encrypted", [False, True])
def test_a_client_that_does_not_read(tls: ssl.SSLContext, database: Upstream, encrypted: bool) -> None:
    with open_door(database, tls=tls if encrypted else None) as door, open_wire(door) as wire, open_wire(door) as other:
        before = memory()
        wire.send(query("SELECT repeat('x', 10000) FROM generate_series(1, 20000)"))
        begin = time.monotonic()
        while time.monotonic() - begin < 1.5:
            assert other.ask(query("SELECT 1"))[-1] == "Z I"
            time.sleep(0.02)
        assert memory() - before < 40_000_000
        assert [each.kind for each in wire.until("Z")].count("D") == 20_000


def test_a_server_that_does_not_read_makes_the_client_wait(door: Door, wire: Wire) -> None:
    """PostgreSQL reads nothing while it sleeps."""
    wire.send(query("SELECT pg_sleep(1.5)"))
    wire.plug.settimeout(0.5)
    before = memory()
    sent = 0
    part = query("SELECT '" + "x" * 900_000 + "'")
    with suppress(TimeoutError):
        while sent < 300_000_000:
            wire.send(part)
            sent += len(part)
    assert sent < 30_000_000
    assert memory() - before < 40_000_000
    assert_others_go_on(door)


def test_long_messages_pass_in_parts(door: Door, wire: Wire) -> None:
    size = 30_000_000
    before = memory()
    with door.connect() as connection:
        assert connection.execute("SELECT length(%s::text)", ["x" * size]).fetchone() == (size,)
        assert connection.execute(f"SELECT length('{'x' * size}')").fetchone() == (size,)
        assert connection.execute(f"SELECT length('{'x' * size}'), %s::int", [1]).fetchone() == (size, 1)
    assert memory() - before < 8 * size, "the client is in this process, too"
    long = parse("SELECT length('" + "x" * 2_000_000 + "')")
    assert wire.ask(parse("SHOW STREAMS"), SYNC) == ["1", "Z I"]
    assert wire.ask(long, bind(), execute(), SYNC) == ["1", "2", "D", "C SELECT 1", "Z I"]
    wire.send(message("F", struct.pack(">i", 1), b"x" * 2_000_000))
    assert [each.kind for each in wire.until("Z")] == ["E", "Z"]
