"""Windowed and unwindowed grouping, run on Spark."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.codegen.sql.aggregate_views import aggregate_call
from penstock.codegen.sql.printing import print_inline
from penstock.codegen.sql.trees import call, column, struct
from penstock.planner.lower.grouping_sets import expand_grouping_sets
from penstock.planner.plan import Aggregate, Emission, Expression, Hop, SessionWindow, Tumble
from penstock.planner.types import BIGINT, DOUBLE, STRING, Decimal, Type
from tests.codegen.plans import MINUTE, aggregate, expression, grouped, item, query, scan, where, windowed
from tests.codegen.running import Running, at

pytestmark = pytest.mark.spark

K = item("k", "k", STRING)


def row(id_: str, k: str | None, minute: float, v: int | None) -> dict[str, object]:
    return {"id": id_, "k": k, "time": at(minute), "v": v}


def test_final_rows_of_tumbling_windows_come_once(spark: SparkSession, tmp_path: Path) -> None:
    count, total = aggregate("n", "COUNT"), aggregate("total", "SUM", "v", condition="v > 1")
    running = Running(spark, query(windowed(scan(), Tumble(10 * MINUTE), count, total, keys=[K])), tmp_path)
    assert running.push(orders=[row("1", "a", 0, 1), row("2", None, 9.9, 2), row("3", "a", 12, 4)]) == []
    # The watermark is 12 - 5: a row of minute 7 is in time, one of minute 6.9 is not.
    assert running.push(orders=[row("4", "a", 7, 8), row("5", "a", 6.9, 16)]) == []
    assert running.push(orders=[row("6", "b", 15, 32)]) == [("a", 0.0, 10.0, 2, 8), (None, 0.0, 10.0, 1, 2)]
    assert running.drain() == [("a", 10.0, 20.0, 1, 4), ("b", 10.0, 20.0, 1, 32)]
    assert running.counts == {"in:orders": 6, "rejected:orders": 0, "late:orders": 1, "used:orders": 5}
    assert running.dropped == 0


def test_changing_rows_come_at_every_change(spark: SparkSession, tmp_path: Path) -> None:
    window = windowed(
        scan(), Hop(5 * MINUTE, 10 * MINUTE), aggregate("n", "COUNT"), keys=[K], emission=Emission.CHANGES
    )
    running = Running(spark, query(window, emission=Emission.CHANGES, key=("k", "window_start")), tmp_path)
    assert running.push(orders=[row("1", "a", 7, 1)]) == [("a", 0.0, 10.0, 1), ("a", 5.0, 15.0, 1)]
    assert running.push(orders=[row("2", "a", 3, 1)]) == [("a", -5.0, 5.0, 1), ("a", 0.0, 10.0, 2)]
    assert running.drain() == []
    assert running.query.mode == "update"
    assert running.dropped == 0


def test_grace_is_added_to_the_delay(spark: SparkSession, tmp_path: Path) -> None:
    window = windowed(scan(), Tumble(10 * MINUTE), aggregate("n", "COUNT"), keys=[K], grace=10 * MINUTE)
    running = Running(spark, query(window), tmp_path)
    assert running.push(orders=[row("1", "a", 0, 1), row("2", "a", 16, 1)]) == []
    assert running.push(orders=[row("3", "a", 2, 1)]) == []
    assert running.push(orders=[row("4", "a", 25, 1)]) == [("a", 0.0, 10.0, 2)]
    assert running.counts["late:orders"] == 0


def test_a_session_holds_rows_up_to_and_with_the_gap(spark: SparkSession, tmp_path: Path) -> None:
    running = Running(
        spark, query(windowed(scan(), SessionWindow(5 * MINUTE), aggregate("n", "COUNT"), keys=[K])), tmp_path
    )
    rows = [row("1", "a", 0, 1), row("2", "a", 5, 1), row("3", "a", 10.1, 1), row("4", "b", 0, 1), row("5", None, 3, 1)]
    assert running.push(orders=rows) == [("b", 0.0, 5.0, 1)]
    assert running.drain() == [("a", 0.0, 10.0, 2), ("a", 10.1, 15.1, 1), (None, 3.0, 8.0, 1)]
    assert running.dropped == 0


def test_a_row_at_the_gap_joins_the_session_when_the_watermark_is_there(spark: SparkSession, tmp_path: Path) -> None:
    running = Running(
        spark, query(windowed(scan(), SessionWindow(5 * MINUTE), aggregate("n", "COUNT"), keys=[K])), tmp_path
    )
    assert running.push(orders=[row("1", "a", 0, 1), row("2", "b", 10, 1)]) == []
    # The watermark is 5, so this row is in time, and it is 5 minutes after the first.
    assert running.push(orders=[row("3", "a", 5, 1)]) == []
    assert running.drain() == [("a", 0.0, 10.0, 2), ("b", 10.0, 15.0, 1)]


def test_a_table_is_updated_for_ever_and_takes_late_rows(spark: SparkSession, tmp_path: Path) -> None:
    table = grouped(where(scan(), "v > 0"), aggregate("total", "SUM", "v"), keys=[K])
    running = Running(spark, query(table, emission=Emission.CHANGES, key=("k",)), tmp_path)
    assert running.push(orders=[row("1", "a", 60, 1), row("2", None, 61, 2)]) == [("a", 1), (None, 2)]
    assert running.push(orders=[row("3", "a", 0, 4), row("4", "b", 0, 0)]) == [("a", 5)]
    assert running.counts == {"in:orders": 4, "rejected:orders": 0, "filtered:orders": 1, "used:orders": 3}


def test_a_number_as_key_is_no_position(spark: SparkSession, tmp_path: Path) -> None:
    table = grouped(scan(), aggregate("n", "COUNT"), keys=[item("one", "1", STRING), K])
    running = Running(spark, query(table, emission=Emission.CHANGES, key=("one", "k")), tmp_path)
    assert running.push(orders=[row("1", "a", 0, 1), row("2", "b", 0, 2)]) == [(1, "a", 1), (1, "b", 1)]


# Rows with v = 0, 1 and more give 0, -0 and NaN: two values.
FLOATS = expression(
    "CASE v WHEN 0 THEN CAST('0' AS DOUBLE) WHEN 1 THEN CAST('-0' AS DOUBLE) ELSE CAST('NaN' AS DOUBLE) END"
)


def distinct(name: str, function: str, *arguments: Expression) -> Aggregate:
    return Aggregate(name, function, arguments, True, None, BIGINT)


def test_distinct_values_are_those_that_are_equal(spark: SparkSession, tmp_path: Path) -> None:
    """Over several micro-batches, so that the sets go through the state."""
    counts = [
        distinct("floats", "COUNT", FLOATS),
        distinct("in_structs", "COUNT", struct(x=FLOATS)),
        distinct("in_arrays", "COUNT", call("ARRAY", FLOATS)),
        distinct("pairs", "COUNT", column("id"), FLOATS),
        distinct("total", "SUM", column("v")),
    ]
    running = Running(spark, query(windowed(scan(), Tumble(10 * MINUTE), *counts, keys=[K])), tmp_path / "window")
    table = query(grouped(scan(), *counts, keys=[K]), emission=Emission.CHANGES, key=("k",))
    for_ever = Running(spark, table, tmp_path / "table")
    batches = [
        [row("1", "a", 1, 0), row("1", "a", 1, 2)],
        [row("1", "a", 2, 1), row("2", "a", 2, 3), row("1", "a", 2, 2)],
    ]
    for batch in batches:
        running.push(orders=batch)
        changes = for_ever.push(orders=batch)
    assert running.drain() == [("a", 0.0, 10.0, 2, 2, 2, 3, 6)]
    assert changes == [("a", 2, 2, 2, 3, 6)]


def test_a_session_without_keys_is_one_for_all_rows(spark: SparkSession, tmp_path: Path) -> None:
    """A constant as key is taken for none by Spark, which then makes every row a session of its own."""
    running = Running(spark, query(windowed(scan(), SessionWindow(5 * MINUTE), aggregate("n", "COUNT"))), tmp_path)
    rows = [row("1", "a", 0, 1), row("2", "b", 4, 1), row("3", None, 20, 1)]
    assert running.push(orders=rows) == [(0.0, 9.0, 2)]
    assert running.drain() == [(20.0, 25.0, 1)]


def test_grouping_sets_of_a_table_change_for_ever(spark: SparkSession, tmp_path: Path) -> None:
    exploded, keys = expand_grouping_sets(scan(), [K, item("v", "v", BIGINT)], [frozenset([0]), frozenset()], "g")
    table = grouped(exploded, aggregate("n", "COUNT"), aggregate("total", "SUM", "v"), keys=keys)
    running = Running(spark, query(table, emission=Emission.CHANGES, key=("k", "v", "g")), tmp_path)
    first = [("a", None, 1, 1, 1), (None, None, 1, 1, 2), (None, None, 3, 2, 3)]
    assert running.push(orders=[row("1", "a", 60, 1), row("2", None, 61, 2)]) == first
    assert running.push(orders=[row("3", "a", 0, 4)]) == [("a", None, 1, 2, 5), (None, None, 3, 3, 7)]


VALUES = {
    "INT": ("1", "2", "2", "2147483647"),
    "BIGINT": ("1", "-7", "1", "NULL"),
    "FLOAT": ("0.1", "0.1", "2.5", "NULL"),
    "DOUBLE": ("0.1", "1e300", "0.1", "-1e300"),
    "DECIMAL(10, 2)": ("0.01", "0.01", "1.10", "99999999.99"),
    "DECIMAL(38, 10)": ("0.0000000001", "12345678901234567890123.5", "7", "7"),
    "DECIMAL(38, 0)": ("1", "2", "2", "100000000000000000000000000000000"),
}


def test_distinct_sums_are_those_of_spark(spark: SparkSession) -> None:
    """To the type and the last digit, where Spark computes them: over rows that are all there."""
    decimals = {"DECIMAL(10, 2)": (20, 2, 14, 6), "DECIMAL(38, 10)": (38, 10, 38, 14), "DECIMAL(38, 0)": (38, 0, 38, 4)}
    ours: list[str] = []
    theirs: list[str] = []
    columns: list[list[str]] = []
    for number, (name, values) in enumerate(VALUES.items()):
        columns.append([f"CAST({value} AS {name})" for value in values])
        if name in decimals:
            precision, scale, *mean = decimals[name]
            results: tuple[Type, Type] = (Decimal(precision, scale), Decimal(*mean))
        else:
            results = (BIGINT if name in ("INT", "BIGINT") else DOUBLE, DOUBLE)
        for function, type_ in zip(("SUM", "AVG"), results, strict=True):
            value = Aggregate("x", function, (column(f"c{number}"),), True, None, type_)
            ours.append(f"{print_inline(aggregate_call(value))} AS x{len(ours)}")
            theirs.append(f"{function}(DISTINCT c{number}) AS x{len(theirs)}")
    names = ", ".join(f"c{number}" for number in range(len(columns)))
    rows = ", ".join(f"({', '.join(row)})" for row in zip(*columns, strict=True))
    spark.sql(f"SELECT * FROM VALUES {rows} AS t({names})").createOrReplaceTempView("given")
    found, expected = (spark.sql(f"SELECT {', '.join(each)} FROM given") for each in (ours, theirs))
    assert [each.dataType for each in found.schema] == [each.dataType for each in expected.schema]
    assert found.collect() == expected.collect()
