"""Which of several equal rows counts does not depend on their order of arrival. DuckDB is told which one counts."""

from __future__ import annotations

import os
from random import Random

import duckdb
import pyarrow as pa
import pytest

import penstock
from penstock.evaluator.evaluate import evaluate
from penstock.evaluator.typed_values import Row
from penstock.planner.plan import Node
from tests.model.rows import difference
from tests.properties import ties
from tests.properties.streams import tried

pytestmark = pytest.mark.draws
SCRIPTS = int(os.environ.get("PENSTOCK_SCRIPTS", "60"))
_ARROW = {
    "STRING": pa.string(), "BIGINT": pa.int64(), "BOOLEAN": pa.bool_(), "DOUBLE": pa.float64(),
    "TIMESTAMP": pa.timestamp("us"), "DECIMAL(10, 2)": pa.decimal128(10, 2),
}  # fmt: skip


def compiled(query: ties.Query, folder: str = "data") -> Node:
    """The plan of a query."""
    made = "TABLE" if query.is_table else "STREAM"
    (found,) = penstock.compile(f"{ties.declare(folder)} CREATE {made} result AS {query.sql}").queries
    return found.root


def ask_duckdb(sql: str, rows: list[Row]) -> list[Row]:
    """DuckDB's answer over the rows."""
    columns = {name: pa.array([row[name] for row in rows], _ARROW[type_]) for name, type_ in ties.COLUMNS.items()}
    with duckdb.connect(":memory:") as connection:
        for name in ("s", "t"):
            connection.register(name, pa.table(columns))
        return list(connection.sql(sql).to_arrow_table().to_pylist())


def compare(seed: int) -> str:
    """How answers differ where rows come in another order, or from those of DuckDB; "" if they do not."""
    chance = Random(seed)
    kind = ties.KINDS[seed % len(ties.KINDS)]
    query = ties.draw_query(chance, kind)
    rows = [row for history in range(2) for row in ties.draw_rows(chance, history)]
    plan = compiled(query)
    expected = evaluate(plan, {"s": rows, "t": rows})
    orders = [rows[::-1], sorted(rows, key=lambda _: chance.random())]
    differing = [difference(evaluate(plan, {"s": each, "t": each}), expected) for each in orders]
    if query.oracle is not None and kind in ties.WITH_ORACLE:
        answered = ask_duckdb(query.oracle, rows)
        asked = [name for name in (expected[0] if expected else []) if f"NULL AS {name}" not in query.oracle]
        differing.append(
            difference(*([{name: row[name] for name in asked} for row in each] for each in (expected, answered)))
        )
    return "\n".join([f"{seed}: {query.sql}", *map(str, rows), *differing]) if any(differing) else ""


def test_ties_do_not_depend_on_arrival() -> None:
    failures = list(filter(None, map(compare, range(SCRIPTS))))
    tried["ties"] += SCRIPTS
    assert not failures, f"{len(failures)} of {SCRIPTS}\n" + "\n\n".join(failures)
