"""Statements of Penstock in statements of PostgreSQL that do not carry them out."""

from __future__ import annotations

import psycopg
import pytest

from tests.server.postgres.door import Door
from tests.server.postgres.wire import SYNC, Wire, bind, execute, open_wire, parse, query

CALL = "penstock.run('CREATE STREAM s')"
NEVER = [
    f"SELECT CASE WHEN FALSE THEN (SELECT line FROM {CALL}) END",
    f"SELECT CASE WHEN 1 = 2 THEN (SELECT line FROM {CALL}) ELSE 'x' END FROM revenue",
    f"SELECT * FROM {CALL} LIMIT 0",
    f"SELECT * FROM (SELECT * FROM {CALL}) AS q LIMIT 0",
    f"SELECT * FROM (SELECT * FROM {CALL}) AS q WHERE 1 = 0",
    f"SELECT * FROM {CALL} WHERE false",
    f"SELECT * FROM (SELECT line FROM {CALL}) AS q OFFSET 0 FETCH FIRST 0 ROWS ONLY",
    f"WITH q AS (SELECT * FROM {CALL}) SELECT product FROM revenue",
    f"SELECT product FROM revenue WHERE false AND EXISTS (SELECT * FROM {CALL})",
    f"SELECT coalesce(product, (SELECT line FROM {CALL})) FROM revenue",
    f"SELECT true OR EXISTS (SELECT * FROM {CALL})",
    f"SELECT (SELECT line FROM {CALL}) FROM revenue WHERE product = 'none'",
    f"COPY (SELECT * FROM {CALL} LIMIT 0) TO STDOUT",
    f"EXPLAIN SELECT * FROM {CALL} LIMIT 0",
    f"PREPARE p AS SELECT * FROM {CALL}",
    f"CREATE TEMPORARY VIEW v AS SELECT * FROM {CALL}",
]
ALWAYS = [
    f"SELECT * FROM {CALL}",
    f"SELECT line FROM {CALL} AS r",
    f"SELECT * FROM {CALL} LIMIT 1",
    f"SELECT * FROM (SELECT * FROM {CALL}) AS q LIMIT 1000",
    f"SELECT CASE WHEN TRUE THEN (SELECT line FROM {CALL}) END",
    f"SELECT count(*) FROM {CALL}",
    f"SELECT (SELECT line FROM {CALL}), product FROM revenue",
    f"WITH q AS (SELECT * FROM {CALL}) SELECT line FROM q",
    f"COPY (SELECT * FROM {CALL}) TO STDOUT",
]


def run(connection: psycopg.Connection, text: str, is_prepared: bool) -> None:
    pgconn = connection.pgconn
    result = pgconn.exec_params(text.encode(), None) if is_prepared else pgconn.exec_(text.encode())
    if result.status == psycopg.pq.ExecStatus.COPY_OUT:
        while pgconn.get_copy_data(0)[0] > 0:
            pass
        while pgconn.get_result() is not None:
            pass


@pytest.mark.parametrize("is_prepared", [False, True], ids=["simple", "extended"])
@pytest.mark.parametrize("in_transaction", [False, True])
@pytest.mark.parametrize("text", NEVER)
def test_what_is_not_carried_out_is_not_asked(door: Door, text: str, is_prepared: bool, in_transaction: bool) -> None:
    with door.connect() as connection:
        if in_transaction:
            connection.execute("BEGIN")
        run(connection, text, is_prepared)
        if in_transaction and not text.startswith(("EXPLAIN", "CREATE", "PREPARE")):  # which take no calls
            assert connection.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS
    assert door.engine.asked == []


@pytest.mark.parametrize("is_prepared", [False, True], ids=["simple", "extended"])
@pytest.mark.parametrize("begin", ["", "BEGIN", "BEGIN READ ONLY"])
@pytest.mark.parametrize("text", ALWAYS)
def test_what_is_carried_out_is_asked_once(door: Door, text: str, is_prepared: bool, begin: str) -> None:
    with door.connect() as connection:
        if begin:
            connection.execute(begin)
        run(connection, text, is_prepared)
        if begin:
            assert connection.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS
            connection.execute("COMMIT")
    assert door.engine.texts == ["CREATE STREAM s"]


