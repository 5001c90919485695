"""Which statements are Penstock's. Each rule is tested both ways."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.parser.ast import ShowKind, Stage
from penstock.server.postgres.classify import (
    OwnStatements,
    RefusedMessage,
    RunCalls,
    classify,
    find_owner,
    may_be_penstock,
)
from penstock.server.postgres.run_calls import find_run_calls
from penstock.server.postgres.tokens import split_statements
from tests.server.postgres.statements import PENSTOCK, POSTGRES, REFUSED, RELATIONS


@pytest.mark.parametrize("text", PENSTOCK)
def test_it_is_penstocks(text: str) -> None:
    verdict = classify(text, RELATIONS)
    assert isinstance(verdict, OwnStatements)
    assert [found.text for found in verdict.statements] == [text.strip(" ;\n")]


@pytest.mark.parametrize("text", POSTGRES)
def test_it_is_postgresqls(text: str) -> None:
    assert classify(text, RELATIONS) is None


@pytest.mark.parametrize("text", REFUSED)
def test_it_is_refused(text: str) -> None:
    verdict = classify(text, RELATIONS)
    assert isinstance(verdict, RefusedMessage)
    assert verdict.refusal.sqlstate == "0A000"
    assert "/v1/tables/{name}/changes" in (verdict.refusal.hint or "")


@pytest.mark.parametrize("text", [text for text in PENSTOCK if '"' not in text])
def test_comments_spaces_and_case_change_nothing(text: str) -> None:
    around = f"-- CREATE\n/* SELECT /* nested */ ; */ {text.swapcase()} ;; -- end"
    verdict = classify(around, RELATIONS)
    assert isinstance(verdict, OwnStatements)
    (found,) = verdict.statements
    assert around[found.start :].startswith(found.text)


@pytest.mark.parametrize("text", [*PENSTOCK, *REFUSED])
@pytest.mark.parametrize("quote", ["SELECT '{}'", "SELECT $${}$$", "SELECT $a${}$a$", 'SELECT "{}"', "SELECT 1 -- {}"])
def test_what_is_quoted_is_no_statement(text: str, quote: str) -> None:
    body = text.replace("'", "").replace('"', "").replace("\n", " ")
    assert classify(quote.format(f"; {body};"), RELATIONS) is None


@pytest.mark.parametrize("text", ["CREATE STREAM s; SELECT 'unclosed", "DROP STREAM s /* unclosed", '"', "$$", "", ";"])
def test_what_cannot_be_read_is_postgresqls(text: str) -> None:
    assert classify(text, RELATIONS) is None


def test_statements_of_one_message_keep_their_places() -> None:
    text = " CREATE STREAM a (x INT); /* now */ SHOW STREAMS ;"
    verdict = classify(text, RELATIONS)
    assert isinstance(verdict, OwnStatements)
    assert [(each.text, text.index(each.text), each.columns) for each in verdict.statements] == [
        ("CREATE STREAM a (x INT)", verdict.statements[0].start, ()),
        ("SHOW STREAMS", verdict.statements[1].start, ("name", "columns")),
    ]


@pytest.mark.parametrize("own", ["SHOW STREAMS", "CREATE STREAM a (x INT)"])
@pytest.mark.parametrize("other", ["SELECT 1", "SET x = 1", "PREPARE TRANSACTION 'x'", "FETCH 1 IN c; SELECT 1"])
def test_a_mixed_message_is_refused_where_penstock_begins(own: str, other: str) -> None:
    for text in (f"{other}; {own}", f"{own}; {other}", f"{own}; {other}; {own}"):
        verdict = classify(text, RELATIONS)
        assert isinstance(verdict, RefusedMessage)
        assert verdict.refusal.sqlstate == "0A000"
        assert verdict.refusal.position == text.index(own) + 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        *(("BEGIN;", ""), ("START TRANSACTION READ ONLY; ", ""), ("", ";COMMIT"), ("/* x */ BEGIN ;;", " ; END;")),
        *(("SAVEPOINT s;", ";RELEASE s"), ("ROLLBACK TO s;BEGIN;", ""), ("", "; ROLLBACK; BEGIN")),
    ],
)
def test_transactions_may_begin_and_end_in_the_same_message(before: str, after: str) -> None:
    verdict = classify(f"{before}SHOW STREAMS; SHOW QUERIES{after}", RELATIONS)
    assert isinstance(verdict, OwnStatements)
    assert (len(verdict.statements), verdict.before, verdict.after) == (2, before, after)
    verdict = classify(f"{before}SELECT * FROM penstock.run('a'){after}", RELATIONS)
    assert isinstance(verdict, RunCalls)
    assert (len(verdict.calls), verdict.before, verdict.after) == (1, before, after)


def test_a_fetch_may_follow_a_cursor() -> None:
    text = 'BEGIN;declare "C" cursor with hold for SELECT * FROM penstock.run($$a$$);fetch 100 in "C"'
    verdict = classify(text, RELATIONS)
    assert isinstance(verdict, RunCalls)
    assert (verdict.before, verdict.after) == ("BEGIN;", ';fetch 100 in "C"')


def test_transactions_do_not_stand_between_statements_of_penstock() -> None:
    assert isinstance(classify("SHOW STREAMS; COMMIT; SHOW STREAMS", RELATIONS), RefusedMessage)


def test_messages_of_postgresql_alone_pass() -> None:
    assert classify("BEGIN; CREATE TABLE t (a int); INSERT INTO t VALUES (1); COMMIT", RELATIONS) is None


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("SELECT * FROM penstock.run('SHOW STREAMS')", "SHOW STREAMS"),
        ("select line from PENSTOCK . Run ( 'SHOW STREAMS' ) as r", "SHOW STREAMS"),
        ('SELECT * FROM "penstock"."run"($$SHOW STREAMS$$)', "SHOW STREAMS"),
        ("/* tool */ SELECT * FROM (SELECT * FROM penstock.run($q$it's$q$)) AS x LIMIT 10", "it's"),
        ("SELECT * FROM penstock.run('it''s')", "it's"),
        (r"SELECT * FROM penstock.run(E'it\'s\n')", "it's\n"),
        ("SELECT * FROM penstock.run('a'::text)", "a"),
        ("SELECT * FROM penstock.run('a'::character varying)", "a"),
        ("SELECT * FROM penstock.run(('it''s'))", "it's"),
        ("SELECT * FROM penstock.run( (('a'::text))::varchar )", "a"),
        ("WITH x AS (SELECT * FROM penstock.run('a')) SELECT * FROM x", "a"),
        ("(SELECT * FROM penstock.run('a'))", "a"),
        ("COPY (SELECT * FROM penstock.run('a')) TO STDOUT", "a"),
        ("CREATE TEMP TABLE t AS SELECT * FROM penstock.run('a')", "a"),
        ("SELECT * FROM penstock.run('\u2003a\u00a0')", "\u2003a\u00a0"),
    ],
)
def test_calls_of_run(text: str, statement: str) -> None:
    verdict = classify(text, RELATIONS)
    assert isinstance(verdict, RunCalls)
    (call,) = verdict.calls
    assert call.statement == statement
    assert text[call.start : call.end].strip().endswith(("'", "$", "text", "varying", "varchar", "')"))
    if call.body is not None:
        assert text[call.body :].startswith(statement)


def test_calls_of_run_with_parameters() -> None:
    verdict = classify("SELECT * FROM penstock.run($2::text), penstock.run('a') WHERE line > $1", RELATIONS)
    assert isinstance(verdict, RunCalls)
    assert [(call.parameter, call.statement) for call in verdict.calls] == [(2, None), (0, "a")]
    assert verdict.parameters == 2


@pytest.mark.parametrize(
    "text",
    [
        "EXPLAIN SELECT * FROM penstock.run('a')",
        "EXPLAIN ANALYZE SELECT * FROM penstock.run('a')",
        "CREATE VIEW v AS SELECT * FROM penstock.run('a')",
        "CREATE MATERIALIZED VIEW v AS SELECT * FROM penstock.run('a')",
        "PREPARE p AS SELECT * FROM penstock.run('a')",
        "SELECT * FROM penstock.run('a' || 'b')",
        "SELECT * FROM penstock.run('a' 'b')",
        "SELECT * FROM penstock.run(current_setting('a'))",
        "SELECT * FROM penstock.run($1::int)",
        "SELECT * FROM penstock.run()",
        "SELECT * FROM penstock.run('a', 'b')",
        "SELECT * FROM penstock.run('a'",
        "SELECT * FROM penstock.run(('a')",
        "SELECT * FROM penstock.run((",
        "SELECT * FROM penstock.run(('a', 'b'))",
        "SELECT * FROM penstock.run(('a'):text)",
        "SELECT * FROM penstock.run((SELECT 'a'))",
        "SELECT * FROM other.run('a')",
        "SELECT * FROM run('a')",
        "SELECT 'penstock.run(''a'')'",
        "SELECT * FROM penstock.run($99999999)",
        "SELECT * FROM penstock.run($1e9)",
    ],
)
def test_what_is_no_call_of_run(text: str) -> None:
    assert classify(text, RELATIONS) is None


def test_a_call_of_run_needs_a_message_of_its_own() -> None:
    text = "SET x = 1; SELECT * FROM penstock.run('a')"
    verdict = classify(text, RELATIONS)
    assert isinstance(verdict, RefusedMessage)
    assert verdict.refusal.position == text.index("'a'") + 1


def test_calls_of_run_have_a_limit() -> None:
    calls = ", ".join(["penstock.run('a')"] * 100)
    verdict = classify(f"SELECT {calls}", RELATIONS)
    assert isinstance(verdict, RunCalls)
    assert len(verdict.calls) == 100
    assert isinstance(classify(f"SELECT {calls}, penstock.run('a')", RELATIONS), RefusedMessage)


def test_all_statements_of_the_grammar_are_listed() -> None:
    for kind in ShowKind:
        assert isinstance(classify(f"SHOW {kind.value}", RELATIONS), OwnStatements)
    for stage in Stage:
        assert isinstance(classify(f"EXPLAIN {stage.value} SELECT 1", RELATIONS), OwnStatements)


WORDS = sorted({word for text in (*PENSTOCK, *POSTGRES, *REFUSED) for word in text.split()})


@given(
    st.lists(st.sampled_from([*WORDS, ";", "penstock.run('a')"]), min_size=1, max_size=12).map(" ".join), st.booleans()
)
def test_the_quick_look_misses_nothing(text: str, is_long: bool) -> None:
    text += " " * (70_000 * is_long)
    statements = split_statements(text) or []
    nothing = all(
        find_owner(each, RELATIONS).name == "POSTGRES" and not find_run_calls(each, text) for each in statements
    )
    assert nothing or may_be_penstock(text, RELATIONS)


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TABLE x AS " + ")) AS (" * 100_000,
        "CREATE TABLE x AS " + "(" * 200_000 + ") AS (" * 100_000,
        "SELECT " + "penstock.run(" * 80_000,
        "SELECT STREAM a " * 60_000,
        "EXPLAIN " * 100_000 + "SHOW STREAMS",
    ],
)
def test_long_texts_take_time_in_proportion(text: str) -> None:
    """Quadratic time would be hours."""
    begin = time.monotonic()
    classify(text, RELATIONS)
    assert time.monotonic() - begin < 60


def test_most_selects_end_at_the_quick_look() -> None:
    assert not may_be_penstock("SELECT product, SUM(total) FROM revenue GROUP BY product ORDER BY 2 DESC", RELATIONS)
    assert not may_be_penstock("INSERT INTO t VALUES " + "(1), " * 20_000 + "(1)", RELATIONS)
