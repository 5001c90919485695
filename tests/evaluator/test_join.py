"""The interval join's meaning, case by case."""

from __future__ import annotations

import pytest

from penstock.evaluator.evaluate import evaluate
from penstock.evaluator.typed_values import EPOCH, Row, Value, milliseconds
from penstock.planner.plan import JoinType, TimeBound
from penstock.planner.types import BIGINT, STRING, TIMESTAMP
from tests.model import plans


def at(key: str | None, *times: int) -> list[Row]:
    return [{"k": key, "v": time, "time": EPOCH + milliseconds(time)} for time in times]


def pairs(type_: JoinType, lefts: list[Row], rights: list[Row], bound: TimeBound) -> list[tuple[Value, ...]]:
    """The times of the pairs, NULL where padded."""
    types = {"k": STRING, "v": BIGINT, "time": TIMESTAMP}
    join = plans.interval_join(type_, plans.scan("a", types), plans.scan("b", types), bound)
    rows = evaluate(join, {"a": lefts, "b": rights})
    return sorted((tuple(row[name] for name in ("l.v", "r.v") if name in row) for row in rows), key=str)


@pytest.mark.parametrize(
    ("bound", "matched"),
    [
        (plans.bound(-2, 3), [8, 9, 12, 13]),
        (plans.bound(-2, 3, lower_closed=False), [9, 12, 13]),
        (plans.bound(-2, 3, upper_closed=False), [8, 9, 12]),
        (plans.bound(2, 2), [12]),
        (plans.bound(-2, -2), [8]),
        (plans.bound(2, 2, upper_closed=False), []),
        (plans.bound(3, -2), []),
    ],
)
def test_ends_of_the_bound_are_as_written(bound: TimeBound, matched: list[int]) -> None:
    rights = at("x", 7, 8, 9, 12, 13, 14)
    assert pairs(JoinType.INNER, at("x", 10), rights, bound) == sorted([(10, time) for time in matched], key=str)


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        (JoinType.INNER, [(1, 1), (1, 2)]),
        (JoinType.LEFT, [(1, 1), (1, 2), (9, None)]),
        (JoinType.RIGHT, [(1, 1), (1, 2), (None, 50)]),
        (JoinType.FULL, [(1, 1), (1, 2), (9, None), (None, 50)]),
        (JoinType.SEMI, [(1,)]),
        (JoinType.ANTI, [(9,)]),
    ],
)
def test_each_type_keeps_its_sides(type_: JoinType, expected: list[tuple[Value, ...]]) -> None:
    rows = pairs(type_, at("x", 1, 9), at("x", 1, 2, 50), plans.bound(0, 1))
    assert rows == sorted(expected, key=str)


def test_null_keys_match_nothing_and_are_padded() -> None:
    assert pairs(JoinType.FULL, at(None, 1), at(None, 1), plans.bound(0, 0)) == [(1, None), (None, 1)]
    assert pairs(JoinType.ANTI, at(None, 1), at(None, 1), plans.bound(0, 0)) == [(1,)]
    assert pairs(JoinType.INNER, at(None, 1), at(None, 1), plans.bound(0, 0)) == []


def test_equal_rows_are_as_many_rows() -> None:
    assert pairs(JoinType.INNER, at("x", 1, 1), at("x", 1, 1, 1), plans.bound(0, 0)) == [(1, 1)] * 6
    assert pairs(JoinType.SEMI, at("x", 1, 1), at("x", 1, 1, 1), plans.bound(0, 0)) == [(1,)] * 2
