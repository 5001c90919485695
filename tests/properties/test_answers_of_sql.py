"""IN, EXISTS and joins of tables come to what DuckDB answers to the same SQL over the same tables."""

from __future__ import annotations

import os
import re

import duckdb
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.evaluator.evaluate import evaluate
from penstock.evaluator.held_tables import materialised
from penstock.evaluator.typed_values import Row
from penstock.planner.plan import Scan
from penstock.planner.plan.walk import walk
from tests.model.rows import assert_same_rows
from tests.properties import tables

pytestmark = pytest.mark.draws
HISTORIES = int(os.environ.get("PENSTOCK_HISTORIES", "15"))
QUERIES = (
    *(*tables.MEMBERSHIPS, *tables.STREAM_MEMBERSHIPS, *tables.OUTER),
    *(*tables.WITHOUT_KEYS, *tables.RANKED, *tables.FIRST, *tables.UNITED),
)
TYPES = {"id": pa.string(), "g": pa.string(), "v": pa.int64(), "yes": pa.bool_(), "price": pa.decimal128(10, 2)}


def answer(sql: str, contents: dict[str, list[Row]]) -> list[Row]:
    """DuckDB's answer. It writes SEMI JOIN for LEFT SEMI JOIN, and knows no streams."""
    text = re.sub(r"LEFT (SEMI|ANTI)", r"\1", sql).replace("SELECT STREAM", "SELECT")
    with duckdb.connect(":memory:") as connection:
        for name, rows in contents.items():
            columns = {each: pa.array([row[each] for row in rows], type_) for each, type_ in TYPES.items()}
            connection.register(name, pa.table(columns))
        return list(connection.sql(text).to_arrow_table().to_pylist())


@settings(max_examples=HISTORIES * 4, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(QUERIES), st.data())
def test_answers_are_those_of_sql(sql: str, data: st.DataObject) -> None:
    plan = tables.planned(sql)
    names = ("s", *tables.NAMES)
    records = data.draw(tables.records(40, names))
    arrived = {name: [row for one, row in records if one == name] for name in names}
    scans = {each.origin.name: each for each in walk(tables.planned(EVERYTHING)) if isinstance(each, Scan)}
    contents = {name: materialised(scans[name], arrived[name]) if name in scans else arrived[name] for name in names}
    assert_same_rows(evaluate(plan, arrived), answer(sql, contents))


EVERYTHING = (
    "SELECT t.id, t.g, t.v, t.yes, u.g AS ug, u.v AS uv, u.yes AS uy, v.g AS vg, v.v AS vv, v.yes AS vy, "
    "w.g AS wg, w.v AS wv, w.yes AS wy, t.price, "
    "u.price AS up, v.price AS vp, w.price AS wp "
    "FROM t JOIN u ON t.id = u.id JOIN v ON t.id = v.id JOIN w ON t.id = w.id"
)
"""A query that reads all columns of all tables."""
