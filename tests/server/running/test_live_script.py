"""What a server has been told: statements that come and go, each with its names and its queries."""

from __future__ import annotations

import pytest

from penstock.diagnostics import CompileError, Source
from penstock.parser import ast, list_statements, parse
from penstock.server.running.live_script import LiveScript, check_submitted, describe_columns, names_in, names_written
from tests.server.running.scripts import HOME, HOURS, declare_clicks, tell


@pytest.fixture
def script() -> LiveScript:
    script = LiveScript(HOME)
    tell(script, declare_clicks())
    return script


def parse_one(text: str) -> ast.Statement:
    [statement] = parse(Source("statement", text))
    return statement


def refusal(script: LiveScript, text: str) -> str:
    with pytest.raises(CompileError) as refused:
        tell(script, text)
    return refused.value.diagnostics[0].code


def drop(script: LiveScript, text: str) -> None:
    statement = parse_one(text)
    assert isinstance(statement, ast.Drop)
    found = script.find_dropped(statement)
    if found is not None:
        script.remove(found)


def test_each_relation_has_a_query_that_fills_its_place(script: LiveScript) -> None:
    tell(script, HOURS)
    tell(script, "CREATE STREAM Big AS SELECT STREAM id, ts FROM clicks WHERE id > 5")
    places = {
        query.name: (query.sink.connector, dict(query.sink.options)["table"])
        for definition in script.definitions.values()
        for query in definition.queries
    }
    assert places == {
        "clicks": ("tail", "penstock_tail.clicks"),
        "hourly": ("postgres", "public.hourly"),
        "Big": ("tail", "penstock_tail.big"),
    }


def test_a_relation_lies_in_the_server_or_in_a_place_of_a_connector(script: LiveScript) -> None:
    tell(script, HOURS)
    tell(script, "CREATE VIEW odd AS SELECT STREAM id FROM clicks WHERE id % 2 = 1")
    tell(script, "CREATE STREAM big AS SELECT STREAM id, ts FROM clicks WHERE id > 5")
    away = "CREATE STREAM away WITH (connector = 'files', path = '/away', format = 'json') AS SELECT STREAM id FROM odd"
    tell(script, away)
    lineage = {
        each.relation: (each.is_declared, each.connector, set(each.reads)) for each in script.definitions.values()
    }
    assert lineage == {
        "clicks": (True, "files", set()),
        "hourly": (False, "", {"clicks"}),
        "odd": (False, "", {"clicks"}),
        "big": (False, "", {"clicks"}),
        "away": (False, "files", {"odd"}),
    }


def test_a_declared_table_is_shown_under_its_own_name(script: LiveScript) -> None:
    users = "CREATE TABLE users (id BIGINT PRIMARY KEY) WITH (connector = 'files', path = '/u', format = 'json')"
    [query] = tell(script, users).queries
    assert (query.name, dict(query.sink.options)["table"]) == ("users", "public.users")
    assert "shown_users" not in script.catalog.names()


def test_a_table_of_a_database_needs_no_query(script: LiveScript) -> None:
    made = tell(
        script,
        "CREATE TABLE p (id BIGINT PRIMARY KEY, n INT) WITH (connector = 'sqlite', path = '/p.db', table = 'p')",
    )
    assert made.queries == ()
    update = tell(script, "UPDATE p SET n = 1 FROM STREAM clicks WHERE p.id = clicks.id")
    assert [query.name for query in update.queries] == ["p"]
    assert update.reads == {"p", "clicks"}


def test_names_of_queries_are_not_taken_twice(script: LiveScript) -> None:
    assert tell(script, HOURS).name == "hourly"
    tell(script, "CREATE TABLE p (id BIGINT PRIMARY KEY) WITH (connector = 'sqlite', path = '/p.db', table = 'p')")
    insert = "INSERT INTO p SELECT STREAM id FROM clicks"
    assert [tell(script, insert).name, tell(script, insert).name] == ["p", "p_2"]


def test_a_restart_gives_the_same_names(script: LiveScript) -> None:
    table = "CREATE TABLE p (id BIGINT PRIMARY KEY) WITH (connector = 'sqlite', path = '/p.db', table = 'p')"
    insert = "INSERT INTO p SELECT STREAM id FROM clicks"
    tell(script, table)
    first, second = tell(script, insert), tell(script, insert)
    script.remove(first)
    again = LiveScript(HOME)
    for each in script.definitions.values():
        tell(again, each.text, each.number, each.taken)
    assert again.definitions[second.number].name == "p_2"


