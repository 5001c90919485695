"""What reads of tables in databases ask these for: the columns that are used, and conditions that they decide alike."""

from __future__ import annotations

from datetime import date

import pytest

from penstock import compile
from penstock.diagnostics import Source, Span
from penstock.parser import parse
from penstock.planner.plan import ColumnFilter, Snapshot
from penstock.planner.plan.walk import walk
from penstock.planner.reads.select import plan_read

TABLES = """
CREATE TABLE t (id BIGINT PRIMARY KEY, n INT, name STRING, day DATE, at_time TIMESTAMP, x DOUBLE, d DECIMAL(10,2))
  WITH (connector = 'duckdb', path = 'shop.duckdb', table = 't');
CREATE TABLE u (id BIGINT PRIMARY KEY, name STRING, other STRING)
  WITH (connector = 'duckdb', path = 'shop.duckdb', table = 'u');
"""


def snapshots(sql: str) -> list[Snapshot]:
    source = Source("<read>", sql)
    root = plan_read(parse(source), compile(TABLES).catalog, Span(source, 0, len(sql)), memory=False)
    return [node for node in dict.fromkeys(walk(root)) if isinstance(node, Snapshot)]


def filters(condition: str) -> list[tuple[object, ...]]:
    (found,) = snapshots(f"SELECT id FROM t WHERE {condition}")
    return [(each.column, each.operator, *each.values) for each in found.filters]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("id = 5", [("id", "=", 5)]),
        ("5 < id AND n <= -3", [("id", ">", 5), ("n", "<=", -3)]),
        ("n > 5000000000", [("n", ">", 5_000_000_000)]),
        ("id IN (1, 2, -3)", [("id", "IN", 1, 2, -3)]),
        ("n BETWEEN 1 AND 4", [("n", ">=", 1), ("n", "<=", 4)]),
        ("n IS NULL", [("n", "IS NULL")]),
        ("NOT x IS NULL AND name IS NOT NULL", [("x", "IS NOT NULL"), ("name", "IS NOT NULL")]),
        ("name = 'a''b'", [("name", "=", "a'b")]),
        ("name IN ('a', 'b')", [("name", "IN", "a", "b")]),
        ("day >= DATE '2025-02-28'", [("day", ">=", date(2025, 2, 28))]),
        ("id = 1 AND (n = 2 OR n = 3)", [("id", "=", 1)]),
    ],
)
def test_databases_decide(condition: str, expected: list[tuple[object, ...]]) -> None:
    assert filters(condition) == expected


@pytest.mark.parametrize(
    "condition",
    [
        "name > 'a'",
        "x = 1.5",
        "d = 1",
        "at_time > TIMESTAMP '2025-01-01 00:00:00'",
        "id = n",
        "id + 1 = 2",
        "id <> 4",
        "NOT id = 4",
        "id IN (1, NULL)",
        "id = 99999999999999999999",
        "UPPER(name) = 'A'",
        "CAST(name AS BIGINT) = 1",
        "day = at_time",
        "id = 1 OR n = 2",
    ],
)
def test_spark_alone_decides(condition: str) -> None:
    assert filters(condition) == []


def test_only_used_columns_are_read() -> None:
    found = snapshots("SELECT SUM(n) AS n FROM t WHERE name = 'a' GROUP BY day")
    assert [[each.name for each in node.schema] for node in found] == [["n", "name", "day"]]
    found = snapshots("SELECT COUNT(*) AS n FROM t")
    assert [[each.name for each in node.schema] for node in found] == [["id"]]


def test_both_sides_of_a_join_are_narrowed() -> None:
    sql = "SELECT a.n, b.name FROM (SELECT * FROM t WHERE id > 3) a JOIN u b ON a.id = b.id ORDER BY b.other"
    found = {node.origin.name: node for node in snapshots(sql)}
    assert [each.name for each in found["t"].schema] == ["id", "n"]
    assert [each.name for each in found["u"].schema] == ["id", "name", "other"]
    assert found["t"].filters == (ColumnFilter("id", ">", (3,)),)
