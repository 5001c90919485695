"""`penstock.run('…')` in statements of PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from penstock.server.engine_protocol import StatementAnswer
from tests.server.postgres.door import Door
from tests.server.postgres.wire import SYNC, Wire, bind, describe, execute, open_wire, parse, query

LINES = ["name\tcolumns", "clicks\tat TIMESTAMP, page STRING", "Wörter\t"]


@pytest.fixture
def wire(door: Door) -> Iterator[Wire]:
    with open_wire(door) as opened:
        yield opened


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("SELECT * FROM penstock.run('SHOW STREAMS')", LINES),
        ("SELECT * FROM penstock.run('EXPLAIN PLAN x')", ["KStream", "  Scan clicks"]),
        ("SELECT * FROM penstock.run('CREATE STREAM s')", ["CREATE STREAM"]),
        ("/* tool: x */ SELECT line FROM (SELECT * FROM penstock.run($$SHOW STREAMS$$)) AS q LIMIT 1000", LINES),
        ("SELECT run.line FROM penstock.run('SHOW STREAMS')", LINES),
        ("SELECT penstock.run('SHOW STREAMS')", LINES),
        (
            "WITH r AS (SELECT * FROM penstock.run('SHOW STREAMS')) SELECT line FROM r WHERE line LIKE '%é%' OR TRUE",
            LINES,
        ),
        ("SELECT line FROM penstock.run('SHOW STREAMS'::text) WITH ORDINALITY ORDER BY ordinality", LINES),
    ],
)
def test_lines(door: Door, text: str, lines: list[str]) -> None:
    with door.connect() as connection:
        for prepare in (False, True):
            cursor = connection.execute(text, prepare=prepare)
            assert [line for (line,) in cursor] == lines
            assert cursor.statusmessage == f"SELECT {len(lines)}"
    assert len(door.engine.asked) == 2


def test_a_parameter(door: Door) -> None:
    with door.connect() as connection:
        for binary in (False, True):
            for text in (
                "SELECT line, %s FROM penstock.run(%s) WHERE line <> %s",
                "SELECT line, %s FROM penstock.run(%s::text) WHERE line <> %s",
            ):
                rows = connection.execute(text, ["é", "SHOW STREAMS", "x"], binary=binary).fetchall()
                assert [line for line, _ in rows] == LINES


@pytest.mark.parametrize("name", ["", "s"])
def test_a_copy_that_is_prepared(door: Door, wire: Wire, name: str) -> None:
    text = "COPY (SELECT line FROM penstock.run('EXPLAIN PLAN $x') WHERE 'é' > '') TO STDOUT"
    wire.send(parse(text, name), describe("S", name), SYNC)
    assert [each.short for each in wire.until("Z")] == ["1", "t", "n", "Z I"]
    assert door.engine.asked == []
    for _ in range(3):
        found = wire.ask(bind(name=name, portal="p"), describe("P", "p"), execute("p"), SYNC)
        assert found == ["2", "n", "H", "d", "d", "c", "C COPY 2", "Z I"]
    assert door.engine.texts == ["EXPLAIN PLAN $x"] * 3
    assert wire.ask(query("SELECT name FROM pg_prepared_statements WHERE name LIKE 'penstock%'"))[-2:] == [
        *("C SELECT 0", "Z I")
    ]


def test_errors_of_a_copy_that_is_prepared(door: Door, wire: Wire) -> None:
    text = "COPY (SELECT * FROM penstock.run('CREATE STREAM bad')) TO STDOUT"
    wire.send(parse(text), bind(), execute(), SYNC)
    error = next(each for each in wire.until("Z") if each.kind == "E")
    assert (error.fields["C"], error.fields["P"]) == ("42P17", str(text.index("STREAM bad") + 1))
    text = "COPY (SELECT nothing FROM penstock.run('SHOW STREAMS')) TO STDOUT"
    wire.send(parse(text), bind(), execute(), SYNC)
    error = next(each for each in wire.until("Z") if each.kind == "E")
    assert (error.fields["C"], error.fields["P"]) == ("42703", str(text.index("nothing") + 1))
    text = "COPY (SELECT * FROM penstock.run($1)) TO STDOUT"
    assert wire.ask(parse(text, types=[25]), bind(["SHOW STREAMS"]), execute(), SYNC)[-2:] == ["E 42P02", "Z I"]


def test_parameters_as_they_are_described(wire: Wire) -> None:
    wire.send(parse("SELECT * FROM penstock.run($1) WHERE line <> $2"), describe("S"), SYNC)
    _, described, *_ = wire.until("Z")
    assert described.body == b"\0\2" + b"\0\0\0\x19" * 2
    wire.send(parse("SELECT $1::int, * FROM penstock.run($2)", types=[0, 1043]), describe("S"), SYNC)
    _, described, *_ = wire.until("Z")
    assert described.body == b"\0\2" + b"\0\0\0\x17" + b"\0\0\x04\x13"
    found = wire.ask(bind(["1", "SHOW STREAMS"]), execute(), SYNC)
    assert found == ["2", "D", "D", "D", "C SELECT 3", "Z I"]


def test_another_type_is_no_statement(door: Door, wire: Wire) -> None:
    assert wire.ask(parse("SELECT * FROM penstock.run($1)", types=[23]), SYNC) == ["E 42883", "Z I"]
    assert wire.ask(query("SELECT * FROM penstock.run(1)")) == ["E 42883", "Z I"]
    assert wire.ask(query("SELECT * FROM penstock.run($1)")) == ["E 42P02", "Z I"]
    assert wire.ask(parse("SELECT * FROM penstock.run($1)"), bind([None]), execute(), SYNC)[-2:] == ["E 22004", "Z I"]
    assert door.engine.asked == []


def test_a_direct_hint_where_the_call_cannot_be_read(door: Door) -> None:
    with door.connect() as connection:
        for text in (
            "SELECT * FROM penstock.run('SHOW' || ' STREAMS')",
            "CREATE TABLE alice.x AS SELECT penstock.run(NULL)",
        ):
            with pytest.raises(psycopg.errors.FeatureNotSupported, match="as a constant or as a parameter"):
                connection.execute(text)
    assert door.engine.asked == []


def test_an_explanation_runs_nothing(door: Door) -> None:
    with door.connect() as connection:
        rows = connection.execute("EXPLAIN SELECT * FROM penstock.run('CREATE STREAM s')").fetchall()
        assert "Function Scan" in rows[0][0]
    assert door.engine.asked == []


@pytest.mark.parametrize(
    "begin",
    [
        "BEGIN READ ONLY",
        "BEGIN ISOLATION LEVEL REPEATABLE READ",
        "BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE",
    ],
)
def test_it_runs_in_any_transaction(door: Door, begin: str) -> None:
    with door.connect() as connection:
        connection.execute(begin)
        assert len(connection.execute("SELECT * FROM penstock.run('SHOW STREAMS')").fetchall()) == 3
        assert len(connection.execute("SELECT * FROM penstock.run(%s)", ["SHOW STREAMS"]).fetchall()) == 3
        connection.execute("COMMIT")


def test_several_calls(door: Door) -> None:
    with door.connect() as connection:
        text = "SELECT count(*), min(a.line) FROM penstock.run(%s) AS a, penstock.run('CREATE STREAM s') AS b"
        assert connection.execute(text, ["SHOW STREAMS"]).fetchall() == [(3, "Wörter\t")]
        with pytest.raises(psycopg.errors.InvalidObjectDefinition):
            connection.execute("SELECT FROM penstock.run('CREATE STREAM bad') AS a, penstock.run('DROP STREAM t') AS b")
    assert door.engine.texts == ["SHOW STREAMS", "CREATE STREAM s", "CREATE STREAM bad"]


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("SELECT * FROM penstock.run('CREATE STREAM bad')", "STREAM bad"),
        ("SELECT * FROM penstock.run($q$CREATE STREAM bad it's$q$)", "STREAM bad"),
        ("SELECT 'é' FROM penstock.run('CREATE STREAM bad it''s')", "'CREATE"),
        ("SELECT * FROM penstock.run('SHOW STREAMS') AS a, penstock.run('CREATE STREAM bad') AS b", "STREAM bad"),
        ("SELECT * FROM penstock.run('SHOW STREAMS') WHERE wrong > 1", "wrong"),
        ("SELECT wrong FROM penstock.run('SHOW STREAMS')", "wrong"),
        ("SELECT 1 FROM penstock.run('SHOW STREAMS') AS a, penstock.run('SHOW STREAMS') AS b WHERE", None),
        ("SELECT 1/0 FROM penstock.run('SHOW STREAMS')", None),
    ],
)
def test_places_of_errors(wire: Wire, text: str, position: str | None) -> None:
    wire.send(query(text))
    plain = next(each for each in wire.until("Z") if each.kind == "E").fields
    wire.send(parse(text), bind(), execute(), SYNC)
    prepared = next(each for each in wire.until("Z") if each.kind == "E").fields
    expected = str(text.index(position) + 1) if position else str(len(text) + 1) if "WHERE" in text else None
    assert (plain.get("P"), prepared.get("P")) == (expected, expected)
    assert "penstock.report" not in str(plain) + str(prepared)


def test_a_refusal_of_a_parameter_has_no_place(wire: Wire) -> None:
    text = "SELECT * FROM penstock.run($1)"
    wire.send(parse(text), bind(["CREATE STREAM bad"]), execute(), SYNC)
    fields = wire.until("Z")[-2].fields
    assert (fields["C"], fields["P"]) == ("42P17", str(text.index("$1") + 1))


def test_errors_of_postgresql_come_before_the_engine_is_asked(door: Door, wire: Wire) -> None:
    for text in (
        "SELECT * FROM nowhere, penstock.run('CREATE STREAM a')",
        "SELEC * FROM penstock.run('CREATE STREAM a')",
    ):
        assert wire.ask(query(text))[-1] == "Z I"
        assert wire.ask(parse(text), bind(), execute(), SYNC)[-1] == "Z I"
    assert door.engine.asked == []


def test_warnings_and_odd_values(door: Door, wire: Wire) -> None:
    rows = (("a\tb", None), ("c\nd", "\x00"))
    door.engine.replies["SHOW TABLES"] = StatementAnswer("SHOW", ("x", "y"), rows, ("careful",))
    wire.send(query("SELECT * FROM penstock.run('SHOW TABLES')"))
    found = wire.until("Z")
    assert [each.short for each in found] == ["T", "N 01000", "D", "D", "D", "C SELECT 3", "Z I"]
    assert found[1].fields == {"S": "WARNING", "V": "WARNING", "C": "01000", "M": "careful"}
    assert [each.values for each in found if each.kind == "D"] == [["x\ty"], ["a\tb\t"], ["c\nd\t"]]


def test_a_cursor_and_a_copy(door: Door) -> None:
    with door.connect(autocommit=False) as connection:
        with connection.cursor("named") as cursor:
            cursor.execute("SELECT * FROM penstock.run(%s)", ["SHOW STREAMS"])
            assert [line for (line,) in cursor] == LINES
        with connection.cursor().copy("COPY (SELECT * FROM penstock.run('SHOW STREAMS')) TO STDOUT") as copy:
            assert [row[0] for row in copy.rows()] == LINES
        connection.execute("CREATE TEMP TABLE kept AS SELECT * FROM penstock.run('SHOW STREAMS')")
        assert connection.execute("SELECT count(*) FROM kept").fetchone() == (3,)
