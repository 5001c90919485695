"""What expressions resolve to, and what is refused."""

from __future__ import annotations

import pytest
from sqlglot import exp

from penstock.diagnostics import Diagnostic
from penstock.planner.plan import Aggregate
from penstock.planner.scalars import Typed, resolve, resolve_aggregate, resolve_boolean
from penstock.planner.scalars.scopes import Scope, ScopeColumn
from penstock.planner.types import BIGINT, INT, STRING, Decimal, Struct
from tests.planner.expressions import SCOPE, expression, refused, resolved, spark_sql
from tests.planner.spark_types import TYPES


@pytest.mark.parametrize(("text", "type_"), TYPES)
def test_an_expression_has_the_type_that_spark_gives_it(text: str, type_: str) -> None:
    assert str(resolved(text).type) == type_


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("i + l", "CAST(`i` AS BIGINT) + `l`"),
        ("i / 2", "CAST(`i` AS DOUBLE) / CAST(2 AS DOUBLE)"),
        ("p * 2", "`p` * CAST(2 AS DECIMAL(1, 0))"),
        ("p + i", "`p` + CAST(`i` AS DECIMAL(10, 0))"),
        ("p = i", "CAST(`p` AS DECIMAL(12, 2)) = CAST(`i` AS DECIMAL(12, 2))"),
        ("i + NULL", "`i` + CAST(NULL AS INT)"),
        ("ts > '2024-1-2'", "`ts` > CAST('2024-01-02 00:00:00' AS TIMESTAMP)"),
        ("'2024-01-02T03:04+01:00' < ts", "CAST('2024-01-02 02:04:00' AS TIMESTAMP) < `ts`"),
        ("d IN ('2024-01-02', ts)", "CAST(`d` AS TIMESTAMP) IN (CAST('2024-01-02 00:00:00' AS TIMESTAMP), `ts`)"),
        ("d BETWEEN '2024-01-02' AND d", "`d` BETWEEN CAST('2024-01-02' AS DATE) AND `d`"),
        ("d + INTERVAL '1' HOUR", "CAST(`d` AS TIMESTAMP) + INTERVAL '1' HOUR"),
        ("ts - INTERVAL 1 MONTH", "`ts` - INTERVAL '1' MONTH"),
        ("ts + INTERVAL '1.5' MINUTE", "`ts` + INTERVAL '90' SECOND"),
        ("CASE WHEN b THEN 1 END", "CASE WHEN `b` THEN 1 END"),
        (
            "CASE i WHEN l THEN 'x' ELSE NULL END",
            "CASE CAST(`i` AS BIGINT) WHEN `l` THEN 'x' ELSE CAST(NULL AS STRING) END",
        ),
        ("TRY_CAST(s AS INT)", "TRY_CAST(`s` AS INT)"),
        ("O.ST.K", "`st`.`k`"),
        ("st.V", "`st`.`v`"),
        ("TRANSFORM(a, I -> i + l)", "TRANSFORM(`a`, `I_` -> CAST(`I_` AS BIGINT) + `l`)"),
        ("AGGREGATE(a, l, (z, e) -> z + e)", "AGGREGATE(`a`, `l`, (`z`, `e`) -> `z` + CAST(`e` AS BIGINT))"),
        ("REDUCE(a, l, (z, e) -> e)", "REDUCE(`a`, `l`, (`z`, `e`) -> CAST(`e` AS BIGINT))"),
        ("COALESCE(ts, '2024-01-02')", "COALESCE(`ts`, CAST('2024-01-02 00:00:00' AS TIMESTAMP))"),
        ("YEAR('2024-01-02')", "YEAR(CAST('2024-01-02' AS DATE))"),
        ("CURRENT_DATE > d", "CURRENT_DATE() > `d`"),
        ("(i + 1) * 2", "(`i` + 1) * 2"),
        ("s = 1", "CAST(`s` AS BIGINT) = CAST(1 AS BIGINT)"),
        ("p < s", "CAST(`p` AS DOUBLE) < CAST(`s` AS DOUBLE)"),
        ("s IS DISTINCT FROM i", "CAST(`s` AS BIGINT) IS DISTINCT FROM CAST(`i` AS BIGINT)"),
        ("ts > s", "`ts` > CAST(`s` AS TIMESTAMP)"),
        ("s BETWEEN d AND '2024-01-02'", "CAST(`s` AS DATE) BETWEEN `d` AND CAST('2024-01-02' AS DATE)"),
        ("i IN (1, '2')", "CAST(`i` AS BIGINT) IN (CAST(1 AS BIGINT), CAST('2' AS BIGINT))"),
        ("s = b", "CAST(`s` AS BOOLEAN) = `b`"),
        ("CASE s WHEN 1 THEN 2 END", "CASE CAST(`s` AS BIGINT) WHEN CAST(1 AS BIGINT) THEN 2 END"),
        ("s + 1", "CAST(`s` AS BIGINT) + CAST(1 AS BIGINT)"),
        ("p * s", "CAST(`p` AS DOUBLE) * CAST(`s` AS DOUBLE)"),
        ("s DIV 2", "CAST(`s` AS BIGINT) DIV CAST(2 AS BIGINT)"),
        ("s || i || d", "`s` || CAST(`i` AS STRING) || CAST(`d` AS STRING)"),
        ("i LIKE '1%'", "CAST(`i` AS STRING) LIKE '1%'"),
        ("CONCAT(i, 'x', p)", "CONCAT(CAST(`i` AS STRING), 'x', CAST(`p` AS STRING))"),
        ("UPPER(i)", "UPPER(CAST(`i` AS STRING))"),
        ("SQRT(s)", "SQRT(CAST(`s` AS DOUBLE))"),
        ("LEFT(i, '2')", "LEFT(CAST(`i` AS STRING), CAST('2' AS INT))"),
        ("HOUR(s)", "HOUR(CAST(`s` AS TIMESTAMP))"),
        ("UPPER(st->v)", "UPPER(`st`.`v`)"),
        ("ABS(o->st->k + i)", "ABS(`st`.`k` + `i`)"),
        ("ABS(st->k)", "ABS(`st`.`k`)"),
        ("st->k + i", "`st`.`k` + `i`"),
        ("s || 'a\\b''c'", r"`s` || 'a\\b\'c'"),
    ],
)
def test_casts_and_names_are_written_out(text: str, sql: str) -> None:
    assert spark_sql(resolved(text)) == sql


