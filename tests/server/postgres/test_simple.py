"""Statements of Penstock in Query messages."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from penstock.server.engine_protocol import Refusal, RefusedError, Statement, StatementAnswer
from penstock.server.postgres.relay import Upstream
from tests.server.postgres.door import Door, connect_directly, refuse
from tests.server.postgres.wire import Wire, message, open_wire, query


@pytest.fixture
def wire(door: Door) -> Any:
    with open_wire(door) as opened:
        yield opened


def test_rows_have_the_tag_of_the_statement(door: Door) -> None:
    with door.connect() as connection:
        cursor = connection.execute("SHOW STREAMS")
        assert cursor.statusmessage == "SHOW"
        columns = [(column.name, column.type_code) for column in cursor.description or ()]
        assert columns == [("name", 25), ("columns", 25)]
        assert cursor.fetchall() == [("clicks", "at TIMESTAMP, page STRING"), ("Wörter", None)]
    assert door.engine.asked == [Statement("SHOW STREAMS", "alice", "postgres")]


def test_a_statement_without_rows(wire: Wire) -> None:
    assert wire.ask(query("CREATE STREAM s (a INT) WITH (connector = 'rate')")) == ["C CREATE STREAM", "Z I"]


def test_no_rows_are_rows(wire: Wire) -> None:
    assert wire.ask(query("SHOW QUERIES")) == ["T", "C SHOW", "Z I"]


def test_warnings_come_first_and_tell_nothing_of_the_functions(wire: Wire) -> None:
    wire.send(query("CREATE TABLE t WITH (connector = 'memory') AS SELECT 1"))
    notice, *rest = wire.until("Z")
    assert [each.short for each in rest] == ["C CREATE TABLE", "Z I"]
    assert notice.fields == {"S": "WARNING", "V": "WARNING", "C": "01000", "M": "the state of this query grows"}


def test_statements_run_in_order_and_stop_at_the_first_error(door: Door, wire: Wire) -> None:
    found = wire.ask(query("CREATE STREAM a; SHOW STREAMS; CREATE STREAM bad; CREATE STREAM c"))
    assert found == ["C CREATE STREAM", "T", "D", "D", "C SHOW", "E 42P17", "Z I"]
    assert door.engine.texts == ["CREATE STREAM a", "SHOW STREAMS", "CREATE STREAM bad"]


def test_a_refusal_has_everything_that_psql_shows(wire: Wire) -> None:
    text = "-- first\nCREATE STREAM a; CREATE STREAM bad (x INT)"
    wire.send(query(text))
    error = wire.until("Z")[-2]
    assert error.fields == {
        **{"S": "ERROR", "V": "ERROR", "C": "42P17", "M": "K012: a watermark is missing", "D": "of clicks"},
        **{"H": "WATERMARK FOR", "P": str(text.index("STREAM bad") + 1)},
    }


def test_several_refusals_of_one_statement_are_details_of_the_first(door: Door, wire: Wire) -> None:
    refusals = (Refusal("N001", "42P01", "no x", detail="there is y"), Refusal("T002", "42804", "INT is no STRING"))
    door.engine.replies["CREATE STREAM two"] = RefusedError(refusals)
    wire.send(query("CREATE STREAM two"))
    error = wire.until("Z")[0]
    assert (error.fields["C"], error.fields["M"]) == ("42P01", "N001: no x")
    assert error.fields["D"] == "there is y\nT002: INT is no STRING"
    assert "H" not in error.fields
    assert "P" not in error.fields


@pytest.mark.parametrize("state", ["", "0000", "00000", "abcde", "42P1ß", "toolong"])
def test_a_wrong_sqlstate_is_an_internal_error(door: Door, wire: Wire, state: str) -> None:
    door.engine.replies["CREATE STREAM odd"] = refuse("", state, "odd")
    assert wire.ask(query("CREATE STREAM odd")) == ["E XX000", "Z I"]


def test_a_fault_of_the_engine_shows_no_trace(door: Door, wire: Wire, caplog: pytest.LogCaptureFixture) -> None:
    wire.send(query("PAUSE QUERY broken"))
    error = wire.until("Z")[0]
    assert (error.fields["C"], error.fields["M"]) == ("XX000", "the engine failed")
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.parametrize("value", ["$penstock$", "it's", "\\", "\x00\x01", "é😀\ud800", '"', "a\nb", "%s", "$1"])
def test_any_text_can_be_answered(door: Door, wire: Wire, value: str) -> None:
    shown = value.replace("\x00", "").replace("\ud800", "?")
    door.engine.replies["SHOW STREAMS"] = StatementAnswer("SHOW", ("name", f'"{value}\\'), ((value, None),))
    for setting in ("on", "off") if "\\" not in value else ("on",):
        wire.ask(query(f"SET standard_conforming_strings = {setting}"))
        wire.send(query("SHOW STREAMS"))
        description, row, *_ = wire.until("Z")
        assert row.values == [shown, None]
        assert f'"{shown}\\'.encode()[:63] in description.body


def test_a_refused_message_is_not_asked(door: Door, wire: Wire) -> None:
    assert wire.ask(query("SELECT STREAM a FROM clicks")) == ["E 0A000", "Z I"]
    assert wire.ask(query("CREATE STREAM a; SELECT 1")) == ["E 0A000", "Z I"]
    assert wire.ask(query("CREATE STREAM a; SELECT STREAM a FROM clicks")) == ["E 0A000", "Z I"]
    assert door.engine.asked == []
    wire.send(query("SELECT 1;\n SHOW STREAMS"))
    fields = wire.until("Z")[0].fields
    assert fields == {
        **{"S": "ERROR", "V": "ERROR", "C": "0A000", "P": "12"},
        **{"M": "a message has statements of Penstock and of PostgreSQL"},
        **{"H": "send the statements of Penstock in a message of their own"},
    }


def test_transactions_are_those_of_postgresql(door: Door, wire: Wire) -> None:
    assert wire.ask(query("BEGIN")) == ["C BEGIN", "Z T"]
    assert wire.ask(query("CREATE STREAM a")) == ["C CREATE STREAM", "Z T"]
    assert wire.ask(query("CREATE STREAM bad")) == ["E 42P17", "Z E"]
    assert wire.ask(query("SHOW STREAMS")) == ["E 25P02", "Z E"]
    assert wire.ask(query("SELECT 1")) == ["E 25P02", "Z E"]
    assert wire.ask(query("ROLLBACK")) == ["C ROLLBACK", "Z I"]
    assert wire.ask(query("BEGIN READ ONLY")) == ["C BEGIN", "Z T"]
    assert wire.ask(query("CREATE STREAM b")) == ["C CREATE STREAM", "Z T"]
    assert wire.ask(query("COMMIT")) == ["C COMMIT", "Z I"]
    assert door.engine.texts == ["CREATE STREAM a", "CREATE STREAM bad", "CREATE STREAM b"]


def test_transactions_may_begin_and_end_in_the_same_message(door: Door, wire: Wire) -> None:
    assert wire.ask(query("BEGIN;SHOW STREAMS")) == ["C BEGIN", "T", "D", "D", "C SHOW", "Z T"]
    bad = query("SAVEPOINT s; CREATE STREAM bad;RELEASE s")
    assert wire.ask(bad) == ["C SAVEPOINT", "E 42P17", "Z E"]
    assert wire.ask(query("SAVEPOINT t;SHOW STREAMS")) == ["E 25P02", "Z E"]
    found = wire.ask(query("ROLLBACK TO s;CREATE STREAM a;RELEASE s;COMMIT"))
    assert found == ["C ROLLBACK", "C CREATE STREAM", "C RELEASE", "C COMMIT", "Z I"]
    assert wire.ask(query("SAVEPOINT s;CREATE STREAM b")) == ["E 25P01", "Z I"]
    assert wire.ask(query("CREATE STREAM c;SAVEPOINT s")) == ["C CREATE STREAM", "E 25P01", "Z I"]
    assert door.engine.texts == ["SHOW STREAMS", "CREATE STREAM bad", "CREATE STREAM a", "CREATE STREAM c"]


def test_places_are_those_of_the_whole_message(wire: Wire) -> None:
    for text in ("BEGIN; CREATE STREAM bad", "BEGIN ;SELECT * FROM penstock.run('CREATE STREAM bad');COMMIT"):
        wire.send(query(text))
        error = next(each for each in wire.until("Z") if each.kind == "E")
        assert int(error.fields["P"]) == text.index("STREAM bad") + 1
        wire.ask(query("ROLLBACK"))
    wire.send(query("BEGIN;SELECT nothing FROM penstock.run('SHOW STREAMS')"))
    assert next(each for each in wire.until("Z") if each.kind == "E").fields["P"] == "14"


def test_a_failed_transaction_is_known_although_messages_are_sent_ahead(door: Door, wire: Wire) -> None:
    texts = ("BEGIN", "SELECT 1/0", "CREATE STREAM a", "ROLLBACK", "CREATE STREAM b")
    wire.send(*map(query, texts))
    found = [[each.short for each in wire.until("Z")][-2:] for _ in texts]
    assert found[0] == ["C BEGIN", "Z T"]
    assert found[1:3] == [["E 22012", "Z E"], ["E 25P02", "Z E"]]
    assert found[3:] == [["C ROLLBACK", "Z I"], ["C CREATE STREAM", "Z I"]]
    assert door.engine.texts == ["CREATE STREAM b"]


def test_who_may_not_call_the_functions_runs_nothing(door: Door, database: Upstream) -> None:
    with connect_directly(database) as connection:
        connection.execute("REVOKE USAGE ON SCHEMA penstock FROM PUBLIC")
        try:
            with door.connect() as client, pytest.raises(psycopg.errors.InsufficientPrivilege):
                client.execute("CREATE STREAM a")
        finally:
            connection.execute("GRANT USAGE ON SCHEMA penstock TO PUBLIC")
    assert door.engine.asked == []


@pytest.mark.parametrize("encoding", ["UTF8", "LATIN1", "WIN1252", "LATIN9", "SQL_ASCII"])
def test_encodings_of_clients(door: Door, encoding: str) -> None:
    codec = {"LATIN1": "latin-1", "WIN1252": "cp1252", "LATIN9": "iso8859-15"}.get(encoding, "utf-8")
    with open_wire(door) as wire:
        wire.ask(query(f"SET client_encoding = '{encoding}'"))
        text = "CREATE STREAM é SELECT 'ö'"
        wire.send(message("Q", text.encode(codec), b"\0"))
        assert [each.kind for each in wire.until("Z")] == ["C", "Z"]
    assert door.engine.texts == [text]


def test_other_encodings_are_postgresqls(door: Door, wire: Wire) -> None:
    wire.ask(query("SET client_encoding = 'SJIS'"))
    assert wire.ask(query("CREATE STREAM a")) == ["E 42601", "Z I"]
    assert door.engine.asked == []


def test_backslashes_that_escape_are_postgresqls(door: Door, wire: Wire) -> None:
    wire.ask(query("SET standard_conforming_strings = off"))
    wire.ask(query(r"SELECT 'a\'; DROP STREAM s; --'"))
    assert wire.ask(query(r"CREATE STREAM a '\'")) == ["E 42601", "Z I"]
    assert door.engine.asked == []
    assert wire.ask(query("CREATE STREAM a")) == ["C CREATE STREAM", "Z I"]


def test_a_statement_may_not_be_too_long(door: Door, wire: Wire) -> None:
    half = f"CREATE STREAM a /* {'é' * 300_000} */ (a INT)"
    assert wire.ask(query(half)) == ["C CREATE STREAM", "Z I"]
    two = f"CREATE STREAM a /* {'é' * 530_000} */ (a INT)"
    assert wire.ask(query(two)) == ["E 42601", "Z I"], "it is PostgreSQL's"
    assert len(door.engine.asked) == 1


def test_functions_on_a_direct_connection(database: Upstream) -> None:
    with connect_directly(database, "alice") as connection:
        for text, values in (("SELECT * FROM penstock.run('x')", None), ("SELECT * FROM penstock.run(%s)", ["x"])):
            with pytest.raises(psycopg.errors.FeatureNotSupported, match="connect to the address of penstock serve"):
                connection.execute(text, values)
