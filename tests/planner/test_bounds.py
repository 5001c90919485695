"""The bound of a plan holds for exactly the differences for which the conditions that were written are true."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import penstock
from penstock.diagnostics import Diagnostic
from penstock.planner.plan import IntervalJoin, TimeBound
from penstock.planner.plan.walk import walk

STREAMS = """
CREATE STREAM l (id BIGINT KEY, x INT, time TIMESTAMP, other TIMESTAMP, WATERMARK FOR time AS time - 1 MIN)
WITH (connector = 'files', path = 'data/l', format = 'json');
CREATE STREAM r (id BIGINT KEY, y INT, time TIMESTAMP, other TIMESTAMP, WATERMARK FOR time AS time - 1 MIN)
WITH (connector = 'files', path = 'data/r', format = 'json');
"""
COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    ">=": operator.ge,
    ">": operator.gt,
}
LENGTHS = {
    "MILLISECOND": 1,
    "SECOND": 1_000,
    "MINUTE": 60_000,
    "HOUR": 3_600_000,
    "DAY": 86_400_000,
    "WEEK": 604_800_000,
}


@dataclass(frozen=True, slots=True)
class Sum:
    """A text, and its value for the difference right.time - left.time when left.time is 0 (all in milliseconds)."""

    sql: str
    value: Callable[[int], int]

    def shifted(self, other: Sum, minus: bool) -> Sum:
        sign = -1 if minus else 1
        return Sum(f"{self.sql} {'-' if minus else '+'} {other.sql}", lambda d: self.value(d) + sign * other.value(d))


@dataclass(frozen=True, slots=True)
class Condition:
    """A text, and whether it is true for a difference."""

    sql: str
    holds: Callable[[int], bool]


LEFT, RIGHT = Sum("l.time", lambda d: 0), Sum("r.time", lambda d: d)


@st.composite
def interval(draw: st.DrawFn) -> Sum:
    unit = draw(st.sampled_from(sorted(LENGTHS)))
    quantity = draw(st.integers(0, 40))
    forms = (
        f"INTERVAL '{quantity}' {unit}",
        f"INTERVAL {quantity} {unit}S",
        f"{quantity} {unit}",
        f"'{quantity}' {unit}",
    )
    return Sum(draw(st.sampled_from(forms)), lambda d: quantity * LENGTHS[unit])


@st.composite
def shifted(draw: st.DrawFn, base: Sum) -> Sum:
    """`base` plus and minus intervals."""
    for _ in range(draw(st.integers(0, 2))):
        base = base.shifted(draw(interval()), minus=draw(st.booleans()))
    return Sum(f"({base.sql})", base.value) if draw(st.booleans()) else base


@st.composite
def sides(draw: st.DrawFn) -> tuple[Sum, Sum, Sum]:
    """What is compared, and two things that it can be compared with."""
    if draw(st.booleans()):
        first, second = (LEFT, RIGHT) if draw(st.booleans()) else (RIGHT, LEFT)
        return draw(shifted(first)), draw(shifted(second)), draw(shifted(second))
    first, second = (LEFT, RIGHT) if draw(st.booleans()) else (RIGHT, LEFT)
    return first.shifted(second, minus=True), draw(interval()), draw(interval())


@st.composite
def conjunct(draw: st.DrawFn) -> Condition:
    first, second, third = draw(sides())
    if draw(st.integers(0, 3)) == 0:
        between = f"{first.sql} BETWEEN {second.sql} AND {third.sql}"
        return Condition(between, lambda d: second.value(d) <= first.value(d) <= third.value(d))
    symbol = draw(st.sampled_from(sorted(COMPARISONS)))
    if draw(st.booleans()):
        first, second = second, first
    return Condition(
        f"{first.sql} {symbol} {second.sql}", lambda d: COMPARISONS[symbol](first.value(d), second.value(d))
    )


def join(condition: str) -> str:
    return f"{STREAMS}SELECT STREAM l.id, r.y FROM l JOIN r ON {condition}"


def bound(condition: str) -> TimeBound:
    """The bound that the planner finds in a condition."""
    (query,) = penstock.compile(join(condition)).queries
    return next(node for node in walk(query.root) if isinstance(node, IntervalJoin)).bound


def finding(condition: str) -> Diagnostic:
    """The finding for a join on a condition: the only one, or the first of several of one kind."""
    with pytest.raises(penstock.CompileError) as refusal:
        penstock.compile(join(condition))
    first, *others = refusal.value.diagnostics
    assert {other.code for other in others} <= {first.code}
    return first


def accepts(found: TimeBound, difference: int) -> bool:
    lower, upper = found.lower, found.upper
    above = difference > lower.milliseconds or (lower.closed and difference == lower.milliseconds)
    return above and (difference < upper.milliseconds or (upper.closed and difference == upper.milliseconds))


def ends(conditions: list[Condition]) -> list[int]:
    """The differences at which some condition changes, found by halving, and those beside them."""
    far = 500 * LENGTHS["WEEK"]
    found = [0]
    for condition in conditions:
        for start, stop in ((-far, 0), (0, far), (-far, far)):
            low, high = start, stop
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if condition.holds(middle) == condition.holds(start) else (low, middle)
            found.append(low)
    return sorted({each + step for each in found for step in (-1, 0, 1, 2)})


@settings(max_examples=400, deadline=None)
@given(st.lists(conjunct(), min_size=1, max_size=4), st.permutations(range(5)))
def test_the_bound_is_what_was_written(conditions: list[Condition], order: list[int]) -> None:
    texts = ["l.id = r.id", *(condition.sql for condition in conditions)]
    text = " AND ".join(texts[place] for place in order if place < len(texts))
    probes = ends(conditions)
    true = [difference for difference in probes if all(condition.holds(difference) for condition in conditions)]
    try:
        found = bound(text)
    except penstock.CompileError as refusal:
        (only,) = refusal.diagnostics
        if only.code == "J010":
            assert not true, text
        else:
            # A side without an end: some condition holds however far the times lie apart in that direction.
            assert only.code == "J002", (text, only)
            far = 1_000 * LENGTHS["WEEK"]
            assert any(all(c.holds(side * far) for c in conditions) for side in (-1, 1)) or not true, text
    else:
        assert [difference for difference in probes if accepts(found, difference)] == true, text


ONE_SIDED = [
    "r.time > l.time",
    "r.time >= l.time - 1 MIN",
    "l.time > r.time + 1 HOUR",
    "l.time + 5 MIN > r.time + 1 DAY",
    "r.time - l.time < INTERVAL '0' SECOND",
    "r.time - l.time >= INTERVAL '3' WEEK",
]


@pytest.mark.parametrize("condition", ONE_SIDED)
def test_the_missing_end_can_be_appended(condition: str) -> None:
    text = f"l.id = r.id AND {condition}"
    found = finding(text)
    assert found.code == "J002"
    assert found.hint is not None
    _, added = found.hint.split(": ", 1)
    assert added.startswith("AND ")
    bound(f"{text} {added}")


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        ("l.id = r.id", "J001"),
        ("l.id = r.id AND (l.id = 1 OR l.x = 2)", "J001"),
        ("l.id = r.id AND l.x < r.y", "J001"),
        ("l.id = r.id AND (r.time BETWEEN l.time AND l.time + 5 MIN OR l.x = 1)", "J003"),
        ("l.id = r.id AND r.other BETWEEN l.time AND l.time + 5 MIN", "J004"),
        ("l.id = r.id AND r.other BETWEEN l.other AND l.other + 5 MIN", "J004"),
        ("l.id = r.id AND r.time > CURRENT_TIMESTAMP() - 5 MIN", "J005"),
        ("l.id = r.id AND r.time BETWEEN l.time AND l.time + 1 MONTH", "J006"),
        ("l.id = r.id AND r.time > l.time AND r.time < l.time", "J010"),
        ("l.id = r.id AND r.time > l.time + INTERVAL '9999999999' WEEK AND r.time < l.time", "T010"),
        ("l.id = r.id AND l.time + r.time > l.time + l.time AND r.time < l.time + 1 MIN", "T002"),
    ],
)
def test_near_misses(condition: str, code: str) -> None:
    assert finding(condition).code == code


def test_the_example_of_a_join_without_a_bound_is_accepted() -> None:
    found = finding("l.id = r.id")
    assert found.hint is not None
    bound(found.hint.removeprefix("ON "))


def test_hints_quote_names_that_need_it() -> None:
    text = f"{STREAMS}SELECT STREAM `a b`.id FROM l AS `a b` JOIN r AS `select` ON `a b`.id = `select`.id"
    with pytest.raises(penstock.CompileError) as refusal:
        penstock.compile(text)
    (found,) = refusal.value.diagnostics
    assert found.hint is not None
    penstock.compile(text[: text.rindex("ON ")] + found.hint)
