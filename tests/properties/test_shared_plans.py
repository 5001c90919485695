"""Queries with shared parts come to what DuckDB answers, and their stages to what the whole plan does."""

from __future__ import annotations

import os
from collections import Counter
from datetime import datetime
from random import Random

import duckdb
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import penstock
from penstock.codegen import lower
from penstock.codegen.cut_queries import cut_at_intermediates
from penstock.evaluator.evaluate import evaluate
from penstock.evaluator.held_tables import materialised
from penstock.evaluator.history import History
from penstock.evaluator.typed_values import Row
from penstock.planner.plan import Node, RunningQuery, Scan
from penstock.planner.plan.walk import list_nodes, walk
from tests.model.rows import assert_same_rows
from tests.properties import streams, tables
from tests.properties.shared_plans import Drawn, draw_streams, draw_tables
from tests.properties.streams import tried
from tests.properties.test_chains import sent
from tests.properties.test_tables import check

pytestmark = pytest.mark.draws
SCRIPTS = int(os.environ.get("PENSTOCK_SHARED", "15"))
"""Scripts of each kind that are accepted."""
STREAM_TYPES = {"id": pa.int64(), "k": pa.string(), "v": pa.int64(), "time": pa.timestamp("ms")}
TABLE_TYPES = {"id": pa.string(), "g": pa.string(), "v": pa.int64()}
DELAYS = {"a": 1, "b": 2}


def declare_streams(folder: str = ".") -> str:
    return "".join(
        f"""CREATE STREAM {name} (id BIGINT, k STRING, v BIGINT, price DECIMAL(10, 2), time TIMESTAMP,
  WATERMARK FOR time AS time - INTERVAL '{delay}' SECOND)
WITH (connector = 'files', path = '{folder}/{name}', format = 'json', files_per_batch = 1);
"""
        for name, delay in DELAYS.items()
    )


def plan_query(declared: str, drawn: Drawn, made: str) -> RunningQuery | None:
    """The query, None where it is refused for a reason that has a code."""
    try:
        (query,) = penstock.compile(f"{declared}{' '.join(drawn.views)} CREATE {made} result AS {drawn.body};").queries
    except penstock.CompileError:
        return None
    return query


def answer(sql: str, contents: dict[str, list[Row]], types: dict[str, pa.DataType]) -> list[Row]:
    """DuckDB's answer."""
    with duckdb.connect(":memory:") as connection:
        for name, rows in contents.items():
            columns = {each: pa.array([row[each] for row in rows], type_) for each, type_ in types.items()}
            connection.register(name, pa.table(columns))
        found = connection.sql(sql).to_arrow_table().to_pylist()
    return [{name: int(v) if name == "total" and v is not None else v for name, v in row.items()} for row in found]


def is_shared(root: Node) -> bool:
    """Whether an operator is read more than once."""
    readers = Counter(below for node in list_nodes(root) for below in node.inputs)
    return any(count > 1 for count in readers.values())


@settings(max_examples=SCRIPTS, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**40), streams.histories(DELAYS, max_rows=8, orderly=True))
def test_shared_parts_of_streams(seed: int, history: History) -> None:
    chance = Random(seed)
    while (query := plan_query(declare_streams(), drawn := draw_streams(chance), "STREAM")) is None:
        tried["shared parts of streams, refused"] += 1
    tried["shared parts of streams"] += 1
    tried["shared parts of streams, read twice"] += is_shared(query.root)
    assert lower([query]).queries
    expected = evaluate(query.root, history.tables())
    shown = [each.name for each in query.root.schema if each.name != "window_end"]
    assert_same_rows(
        [{name: row[name] for name in shown} for row in expected],
        [{name: row[name] for name in shown} for row in answer(drawn.standard, history.tables(), STREAM_TYPES)],
    )
    arrivals: dict[str, list[list[Row]]] = {name: [batch[name] for batch in history.batches] for name in DELAYS}
    passed: dict[str, list[datetime]] = {}
    for stage in cut_at_intermediates(query, "result", ()):
        arrivals[stage.sink.name], passed[stage.sink.name] = sent(stage, arrivals, chance)
    assert_same_rows([row for batch in arrivals["result"] for row in batch], expected)


@settings(max_examples=SCRIPTS, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**40), st.data())
def test_shared_parts_of_tables(seed: int, data: st.DataObject) -> None:
    chance = Random(seed)
    while (query := plan_query(tables.DECLARED, drawn := draw_tables(chance), "TABLE")) is None:
        tried["shared parts of tables, refused"] += 1
    tried["shared parts of tables"] += 1
    tried["shared parts of tables, read twice"] += is_shared(query.root)
    assert lower([query]).queries
    scans = {node.origin.name: node for node in walk(query.root) if isinstance(node, Scan)}
    history = data.draw(tables.histories(tuple(sorted(scans))))
    contents = {name: materialised(scan, history.tables()[name]) for name, scan in scans.items()}
    # A scan has the columns that its query needs.
    filled = {name: [dict.fromkeys(TABLE_TYPES) | row for row in rows] for name, rows in contents.items()}
    shown = [each.name for each in query.root.schema if not each.hidden]
    assert_same_rows(
        [{name: row[name] for name in shown} for row in evaluate(query.root, history.tables())],
        answer(drawn.standard, filled, TABLE_TYPES),
    )
    check(query.root, history, data)