@pytest.mark.parametrize(
    ("text", "code", "place", "hint"),
    [
        ("CASE WHEN b THEN i ELSE s END", "T004", "s", "CAST(s AS INT)"),
        ("s IN (1, 2.5)", "T004", "s", None),
        ("s IN (d, ts)", "T004", "s", None),
        ("i = 'one'", "T010", "'one'", "compared as texts: CAST(i AS STRING)"),
        ("'x' + 1", "T010", "'x'", "TRY_CAST('x' AS BIGINT) gives NULL"),
        ("s || bin", "T002", "bin", None),
        ("s || a", "T002", "a", None),
        ("bin LIKE 'a'", "T002", "bin", "CAST(bin AS STRING)"),
        ("s + s", "T002", "s + s", None),
        ("d + 1", "T002", "d + 1", None),
        ("INTERVAL '1' DAY - ts", "T002", "INTERVAL '1' DAY - ts", None),
        ("x DIV 2", "T002", "x DIV 2", None),
        ("x & 1", "T002", "x & 1", None),
        ("m = m", "T002", "m = m", None),
        ("NOT i", "T002", "NOT i", None),
        ("b AND i", "T002", "i", None),
        ("i IS TRUE", "T002", "i", None),
        ("-s", "T002", "-s", None),
        ("COALESCE(i, s)", "T006", "COALESCE(i, s)", None),
        ("CASE WHEN b THEN i ELSE d END", "T003", "d", None),
        ("CASE WHEN i THEN 1 END", "T001", "i", None),
        ("ts > 'soon'", "T010", "'soon'", "TIMESTAMP 'YYYY-MM-DD [HH:MM[:SS[.ffffff]][Z|+HH:MM]]'"),
        ("d = '2024-02-30'", "T010", "'2024-02-30'", None),
        ("CAST('x' AS DATE)", "T010", "'x'", "DATE 'YYYY-MM-DD'"),
        ("DATE '2024-13-01'", "T010", "'2024-13-01'", None),
        ("123456789012345678901234567890123456789", "T010", "123456789012345678901234567890123456789", None),
        ("INTERVAL '0.0000001' SECOND", "T010", "INTERVAL '0.0000001' SECOND", None),
        ("INTERVAL '1' MONTH", "T011", "INTERVAL '1' MONTH", None),
        ("INTERVAL '1' MONTH * 2", "T011", "INTERVAL '1' MONTH", None),
        ("CAST(d AS INT)", "T012", "CAST(d AS INT)", None),
        ("CAST(i AS DATE)", "T012", "CAST(i AS DATE)", None),
        ("CAST(a AS INT)", "T012", "CAST(a AS INT)", None),
        ("UPPER()", "T005", "UPPER()", None),
        ("UPPER(bin)", "T006", "UPPER(bin)", "CAST(bin AS STRING)"),
        ("CONCAT(s, bin)", "T006", "CONCAT(s, bin)", None),
        ("ABS(s)", "T006", "ABS(s)", None),
        ("SQRT(bin)", "T006", "SQRT(bin)", None),
        ("SQRT('x')", "T010", "'x'", "TRY_CAST('x' AS DOUBLE) gives NULL"),
        ("YEAR(s)", "T006", "YEAR(s)", None),
        ("GREATEST(m, m)", "T006", "GREATEST(m, m)", None),
        ("UPPER(st -> -i)", "T006", "UPPER(st -> -i)", None),
        ("UPPER((st, i) -> i)", "T006", "UPPER((st, i) -> i)", None),
        ("(i, s) BETWEEN 1 AND 2", "T008", "(i, s)", None),
        ("TRANSFORM(a, 1)", "T006", "TRANSFORM(a, 1)", None),
        ("FILTER(a, e -> e + 1)", "T006", "FILTER(a, e -> e + 1)", None),
        ("SUM(i) + 1", "T007", "SUM(i)", None),
        ("SUM(i) FILTER (WHERE b) + 1", "T007", "SUM(i) FILTER (WHERE b)", None),
        ("SUM(i) OVER (ORDER BY ts) + 1", "T008", "SUM(i) OVER (ORDER BY ts)", None),
        ("UPPER(DISTINCT s)", "T008", "s", None),
        ("UPPER(*)", "T008", "*", None),
        ("i IN (SELECT STREAM i FROM o)", "T008", "i IN (SELECT STREAM i FROM o)", None),
        ("(SELECT STREAM i FROM o) + 1", "T008", "(SELECT STREAM i FROM o)", None),
        ("UPPR(s)", "N004", "UPPR(s)", "did you mean UPPER?"),
        ("RAND()", "N005", "RAND()", None),
        ("st.z", "N006", "st.z", "known: k, v"),
        ("i.z", "N006", "i.z", None),
        ("z.k", "N003", "z.k", "o is the only relation here"),
        ("o.zzz", "N001", "o.zzz", None),
    ],
)  # fmt: skip
def test_what_is_refused(text: str, code: str, place: str, hint: str | None) -> None:
    (problem,) = refused(text)
    assert (problem.code, problem.labels[0].span.text) == (code, place)
    if hint is not None:
        assert problem.hint == hint


