"""Time-bounded joins, run on Spark."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.planner.plan import BoundEnd, JoinType
from tests.codegen.plans import MINUTE, joined, query, scan, where
from tests.codegen.running import Running, at

pytestmark = pytest.mark.spark

FROM_NOW, FOR_FIVE = BoundEnd(0, False), BoundEnd(5 * MINUTE, True)


def row(id_: str, k: str | None, minute: float, v: int = 0) -> dict[str, object]:
    return {"id": id_, "k": k, "time": at(minute), "v": v}


def pairs(running: Running) -> list[tuple[object, ...]]:
    """The ids of left and right, where they are in the result."""
    names = [name for name, _ in running.query.output.columns]
    places = [names.index(name) for name in ("l.id", "r.id") if name in names]
    return sorted((tuple(each[place] for place in places) for each in running.rows), key=repr)


Pair = tuple[str | None, ...]

MATCHED: list[Pair] = [("o1", "p1"), ("o1", "p2")]
LEFT_ALONE: list[Pair] = [("o2", None), ("o3", None), ("o4", None), ("oN", None)]
RIGHT_ALONE: list[Pair] = [(None, "p3"), (None, "p4"), (None, "p5"), (None, "pN")]
EXPECTED: dict[JoinType, list[Pair]] = {
    JoinType.INNER: MATCHED,
    JoinType.LEFT: MATCHED + LEFT_ALONE,
    JoinType.RIGHT: MATCHED + RIGHT_ALONE,
    JoinType.FULL: MATCHED + LEFT_ALONE + RIGHT_ALONE,
    JoinType.SEMI: [("o1",)],
    JoinType.ANTI: [("o2",), ("o3",), ("o4",), ("oN",)],
}


@pytest.mark.parametrize("type_", JoinType)
def test_every_type_of_join(spark: SparkSession, tmp_path: Path, type_: JoinType) -> None:
    plan = joined(type_, scan("o"), scan("p"), lower=FROM_NOW, upper=FOR_FIVE, residual="l.v <= r.v")
    running = Running(spark, query(plan), tmp_path)
    # o1 matches up to the closed end of the bound, not at its open one; o2 fails the residual; o3 is alone.
    running.push(
        o=[row("o1", "a", 10), row("o2", "b", 10, 9), row("oN", None, 10), row("o3", "c", 20)],
        p=[row("p3", "a", 10), row("p1", "a", 15), row("p4", "b", 11), row("pN", None, 11), row("p5", "c", 26)],
    )
    # The watermark is 20 - 5: rows of that very time are not late, and o1 still waits for them.
    running.push(o=[row("late", "a", 14.9), row("o4", "d", 16)], p=[row("p2", "a", 15), row("late", "d", 14.9)])
    running.drain()
    assert pairs(running) == sorted(EXPECTED[type_], key=repr)
    assert running.dropped == 0
    intake = {
        "in:o": 6,
        "late:o": 1,
        "rejected:o": 0,
        "used:o": 5,
        "in:p": 7,
        "late:p": 1,
        "rejected:p": 0,
        "used:p": 6,
    }
    assert running.counts == intake


def test_a_bound_before_and_after(spark: SparkSession, tmp_path: Path) -> None:
    plan = joined(JoinType.LEFT, scan("o"), scan("p"), lower=BoundEnd(-MINUTE, True), upper=BoundEnd(90_000, False))
    running = Running(spark, query(plan), tmp_path)
    running.push(o=[row("o1", "a", 10), row("o2", "a", 13)], p=[row("p1", "a", 9), row("p2", "a", 11.5)])
    running.push(p=[row("p3", "a", 11.49)], o=[row("o3", "a", 10.5)])
    running.drain()
    assert pairs(running) == [("o1", "p1"), ("o1", "p3"), ("o2", None), ("o3", "p2"), ("o3", "p3")]


def test_unmatched_rows_come_when_no_match_can_come(spark: SparkSession, tmp_path: Path) -> None:
    plan = joined(JoinType.LEFT, scan("o"), scan("p"), lower=FROM_NOW, upper=FOR_FIVE)
    running = Running(spark, query(plan), tmp_path)
    assert running.push(o=[row("o1", "a", 0)], p=[row("p1", "b", 0)]) == []
    assert running.push(o=[row("o2", "a", 9)], p=[row("p2", "b", 9)]) == []
    running.push(o=[row("o3", "a", 12)], p=[row("p3", "b", 12)])
    assert pairs(running) == [("o1", None)]
    running.drain()
    assert pairs(running) == [("o1", None), ("o2", None), ("o3", None)]


def test_a_stream_joined_with_itself_is_read_and_counted_once(spark: SparkSession, tmp_path: Path) -> None:
    orders = scan()
    plan = joined(JoinType.INNER, where(orders, "v > 0"), where(orders, "v < 3"), lower=FROM_NOW, upper=FOR_FIVE)
    running = Running(spark, query(plan), tmp_path)
    running.push(orders=[row("1", "a", 10, 1), row("2", "a", 12, 2), row("3", "a", 14, 9), row("4", "a", 13, 0)])
    running.push(orders=[row("5", "a", 9.5, 1), row("late", "a", 8.9, 1), row("6", "a", 14, -1)])
    running.drain()
    assert pairs(running) == [
        ("1", "2"), ("1", "4"), ("1", "6"), ("2", "4"), ("2", "6"), ("5", "1"), ("5", "2"), ("5", "4"), ("5", "6"),
    ]  # fmt: skip
    # Each row passes one of the two filters.
    assert running.counts == {
        "in:orders": 7,
        "rejected:orders": 0,
        "late:orders": 1,
        "used:orders": 6,
        "filtered:orders": 0,
    }
    assert running.dropped == 0
    assert len(running.query.inputs) == 1
