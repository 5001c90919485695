"""The boundaries of the server's messages are found wherever the stream is cut."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.server.postgres.relay import Upstream
from penstock.server.postgres.responses import Expected, Request, Responses
from tests.server.postgres.door import Door, connect_directly
from tests.server.postgres.wire import FLUSH, SYNC, Wire, bind, execute, message, open_wire, parse, query

READY = message("Z", b"I")
STREAM = b"".join(
    [
        *(message("R", b"\0\0\0\0"), message("S", "client_encoding", "UTF8"), message("K", b"12345678"), READY),
        *(message("T", 0), *[message("D", bytes(size)) for size in (2, 0, 9000, 70_000, 1)]),
        *(message("C", "SELECT 5"), READY),
        *(message("1"), message("2"), message("C", "CALL"), READY),
        *(message("H", b"\0\0\0"), message("d", bytes(300)), message("c"), message("C", "COPY 1"), READY),
        *(message("E", b"SERROR\0C42601\0Msyntax\0\0"), READY),
    ]
)


def responses() -> tuple[Responses, list[tuple[str, bytes]]]:
    noted: list[tuple[str, bytes]] = []
    made = Responses(lambda kind, body: noted.append((kind, body)))
    made.expect(Expected(Request.QUERY))
    made.expect(Expected(Request.PARSE, hidden=True))
    made.expect(Expected(Request.BIND))
    made.expect(Expected(Request.EXECUTE, tags=["CREATE STREAM"]))
    made.expect(Expected(Request.SYNC))
    made.expect(Expected(Request.QUERY))
    made.expect(Expected(Request.QUERY, edit_error=lambda fields: {**fields, "M": b"refused"}))
    return made, noted


EXPECTED = (
    STREAM.replace(message("C", "CALL"), message("C", "CREATE STREAM"))
    .replace(message("1"), b"")
    .replace(message("E", b"SERROR\0C42601\0Msyntax\0\0"), message("E", b"SERROR\0C42601\0Mrefused\0\0"))
)


@given(st.lists(st.integers(0, len(STREAM)), max_size=8), st.integers(1, 7))
def test_cuts(places: list[int], size: int) -> None:
    made, noted = responses()
    cuts = sorted({0, len(STREAM), *places, *(place + step for place in places for step in range(0, size))})
    cuts = [cut for cut in cuts if cut <= len(STREAM)]
    out = b"".join(b"".join(made.feed(STREAM[a:b])) for a, b in pairwise(cuts))
    assert out == EXPECTED
    assert noted == [("S", b"client_encoding\0UTF8\0"), ("K", b"12345678"), *[("Z", b"I")] * STREAM.count(READY)]
    assert made.is_settled
    assert made.is_between_messages


def test_rows_pass_before_they_are_whole() -> None:
    made, _ = responses()
    begin = message("D", bytes(1000))[:10]
    assert b"".join(made.feed(begin)) == begin
    assert not made.is_between_messages
    assert b"".join(made.feed(message("C", "SELECT 1")[:3])) == message("C", "SELECT 1")[:3]


@pytest.fixture
def pair(door: Door, database: Upstream) -> Iterator[tuple[Wire, Wire]]:
    with open_wire(door) as relayed, open_wire(database) as direct:
        for wire in (relayed, direct):
            wire.ask(query("CREATE TEMP TABLE t (a int)"))
        yield relayed, direct


COPY = "COPY t FROM STDIN"
ROW = message("d", b"7\n")
DONE, FAIL = message("c"), message("f", "enough")
COPIES = {
    "simple": query(COPY) + ROW + ROW + DONE,
    "simple twice": query(f"{COPY}; SELECT 1; {COPY}") + ROW + DONE + ROW + ROW + DONE,
    "failed": query(COPY) + ROW + FAIL,
    "wrong row": query(COPY) + message("d", b"x\n") + DONE,
    "no table": query("COPY nowhere FROM STDIN") + ROW + DONE,
    "prepared": parse(COPY) + bind() + execute() + ROW + DONE + SYNC,
    "prepared, as libpq does": parse(COPY) + bind() + execute() + SYNC + ROW + FLUSH + ROW + DONE + SYNC,
    "prepared, failed": parse(COPY) + bind() + execute() + SYNC + ROW + FAIL + SYNC,
    "prepared, wrong row": parse(COPY) + bind() + execute() + SYNC + message("d", b"x\n") + DONE + SYNC,
    "to": query("COPY (SELECT generate_series(1, 3)) TO STDOUT"),
    "prepared to": parse("COPY (SELECT 1) TO STDOUT") + bind() + execute() + SYNC,
    "rows without a copy": ROW + DONE + FAIL + query("SELECT 1"),
    "a call of a function": message("F", b"\0\0\x05\x75", 0, 1, b"\0\0\0\2-7", 0),  # abs(int)
}


@pytest.mark.parametrize("script", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("waits", [False, True])
def test_copies(pair: tuple[Wire, Wire], script: bytes, waits: bool) -> None:
    """`waits`: as clients do, for the word that rows may come."""
    answers = []
    for wire in pair:
        head, mark, rest = script.partition(ROW) if waits and script.startswith((b"Q", b"P")) else (script, b"", b"")
        wire.send(head)
        found = [each.short for each in wire.until("G", "E")] if mark else []
        wire.send(mark, rest, SYNC, query("SELECT 'the end'"))
        while not found or found[-1] != "the end":
            each = wire.read()
            found.append("the end" if each.kind == "D" and b"the end" in each.body else each.short)
        found += [each.short for each in wire.until("Z")]
        found += wire.ask(query("SELECT count(*) FROM t"))
        answers.append(found)
    assert answers[0] == answers[1]
    relayed, _ = pair
    assert relayed.ask(parse("SHOW STREAMS"), bind(), execute(), SYNC)[-2:] == ["C SHOW", "Z I"]
    assert relayed.ask(query("SHOW STREAMS"))[-2:] == ["C SHOW", "Z I"]


def test_a_copy_of_psycopg(door: Door) -> None:
    with door.connect() as connection:
        connection.execute("CREATE TEMP TABLE t (a int, b text)")
        cursor = connection.cursor()
        with cursor.copy("COPY t FROM STDIN") as copy:
            for number in range(50_000):
                copy.write_row((number, "x" * (number % 50)))
        with cursor.copy("COPY t TO STDOUT (FORMAT binary)") as copy:
            size = sum(len(part) for part in copy)
        assert size > 50_000 * 20
        assert connection.execute("SELECT count(*), sum(length(b)) FROM t").fetchone() == (50_000, 1_225_000)


def test_notifications_come_while_nothing_is_asked(door: Door, database: Upstream) -> None:
    with door.connect() as connection, connect_directly(database) as other:
        connection.execute("LISTEN news")
        other.execute("SELECT pg_notify('news', repeat('x', 7000))")
        (notification,) = connection.notifies(timeout=10, stop_after=1)
        assert notification.payload == "x" * 7000
        connection.execute("SHOW STREAMS")


def test_a_savepoint_brings_a_transaction_back(door: Door) -> None:
    with door.connect(autocommit=False) as connection:
        with pytest.raises(psycopg.errors.InvalidObjectDefinition), connection.transaction():
            connection.execute("CREATE STREAM bad")
        connection.execute("CREATE STREAM a")
        with connection.transaction(force_rollback=True):
            connection.execute("CREATE STREAM b")
    assert door.engine.texts == ["CREATE STREAM bad", "CREATE STREAM a", "CREATE STREAM b"], "ROLLBACK undoes nothing"
