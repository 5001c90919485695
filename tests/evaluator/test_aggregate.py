"""Windows, groups and aggregate functions, case by case."""

from __future__ import annotations

from decimal import Decimal

import pytest

from penstock.evaluator.evaluate import evaluate
from penstock.evaluator.row_groups import aggregate, windows_of
from penstock.evaluator.typed_values import EPOCH, QueryFailure, Row, Types, Unsupported, Value, milliseconds
from penstock.planner.plan import Cumulate, Hop, SessionWindow, Tumble, Window
from penstock.planner.types import BIGINT, BOOLEAN, DOUBLE, STRING, TIMESTAMP
from penstock.planner.types import Decimal as DecimalType
from tests.model import plans
from tests.model.rows import assert_same_rows

TYPES: Types = {"k": STRING, "v": BIGINT, "price": DecimalType(10, 2), "time": TIMESTAMP}


def offsets(window: Tumble | Hop | Cumulate, time: int) -> list[tuple[int, int]]:
    return [
        ((start - EPOCH) // milliseconds(1), (end - EPOCH) // milliseconds(1))
        for start, end in windows_of(window, EPOCH + milliseconds(time))
    ]


def test_windows_start_at_multiples_since_the_epoch_and_before_it() -> None:
    assert offsets(Tumble(10), 0) == [(0, 10)]
    assert offsets(Tumble(10), 9) == [(0, 10)]
    assert offsets(Tumble(10), -1) == [(-10, 0)]
    assert offsets(Hop(5, 10), 12) == [(5, 15), (10, 20)]
    assert offsets(Hop(5, 10), -12) == [(-20, -10), (-15, -5)]


def test_a_slide_need_not_divide_the_size() -> None:
    assert offsets(Hop(4, 10), 9) == [(0, 10), (4, 14), (8, 18)]
    assert offsets(Hop(4, 10), 10) == [(4, 14), (8, 18)]


def test_cumulating_windows_grow_from_one_start() -> None:
    assert offsets(Cumulate(5, 15), 7) == [(0, 10), (0, 15)]
    assert offsets(Cumulate(5, 15), 5) == [(0, 10), (0, 15)]
    assert offsets(Cumulate(5, 15), 29) == [(15, 30)]


def grouped(window: Window, rows: list[Row]) -> list[tuple[Value, ...]]:
    count = plans.aggregate("n", "COUNT", None, BIGINT)
    node = plans.window_aggregate(plans.scan("a", TYPES), window, (count,))
    result = evaluate(node, {"a": rows})
    return [
        (row["k"], *((row[end] - EPOCH) // milliseconds(1) for end in ("window_start", "window_end")), row["n"])
        for row in result
    ]


def at(key: str | None, *times: int) -> list[Row]:
    return [{"k": key, "v": None, "price": None, "time": EPOCH + milliseconds(time)} for time in times]


def test_a_gap_exactly_as_long_joins_the_session() -> None:
    assert grouped(SessionWindow(5), at("x", 10, 0, 5)) == [("x", 0, 15, 3)]
    assert grouped(SessionWindow(5), at("x", 0, 6)) == [("x", 0, 5, 1), ("x", 6, 11, 1)]


def test_null_is_a_key_like_others() -> None:
    assert grouped(Tumble(10), at(None, 1, 2) + at("x", 1)) == [(None, 0, 10, 2), ("x", 0, 10, 1)]


def test_grouping_without_keys_has_one_row_also_over_nothing() -> None:
    node = plans.group_aggregate(plans.scan("a", TYPES), plans.standard_aggregates(), keys=())
    (row,) = evaluate(node, {"a": []})
    assert (row["n"], row["known"], row["total"], row["mean_price"]) == (0, 0, None, None)
    assert evaluate(plans.group_aggregate(plans.scan("a", TYPES), ()), {"a": []}) == []


def value(function: str, type_: Value, *values: Value, distinct: bool = False) -> Value:
    rows = [{"v": each} for each in values]
    return aggregate(plans.aggregate("x", function, "v", type_, distinct), rows, {"v": type_})


def test_null_does_not_count() -> None:
    assert value("COUNT", BIGINT, 1, None, 1) == 2
    assert value("COUNT", BIGINT, 1, None, 1, distinct=True) == 1
    assert value("SUM", BIGINT, 1, None, 1) == 2
    assert value("SUM", BIGINT, None) is None
    assert value("AVG", DOUBLE, 1, None, 2) == 1.5
    assert value("MIN", STRING, "b", None, "a") == "a"
    assert value("BOOL_OR", BOOLEAN, None, False) is False
    assert value("COUNT_IF", BOOLEAN, True, None, False) == 1
    assert value("STDDEV", DOUBLE, 1.0) is None


def test_decimals_are_exact_and_rounded_half_up_once() -> None:
    assert str(value("AVG", DecimalType(14, 6), Decimal("0.01"), Decimal("0.00"), Decimal("0.00"))) == "0.003333"
    assert str(value("AVG", DecimalType(14, 2), Decimal("0.01"), Decimal("0.02"))) == "0.02"
    assert str(value("SUM", DecimalType(20, 2), *[Decimal("0.10")] * 3)) == "0.30"


def test_a_sum_that_overflows_fails() -> None:
    with pytest.raises(QueryFailure, match="overflows BIGINT"):
        value("SUM", BIGINT, 2**63 - 1, 1)


def test_an_unknown_aggregate_is_not_guessed() -> None:
    with pytest.raises(Unsupported, match="MEDIAN"):
        value("MEDIAN", BIGINT, 1)


def test_grouping_sets_are_one_grouping_each() -> None:
    scan, count = plans.scan("a", TYPES), plans.aggregate("n", "COUNT", None, BIGINT)
    rows = [*at("x", 1, 2, 11), *at(None, 3)]
    both = plans.grouping_sets(scan, ("k", "v"), [("k",), ()])
    together = evaluate(plans.window_aggregate(both, Tumble(10), (count,), ("set_k", "set_v", "set_id")), {"a": rows})
    by_key = evaluate(plans.window_aggregate(scan, Tumble(10), (count,), ("k",)), {"a": rows})
    totals = evaluate(plans.window_aggregate(scan, Tumble(10), (count,), ()), {"a": rows})
    apart = [
        *({"set_k": row.pop("k"), "set_v": None, "set_id": 1, **row} for row in by_key),
        *({"set_k": None, "set_v": None, "set_id": 3, **row} for row in totals),
    ]
    assert_same_rows(together, apart)