def test_of_two_calls_one_is_asked(door: Door) -> None:
    text = (
        "SELECT CASE WHEN product = 'pear' THEN (SELECT line FROM penstock.run('DROP STREAM s')) "
        "WHEN product = 'plum' THEN (SELECT line FROM penstock.run('PAUSE QUERY broken')) ELSE product END FROM revenue"
    )
    with door.connect() as connection:
        assert connection.execute(text).fetchall() == [("apple",), ("DROP STREAM",), ("Äpfel",)]
    assert door.engine.texts == ["DROP STREAM s"]


def test_what_is_written_is_written_once(door: Door) -> None:
    with door.connect() as connection:
        connection.execute("CREATE TEMPORARY TABLE kept (line text, n int)")
        connection.execute(f"INSERT INTO kept SELECT line, 1 FROM {CALL} UNION ALL SELECT 'x', 2")
        assert connection.execute("SELECT * FROM kept ORDER BY n").fetchall() == [("CREATE STREAM", 1), ("x", 2)]
    assert door.engine.texts == ["CREATE STREAM s"]


@pytest.mark.parametrize("is_prepared", [False, True], ids=["simple", "extended"])
def test_errors_have_their_places(door: Door, is_prepared: bool) -> None:
    """Those of the statement when it is tried, and those of the engine."""
    for text, state, place in (
        (f"SELECT 1 / (n - n) FROM (SELECT count(*) AS n FROM {CALL}) AS q", "22012", None),
        (f"SELECT 'x'::int FROM {CALL} WHERE line > ''", "22P02", "'x'"),
        ("SELECT 1 FROM penstock.run('CREATE STREAM bad') WHERE line > ''", "42P17", "STREAM bad"),
    ):
        with door.connect() as connection:
            pgconn = connection.pgconn
            result = pgconn.exec_params(text.encode(), None) if is_prepared else pgconn.exec_(text.encode())
            fields = {name: result.error_field(name) for name in psycopg.pq.DiagnosticField}
            assert fields[psycopg.pq.DiagnosticField.SQLSTATE] == state.encode(), fields
            found = fields[psycopg.pq.DiagnosticField.STATEMENT_POSITION]
            assert found == (None if place is None else str(text.index(place) + 1).encode())
            assert fields[psycopg.pq.DiagnosticField.INTERNAL_QUERY] is None
            assert b"find_asked" not in (fields[psycopg.pq.DiagnosticField.CONTEXT] or b"")
            assert connection.execute("SELECT 1").fetchone() == (1,)


def test_parameters_of_calls(door: Door) -> None:
    with door.connect() as connection:
        text = "SELECT * FROM (SELECT line FROM penstock.run(%s)) AS q LIMIT 0"
        assert connection.execute(text, ["CREATE STREAM s"]).fetchall() == []
        assert door.engine.asked == []
        text = text.replace("LIMIT 0", "LIMIT 1")
        assert connection.execute(text, ["CREATE STREAM s"]).fetchall() == [("CREATE STREAM",)]
    assert door.engine.texts == ["CREATE STREAM s"]


def test_a_session_goes_on(door: Door) -> None:
    """What the relay asks for itself leaves no trace in the messages."""
    with open_wire(door) as wire:
        expected = ["T", "C SELECT 0", "Z I"]
        assert wire.ask(query(f"SELECT * FROM {CALL} LIMIT 0")) == expected
        assert wire.ask(query(f"BEGIN; SELECT * FROM {CALL} LIMIT 0; COMMIT"))[-2:] == ["C COMMIT", "Z I"]
        found = wire.ask(parse(f"SELECT * FROM {CALL} WHERE false"), bind(), execute(), SYNC)
        assert found == ["1", "2", "C SELECT 0", "Z I"]
        found = wire.ask(parse(f"SELECT 1 / length('') FROM {CALL} LIMIT 1"), bind(), execute(), SYNC)
        assert found[-1] == "Z I"
        assert isinstance(wire, Wire)
        assert wire.ask(query("SELECT 1"))[-1] == "Z I"
        names = "SELECT name FROM pg_prepared_statements WHERE name LIKE 'penstock%'"
        assert wire.ask(query(names))[-2:] == ["C SELECT 0", "Z I"]


def test_rows_of_large_answers_arrive(door: Door) -> None:
    """Rows that the client sees come between those that it does not."""
    with door.connect() as connection:
        text = f"SELECT n, (SELECT count(*) FROM {CALL}) FROM generate_series(1, 100000) AS n"
        rows = connection.execute(text).fetchall()
        assert len(rows) == 100_000
        assert set(rows[:1] + rows[-1:]) == {(1, 1), (100_000, 1)}
    assert door.engine.texts == ["CREATE STREAM s"]
