"""Lookups in databases: the evaluator's rows over generated plans are those that SQLite gives for the same join."""

from __future__ import annotations

import sqlite3
from collections import Counter
from typing import Any

import hypothesis.strategies as st
from hypothesis import given, settings

import penstock
from penstock.evaluator.evaluate import evaluate
from penstock.evaluator.typed_values import Row

DECLARED = """
CREATE STREAM s (n BIGINT, id BIGINT, g STRING) WITH (connector = 'files', path = 's', format = 'json');
CREATE TABLE u (id BIGINT PRIMARY KEY, g STRING PRIMARY KEY, v BIGINT)
  WITH (connector = 'sqlite', path = 'shop.db', table = 'u');
CREATE TABLE w (id BIGINT PRIMARY KEY, v BIGINT) WITH (connector = 'sqlite', path = 'shop.db', table = 'w');
"""
KINDS = ("INNER", "LEFT", "LEFT SEMI", "LEFT ANTI")
KEYS = {
    "u": ("u.id = s.id AND s.g = u.g", "LOWER(s.g) = u.g AND u.id = s.n + 1"),
    "w": ("w.id = s.id", "s.n - s.id = w.id"),
}
CONDITIONS = (
    "",
    " AND s.n > 1",
    " AND {0}.v > s.n",
    " AND ({0}.v IS NULL OR s.n < 2)",
    " AND s.g = 'a' AND {0}.v <> 1",
)
numbers = st.sampled_from([0, 1, 2, 3, None])
texts = st.sampled_from(["a", "b", None])
streams = st.lists(st.tuples(numbers, numbers, texts), max_size=8)
joins = st.sampled_from("uw").flatmap(
    lambda table: st.tuples(
        st.sampled_from(KINDS),
        st.just(table),
        st.tuples(st.sampled_from(KEYS[table]), st.sampled_from(CONDITIONS)).map("".join),
    )
)


def write_queries(kind: str, table: str, condition: str) -> tuple[str, str]:
    """The query for Penstock, and the same one for SQLite, which knows neither SEMI nor ANTI."""
    condition = condition.format(table)
    if kind in ("INNER", "LEFT"):
        query = f"SELECT s.n, s.id, {table}.id AS found, {table}.v FROM s {kind} JOIN {table} ON {condition}"
        return query, query
    query = f"SELECT s.n, s.id, s.g FROM s {kind} JOIN {table} ON {condition}"
    exists = f"EXISTS (SELECT 1 FROM {table} WHERE {condition})"
    return query, f"SELECT s.n, s.id, s.g FROM s WHERE {'NOT ' * (kind == 'LEFT ANTI')}{exists}"


def ask_sqlite(query: str, tables: dict[str, list[tuple[Any, ...]]]) -> Counter[tuple[Any, ...]]:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE s (n, id, g)")
    connection.execute("CREATE TABLE u (id, g, v, PRIMARY KEY (id, g))")
    connection.execute("CREATE TABLE w (id PRIMARY KEY, v)")
    for name, rows in tables.items():
        for row in rows:
            connection.execute(f"INSERT INTO {name} VALUES ({', '.join('?' * len(row))})", row)
    answer = Counter(connection.execute(query).fetchall())
    connection.close()
    return answer


@settings(max_examples=150, deadline=None)
@given(
    joins,
    streams,
    st.dictionaries(st.tuples(st.integers(0, 3), st.sampled_from("ab")), numbers, max_size=6),
    st.dictionaries(st.integers(-3, 3), numbers, max_size=5),
)
def test_rows_are_those_of_sqlite(
    join: tuple[str, str, str],
    stream: list[tuple[Any, ...]],
    by_two: dict[tuple[int, str], int | None],
    by_one: dict[int, int | None],
) -> None:
    query, asked = write_queries(*join)
    (planned,) = penstock.compile(DECLARED + query.replace("SELECT", "SELECT STREAM", 1)).queries
    tables = {"s": stream, "u": [(*key, v) for key, v in by_two.items()], "w": list(by_one.items())}
    names = {"s": ("n", "id", "g"), "u": ("id", "g", "v"), "w": ("id", "v")}
    given: dict[str, list[Row]] = {
        name: [dict(zip(names[name], row, strict=True)) for row in rows] for name, rows in tables.items()
    }
    assert Counter(tuple(row.values()) for row in evaluate(planned.root, given)) == ask_sqlite(asked, tables)
