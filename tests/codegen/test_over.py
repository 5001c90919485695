"""OVER, run on Spark; the aggregates themselves are compared with Spark's own over the same rows."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from decimal import Decimal as Number
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from sqlglot.expressions import column

from penstock.codegen import lower
from penstock.codegen.program import View
from penstock.planner.plan import Aggregate, Column, Frame, Over, RowsFrame
from penstock.planner.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    INTERVAL,
    STRING,
    TIMESTAMP,
    TINYINT,
    Array,
    Decimal,
    Map,
    Struct,
    Type,
)
from penstock.runtime.failure.failures import explain
from penstock.runtime.query.worker_frames import compute_frame
from tests.codegen.plans import MINUTE, aggregate, over, query, scan, where
from tests.codegen.running import Running, at, collected

pytestmark = pytest.mark.spark


def row(id_: str, k: str | None, minute: float, v: int | None) -> dict[str, object]:
    return {"id": id_, "k": k, "time": at(minute), "v": v}


def test_one_row_per_row_with_both_ends_and_peers(spark: SparkSession, tmp_path: Path) -> None:
    plan = over(
        where(scan(), "v IS NULL OR v < 100"),
        (aggregate("n", "COUNT"), 10 * MINUTE),
        (aggregate("total", "SUM", "v"), 10 * MINUTE),
        (aggregate("known", "COUNT", "v"), MINUTE),
        (aggregate("big", "COUNT", condition="v > 1"), MINUTE),
    )
    running = Running(spark, query(plan), tmp_path)
    assert (
        running.push(orders=[row("1", "a", 0, 1), row("2", "a", 5, 2), row("3", None, 6, 100), row("4", None, 6, 7)])
        == []
    )
    running.push(orders=[row("5", "a", 15, 4), row("6", "a", 10, 8), row("7", "a", 15, None)])
    running.push(orders=[row("late", "a", 9.9, 1), row("8", None, 10.5, 16)])
    running.push(orders=[row("9", "a", 60, None)])
    running.drain()
    assert sorted((each[0], each[2], *each[4:]) for each in running.rows) == [
        ("1", 0.0, 1, 1, 1, 0),
        ("2", 5.0, 2, 3, 1, 1),
        ("4", 6.0, 1, 7, 1, 1),
        ("5", 15.0, 4, 14, 1, 1),
        ("6", 10.0, 3, 11, 1, 1),
        ("7", 15.0, 4, 14, 1, 1),
        ("8", 10.5, 2, 23, 1, 1),
        ("9", 60.0, 1, None, 0, 0),
    ]
    assert running.counts == {
        "in:orders": 10,
        "rejected:orders": 0,
        "late:orders": 1,
        "filtered:orders": 1,
        "used:orders": 8,
    }
    assert running.dropped == 0


def test_rows_come_when_their_frames_are_complete(spark: SparkSession, tmp_path: Path) -> None:
    running = Running(spark, query(over(scan(), (aggregate("n", "COUNT"), 10 * MINUTE))), tmp_path)
    assert running.push(orders=[row("1", "a", 9, 1), row("2", "a", 12, 1)]) == []
    assert [each[0] for each in running.push(orders=[row("3", "a", 15, 1)])] == ["1"]


def test_without_partitions_and_with_columns_that_have_no_order(spark: SparkSession, tmp_path: Path) -> None:
    columns = (Column("a `b`.c", Map(STRING, INT)), Column("time", TIMESTAMP), Column("pane", INT))
    plan = over(scan(columns=columns), (aggregate("least", "MIN", "pane", INT), MINUTE), by=())
    running = Running(spark, query(plan), tmp_path)
    running.push(orders=[{"a `b`.c": {"x": 1}, "time": at(0), "pane": 2}, {"time": at(0.5), "pane": 1}])
    running.drain()
    assert running.rows == [(None, 0.5, 1, 1), ({"x": 1}, 0.0, 2, 2)]


VALUES: tuple[tuple[str, Type], ...] = (
    ("i", INT),
    ("l", BIGINT),
    ("d", DOUBLE),
    ("small", Decimal(3, 2)),
    ("wide", Decimal(30, 9)),
    ("widest", Decimal(38, 18)),
    ("s", STRING),
    ("day", DATE),
    ("t", TINYINT),
    ("f", FLOAT),
    ("odd", DOUBLE),
    ("b", BOOLEAN),
    ("bin", BINARY),
    ("ts", TIMESTAMP),
)
CARRIED: tuple[tuple[str, Type], ...] = (
    ("m", Map(STRING, INT)),
    ("a", Array(Struct((("x", INT), ("y", Array(STRING)))))),
)
SUMS: dict[str, Type] = {
    "i": BIGINT,
    "l": BIGINT,
    "d": DOUBLE,
    "small": Decimal(13, 2),
    "wide": Decimal(38, 9),
    "widest": Decimal(38, 18),
    "t": BIGINT,
    "f": DOUBLE,
    "odd": DOUBLE,
}
MEANS: dict[str, Type] = {
    "i": DOUBLE,
    "l": DOUBLE,
    "d": DOUBLE,
    "small": Decimal(7, 6),
    "wide": Decimal(34, 13),
    "widest": Decimal(38, 22),
    "t": DOUBLE,
    "f": DOUBLE,
    "odd": DOUBLE,
}
KEYS = (Column("k", STRING), Column("time", TIMESTAMP))
BY = ("MIN_BY", "MAX_BY")
SPREADS = ("VAR_POP", "VAR_SAMP", "STDDEV_POP", "STDDEV_SAMP")


def test_the_aggregates_are_those_of_spark(spark: SparkSession, tmp_path: Path) -> None:
    aggregates = [
        *(aggregate(f"sum_{name}", "SUM", name, type_) for name, type_ in SUMS.items()),
        *(aggregate(f"avg_{name}", "AVG", name, type_) for name, type_ in MEANS.items()),
        *(aggregate(f"min_{name}", "MIN", name, type_) for name, type_ in VALUES),
        *(aggregate(f"max_{name}", "MAX", name, type_) for name, type_ in VALUES),
        *(aggregate(f"n_{name}", "COUNT", name) for name, _ in VALUES),
        *(aggregate(f"{name}_{x}", name, f"CAST({x} AS DOUBLE)", DOUBLE) for name in SPREADS for x in ("i", "odd")),
        *(aggregate(f"{name}_t", name, "t", TINYINT) for name in ("BIT_AND", "BIT_OR", "BIT_XOR")),
        *(aggregate(f"{name}_b", name, "b", BOOLEAN) for name in ("BOOL_AND", "BOOL_OR", "EVERY", "SOME")),
        *(aggregate(f"{name}_{x}", name, x, type_) for name in ("FIRST", "LAST") for x, type_ in (*VALUES, *CARRIED)),
        *(Aggregate(f"{name}_m", name, (column("m"), column("wide")), False, None, CARRIED[0][1]) for name in BY),
        aggregate("max_length", "MAX", "time - TIMESTAMP '2026-01-01 00:00:00'", INTERVAL),
        aggregate("first_if", "FIRST", "bin", BINARY, condition="i > 0"),
        aggregate("count_if", "COUNT_IF", "b", condition="i > 0"),
        aggregate("sum_if", "SUM", "wide", SUMS["wide"], condition="i > 0"),
        aggregate("avg_if", "AVG", "small", MEANS["small"], condition="i > 0"),
        aggregate("max_if", "MAX", "s", STRING, condition="i > 0"),
    ]
    columns = (*KEYS, *(Column(name, type_) for name, type_ in (*VALUES, *CARRIED)))
    frames = (Frame(-7 * MINUTE, 0), Frame(-MINUTE, 0))
    assert_as_spark(spark, tmp_path, columns, [(each, frames[i % 2]) for i, each in enumerate(aggregates)])


def test_frames_around_before_and_after_the_row(spark: SparkSession, tmp_path: Path) -> None:
    columns = (*KEYS, *(Column(name, type_) for name, type_ in VALUES))
    frames = [(-1, 3), (-5, -1), (2, 4), (0, 0.125), (-0.25, 0.0625), (0, 0)]
    compute_frame = [
        (aggregate(f"{name}{i}", function, "l", BIGINT), Frame(int(start * MINUTE), int(end * MINUTE)))
        for i, (start, end) in enumerate(frames)
        for name, function in (("sum", "SUM"), ("first", "FIRST"), ("n", "COUNT"))
    ]
    assert_as_spark(spark, tmp_path, columns, compute_frame)


def assert_as_spark(
    spark: SparkSession, folder: Path, columns: Sequence[Column], compute_frame: list[tuple[Aggregate, Frame]]
) -> None:
    """Fails unless Spark's own OVER gives the same over the same 300 rows."""
    result = over_a_table(spark, over(scan(columns=columns), *compute_frame), folder, [record(n) for n in range(300)])
    items = (
        f"{batch(each)} OVER (PARTITION BY k ORDER BY time {spark_frame(frame)}) AS {each.name}"
        for each, frame in compute_frame
    )
    expected = spark.sql(f"SELECT *, {', '.join(items)} FROM q_r0")
    assert [(field.name, field.dataType) for field in result.schema] == [
        (field.name, field.dataType) for field in expected.schema
    ]
    rows = sorted(collected(result), key=in_order)
    assert len(rows) == 300
    differences = [
        (name, one, other)
        for ours, theirs in zip(rows, sorted(collected(expected), key=in_order), strict=True)
        for name, one, other in zip(expected.columns, ours, theirs, strict=True)
        if told(one) != told(other)
    ]
    assert differences == []


