"""Any sequence of messages through the relay answers as PostgreSQL does.

A statement of Penstock answers as a statement of PostgreSQL would that has the same rows, the same error or none.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.server.engine_protocol import QUERY_COLUMNS
from penstock.server.postgres.relay import Upstream
from tests.server.postgres.door import Door
from tests.server.postgres.wire import (
    FLUSH,
    SYNC,
    Message,
    Wire,
    bind,
    close,
    describe,
    execute,
    open_wire,
    parse,
    query,
)

HEADINGS = "\t".join(QUERY_COLUMNS)
ROWS = "VALUES ('clicks', 'at TIMESTAMP, page STRING'), ('Wörter', NULL)"
TWINS = {
    "SHOW STREAMS": f"SELECT * FROM ({ROWS}) AS v (name, columns)",
    "CREATE STREAM good": "DO 'BEGIN END'",
    "CREATE STREAM bad": "DO $$ BEGIN RAISE 'bad' USING ERRCODE = '42P17'; END $$",
    "CREATE STREAM good; SHOW STREAMS": f"DO 'BEGIN END'; SELECT * FROM ({ROWS}) AS v (name, columns)",
    "SELECT * FROM penstock.run('SHOW QUERIES') AS r": f"SELECT '{HEADINGS}' AS line",
    "COPY (SELECT * FROM penstock.run('SHOW QUERIES')) TO STDOUT": f"COPY (SELECT '{HEADINGS}') TO STDOUT",
    "SELECT * FROM penstock.run('CREATE STREAM bad'), nowhere": "SELECT 1 FROM nowhere",
    "SELECT STREAM 1 FROM clicks": "DO $$",
    "BEGIN; SHOW STREAMS": f"BEGIN; SELECT * FROM ({ROWS}) AS v (name, columns)",
    "SAVEPOINT s; CREATE STREAM bad; RELEASE s": "SAVEPOINT s; DO $$ BEGIN RAISE 'bad' USING ERRCODE = '42P17'; END $$",
    "ROLLBACK TO s; CREATE STREAM good; COMMIT": "ROLLBACK TO s; DO 'BEGIN END'; COMMIT",
    "BEGIN; DECLARE c CURSOR FOR SELECT * FROM penstock.run('SHOW QUERIES'); FETCH c": (
        f"BEGIN; DECLARE c CURSOR FOR SELECT '{HEADINGS}' AS line; FETCH c"
    ),
}
TEXTS = (
    *("SELECT 1 AS a UNION ALL SELECT 2", "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT s", "ROLLBACK TO s", "SELECT 1/0"),
    *("SELEC", "", "SELECT 1; SELECT 2", "SET application_name = 'x'", "DEALLOCATE ALL", "DISCARD ALL"),
    *(text for text in TWINS for _ in range(2)),
)
NAMES = st.sampled_from(["", "a", "b"])
PORTALS = st.sampled_from(["", "p"])
KINDS = st.sampled_from(["S", "P"])
Pair = tuple[bytes, bytes]


def same(data: bytes) -> Pair:
    return data, data


def twin(text: str) -> str:
    return TWINS.get(text, text)


MESSAGES = st.one_of(
    # No driver sends a Query behind other messages without a Sync between them.
    st.sampled_from(TEXTS).map(lambda text: (SYNC + query(text), SYNC + query(twin(text)))),
    st.builds(lambda text, name: (parse(text, name), parse(twin(text), name)), st.sampled_from(TEXTS), NAMES),
    st.builds(lambda name, portal: same(bind(name=name, portal=portal)), NAMES, PORTALS),
    st.builds(lambda portal, rows: same(execute(portal, rows)), PORTALS, st.sampled_from([0, 0, 1])),
    st.builds(lambda kind, name: same(describe(kind, name)), KINDS, NAMES),
    st.builds(lambda kind, name: same(close(kind, name)), KINDS, NAMES),
    st.sampled_from([same(SYNC), same(SYNC), same(FLUSH)]),
)
# What drivers send: a statement is prepared, bound and executed.
WHOLE = st.builds(
    lambda text, ends: (
        parse(text) + bind() + describe("P") + execute() + SYNC * ends,
        parse(twin(text)) + bind() + describe("P") + execute() + SYNC * ends,
    ),
    st.sampled_from(TEXTS),
    st.booleans(),
)


@pytest.fixture
def wires(door: Door, database: Upstream) -> Iterator[tuple[Wire, Wire]]:
    with open_wire(door) as relayed, open_wire(database) as direct:
        yield relayed, direct


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(script=st.lists(st.one_of(MESSAGES, WHOLE), max_size=12), cut=st.integers(1, 400))
def test_answers_are_those_of_postgresql(wires: tuple[Wire, Wire], script: list[Pair], cut: int) -> None:
    relayed, direct = wires
    found = answers(relayed, b"".join(ours for ours, _ in script), cut)
    expected = answers(direct, b"".join(theirs for _, theirs in script), 1 << 20)
    assert found == expected


def answers(wire: Wire, data: bytes, cut: int) -> list[str]:
    """What comes for some bytes, which are sent in pieces. The session is as new afterwards."""
    wire.plug.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1) if wire.plug.family == socket.AF_INET else None
    for at in range(0, len(data), cut):
        wire.send(data[at : at + cut])
    wire.send(SYNC, query("ROLLBACK"), query("DISCARD ALL"), query("SELECT 'the end'"))
    found: list[str] = []
    while not found or "the end" not in found[-1]:
        found.append(comparable(wire.read()))
    wire.until("Z")
    return found


def comparable(message: Message) -> str:
    """What has to be the same. Tags of statements of Penstock are not those of their twins."""
    match message.kind:
        case "D":
            return f"D {message.values}"
        case "T":
            return f"T {message.body!r}"
        case "C":
            return "C"
        case "E" if message.fields["C"] == "0A000":
            return "E 42601"  # the twin of a SELECT STREAM is an error of syntax
        case _:
            return message.short