def test_a_replaced_table_keeps_its_name(script: LiveScript) -> None:
    before = tell(script, HOURS)
    after = tell(script, HOURS.replace("CREATE TABLE", "CREATE OR REPLACE TABLE").replace("AS n", "AS m"), 9)
    assert after.name == "hourly"
    assert before.number not in script.definitions
    assert [query.name for query in script.catalog.running] == ["clicks", "hourly"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (declare_clicks(), "K011"),
        ("CREATE TABLE x AS SELECT idd FROM clicks", "N001"),
        ("CREATE TABLE x AS SELECT page FROM klicks", "K012"),
        (declare_clicks().replace("CREATE STREAM", "CREATE OR REPLACE STREAM"), "K015"),
    ],
)
def test_refusals_leave_everything_as_it_was(script: LiveScript, text: str, code: str) -> None:
    tell(script, HOURS)
    before = script.catalog, dict(script.definitions)
    assert refusal(script, text) == code
    assert (script.catalog, script.definitions) == before


def test_what_is_read_is_not_dropped(script: LiveScript) -> None:
    tell(script, HOURS)
    with pytest.raises(CompileError, match="K015: clicks is in use by the query hourly"):
        drop(script, "DROP STREAM clicks")
    with pytest.raises(CompileError, match="K015: clicks is in use by the query hourly"):
        drop(script, "DROP QUERY clicks")
    drop(script, "DROP TABLE HOURLY")
    drop(script, "DROP STREAM clicks")
    assert not script.definitions
    assert not script.catalog.running


@pytest.mark.parametrize(
    ("text", "code"),
    [("DROP TABLE clicks", "K013"), ("DROP STREAM gone", "K012"), ("DROP QUERY gone", "V006")],
)
def test_drops_that_are_refused(script: LiveScript, text: str, code: str) -> None:
    with pytest.raises(CompileError) as refused:
        drop(script, text)
    assert refused.value.diagnostics[0].code == code


def test_if_exists_and_if_not_exists(script: LiveScript) -> None:
    drop(script, "DROP STREAM IF EXISTS gone")
    made = parse_one(declare_clicks().replace("STREAM clicks", "STREAM IF NOT EXISTS Clicks"))
    assert script.find_unmade(made) is script.definitions[1]
    assert script.find_unmade(parse_one(declare_clicks())) is None


def test_names_in_all_places_of_a_statement() -> None:
    statement = parse_one(
        "INSERT INTO t SELECT STREAM a.x FROM (SELECT * FROM b) AS a JOIN c ON a.x = c.x "
        "WHERE EXISTS (SELECT 1 FROM d WHERE d.x = a.x) AND a.x IN (SELECT x FROM Tumble_me)"
    )
    assert names_in(statement) == {"t", "b", "c", "d", "tumble_me"}


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("INSERT INTO P SELECT STREAM id FROM clicks", {"p"}),
        ("DELETE FROM p USING STREAM clicks WHERE p.id = clicks.id", {"p"}),
        ("UPDATE p SET n = 1 FROM STREAM clicks WHERE p.id = clicks.id", {"p"}),
        ("CREATE STREAM x AS SELECT STREAM id FROM clicks", set()),
        (HOURS.replace(" EMIT CHANGES", " LATE INTO Lost").replace("SELECT ", "SELECT STREAM "), {"lost"}),
    ],
)
def test_what_a_statement_writes_into(text: str, written: set[str]) -> None:
    statement = parse_one(text)
    assert names_written(statement) == written
    assert names_in(statement) >= written


def test_a_select_stream_has_no_place(script: LiveScript) -> None:
    with pytest.raises(CompileError, match="V001"):
        check_submitted(parse_one("SELECT STREAM id FROM clicks"))
    with pytest.raises(CompileError, match="V012: SELECT belongs to a script"):
        check_submitted(parse_one("SELECT page, n FROM hourly"))


def test_columns_are_described(script: LiveScript) -> None:
    [(statement, text)] = list_statements(Source("statement", HOURS))
    planned = script.plan(statement, Source("statement", text), 2, "ada", frozenset())
    columns = describe_columns(planned)
    assert columns[2] == {"name": "page", "type": "STRING", "role": "key"}


def test_statements_of_a_text_keep_their_places() -> None:
    text = "SET state_partitions = 2;\nDROP STREAM a;\n  DROP STREAM b"
    listed = list_statements(Source("x", text))
    assert [each.strip() for _, each in listed] == [
        "SET state_partitions = 2;\nDROP STREAM a",
        f"SET state_partitions = 2;\n{' ' * len('DROP STREAM a;')}\n  DROP STREAM b",
    ]
    assert [each.rindex("DROP") for _, each in listed] == [text.index("DROP"), text.rindex("DROP")]
