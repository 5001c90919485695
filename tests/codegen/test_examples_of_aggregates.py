"""The example of an aggregate also holds where rows can leave its group, and over a frame: without Spark."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import penstock
from penstock.codegen.sql.multiset import Values
from penstock.codegen.sql.printing import print_duckdb
from penstock.codegen.sql.retraction_sums import Sums
from penstock.codegen.sql.row_forms import DELTA
from penstock.codegen.sql.trees import alias, select
from penstock.evaluator.expression_values import evaluate_scalar
from penstock.evaluator.typed_values import Row, columns, milliseconds
from penstock.planner.functions import FUNCTIONS, Function
from penstock.planner.plan import GroupAggregate, Node, Over
from penstock.planner.plan.walk import walk
from tests.properties.panes import answered

ROWS: tuple[tuple[Any, ...], ...] = (
    (1, Decimal("2.50"), 1.0, "a", True),
    (2, Decimal("3.50"), 2.0, "b", False),
    (4, Decimal("6.00"), 6.0, "b", True),
    (None, None, None, None, None),
)
"""Those of EXAMPLE_ROWS: n, d, x, s, b."""
LEAVES: tuple[Any, ...] = (7, Decimal("9.00"), 9.5, "c", False)
"""A row that comes and is deleted again."""
COLUMNS = "k BIGINT {key}, n INT, d DECIMAL(3, 2), x {x}, s STRING, b BOOLEAN, time TIMESTAMP"
FILES = "WITH (connector = 'files', path = 'p', format = 'json');"
BASE = datetime(2026, 1, 1)
RETRACTED = [each for each in FUNCTIONS if each.retraction is not None]
FRAMED = [each for each in FUNCTIONS if each.framing is not None]


def find(script: str, kind: type[Node]) -> Any:
    """The first operator of a kind in the plan of the script's query."""
    (query,) = penstock.compile(script).queries
    return next(node for node in walk(query.root) if isinstance(node, kind))


def rows_of(values: tuple[tuple[Any, ...], ...], x: type) -> list[Row]:
    """Rows with times in their order; `x` is the type of the column x."""
    rows = []
    for place, (n, d, number, s, b) in enumerate(values):
        found = None if number is None else x(number)
        rows.append({"k": 1, "n": n, "d": d, "x": found, "s": s, "b": b, "time": BASE + milliseconds(place * 1000)})
    return rows


def is_close(found: Any, expected: object) -> bool:
    if isinstance(expected, float):
        return float(found) == pytest.approx(expected, rel=1e-12)
    return bool(found == expected)


@pytest.mark.parametrize("x", [Decimal, float], ids=["exact", "double"])
@pytest.mark.parametrize("function", RETRACTED, ids=lambda each: each.name)
def test_the_example_holds_where_rows_leave(function: Function, x: type) -> None:
    type_ = "DECIMAL(3, 2)" if x is Decimal else "DOUBLE"
    table = f"CREATE TABLE t ({COLUMNS.format(key='PRIMARY KEY', x=type_)}) {FILES}"
    call, expected = function.example
    node: GroupAggregate = find(f"{table} SELECT {call} AS v FROM t;", GroupAggregate)
    (aggregate,) = node.aggregates
    if aggregate.keeps_values:
        found = compute_of_values(node, rows_of(ROWS, x))
    else:
        found = compute_of_sums(node, [*rows_of(ROWS, x), *rows_of((LEAVES,), x)], rows_of((LEAVES,), x))
    assert is_close(found, expected), (found, expected)


def compute_of_sums(node: GroupAggregate, come: list[Row], leave: list[Row]) -> Any:
    """The aggregate from counts and sums, in which rows that leave are counted with the sign turned."""
    sums, types = Sums(), columns(node.input.schema)
    value = sums.compute(node.aggregates[0], "0", node.input)
    deltas = [row | {DELTA: 1} for row in come] + [row | {DELTA: -1} for row in leave]
    totals: Row = {}
    for name, (part, _) in sums.parts.items():
        added = [each for row in deltas if (each := evaluate_scalar(part, row, types)) is not None]
        totals[name] = sum(added) if added else None
    return evaluate_scalar(value, totals, {name: type_ for name, (_, type_) in sums.parts.items()})


def compute_of_values(node: GroupAggregate, rows: list[Row]) -> Any:
    """The aggregate from the different values, each with the number of its rows, as DuckDB computes it."""
    values, types = Values(node, relation="v"), columns(node.input.schema)
    result = values.compute(node.aggregates[0])
    held = [{name: evaluate_scalar(value, row, types) for name, value in values.held.items()} for row in rows]
    counted: dict[str, Row] = {}
    for place, row in enumerate(held):
        same = counted.setdefault(repr(row), {**row, "place": place, "count": 0})
        same["count"] += 1
    given = {name: [row[name] for row in counted.values()] for name in ("place", "count", *values.given)}
    tree = select([alias(each, name) for name, (each, _) in values.answers.items()], "v")
    with duckdb.connect(":memory:") as connection:
        connection.register("v", pa.table(given))
        (answer,) = connection.sql(print_duckdb(tree)).to_arrow_table().to_pylist()
    for name, field in values.picked.items():
        places = answer[name]
        picked = [held[each][field] for each in places] if name in values.lists else None
        answer[name] = picked if name in values.lists else None if places is None else held[places][field]
    return evaluate_scalar(result, answer, {name: type_ for name, (_, type_) in values.answers.items()})


@pytest.mark.parametrize("function", FRAMED, ids=lambda each: each.name)
def test_the_example_holds_over_a_frame(function: Function) -> None:
    stream = f"CREATE STREAM t ({COLUMNS.format(key='KEY', x='DOUBLE')}, WATERMARK FOR time AS time) {FILES}"
    call, expected = function.example
    frame = "RANGE BETWEEN 1 MINUTE PRECEDING AND 1 MINUTE FOLLOWING"
    node: Over = find(f"{stream} SELECT STREAM *, {call} OVER (ORDER BY time {frame}) AS v FROM t;", Over)
    rows = rows_of(ROWS[:-1] if function.framed else ROWS, float)
    (aggregate,) = node.aggregates
    last = rows[2]["time"]
    (found,) = (row for row in answered(node, rows, [*range(len(rows))], 10) if row["time"] == last)
    assert is_close(found[aggregate.aggregate.name], expected), (found, expected)
