"""OVER ROWS, run on Spark, over what Spark's own OVER gives for the same rows."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.planner.plan import Aggregate, Column, RowsFrame
from penstock.planner.types import BIGINT, INT, STRING, Array, Map, Struct
from tests.codegen.plans import MINUTE, aggregate, over_rows, query, scan
from tests.codegen.running import Row, Running, at, collected
from tests.codegen.test_over import CARRIED, KEYS, SUMS, VALUES, batch, in_order, record, spark_frame, told

pytestmark = pytest.mark.spark


def test_the_aggregates_are_those_of_spark(spark: SparkSession, tmp_path: Path) -> None:
    frames = [RowsFrame(-3, 0), RowsFrame(-1, 0), RowsFrame(-4, -2), RowsFrame(0, 0)]
    framed = [
        *((aggregate(f"sum_{name}", "SUM", name, type_), frames[0]) for name, type_ in SUMS.items()),
        *((aggregate(f"min_{name}", "MIN", name, type_), frames[1]) for name, type_ in VALUES),
        *((aggregate(f"last_{name}", "LAST", name, type_), frames[2]) for name, type_ in (*VALUES, *CARRIED)),
        *((aggregate(f"n{i}", "COUNT", "i"), frame) for i, frame in enumerate(frames)),
        *((aggregate(f"first{i}", "FIRST", "l", BIGINT), frames[i]) for i in (0, 2)),
    ]
    columns = (*KEYS, *(Column(name, type_) for name, type_ in (*VALUES, *CARRIED)))
    records = [record(number) for number in range(120)]
    disordered = [records[number ^ 1] for number in range(120)]
    running = run(spark, tmp_path, columns, framed, [disordered[:51], disordered[51:90], disordered[90:]])
    order = "PARTITION BY k ORDER BY time"
    assert different(spark, tmp_path, columns, framed, records, order, running.rows) == []


NESTED = Array(Struct((("x", INT), ("y", Array(STRING)))))
TYPES = (("n", NESTED), ("s", Struct((("a", INT), ("b", NESTED)))), ("m", Map(STRING, INT)), ("i", INT))


def test_rows_of_one_time_are_in_the_order_of_spark(spark: SparkSession, tmp_path: Path) -> None:
    chance = random.Random(7)

    def nested() -> object:
        y = [None, [], ["b"], [None], ["a", "b"], ["a"]]
        some = [None, *({"x": chance.choice([None, 1, 2]), "y": chance.choice(y)} for _ in range(3))]
        return chance.choice(
            [None, [], chance.choices(some, k=1), chance.choices(some, k=2), chance.choices(some, k=3)]
        )

    def one(number: int) -> dict[str, object]:
        s = {"a": chance.choice([None, 1]), "b": nested()}
        m = chance.choice([None, {"x": 1}, {"x": 2, "a": 1}, {"a": 1, "x": 2}, {"x": None}, {}])
        return {"k": "a", "time": at(0), "n": nested(), "s": chance.choice([None, s, s]), "m": m, "i": number}

    columns = (*KEYS, *(Column(name, type_) for name, type_ in TYPES))
    records = [one(number) for number in range(150)]
    framed = [(Aggregate("place", "ROW_NUMBER", (), False, None, INT), RowsFrame(-1000, 0))]
    running = run(spark, tmp_path, columns, framed, [records[:70], records[70:]])
    order = "PARTITION BY k ORDER BY time, n, s, array_sort(map_entries(m)), i"
    assert different(spark, tmp_path, columns, framed, records, order, running.rows) == []


def test_keys_that_are_equal_to_spark_are_one_partition(spark: SparkSession, tmp_path: Path) -> None:
    columns = (Column("id", INT), Column("time", KEYS[1].type), Column("x", VALUES[2][1]))
    keys = [0.0, -0.0, "NaN", None, 0.0, -0.0, "NaN", None]
    records = [{"id": number, "time": at(number), "x": key} for number, key in enumerate(keys)]
    framed = [(aggregate("n", "COUNT"), RowsFrame(-9, 0))]
    running = run(spark, tmp_path, columns, framed, [records[:5], records[5:]], by=("x",))
    found = sorted((each[0], each[3]) for each in running.rows)
    assert found == [(0, 1), (1, 2), (2, 1), (3, 1), (4, 3), (5, 4), (6, 2), (7, 2)]


def test_rows_come_when_the_watermark_has_passed_them(spark: SparkSession, tmp_path: Path) -> None:
    framed = (aggregate("before", "LAG", "id", STRING), RowsFrame(-1, 0))
    running = Running(spark, query(over_rows(scan(), framed)), tmp_path)

    def push(**times: float) -> list[tuple[object, ...]]:
        rows = [{"id": name, "k": name[0], "time": at(time), "v": 1} for name, time in times.items()]
        return [(each[0], each[4]) for each in running.push(orders=rows)]

    assert push(a1=0, b1=4, a2=4) == []
    assert push(a3=9.5, c1=2) == [("a1", None), ("a2", "a1"), ("b1", None), ("c1", None)]
    # A row behind the watermark is late, one at it is not; Spark has none to drop.
    assert push(a4=4.4, a5=4.5, a6=100) == [("a3", "a5"), ("a5", "a2")]
    assert sorted((each[0], each[4]) for each in running.drain()) == [("a6", "a3")]
    assert (running.counts["late:orders"], running.dropped) == (1, 0)


def run(
    spark: SparkSession,
    folder: Path,
    columns: Sequence[Column],
    framed: Sequence[tuple[Aggregate, RowsFrame]],
    batches: Sequence[list[dict[str, object]]],
    by: Sequence[str] = ("k",),
) -> Running:
    """The micro-batches through Spark, with a restart between each two, and the end of input."""
    running = Running(spark, query(over_rows(scan(columns=columns, delay=20 * MINUTE), *framed, by=by)), folder)
    for records in batches:
        running.push(orders=records)
    running.drain()
    assert (running.dropped, running.counts["late:orders"]) == (0, 0)
    return running


def different(
    spark: SparkSession,
    folder: Path,
    columns: Sequence[Column],
    framed: Sequence[tuple[Aggregate, RowsFrame]],
    records: Sequence[dict[str, object]],
    order: str,
    found: Sequence[Row],
) -> list[tuple[object, ...]]:
    """Where the rows found are not those of Spark's own OVER."""
    path = folder / "all_rows.json"
    path.write_text("\n".join(map(json.dumps, records)))
    names = ", ".join(f"`{each.name}` {each.type}" for each in columns)
    spark.read.schema(names).json(str(path)).createOrReplaceTempView("all_rows")
    items = []
    for each, frame in framed:
        rows = "" if each.function == "ROW_NUMBER" else spark_frame(frame)
        items.append(f"{batch(each)} OVER ({order} {rows}) AS {each.name}")
    expected = spark.sql(f"SELECT *, {', '.join(items)} FROM all_rows")
    assert len(found) == len(records)
    return [
        (name, one, other)
        for ours, theirs in zip(sorted(found, key=in_full), sorted(collected(expected), key=in_full), strict=True)
        for name, one, other in zip(expected.columns, ours, theirs, strict=True)
        if told(one) != told(other)
    ]


def in_full(row: Row) -> tuple[str, ...]:
    return (*in_order(row), repr(row[-1]))
