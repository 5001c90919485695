"""Statements of every kind are read as what they say."""

from __future__ import annotations

import pytest

from penstock.parser import ast_text, unparse
from penstock.parser.ast import Duration, Query, QueryStatement, Select, Table, WindowedTable
from tests.parser.texts import query, statement


@pytest.mark.parametrize(
    "text",
    [
        "SELECT STREAM product, AVG(price) AS avg_price FROM Orders OVER (ORDER BY time RANGE '10' min PRECEDING)",
        "SELECT STREAM o.time as time, o.id as id, a.value, s.cost FROM Orders as o JOIN Shipments as s ON o.id = s.id",
        """SELECT STREAM o.time as time, o.id as id, a.value, s.cost

        FROM Orders as o

        JOIN Shipments as s

        ON o.id = s.id

        AND s.time > o.time AND s.time < o.time + 5 MIN
        """,
    ],
)
def test_the_queries_of_the_first_design(text: str) -> None:
    assert statement(unparse(statement(text))) == statement(text)


INTERVALS = ["INTERVAL '10' MINUTE", "INTERVAL 10 MINUTES", "'10' MIN", "10 MIN", "'10' min", "interval '10' mins"]


@pytest.mark.parametrize("interval", INTERVALS)
def test_all_spellings_of_an_interval(interval: str) -> None:
    select = query(f"SELECT a FROM TUMBLE(t, time, {interval}) WHERE b > time - {interval} GRACE PERIOD {interval}")
    assert isinstance(select, Select)
    assert isinstance(select.relation, WindowedTable)
    assert isinstance(select.grace, Duration)
    assert select.grace == select.relation.durations[0]
    assert (select.grace.quantity, select.grace.unit, select.grace.milliseconds) == ("10", "MINUTE", 600_000)
    assert unparse(statement(f"SELECT {interval} FROM t")) == "SELECT INTERVAL '10' MINUTE FROM t"


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("a or b and not c", "a OR b AND NOT c"),
        ("(a or b) and c", "(a OR b) AND c"),
        ("a - b - c * -d", "a - b - c * -d"),
        ("- - a", "- -a"),
        ("not a is null", "a IS NOT NULL"),
        ("a is not distinct from b", "a <=> b"),
        ("a not like 'x''y'", "a NOT LIKE 'x''y'"),
        ("a between 1 and 2 and b", "a BETWEEN 1 AND 2 AND b"),
        ("a || b | c & d ^ e", "a || b | c & d ^ e"),
        ("count(*)", "COUNT(*)"),
        ("count(distinct a, b) filter (where c)", "COUNT(DISTINCT a, b) FILTER (WHERE c)"),
        ("sum(a) over w", "SUM(a) OVER w"),
        (
            "sum(a) over (partition by b order by c desc nulls first range between 5 min preceding and current row)",
            "SUM(a) OVER (PARTITION BY b ORDER BY c DESC NULLS FIRST RANGE INTERVAL '5' MINUTE PRECEDING)",
        ),
        ("date '2020-01-01'", "CAST('2020-01-01' AS DATE)"),
        ("try_cast(a as map<string, array<int>>)", "TRY_CAST(a AS MAP<STRING, ARRAY<INT>>)"),
        ("f(a, (b, c) -> b + c, d -> e -> d)", "F(a, (b, c) -> b + c, d -> e -> d)"),
        ("a.b.c[1].d", "a.b.c[1].d"),
        ("case a when 1 then 2 else 3 end", "CASE a WHEN 1 THEN 2 ELSE 3 END"),
        ("exists(a, x -> x > 1)", "EXISTS(a, x -> x > 1)"),
        ("exists (select 1 from u)", "EXISTS(SELECT 1 FROM u)"),
    ],
)
def test_scalars(text: str, canonical: str) -> None:
    parsed = statement(f"SELECT {text} FROM t")
    assert unparse(parsed) == f"SELECT {canonical} FROM t"
    assert statement(unparse(parsed)) == parsed


def test_spans_are_the_text_of_the_node() -> None:
    select = query("SELECT  a + b * c  AS d FROM t AS u WHERE NOT (x.y) IN (1, 2)")
    assert isinstance(select, Select)
    value = select.items[0].value
    assert value.meta["span"].text == "a + b * c"
    assert value.expression.meta["span"].text == "b * c"
    assert select.items[0].span.text == "a + b * c  AS d"
    assert isinstance(select.relation, Table)
    assert select.relation.span.text == "t AS u"
    assert select.relation.alias is not None
    assert select.relation.alias.span.text == "u"
    assert select.where is not None
    assert select.where.meta["span"].text == "NOT (x.y) IN (1, 2)"
    assert all("span" in node.meta for node in select.where.walk())


def test_a_query_inside_a_scalar_is_an_ast_query() -> None:
    select = query("SELECT a FROM t WHERE b IN (SELECT c FROM u)")
    assert isinstance(select, Select)
    assert select.where is not None
    inner: Query = select.where.args["query"]
    assert inner == query("SELECT c FROM u")
    assert unparse(QueryStatement(inner, inner.span)) == "SELECT c FROM u"


def test_the_tree_that_explain_shows() -> None:
    assert (
        ast_text(statement("SET batch.size = 5")) == "SetOption\n  option: Option\n    name: batch.size\n    value: 5"
    )