def test_an_array_is_indexed_by_a_number() -> None:
    (problem,) = refused("a['x']")
    assert (problem.code, problem.message) == ("T002", "[] does not take ARRAY<INT> and STRING")


def test_independent_problems_are_reported_at_once() -> None:
    found = refused("CASE WHEN zz THEN s + bin WHEN i THEN NOSUCH(1) ELSE d / 2 END")
    assert sorted(problem.code for problem in found) == ["N001", "N004", "T001", "T002", "T002"]


def test_the_input_is_left_as_it_is_and_places_are_kept() -> None:
    node = expression("CASE WHEN p > 1 THEN TRANSFORM(a, e -> e + i) END")
    before = node.copy()
    found = resolve(node, SCOPE, [])
    assert node == before
    assert found is not None
    assert found.expression.meta["span"] == node.meta["span"]
    assert {column.meta["span"].text for column in found.expression.find_all(exp.Column)} == {"p", "a", "i"}


def test_columns_are_named_as_in_the_plan_input() -> None:
    fields = Struct((("id", STRING), ("n", INT)))
    scope = Scope((ScopeColumn("o", "id", "o.id", BIGINT), ScopeColumn("p", "o", "p.o", fields)))
    assert spark_sql(resolved("o.id + o.n", scope)) == "`o.id` + CAST(`p.o`.`n` AS BIGINT)"