def spark_frame(frame: Frame | RowsFrame) -> str:
    if isinstance(frame, RowsFrame):
        start, end = (f"{-place} PRECEDING" if place else "CURRENT ROW" for place in (frame.start, frame.end))
        return f"ROWS BETWEEN {start} AND {end}"
    ends = (
        f"INTERVAL '{abs(end)}' MILLISECOND {'PRECEDING' if end < 0 else 'FOLLOWING'}" if end else "CURRENT ROW"
        for end in (frame.start, frame.end)
    )
    return f"RANGE BETWEEN {' AND '.join(ends)}"


def batch(each: Aggregate) -> str:
    """The aggregate as Spark's own SQL."""
    kept = "" if each.condition is None else f" FILTER (WHERE {each.condition.sql('spark')})"
    return f"{each.function}({', '.join(x.sql('spark') for x in each.arguments)}){kept}"


def in_order(row: tuple[object, ...]) -> tuple[str, str]:
    return repr(row[0]), repr(row[1])


def told(value: object) -> object:
    """The value, so that NaN equals NaN; a float's last digits are those of the order in which it was added up."""
    return f"{value + 0.0:.12g}" if isinstance(value, float) else value


def record(number: int) -> dict[str, object]:
    chance = random.Random(number)
    # Sums of doubles, as which Spark averages integers too, are exact here in any order: they have less than 53 bits.
    values: dict[str, object] = {
        "i": chance.randint(-5, 5),
        "l": chance.randint(-(2**45), 2**45),
        "d": chance.randint(-99, 99) / 8,
        "small": str(Number(chance.randint(-999, 999)) / 100),
        "wide": str(Number(chance.randint(-(10**26), 10**26)).scaleb(-9)),
        "widest": str(Number(chance.randint(-(10**30), 10**30)).scaleb(-18)),
        "s": chance.choice("aäxyzß€"),
        "day": f"2026-01-{chance.randint(1, 28):02d}",
        "t": chance.randint(-8, 7),
        "f": chance.randint(-99, 99) / 8,
        "odd": chance.choice([1.5, 2.5, -0.0, 0.0, "NaN", "Infinity", -3.0, 1.25]),
        "b": chance.random() > 0.5,
        "bin": chance.choice(["/w==", "AA==", "AAE=", "gA=="]),
        "ts": f"2026-01-01T00:00:00.{chance.randint(0, 999_999):06d}Z",
        "m": {"x": chance.randint(0, 9)},
        "a": [{"x": 1, "y": ["p", None]}, None],
    }
    kept = {name: value for name, value in values.items() if chance.random() > 0.2}
    return {"k": chance.choice(["a", "b", None]), "time": at(number / 8), **kept}


def test_an_overflow_fails(spark: SparkSession, tmp_path: Path) -> None:
    plan = over(scan(), (aggregate("total", "SUM", "v"), MINUTE))
    with pytest.raises(PySparkException) as failure:
        over_a_table(spark, plan, tmp_path, [row("1", "a", 0, 2**63 - 1), row("2", "a", 0, 1)]).collect()
    assert explain(failure.value, "q").code == "R022"


def over_a_table(spark: SparkSession, plan: Over, folder: Path, records: list[dict[str, object]]) -> DataFrame:
    """The views above the scan mean the same over a table, and answer much sooner."""
    columns_sql = ", ".join(f"`{each.name}` {each.type}" for each in plan.input.schema)
    path = folder / "rows.json"
    path.write_text("\n".join(map(json.dumps, records)))
    spark.read.schema(columns_sql).json(str(path)).cache().createOrReplaceTempView("q_r0")
    (lowered,) = lower([query(plan)]).queries
    for view in lowered.views:
        if not view.name.startswith("q_r0"):
            rows = spark.sql(view.sql) if isinstance(view, View) else compute_frame(spark, view)
            rows.createOrReplaceTempView(view.name)
    return spark.table(lowered.result)
