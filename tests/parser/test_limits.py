"""Large and deep texts: accepted in linear time, or refused with a code before anything recurses."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from sqlglot import exp

from penstock.parser import ast_text, unparse
from penstock.parser.ast import QueryStatement, Select
from tests.parser.texts import finding, findings, query, statement


def around(before: str, after: str, inner: str = "a") -> Callable[[int], str]:
    """Texts in which something stands inside itself n times."""
    return lambda n: f"SELECT {before * n}{inner}{after * n} FROM t"


NESTED: dict[str, Callable[[int], str]] = {
    "brackets": around("(", ")"),
    "minus": around("- ", ""),
    "plus": around("+ ", ""),
    "tilde": around("~ ", ""),
    "not": around("NOT ", ""),
    "calls": around("f(", ")"),
    "distinct calls": around("f(DISTINCT ", ")"),
    "case": around("CASE WHEN ", " THEN 1 END"),
    "else": around("CASE WHEN a THEN b ELSE ", " END"),
    "cast": around("CAST(", " AS INT)"),
    "elements": around("a[", "]"),
    "in": around("a IN (", ")"),
    "lambda": lambda n: f"SELECT f({'a -> ' * n}b) FROM t",
    "scalar queries": around("(SELECT ", " FROM t)"),
    "exists": around("EXISTS(SELECT ", " FROM t)"),
    "in queries": around("a IN (SELECT ", " FROM t)"),
    "windows": around("f(a) OVER (PARTITION BY ", ")"),
    "filters": around("f(a) FILTER (WHERE ", ")"),
    "types": lambda n: f"SELECT CAST(a AS {'ARRAY<' * n}INT{'>' * n}) FROM t",
    "subqueries": lambda n: f"{'SELECT a FROM (' * n}SELECT a FROM t{')' * n}",
    "with": lambda n: f"{'WITH c AS (' * n}SELECT a FROM t{') SELECT a FROM c' * n}",
    "explain": lambda n: "EXPLAIN " * n + "SHOW TABLES",
}


@pytest.mark.parametrize("kind", NESTED)
def test_nesting_is_limited(kind: str) -> None:
    for levels in (66, 20_000):
        assert [found.code for found in findings(NESTED[kind](levels))] == ["L001"], levels


@pytest.mark.parametrize("kind", NESTED)
def test_much_nesting_is_allowed(kind: str) -> None:
    parsed = statement(NESTED[kind](30))
    assert statement(unparse(parsed)) == parsed
    assert hash(parsed) == hash(statement(unparse(parsed)))
    assert repr(parsed)
    assert ast_text(parsed)


def test_the_limit_is_64() -> None:
    assert findings(NESTED["brackets"](64)) == ()
    assert finding(NESTED["brackets"](65)).code == "L001"


OPENINGS = ["(", "f(", "CASE WHEN ", "NOT ", "- ", "a[", "(SELECT ", "a + (", "EXISTS(SELECT a FROM t WHERE "]


@pytest.mark.parametrize("opening", OPENINGS)
def test_what_is_never_closed(opening: str) -> None:
    assert finding("SELECT " + opening * 60).code == "S002"
    assert finding("SELECT " + opening * 20_000).code == "L001"


def between(sign: str) -> Callable[[int], str]:
    """Texts with a sign between each two of n operands."""
    return lambda n: f"SELECT {f' {sign} '.join(['a'] * n)} FROM t"


CHAINS: dict[str, Callable[[int], str]] = {
    **{sign: between(sign) for sign in [*"+-*/%|&^", "||", "DIV"]},
    ".": lambda n: f"SELECT a{'.a' * n} FROM t",
    "[]": lambda n: f"SELECT a{'[1]' * n} FROM t",
    "JOIN": lambda n: f"SELECT a FROM t{' JOIN t ON a' * (n - 1)}",
}


@pytest.mark.parametrize("sign", CHAINS)
def test_chains_that_group_to_the_left_are_limited(sign: str) -> None:
    longest = statement(CHAINS[sign](200))
    assert statement(unparse(longest)) == longest
    assert finding(CHAINS[sign](201)).code == "L002"
    assert finding(CHAINS[sign](20_000)).code == "L002"


def test_chains_inside_each_other_are_limited_together() -> None:
    def text(levels: int) -> str:
        return f"SELECT {'(' * levels}a{(' + a' * 150 + ')') * levels} FROM t"

    deep = statement(text(1))
    assert statement(unparse(deep)) == deep
    assert finding(text(2)).code == "L003"
    assert finding(text(60)).code == "L003"


def test_three_thousand_ors() -> None:
    select = query("SELECT a FROM t WHERE " + " OR ".join(f"b = {i} AND c" for i in range(3_000)))
    assert isinstance(select, Select)
    assert select.where is not None
    leaves = [node for node in select.where.walk() if isinstance(node, exp.Literal)]
    assert len(leaves) == 3_000
    height, level = 0, [select.where]
    while level:
        height, level = height + 1, [child for node in level for child in node.iter_expressions()]
    assert height < 20
    assert query(unparse(QueryStatement(select, select.span))) == select


def test_ten_thousand_values() -> None:
    text = f"SELECT a FROM t WHERE b IN ({', '.join(map(str, range(10_000)))})"
    assert unparse(statement(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        lambda n: f"SELECT a FROM t WHERE {' OR '.join(['b = 1'] * n)}",
        lambda n: f"SELECT {', '.join(['a + f(b) AS c'] * n)} FROM t",
        lambda n: ";".join(["SELECT stream, a date FROM t window WHERE emit"] * n),
        lambda n: "SELECT a FROM t WHERE b = '" + "it''s " * 10 * n + "'",
        lambda n: "SELECT a FROM t WHERE b = '" + "''" * 10 * n,
    ],
)
def test_time_is_linear(text: Callable[[int], str]) -> None:
    """Eight times the text takes about eight times the time; a quadratic parser would take 64 times."""

    def seconds(n: int) -> float:
        source = text(n)
        best = float("inf")
        for _ in range(3):
            started = time.process_time()
            findings(source)
            best = min(best, time.process_time() - started)
        return best

    seconds(10)
    assert seconds(1_600) < 24 * seconds(200) + 0.05