def test_a_lambda_parameter_hides_a_column() -> None:
    found = resolved("TRANSFORM(ARRAY(st), i -> i.k + l)")
    assert isinstance(found, Typed)
    assert found.expression.sql("spark") == "TRANSFORM(ARRAY(`st`), `i_` -> CAST(`i_`.`k` AS BIGINT) + `l`)"
    assert {column.name for column in found.expression.find_all(exp.Column)} == {"st", "l"}


@pytest.mark.parametrize(
    ("text", "function", "arguments", "distinct", "condition", "type_"),
    [
        ("COUNT(*)", "COUNT", [], False, None, BIGINT),
        ("count(DISTINCT i, s)", "COUNT", ["`i`", "`s`"], True, None, BIGINT),
        ("SUM(p) FILTER (WHERE i > 1)", "SUM", ["`p`"], False, "`i` > 1", Decimal(20, 2)),
        ("STDDEV(i)", "STDDEV", ["CAST(`i` AS DOUBLE)"], False, None, resolved("x").type),
    ],
)
def test_aggregates(
    text: str, function: str, arguments: list[str], distinct: bool, condition: str | None, type_: object
) -> None:
    found = resolve_aggregate(expression(text), SCOPE, [])
    assert isinstance(found, Aggregate)
    assert (found.name, found.function, found.distinct, found.type) == ("", function, distinct, type_)
    assert [argument.sql("spark") for argument in found.arguments] == arguments
    assert (found.condition.sql("spark") if found.condition else None) == condition


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("SUM(s)", ["T006"]),
        ("SUM(SUM(i))", ["T007"]),
        ("SUM(zz) FILTER (WHERE i)", ["N001", "T001"]),
        ("SUM(*)", ["T008"]),
        ("ANY_VALUE(i)", ["N005"]),
        ("ABS(i)", ["T008"]),
        ("SUMM(i)", ["N004"]),
    ],
)
def test_aggregates_that_are_refused(text: str, codes: list[str]) -> None:
    report: list[Diagnostic] = []
    assert resolve_aggregate(expression(text), SCOPE, report) is None
    assert sorted(problem.code for problem in report) == codes


def test_conditions_are_boolean() -> None:
    report: list[Diagnostic] = []
    condition = resolve_boolean(expression("i > 1"), SCOPE, report, "WHERE")
    assert condition is not None
    assert resolve_boolean(expression("i"), SCOPE, report, "WHERE") is None
    assert [problem.message for problem in report] == ["WHERE needs a BOOLEAN, not INT"]


def test_long_flat_expressions_resolve() -> None:
    values = ", ".join(str(number) for number in range(10_000))
    assert resolved(f"i IN ({values})").type == resolved("b").type
    chain = " OR ".join(f"i = {number}" for number in range(3_000))
    assert resolved(chain).type == resolved("b").type
