"""Estimates of state: the option `rate`, and sums over open windows against windows that are counted one by one."""

from __future__ import annotations

from math import ceil

import pytest

from penstock.codegen import write_job
from penstock.compilation import compile
from penstock.diagnostics import CompileError
from penstock.planner import state_text
from penstock.planner.explain.estimate_text import size_text
from penstock.planner.physical.open_windows import sum_growing_windows, sum_windows

ORDERS = """CREATE STREAM orders (id BIGINT, customer STRING, time TIMESTAMP, WATERMARK FOR time AS time - 10 SECONDS)
WITH (connector = 'files', path = 'orders', format = 'json'{rate});
"""
TUMBLE = "SELECT id, COUNT(*) AS n FROM orders GROUP BY id, TUMBLE(time, 1 MINUTE) EMIT FINAL;"


def estimates(sql: str) -> list[str]:
    """What EXPLAIN STATE says of the queries' rates."""
    compilation = compile(sql)
    lines = state_text(compilation.queries, compilation.settings).splitlines()
    return [line.strip() for line in lines if "estimate: " in line]


def test_the_rate_decides_the_estimate() -> None:
    assert estimates(ORDERS.format(rate="") + TUMBLE) == []
    for rate, told in (
        (1, "71 rows, 16 kB at 1 row per second"),
        (5000, "360,000 rows, 76 MB at 5,000 rows per second"),
    ):
        (line,) = estimates(ORDERS.format(rate=f", rate = {rate}") + TUMBLE)
        assert line == f"estimate: at most {told} of orders"


@pytest.mark.parametrize("value", ["0", "-1", "'many'", "1.5", "TRUE"])
def test_a_rate_is_a_positive_number(value: str) -> None:
    with pytest.raises(CompileError, match=r"C003: rate takes a number from 1 to 999999999|S001"):
        compile(ORDERS.format(rate=f", rate = {value}") + TUMBLE)


def test_generated_rows_have_the_rate_at_which_they_are_generated() -> None:
    ticks = "CREATE STREAM orders (id BIGINT, time TIMESTAMP, WATERMARK FOR time AS time - 10 SECONDS) WITH ({});"
    (line,) = estimates(ticks.format("connector = 'rate', rows_per_second = 30") + TUMBLE)
    assert line.endswith("at 30 rows per second of orders")
    with pytest.raises(CompileError, match="C002: connector rate has no option rate"):
        compile(ticks.format("connector = 'rate', rate = 30") + TUMBLE)


def test_neither_checkpoints_nor_programs_depend_on_a_rate() -> None:
    scripts = [ORDERS.format(rate=rate) + TUMBLE for rate in ("", ", rate = 7", ", rate = 8")]
    assert len({compile(sql).program.queries[0].fingerprint for sql in scripts}) == 1
    first, *others = (write_job(compile(sql).program) for sql in scripts)
    assert all(set(first) == set(each) for each in others)
    assert all(first[name] == each[name] for each in others for name in first if name != "job.py")


def test_rows_of_chained_queries_have_no_rate() -> None:
    sql = ORDERS.format(rate=", rate = 7") + (
        "CREATE STREAM counts AS SELECT STREAM * FROM (SELECT id, COUNT(*) AS n, window_end FROM orders "
        "GROUP BY id, TUMBLE(time, 1 MINUTE) EMIT FINAL);"
        "SELECT n, COUNT(*) AS c FROM counts GROUP BY n, TUMBLE(window_end, 1 HOUR) EMIT FINAL;"
    )
    assert (
        estimates(sql)[-1] == "no estimate: how many rows come out of a window aggregation does not follow from rates"
    )


@pytest.mark.parametrize("lag", [1, 7, 60, 150])
@pytest.mark.parametrize(("length", "step"), [(60, 60), (60, 20), (70, 20), (10, 1)])
def test_open_windows_add_up_to_what_they_hold_one_by_one(length: int, step: int, lag: int) -> None:
    end = 100 * length
    newest = end + lag  # right before the window closes that ends at `end`
    starts = [end - length + number * step for number in range(newest)]
    assert sum_windows(length, step, lag) == sum(max(min(newest - start, length), 0) for start in starts)
    begin, own = length // 3, step // 2
    held = [max(min(newest - start - begin, own), 0) for start in starts]
    assert sum_windows(length, step, lag, begin=begin, own=own) == sum(held)


@pytest.mark.parametrize("lag", [1, 7, 60, 150])
@pytest.mark.parametrize(("size", "step"), [(60, 60), (60, 20), (70, 10), (10, 1)])
def test_growing_windows_add_up_to_what_they_hold_one_by_one(size: int, step: int, lag: int) -> None:
    def held(watermark: int) -> int:
        newest = watermark + lag
        ends = range(step, 2 * newest + 2 * size, step)
        starts = {end: (ceil(end / size) - 1) * size for end in ends if end >= watermark}
        return sum(max(min(end, newest) - start, 0) for end, start in starts.items())

    assert sum_growing_windows(size, step, lag) == max(held(watermark) for watermark in range(step, 2 * size + 1, step))


def test_sizes_have_two_digits() -> None:
    assert [size_text(each) for each in (0, 7, 996, 1_049, 99_900, 5e15)] == [
        *("0 B", "7 B", "1.0 kB", "1.0 kB", "100 kB", "5.0 PB"),
    ]
    assert [size_text(each, at_most=True) for each in (990, 991, 1_049, 9.85e6)] == [
        "990 B",
        "1.0 kB",
        "1.1 kB",
        "9.9 MB",
    ]
