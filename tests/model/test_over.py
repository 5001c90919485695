"""OVER RANGE, case by case."""

from __future__ import annotations

from penstock.planner.types import BIGINT, STRING, TIMESTAMP
from tests.model import plans
from tests.model.evaluate import evaluate
from tests.model.values import EPOCH, Types, milliseconds

TYPES: Types = {"k": STRING, "v": BIGINT, "time": TIMESTAMP}
TOTAL = plans.aggregate("total", "SUM", "v", BIGINT)


def totals(preceding: int, *rows: tuple[str | None, int, int], partition_by: tuple[str, ...] = ("k",)) -> list[int]:
    """The sums for rows (key, time, value)."""
    node = plans.over(plans.scan("a", TYPES), [(TOTAL, preceding)], partition_by)
    table = [{"k": key, "v": value, "time": EPOCH + milliseconds(time)} for key, time, value in rows]
    return [row["total"] for row in evaluate(node, {"a": table})]


def test_both_ends_and_all_peers_are_in_the_frame() -> None:
    assert totals(10, ("x", 0, 1), ("x", 10, 2), ("x", 10, 4), ("x", 11, 8)) == [1, 7, 7, 14]


def test_the_order_of_arrival_does_not_count() -> None:
    assert totals(10, ("x", 11, 8), ("x", 10, 2), ("x", 0, 1)) == [10, 3, 1]


def test_partitions_are_apart_and_null_is_one() -> None:
    assert totals(10, ("x", 0, 1), (None, 0, 2), (None, 1, 4)) == [1, 2, 6]
    assert totals(10, ("x", 0, 1), (None, 0, 2), partition_by=()) == [3, 3]


def test_a_frame_of_no_length_holds_the_peers() -> None:
    assert totals(0, ("x", 0, 1), ("x", 0, 2), ("x", 1, 4)) == [3, 3, 4]
