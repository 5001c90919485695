"""OVER RANGE, case by case."""

from __future__ import annotations

from sqlglot import exp

from penstock.evaluator.evaluate import evaluate
from penstock.evaluator.typed_values import EPOCH, Types, Value, milliseconds
from penstock.planner.plan import Aggregate, Frame
from penstock.planner.types import BIGINT, STRING, TIMESTAMP
from tests.model import plans

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


def values(function: str, frame: Frame, *rows: tuple[int, int], arguments: tuple[int, ...] = ()) -> list[Value]:
    """What a function of v and more arguments gives for rows (time, value) of one partition."""
    values = [plans.column("v"), *(exp.Literal.number(each) for each in arguments)]
    asked = Aggregate("f", function, tuple(values), False, None, BIGINT)
    node = plans.over(plans.scan("a", TYPES), [(asked, frame)])
    table = [{"k": "x", "v": value, "time": EPOCH + milliseconds(time)} for time, value in rows]
    return [row["f"] for row in evaluate(node, {"a": table})]


AROUND = Frame(-10, 10)


def test_a_frame_may_lie_before_or_after_the_row() -> None:
    assert values("SUM", Frame(-10, -5), (0, 1), (5, 2), (12, 4), (20, 8)) == [None, 1, 2, 4]
    assert values("SUM", Frame(5, 10), (0, 1), (5, 2), (12, 4), (20, 8)) == [2, 4, 8, None]
    assert values("COUNT", Frame(-10, -5), (0, 1)) == [0]


def test_first_and_last_are_those_of_the_frame_and_peers_are_in_the_order_of_their_columns() -> None:
    assert values("FIRST", Frame(-5, 0), (0, 1), (5, 9), (5, 2), (11, 4)) == [1, 1, 1, 4]
    assert values("LAST", Frame(-5, 0), (0, 1), (5, 9), (5, 2), (11, 4)) == [1, 9, 9, 4]
    assert values("FIRST", Frame(0, 0), (5, 9), (5, 2)) == [2, 2]


def test_lag_and_lead_end_with_the_frame() -> None:
    rows = ((0, 1), (5, 9), (5, 2), (20, 4))
    assert values("LAG", Frame(-10, 0), *rows) == [None, 2, 1, None]
    assert values("LAG", Frame(-10, 0), *rows, arguments=(2, -1)) == [-1, 1, -1, -1]
    assert values("LEAD", Frame(0, 10), *rows) == [2, None, 9, None]


def test_places_are_those_in_the_frame() -> None:
    rows = ((0, 1), (5, 9), (5, 2), (7, 3), (20, 4))
    assert values("ROW_NUMBER", Frame(-5, 0), *rows) == [1, 3, 2, 3, 1]
    assert values("RANK", Frame(-10, 10), *rows) == [1, 2, 2, 4, 1]
    assert values("DENSE_RANK", Frame(-10, 0), *rows) == [1, 2, 2, 3, 1]


def test_of_several_extremes_the_least_or_the_greatest_value_counts() -> None:
    assert values("MIN_BY", AROUND, (0, 3), (3, 9), (5, 2), arguments=(7,)) == [2, 2, 2]
    assert values("MAX_BY", AROUND, (0, 1), (3, 9), (5, 2), arguments=(7,)) == [9, 9, 9]
