"""Statements of Penstock that are prepared, bound and executed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from penstock.compilation import compile
from penstock.planner.plan import Listing
from penstock.server.engine_protocol import QUERY_COLUMNS, StatementAnswer
from penstock.server.postgres.classify import OwnStatements, classify
from tests.server.postgres.door import Door
from tests.server.postgres.wire import FLUSH, SYNC, Wire, bind, close, describe, execute, open_wire, parse, query
from tests.server.running.scripts import declare_clicks

WHOLE = ["1", "2", "T", "D", "D", "C SHOW", "Z I"]


@pytest.fixture
def wire(door: Door) -> Iterator[Wire]:
    with open_wire(door) as opened:
        yield opened


def run(text: str, **more: Any) -> bytes:
    """What drivers send for one statement."""
    return parse(text) + bind(**more) + describe("P") + execute()


def test_rows(door: Door, wire: Wire) -> None:
    assert wire.ask(run("SHOW STREAMS"), SYNC) == WHOLE
    assert door.engine.texts == ["SHOW STREAMS"]


def test_a_statement_without_rows(wire: Wire) -> None:
    assert wire.ask(run("CREATE STREAM a"), SYNC) == ["1", "2", "n", "C CREATE STREAM", "Z I"]


def test_preparing_and_describing_asks_nothing(door: Door, wire: Wire) -> None:
    assert wire.ask(parse("SHOW STREAMS", "s"), describe("S", "s"), SYNC) == ["1", "t", "T", "Z I"]
    assert wire.ask(parse("CREATE STREAM a", "c"), describe("S", "c"), SYNC) == ["1", "t", "n", "Z I"]
    wire.send(describe("S", "s"), SYNC)
    assert wire.until("Z")[0].body == b"\0\0", "it has no parameters"
    assert door.engine.asked == []


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("SHOW FUNCTIONS", ["name", "what it gives"]),
        ("SHOW QUERIES", [*QUERY_COLUMNS]),
        ("SHOW VIEWS", ["name", "columns"]),
        ("DESCRIBE clicks", ["column", "type", "role"]),
        ("EXPLAIN STATE SELECT 1", ["plan"]),
    ],
)
def test_columns_are_known_beforehand(wire: Wire, text: str, columns: list[str]) -> None:
    wire.send(parse(text), describe("S"), SYNC)
    body = next(each.body for each in wire.until("Z") if each.kind == "T")
    assert [part for part in columns if part.encode() + b"\0" in body] == columns
    assert body[1] == len(columns)


@pytest.mark.parametrize("text", ["SHOW STREAMS", "SHOW TABLES", "SHOW VIEWS", "SHOW FUNCTIONS", "DESCRIBE clicks"])
def test_columns_are_those_that_the_planner_gives(text: str) -> None:
    [listing] = compile(f"{declare_clicks()}; {text}").answers
    found = classify(text, {"clicks"})
    assert isinstance(listing, Listing)
    assert isinstance(found, OwnStatements)
    assert [each.columns for each in found.statements] == [listing.headings]


def test_a_prepared_statement_runs_at_each_bind(door: Door, wire: Wire) -> None:
    wire.ask(parse("CREATE STREAM a", "s"), SYNC)
    for _ in range(3):
        assert wire.ask(bind(name="s"), execute(), SYNC) == ["2", "C CREATE STREAM", "Z I"]
    assert door.engine.texts == ["CREATE STREAM a"] * 3


def test_a_portal_gives_its_rows_in_parts(door: Door, wire: Wire) -> None:
    wire.send(parse("SHOW STREAMS"), bind(portal="p"), execute("p", 1), execute("p", 1), execute("p", 1), SYNC)
    found = [each.short for each in wire.until("Z")]
    assert found == ["1", "2", "D", "s", "D", "s", "C SHOW", "Z I"]
    assert len(door.engine.asked) == 1


def test_several_portals(wire: Wire) -> None:
    script = parse("SHOW STREAMS", "s"), bind(name="s", portal="p"), bind(name="s", portal="q")
    rest = execute("q"), close("P", "q"), execute("p", 1), close("P", "p"), close("S", "s"), SYNC
    assert wire.ask(*script, *rest) == ["1", "2", "2", "D", "D", "C SHOW", "3", "D", "s", "3", "3", "Z I"]


def test_values_in_binary(door: Door) -> None:
    with door.connect() as connection, connection.cursor(binary=True) as cursor:
        cursor.execute("SHOW STREAMS", prepare=True)
        assert cursor.fetchall() == [("clicks", "at TIMESTAMP, page STRING"), ("Wörter", None)]


def test_a_refusal(door: Door, wire: Wire) -> None:
    wire.send(run("  CREATE STREAM bad"), SYNC)
    *_, error, end = wire.until("Z")
    assert (error.short, end.short) == ("E 42P17", "Z I")
    assert {name: error.fields.get(name) for name in "MDHPW"} == {
        **{"M": "K012: a watermark is missing", "D": "of clicks", "H": "WATERMARK FOR", "P": "10", "W": None},
    }


def test_after_an_error_nothing_is_asked_up_to_sync(door: Door, wire: Wire) -> None:
    script = run("CREATE STREAM bad") + run("CREATE STREAM b") + query("CREATE STREAM c") + FLUSH + run("SELECT 1")
    assert wire.ask(script, SYNC) == ["1", "2", "n", "E 42P17", "Z I"]
    assert wire.ask(run("SELECT 1/0"), run("CREATE STREAM d"), SYNC)[-2:] == ["E 22012", "Z I"]
    assert wire.ask(run("CREATE STREAM e"), SYNC)[-1] == "Z I"
    assert door.engine.texts == ["CREATE STREAM bad", "CREATE STREAM e"]


def test_a_failed_transaction(door: Door, wire: Wire) -> None:
    wire.ask(parse("CREATE STREAM a", "s"), SYNC)
    wire.ask(query("BEGIN"))
    wire.ask(query("SELECT 1/0"))
    assert wire.ask(parse("CREATE STREAM b"), SYNC) == ["E 25P02", "Z E"]
    assert wire.ask(bind(name="s"), execute(), SYNC) == ["E 25P02", "Z E"]
    assert door.engine.asked == []
    found = wire.ask(run("ROLLBACK"), bind(name="s"), execute(), SYNC)
    assert found == ["1", "2", "n", "C ROLLBACK", "2", "C CREATE STREAM", "Z I"]


@pytest.mark.parametrize(
    ("wrong", "state"),
    [
        (bind(["x"], "s"), "08P01"),
        (bind(["x", "y"], "s"), "08P01"),
        (bind(name="nothing"), "26000"),
        (bind(name="s", portal="p") + bind(name="s", portal="p"), "42P03"),
        (bind(name="s")[:-2] + b"\0\1", "08P01"),
    ],
)
def test_what_postgresql_refuses_is_not_asked(door: Door, wire: Wire, wrong: bytes, state: str) -> None:
    wire.ask(parse("CREATE STREAM a", "s"), SYNC)
    found = wire.ask(wrong, execute(), SYNC)
    assert found[-2:] == [f"E {state}", "Z I"]
    assert len(door.engine.asked) == found.count("2")


def test_parameters_are_refused(door: Door, wire: Wire) -> None:
    text = "CREATE TABLE t AS SELECT a FROM clicks WHERE a > $1"
    wire.send(parse(text), bind(["1"]), execute(), SYNC)
    error, end = wire.until("Z")
    assert (error.short, end.short) == ("E 0A000", "Z I")
    assert error.fields["M"] == "a statement of Penstock takes no parameters"
    with door.connect() as connection, pytest.raises(psycopg.errors.FeatureNotSupported):
        connection.execute("INSERT INTO revenue SELECT %s FROM clicks", [1])
    assert door.engine.asked == []


def test_types_of_parameters_that_are_not_there(wire: Wire) -> None:
    found = wire.ask(parse("SHOW STREAMS", "s", [23, 25]), describe("S", "s"), bind(["1", "x"], "s"), execute(), SYNC)
    assert found == ["1", "t", "T", "2", "D", "D", "C SHOW", "Z I"]


@pytest.mark.parametrize("formats", [[0], [1], [0, 1], [1, 1]])
def test_formats_of_values(wire: Wire, formats: list[int]) -> None:
    found = wire.ask(parse("SHOW STREAMS", "s", [25, 25]), bind(["1", "x"], "s", formats=formats), execute(), SYNC)
    assert found[1:] == ["2", "D", "D", "C SHOW", "Z I"]


def test_one_statement_is_prepared_at_a_time(door: Door, wire: Wire) -> None:
    assert wire.ask(run("SHOW STREAMS; CREATE STREAM a"), SYNC) == ["E 42601", "Z I"]
    assert wire.ask(run("SELECT 1; CREATE STREAM a"), SYNC) == ["E 0A000", "Z I"]
    assert wire.ask(run("SELECT STREAM 1 FROM clicks"), SYNC) == ["E 0A000", "Z I"]
    assert door.engine.asked == []


def test_a_name_is_used_again(wire: Wire) -> None:
    assert wire.ask(run("SHOW STREAMS"), run("SELECT 1"), run("SHOW STREAMS"), SYNC)[5:9] == ["C SHOW", "1", "2", "T"]
    wire.ask(parse("SHOW STREAMS", "s"), SYNC)
    assert wire.ask(parse("SELECT $1::text", "s"), SYNC) == ["E 42P05", "Z I"]
    assert wire.ask(bind(name="s"), execute(), SYNC) == ["2", "D", "D", "C SHOW", "Z I"]
    assert wire.ask(close("S", "s"), parse("SELECT $1::text", "s"), SYNC) == ["3", "1", "Z I"]
    assert wire.ask(bind(["x"], "s"), execute(), SYNC) == ["2", "D", "C SELECT 1", "Z I"]
    assert wire.ask(close("S", "s"), parse("SHOW STREAMS", "s"), SYNC) == ["3", "1", "Z I"]
    assert wire.ask(bind(name="s"), execute(), SYNC) == ["2", "D", "D", "C SHOW", "Z I"]


def test_long_names_are_cut_as_in_postgresql(wire: Wire) -> None:
    name = "n" * 63
    assert wire.ask(parse("SHOW STREAMS", name + "1"), bind(name=name + "2"), execute(), SYNC)[-2:] == ["C SHOW", "Z I"]


def test_deallocate_all(door: Door, wire: Wire) -> None:
    wire.ask(parse("SHOW STREAMS", "s"), SYNC)
    wire.ask(query("DEALLOCATE ALL"))
    assert wire.ask(bind(name="s"), execute(), SYNC) == ["E 26000", "Z I"]
    assert door.engine.asked == []


def test_other_columns_than_were_described(door: Door, wire: Wire) -> None:
    door.engine.replies["SHOW STREAMS"] = StatementAnswer("SHOW", ("one",), (("x",),))
    assert wire.ask(query("SHOW STREAMS")) == ["T", "D", "C SHOW", "Z I"]
    assert wire.ask(run("SHOW STREAMS"), SYNC)[-2:] == ["E 0A000", "Z I"]
    door.engine.replies["CREATE STREAM"] = StatementAnswer("CREATE STREAM", ("one",), (("x",),))
    assert wire.ask(run("CREATE STREAM a"), SYNC)[-2:] == ["C CREATE STREAM", "Z I"]


def test_a_flush_is_answered_before_the_rest_is_sent(wire: Wire) -> None:
    wire.send(parse("SHOW STREAMS"), FLUSH)
    assert wire.read().short == "1"
    wire.send(bind(), FLUSH)
    assert wire.read().short == "2"
    wire.send(describe("P"), execute(), FLUSH)
    assert [each.short for each in wire.until("C")] == ["T", "D", "D", "C SHOW"]
    assert wire.ask(SYNC) == ["Z I"]


def test_a_pipeline_of_psycopg(door: Door) -> None:
    with door.connect() as connection, connection.pipeline():
        cursors = [connection.execute(text) for text in ("SHOW STREAMS", "CREATE STREAM a", "SELECT 1") * 5]
        assert [len(cursor.fetchall()) for cursor in cursors[::3]] == [2] * 5
        assert [len(cursor.fetchall()) for cursor in cursors[2::3]] == [1] * 5
    assert len(door.engine.asked) == 10
