"""Bounds in other forms: a join has exactly the pairs for which what was written is true."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import penstock
from penstock.evaluator.row_pairs import matches
from penstock.planner.plan import IntervalJoin
from penstock.planner.plan.walk import walk
from tests.planner.test_bounds import COMPARISONS, bound, finding, join

EPOCH = datetime(1970, 1, 1)
UNITS = {"SECOND": 10**6, "MINUTE": 60 * 10**6, "HOUR": 3600 * 10**6, "DAY": 86400 * 10**6}
COUNTED = {"UNIX_MICROS": 1, "UNIX_MILLIS": 1000, "UNIX_SECONDS": 10**6, "UNIX_TIMESTAMP": 10**6}
BESIDE = "r.time BETWEEN l.time - INTERVAL '400' DAY AND l.time + INTERVAL '400' DAY"


@dataclass(frozen=True, slots=True)
class Value:
    """A text, and its value for two times in microseconds: a number, or microseconds."""

    sql: str
    at: Callable[[int, int], int]


@dataclass(frozen=True, slots=True)
class Condition:
    """A text, and whether it is true for two times in microseconds."""

    sql: str
    holds: Callable[[int, int], bool]


LEFT, RIGHT = Value("l.time", lambda left, right: left), Value("r.time", lambda left, right: right)


def constant(sql: str, value: int) -> Value:
    return Value(sql, lambda left, right: value)


def cut(value: Value, size: int, sql: str, count: bool = True) -> Value:
    """Whole units of a time, or the time at which the last one began."""
    return Value(sql, lambda left, right: value.at(left, right) // size * (1 if count else size))


def minus(one: Value, other: Value) -> Value:
    return Value(f"{one.sql} - {other.sql}", lambda left, right: one.at(left, right) - other.at(left, right))


def divide(value: Value, size: int) -> Value:
    """As DIV does: without the fraction, towards zero."""

    def at(left: int, right: int) -> int:
        whole = abs(value.at(left, right)) // size
        return whole if value.at(left, right) >= 0 else -whole

    return Value(f"({value.sql}) DIV {size}", at)


@st.composite
def differences(draw: st.DrawFn) -> tuple[Value, int]:
    """A difference of both times in some form, and how many microseconds one of its units is: 0 of an interval."""
    first, second = draw(st.sampled_from([(LEFT, RIGHT), (RIGHT, LEFT)]))
    form = draw(st.sampled_from([*COUNTED, "DIV", "DATEDIFF", "TIMES", "TIMES"]))
    match form:
        case "TIMES":
            return minus(first, second), 0
        case "DIV":
            size = draw(st.sampled_from(sorted(UNITS.values())))
            micros = minus(*(cut(each, 1, f"UNIX_MICROS({each.sql})") for each in (first, second)))
            return divide(micros, size), size
        case "DATEDIFF":
            days = minus(*(cut(each, UNITS["DAY"], "") for each in (first, second)))
            return Value(f"DATEDIFF(CAST({first.sql} AS DATE), TO_DATE({second.sql}))", days.at), UNITS["DAY"]
        case _:
            size = COUNTED[form]
            return minus(*(cut(each, size, f"{form}({each.sql})") for each in (first, second))), size


@st.composite
def limits(draw: st.DrawFn, size: int) -> Value:
    """A constant to compare a difference with."""
    count = draw(st.integers(-3, 3))
    if size == 0:
        unit = draw(st.sampled_from(sorted(UNITS)))
        return constant(f"INTERVAL '{count}' {unit}", count * UNITS[unit])
    if draw(st.booleans()):
        return constant(f"{count}", count)
    return constant(f"{count} * 60", count * 60)


@st.composite
def comparisons(draw: st.DrawFn) -> Condition:
    value, size = draw(differences())
    symbol = draw(st.sampled_from(sorted(COMPARISONS)))
    limit, other = draw(limits(size)), draw(limits(size))
    compare = COMPARISONS[symbol]
    match draw(st.sampled_from(["plain", "flipped", "between", "in", "abs"])):
        case "flipped":
            return Condition(f"{limit.sql} {symbol} {value.sql}", lambda a, b: compare(limit.at(a, b), value.at(a, b)))
        case "between":
            text = f"{value.sql} BETWEEN {limit.sql} AND {other.sql}"
            return Condition(text, lambda a, b: limit.at(a, b) <= value.at(a, b) <= other.at(a, b))
        case "in":
            text = f"{value.sql} IN ({limit.sql}, {other.sql})"
            return Condition(text, lambda a, b: value.at(a, b) in (limit.at(a, b), other.at(a, b)))
        case "abs":
            text = f"ABS({value.sql}) {symbol} {limit.sql}"
            return Condition(text, lambda a, b: compare(abs(value.at(a, b)), limit.at(a, b)))
        case _:
            return Condition(f"{value.sql} {symbol} {limit.sql}", lambda a, b: compare(value.at(a, b), limit.at(a, b)))


@st.composite
def truncated(draw: st.DrawFn) -> Condition:
    """Two times that are cut off, compared."""
    unit = draw(st.sampled_from(sorted(UNITS)))
    size = UNITS[unit]
    forms = [lambda text: f"DATE_TRUNC('{unit}', {text})"]
    if unit == "DAY":
        forms += [lambda text: f"CAST({text} AS DATE)", lambda text: f"TO_DATE({text})"]
    form = draw(st.sampled_from(forms))
    one, other = (cut(each, size, form(each.sql), count=False) for each in (LEFT, RIGHT))
    symbol = draw(st.sampled_from(["=", "=", "<", ">="]))
    return Condition(f"{one.sql} {symbol} {other.sql}", lambda a, b: COMPARISONS[symbol](one.at(a, b), other.at(a, b)))


def join_conditions(word: str, conditions: list[Condition]) -> Condition:
    every = all if word == "AND" else any
    text = f" {word} ".join(f"({each.sql})" for each in conditions)
    return Condition(text, lambda a, b: every(each.holds(a, b) for each in conditions))


def negate(condition: Condition) -> Condition:
    return Condition(f"NOT ({condition.sql})", lambda a, b: not condition.holds(a, b))


CONDITIONS = st.recursive(
    st.one_of(comparisons(), truncated()),
    lambda inner: st.one_of(
        inner.map(negate),
        st.builds(join_conditions, st.sampled_from(["AND", "OR"]), st.lists(inner, min_size=2, max_size=3)),
    ),
    max_leaves=4,
)
TIMES = st.builds(
    lambda day, part, rest: day * UNITS["DAY"] + part + rest,
    st.integers(-2, 2),
    st.sampled_from([0, *UNITS.values(), 3 * UNITS["HOUR"], 60 * UNITS["SECOND"]]),
    st.sampled_from([-1001, -1000, -1, 0, 0, 0, 1, 500, 999, 1000, 1001]),
)


def find_join(condition: str) -> IntervalJoin:
    (query,) = penstock.compile(join(condition)).queries
    return next(node for node in walk(query.root) if isinstance(node, IntervalJoin))


@settings(max_examples=100, deadline=None)
@given(CONDITIONS, st.lists(st.tuples(TIMES, TIMES), min_size=8, max_size=20))
def test_pairs(condition: Condition, pairs: list[tuple[int, int]]) -> None:
    text = f"l.id = r.id AND {BESIDE} AND ({condition.sql})"
    expected = {pair for pair in pairs if condition.holds(*pair)}
    try:
        node = find_join(text)
    except penstock.CompileError as refusal:
        codes = {each.code for each in refusal.diagnostics}
        node = None
    if node is None:
        assert (codes, expected) == ({"J010"}, set()), text
        return
    for pair in pairs:
        left, right = (EPOCH + timedelta(microseconds=time) for time in pair)
        rows = ({"l.id": 1, "l.time": left}, {"r.id": 1, "r.time": right, "r.y": 0})
        assert matches(node, *rows) == (pair in expected), (text, pair)


PLAIN = [
    ("NOT r.time < l.time AND NOT r.time > l.time + 1 HOUR", "r.time BETWEEN l.time AND l.time + 1 HOUR"),
    ("NOT (r.time < l.time OR r.time > l.time + 1 HOUR)", "r.time BETWEEN l.time AND l.time + 1 HOUR"),
    ("NOT (r.time NOT BETWEEN l.time AND l.time + 1 HOUR)", "r.time BETWEEN l.time AND l.time + 1 HOUR"),
    ("r.time IN (l.time + 1 HOUR)", "r.time = l.time + 1 HOUR"),
    ("ABS(l.time - r.time) < 5 MIN", "r.time > l.time - 5 MIN AND r.time < l.time + 5 MIN"),
    (
        "ABS(UNIX_MICROS(l.time) - UNIX_MICROS(r.time)) <= 60 * 1000000",
        "r.time <= l.time + 1 MIN AND l.time <= r.time + 1 MIN",
    ),
    (
        "(UNIX_MICROS(r.time) - UNIX_MICROS(l.time)) DIV 1000000 BETWEEN 0 AND 9",
        "r.time > l.time - 1 SECOND AND r.time < l.time + 10 SECOND",
    ),
    ("r.time BETWEEN l.time + 1 HOUR AND l.time OR r.time = l.time", "r.time = l.time"),
]


@pytest.mark.parametrize(("condition", "plain"), PLAIN)
def test_nothing_is_left_beside_an_exact_bound(condition: str, plain: str) -> None:
    found = find_join(f"l.id = r.id AND ({condition})")
    assert found.bound == bound(f"l.id = r.id AND {plain}")
    assert found.residual is None


WIDER = [
    (
        "UNIX_SECONDS(r.time) - UNIX_SECONDS(l.time) BETWEEN 0 AND 5",
        "r.time > l.time - 1 SECOND AND r.time < l.time + 6 SECOND",
    ),
    ("UNIX_MICROS(r.time) - UNIX_MICROS(l.time) BETWEEN 1 AND 1001", "r.time > l.time AND r.time < l.time + 2 MS"),
    ("r.time IN (l.time, l.time + 1 HOUR)", "r.time BETWEEN l.time AND l.time + 1 HOUR"),
    ("r.time = l.time OR r.time = l.time - 1 DAY AND l.x = 1", "r.time BETWEEN l.time - 1 DAY AND l.time"),
    (
        "TRUNC(CAST(r.time AS DATE), 'MONTH') >= TRUNC(TO_DATE(l.time), 'MONTH') AND r.time <= l.time",
        "r.time > l.time - 32 DAY AND r.time <= l.time",
    ),
]


@pytest.mark.parametrize(("condition", "plain"), WIDER)
def test_a_condition_that_says_more_than_its_bound_stays(condition: str, plain: str) -> None:
    found = find_join(f"l.id = r.id AND ({condition})")
    assert found.bound == bound(f"l.id = r.id AND {plain}")
    assert found.residual is not None


def test_times_that_are_cut_off_are_a_key() -> None:
    found = find_join("l.id = r.id AND DATE_TRUNC('HOUR', r.time) = DATE_TRUNC('HOUR', l.time)")
    assert found.bound == bound("l.id = r.id AND r.time > l.time - 1 HOUR AND r.time < l.time + 1 HOUR")
    assert len(found.equalities) == 2
    assert found.residual is None


def test_quotients_are_rounded() -> None:
    found = find_join("l.id = r.id AND ABS((UNIX_SECONDS(r.time) - UNIX_SECONDS(l.time)) / 60) <= 5")
    assert 301_000 < found.bound.upper.milliseconds < 301_010
    assert found.bound.lower.milliseconds == -found.bound.upper.milliseconds


REFUSED = [
    ("ABS(l.time - r.time) < INTERVAL '0' SECOND", "J010"),
    ("ABS(l.time - r.time) > 1 HOUR", "J006"),
    ("r.time <> l.time", "J006"),
    ("r.time NOT BETWEEN l.time AND l.time + 1 HOUR", "J006"),
    ("r.time < l.time OR r.time > l.time + 1 HOUR", "J003"),
    ("r.time < l.time + 1 HOUR OR l.x = 1", "J003"),
    ("UNIX_SECONDS(r.time) - UNIX_SECONDS(l.time) < 5", "J002"),
    ("UNIX_SECONDS(r.time) * UNIX_SECONDS(l.time) < 5", "J006"),
    ("UNIX_SECONDS(r.time) - UNIX_SECONDS(l.time) BETWEEN 0 AND l.x", "J006"),
    ("DATE_TRUNC('HOUR', r.time) = l.time + r.y * INTERVAL '1' HOUR", "J006"),
]


@pytest.mark.parametrize(("condition", "code"), REFUSED)
def test_no_bound_follows(condition: str, code: str) -> None:
    assert finding(f"l.id = r.id AND ({condition})").code == code
