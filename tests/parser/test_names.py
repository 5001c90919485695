"""Keywords are not reserved: they are names wherever the rules leave no doubt."""

from __future__ import annotations

import re

import pytest

from penstock.grammar import RESERVED, dialect
from penstock.parser.ast import Select
from tests.parser.texts import findings, query, statement

KEYWORDS = sorted(dialect().keywords)
FREE = [keyword.lower() for keyword in KEYWORDS if keyword not in RESERVED]
# Names that people give to columns, tables and aliases. Some are keywords, some are functions or keywords elsewhere.
USUAL = re.findall(
    r"\w+",
    """
    time key value min max count sum window date timestamp partition partitions table tables stream streams view emit
    final changes query queries early every grace period retention late drop within before after watermark for state
    plan spark code ast row rows range current first last filter over day hour minute second week month year interval
    distinct exists if set show update delete insert left right full inner outer semi anti primary values system_time
    replace resume pause describe explain functions using end else all by into limit user users order_id
    string number name minus plus star slash percent dot comma concat arrow equal
""",
)

PLACES = {
    "a column": "SELECT {0} FROM t",
    "a later column": "SELECT a, {0}, b FROM t",
    "a column of a relation": "SELECT r.{0} FROM r",
    "a relation of a column": "SELECT {0}.a FROM t AS {0}",
    "an alias": "SELECT a AS {0} FROM t",
    "a table": "SELECT a FROM {0}",
    "a table with an alias": "SELECT a FROM {0} AS x WHERE x.b",
    "an alias of a table": "SELECT a FROM t AS {0} JOIN u ON a = b",
    "a condition": "SELECT a FROM t WHERE {0} > 5 AND b = {0}",
    "a group": "SELECT a FROM t GROUP BY {0}, b HAVING {0} > 1",
    "a window": "SELECT f(x) OVER ({1}) FROM t WINDOW w AS (PARTITION BY {0} ORDER BY {0})",
    "a column of a stream": "CREATE STREAM s ({0} BIGINT KEY, a {2})",
    "a stream": "CREATE STREAM {0} (a INT)",
    "a view": "CREATE VIEW {0} AS SELECT a FROM t",
    "a table expression": "WITH {0} AS (SELECT a FROM t) SELECT a FROM {0}",
    "a target": "INSERT INTO {0} SELECT a FROM t",
    "a dropped table": "DROP TABLE {0}",
    "a query": "PAUSE QUERY {0}",
    "an assignment": "UPDATE {0} SET {0} = 1 FROM STREAM {0} WHERE a",
    "an option": "SET {0} = 1",
    "a side output": "SELECT a FROM t LATE INTO {0}",
    "a lambda": "SELECT f(x, {0} -> {0} + 1) FROM t",
}


@pytest.mark.parametrize("place", PLACES)
def test_every_keyword_is_a_name_when_quoted(place: str) -> None:
    texts = [PLACES[place].format(f"`{word.lower()}`", "ORDER BY a", "INT") for word in KEYWORDS]
    assert {text: findings(text) for text in texts if findings(text)} == {}


OPERANDS = {"case", "not", "null", "true", "false"}  # what starts an expression cannot be a bare column as well
START_OF_EXPRESSION = {"a column", "a later column", "a relation of a column", "a condition", "a group", "a window"}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("words", [FREE, USUAL], ids=["keywords", "usual names"])
def test_names_need_no_quotes(place: str, words: list[str]) -> None:
    allowed = set(words) - (OPERANDS if place in {*START_OF_EXPRESSION, "a lambda"} else set())
    for word in sorted(allowed - {""}):
        text = PLACES[place].format(word, "ORDER BY a", "INT")
        assert findings(text) == (), text
        assert statement(text) == statement(PLACES[place].format(f"`{word}`", "ORDER BY a", "INT")), text


@pytest.mark.parametrize("word", sorted(RESERVED))
def test_a_reserved_word_is_not_a_column(word: str) -> None:
    assert [finding.code for finding in findings(f"SELECT a, {word} FROM t")] == ["S001"]


@pytest.mark.parametrize("word", ["emit", "window", "within", "late", "grace", "retention", "partition", "for"])
def test_a_clause_word_is_an_alias_where_no_clause_follows(word: str) -> None:
    for text in (f"SELECT a FROM t {word}", f"SELECT a FROM t {word} WHERE b"):
        select = query(text)
        assert isinstance(select, Select)
        assert select == query(text.replace(f"t {word}", f"t AS {word}"))


def test_the_first_word_behind_select() -> None:
    stream = query("SELECT STREAM stream FROM stream")
    column = query("SELECT stream FROM stream")
    assert isinstance(stream, Select)
    assert isinstance(column, Select)
    assert (stream.stream, column.stream) == (True, False)
    assert stream.items == column.items


OPERATORS = ["at", "similar", "escape", "unknown", "symmetric", "both", "placing", "to", "over", "time"]


@pytest.mark.parametrize("word", OPERATORS)
def test_a_word_of_an_operator_is_a_column_behind_stream(word: str) -> None:
    select = query(f"SELECT STREAM {word} AS {word}, {word}, f({word} + 1) {word} FROM t WHERE {word} = {word}")
    assert isinstance(select, Select)
    quoted = f"`{word}`"
    expected = (
        f"SELECT STREAM {quoted} AS {quoted}, {quoted}, f({quoted} + 1) {quoted} FROM t WHERE {quoted} = {quoted}"
    )
    assert select == query(expected)


@pytest.mark.parametrize("text", ["select a from t where b", "SELECT a FROM t WHERE b", "SeLeCt a FrOm t wHeRe b"])
def test_case_of_keywords_does_not_matter(text: str) -> None:
    assert statement(text) == statement("SELECT a FROM t WHERE b")


def test_both_kinds_of_quotes() -> None:
    assert query('SELECT "a b", `c""d`, "e""f" FROM t') == query('SELECT `a b`, `c""d`, `e"f` FROM t')


@pytest.mark.parametrize("terminal", sorted({"string", "number", "name", *map(str.lower, dialect().symbols.values())}))
def test_the_names_of_terminals_are_no_keywords(terminal: str) -> None:
    select = query(f"SELECT STREAM {terminal}(a, b) AS c, {terminal} FROM t")
    assert isinstance(select, Select)
    assert select == query(f"SELECT STREAM `{terminal}`(a, b) AS c, `{terminal}` FROM t")
