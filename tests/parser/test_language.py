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
        ("'5'::decimal(10, 2)::int < 3", "CAST(CAST('5' AS DECIMAL(10, 2)) AS INT) < 3"),
        ("a::array<int>[1]", "CAST(a AS ARRAY<INT>)[1]"),
        ("extract(hour from a.b)", "DATE_PART('HOUR', a.b)"),
        ("trim(both 'x' from a)", "BTRIM(a, 'x')"),
        ("trim(leading from a)", "LTRIM(a)"),
        ("trim(trailing b from a)", "RTRIM(b, a)"),
        ("trim('x' from a)", "BTRIM(a, 'x')"),
        ("trim(both + 1)", "TRIM(both + 1)"),
        ("substring(a from 2 for 3) || substring(a from 2)", "SUBSTRING(a, 2, 3) || SUBSTRING(a, 2)"),
        ("position('x' in a.b)", "POSITION('x', a.b)"),
        ("position('x' in (a || b))", "POSITION('x', a || b)"),
        ("overlay(a placing 'x' from 2 for 1)", "OVERLAY(a, 'x', 2, 1)"),
        ("a like '10!%%' escape '!'", r"a LIKE '10\%%'"),
        (r"a not like 'b\b!_!!' escape '!'", r"a NOT LIKE 'b\\b\_!'"),
        ("a similar to '(b|c)%[^d]_.'", r"a RLIKE '(?s)^(?:(?:b|c).*[^d].\.)(?!.)'"),
        ("a not similar to '!%' escape '!'", r"a NOT RLIKE '(?s)^(?:\%)(?!.)'"),
        ("floor(a to day)", "DATE_TRUNC('DAY', a)"),
        ("ceil(a to month)", "(DATE_TRUNC('MONTH', a - INTERVAL '0.000001' SECOND) + INTERVAL '1' MONTH)"),
        ("ceil(a to quarter)", "(DATE_TRUNC('QUARTER', a - INTERVAL '0.000001' SECOND) + INTERVAL '3' MONTH)"),
        ("array[a, b][1]", "ARRAY(a, b)[1]"),
        ("`array`[1] + array", "`array`[1] + array"),
        ("map['a', 1]['a']", "MAP('a', 1)['a']"),
        ("struct(a := 1, b := c)", "NAMED_STRUCT('a', 1, 'b', c)"),
        ("map('a' := 1)", "MAP('a', 1)"),
        ("a->b->c + f(1 + d->e, (g->h))", "a.b.c + F(1 + d.e, (g.h))"),
        ("a between symmetric b and c", "(a BETWEEN b AND c OR a BETWEEN c AND b)"),
        ("a not between asymmetric b and c", "a NOT BETWEEN b AND c"),
        ("a is unknown or b is not unknown", "a IS NULL OR b IS NOT NULL"),
        ("(a, b) = (c, 1)", "(a = c AND b = 1)"),
        ("(a, b) is distinct from (c, 1)", "(a IS DISTINCT FROM c OR b IS DISTINCT FROM 1)"),
        ("(a, b, c) <= (1, 2, 3)", "(a < 1 OR a = 1 AND (b < 2 OR b = 2 AND c <= 3))"),
        ("(a, b) not in ((1, 2), (3, 4))", "NOT ((a = 1 AND b = 2) OR (a = 3 AND b = 4))"),
        ("interval '1:30' minute to second", "INTERVAL '90' SECOND"),
        ("interval '-1 02:03:04.5' day to second", "INTERVAL '-93784.5' SECOND"),
        ("interval '1-2' year to month", "INTERVAL '14' MONTH"),
        ("interval '5 minutes' + interval '1 day 02:03:04'", "INTERVAL '5' MINUTE + INTERVAL '93784' SECOND"),
        ("interval '1 day -2 hours'", "INTERVAL '22' HOUR"),
        ("interval '1 day -00:00:01'", "INTERVAL '86399' SECOND"),
        ("a::text || b::bool || c::timestamptz", "CAST(a AS STRING) || CAST(b AS BOOLEAN) || CAST(c AS TIMESTAMP)"),
        ("cast(a as bytes) = cast(b as timestamp_ltz)", "CAST(a AS BINARY) = CAST(b AS TIMESTAMP)"),
        ("strpos(a || b, c)", "INSTR(a || b, c)"),
        ("count_distinct(a) filter (where b)", "COUNT(DISTINCT a) FILTER (WHERE b)"),
        ("timestampadd(month, 2, a)", "(a + INTERVAL '2' MONTH)"),
        ("timestampadd(sql_tsi_day, a - b, c - d)", "((c - d) + (a - b) * INTERVAL '1' DAY)"),
        ("timestampadd(microsecond, a, b)", "(b + a * INTERVAL '0.000001' SECOND)"),
        ("date_sub('hour', -1, a)", "(a - INTERVAL '-1' HOUR)"),
        ("date_sub(a, 1) + datediff(a, b)", "DATE_SUB(a, 1) + DATEDIFF(a, b)"),
        ("datediff(hour, a, b)", "((UNIX_MICROS(b) - UNIX_MICROS(a)) DIV 3600000000)"),
        ("split_index(a, '.', 1)", r"GET(SPLIT(NULLIF(a, ''), '\Q.\E'), 1)"),
        ("struct(a, b.c, 1, d.e.f)", "NAMED_STRUCT('a', a, 'c', b.c, 'col3', 1, 'f', d.e.f)"),
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
