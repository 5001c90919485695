"""Aggregates over a table that changes are those of Spark over the rows that remain, for values of all types."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import penstock
from penstock.runtime import RuntimeSession
from tests.model.rows import assert_same_rows

pytestmark = pytest.mark.spark
COLUMNS = (
    "id BIGINT{key}, g DOUBLE, tiny TINYINT, small SMALLINT, n INT, big BIGINT, wide DECIMAL(38,10), f FLOAT, "
    "x DOUBLE, yes BOOLEAN, name STRING, raw BINARY, day DATE, at TIMESTAMP, tags ARRAY<STRING>, "
    "place STRUCT<x: DOUBLE, at: TIMESTAMP>, counts MAP<STRING, INT>"
)
ITEMS = ", ".join(
    f"{call} AS a{place}"
    for place, call in enumerate(
        (
            *(
                f"MIN({name})"
                for name in ("tiny", "n", "wide", "f", "yes", "name", "raw", "day", "at", "tags", "place")
            ),
            *(f"MAX({name})" for name in ("small", "big", "x", "tags", "place")),
            *("SUM(f)", "AVG(x)", "SUM(DISTINCT tiny)", "SUM(DISTINCT wide)", "AVG(DISTINCT wide)", "AVG(DISTINCT f)"),
            *("COUNT(DISTINCT tags)", "COUNT(DISTINCT name, day)", "COUNT(DISTINCT place) FILTER (WHERE yes)"),
            *("BIT_XOR(tiny)", "BIT_OR(small)", "BIT_AND(big)", "STDDEV(x)", "VAR_POP(f)", "VARIANCE(big)"),
            *("MIN_BY(counts, big)", "MAX_BY(place, name)", "MIN_BY(at, day)", "MAX_BY(raw, wide)"),
            *("COUNT(*)", "SUM(n)", "AVG(wide)", "COUNT(x)", "SUM(wide)", "VARIANCE(n)", "EVERY(yes)"),
        )
    )
)


def make_row(number: int, group: float | None) -> dict[str, Any]:
    """A row, of which all values grow with the number."""
    at = f"2024-01-{number:02}T10:00:00.00000{number % 10}Z"
    row: dict[str, Any] = {"id": number, "g": group, "tiny": number - 5, "small": -number, "n": number * 7, "yes": True}
    row |= {"big": number << 40, "wide": number + 1e-10, "f": number / 4, "x": number / 3, "name": f"n{number}"}
    row |= {"raw": f"AAA{'ABCDEFGHIJKLMNOP'[number]}", "day": f"2024-02-{number:02}", "at": at}
    row |= {"tags": [None, f"t{number}"], "place": {"x": number / 8, "at": at}, "counts": {"a": number}}
    return row


EMPTY = {"id": 12, "g": 2.0}
EQUAL = [make_row(13, 3.0), make_row(13, 3.0) | {"id": 14}]
SEVERAL = [*(make_row(number, 1.0) for number in range(1, 6)), *(make_row(number, None) for number in (6, 7))]
BEFORE = [*SEVERAL, EMPTY, *EQUAL]
AFTER = [
    make_row(1, 2.0) | {"op": "delete"},  # the least of its group
    make_row(8, 1.0) | {"id": 5},  # the greatest is replaced
    make_row(6, -0.0),
    make_row(9, 0.0) | {"tags": None, "place": None, "name": None},
    make_row(7, None) | {"op": "delete"},  # its group ceases to exist
    make_row(2, 1.0) | {"id": 10},  # the values of another row
]
LEFT = [*BEFORE[1:4], EMPTY, *EQUAL, *(row for row in AFTER if "op" not in row)]


@pytest.mark.parametrize("key", ["g", None])
def test_aggregates_are_those_of_the_rows_that_remain(key: str | None, spark: SparkSession, tmp_path: Path) -> None:
    for folder, name, rows in (("t", "1", BEFORE), ("t", "2", AFTER), ("left", "1", LEFT)):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / f"{name}.json").write_text("\n".join(map(json.dumps, rows)))
    by = "" if key is None else f" GROUP BY {key}"
    query = f"SELECT {'' if key is None else f'{key}, '}{ITEMS} FROM t{by}"
    options = f"connector = 'files', path = '{tmp_path / 't'}', format = 'json', operation = 'op', files_per_batch = 1"
    declared = f"CREATE TABLE t ({COLUMNS.format(key=' PRIMARY KEY')}) WITH ({options});"
    program = penstock.compile(f"SET state_partitions = 2; {declared} CREATE TABLE result AS {query};").program
    with RuntimeSession(spark, checkpoint=str(tmp_path / "checkpoint")) as running:
        running.run_once(program, drain=False)
        found = running.rows("result")
    spark.read.schema(COLUMNS.format(key="")).json(str(tmp_path / "left")).createOrReplaceTempView("t")
    expected = spark.sql(query).toArrow().to_pylist()
    assert len(expected) == (4 if key else 1)
    assert_same_rows(map(as_plain, found), map(as_plain, expected))


def as_plain(row: Any) -> dict[str, Any]:
    """A row whose values both sides write alike."""
    return {name: repr(plain(value)) for name, value in dict(row).items()}


def plain(value: Any) -> Any:
    match value:
        case float():
            return float(f"{value:.10g}") + 0.0
        case bytes() | bytearray():
            return bytes(value)
        case list() if value and all(isinstance(each, tuple) for each in value):
            return sorted(value)
        case list():
            return list(map(plain, value))
        case dict():
            return sorted((name, plain(each)) for name, each in value.items())
        case _ if hasattr(value, "asDict"):
            return plain(value.asDict())
        case _ if hasattr(value, "tzinfo") and value.tzinfo is not None:
            return value.replace(tzinfo=None)
        case _:
            return value
