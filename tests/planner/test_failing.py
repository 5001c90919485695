"""The conditions on failing rows are those under which the reference evaluator fails."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import penstock
from penstock.evaluator.expression_values import evaluate_scalar, holds
from penstock.evaluator.typed_values import QueryFailure, Row, Value
from penstock.planner.scalars import Typed
from penstock.planner.scalars.failing import NoExactFormError, try_expression
from tests.planner.expressions import COLUMNS, resolved

TYPES = dict(COLUMNS)
NUMBERS: st.SearchStrategy[str] = st.deferred(
    lambda: (
        st.sampled_from(["i", "l", "p", "1", "(i - i)", "3", "CAST(s AS INT)", "CAST(l AS INT)", "CAST(p AS INT)"])
        | st.tuples(NUMBERS, st.sampled_from("+-*/%"), NUMBERS).map(" ".join).map("({})".format)
        | st.tuples(TRUTHS, NUMBERS, NUMBERS).map(lambda each: "(CASE WHEN {} THEN {} ELSE {} END)".format(*each))
        | st.tuples(NUMBERS, NUMBERS).map(lambda each: "COALESCE({}, {})".format(*each))
    )
)
TRUTHS: st.SearchStrategy[str] = st.deferred(
    lambda: (
        st.tuples(NUMBERS, st.sampled_from(["=", "<", ">="]), NUMBERS).map(" ".join).map("({})".format)
        | st.tuples(TRUTHS, st.sampled_from(["AND", "OR"]), TRUTHS).map(" ".join).map("({})".format)
        | TRUTHS.map("(NOT {})".format)
    )
)
ROWS = st.fixed_dictionaries(
    {
        "i": st.sampled_from([None, 0, 1, -7, 2147483647, -2147483648]),
        "l": st.sampled_from([None, 0, 2, -1, 9223372036854775807, 3000000000]),
        "p": st.sampled_from([None, Decimal("0.00"), Decimal("1.50"), Decimal("99999999.99")]),
        "s": st.sampled_from([None, "", "12", "x", "99999999999"]),
    }
)


def value_or_failure(node: object, row: Row) -> Value:
    try:
        return evaluate_scalar(node, row, TYPES)  # type: ignore[arg-type]
    except QueryFailure:
        return QueryFailure


@settings(deadline=None)
@given(NUMBERS | TRUTHS, ROWS)
def test_a_condition_holds_where_the_expression_fails_and_nowhere_else(text: str, row: Row) -> None:
    expression = resolved(text)
    assert isinstance(expression, Typed)
    try:
        form = try_expression(expression.expression)
    except NoExactFormError as refusal:
        assume("more than" not in refusal.reason)
        raise
    found = value_or_failure(expression.expression, row)
    held = [each.code for each in form.failures if holds(each.condition, row, TYPES)]
    assert bool(held) == (found is QueryFailure), (text, held)
    if not held:
        assert evaluate_scalar(form.value, row, TYPES) == found


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("1 + i DIV l", "i DIV l"),
        ("-i", "-i"),
        ("UPPER(PARSE_URL(s, 'HOST'))", "PARSE_URL(s, 'HOST')"),
        ("s RLIKE s", "s RLIKE s"),
        ("TO_DATE(s, s)", "TO_DATE(s, s)"),
        ("TRANSFORM(a, e -> e / i)", "e / i"),
        ("i IN (1, 6 / i)", "6 / i"),
        ("CAST(a AS ARRAY<STRING>)", "CAST(a AS ARRAY<STRING>)"),
        ("ELEMENT_AT(a, i)", "ELEMENT_AT(a, i)"),
    ],
)
def test_what_has_no_exact_form_is_named(text: str, part: str) -> None:
    expression = resolved(text)
    assert isinstance(expression, Typed)
    with pytest.raises(NoExactFormError) as refusal:
        try_expression(expression.expression)
    assert refusal.value.part.meta["span"].text == part


@pytest.mark.parametrize(
    "text", [" + ".join(["i"] * 190), " AND ".join(["l / i > 1"] * 90), f"CASE {'WHEN l / i > 1 THEN l + 1 ' * 90} END"]
)
def test_conditions_that_are_too_large_are_refused(text: str) -> None:
    expression = resolved(text)
    assert isinstance(expression, Typed)
    with pytest.raises(NoExactFormError, match="more than 2000 parts"):
        try_expression(expression.expression)


STREAMS = """SET on_row_error = 'reject';
CREATE STREAM o (id INT, v INT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE)
WITH (connector = 'files', path = 'in', format = 'json');
CREATE STREAM r (v BIGINT, ts TIMESTAMP) WITH (connector = 'rate');
CREATE TABLE t (id INT PRIMARY KEY, v INT) WITH (connector = 'files', path = 't', format = 'json');
"""


NEAR = "b.ts BETWEEN a.ts AND a.ts + INTERVAL '1' MINUTE"


@pytest.mark.parametrize(
    "select",
    [
        "SELECT id, SUM(v) / COUNT(*) AS m FROM o GROUP BY id",
        "SELECT STREAM v % v AS m FROM r",
        "SELECT id, v % v AS m FROM t",
        f"SELECT STREAM a.v % b.v AS m FROM o AS a JOIN o AS b ON a.id = b.id AND {NEAR}",
        "SELECT STREAM v % v AS m FROM o UNION ALL SELECT STREAM 1 / v AS m FROM o",
        "SELECT STREAM SUM(v % v) OVER (PARTITION BY id ORDER BY ts RANGE INTERVAL '1' HOUR PRECEDING) AS m FROM o",
    ],
    ids=["groups", "no files", "table", "join", "read twice", "over"],
)
def test_what_can_fail_elsewhere_is_refused(select: str) -> None:
    with pytest.raises(penstock.CompileError) as refusal:
        penstock.compile(f"{STREAMS}{select};")
    (finding,) = refusal.value.diagnostics
    assert finding.code == "C015"
    assert finding.labels[0].span.text in select
    assert finding.hint
    penstock.compile(f"{STREAMS.replace('reject', 'fail')}{select};")
