"""Reads of tables in databases through Spark: the rows of a dict, of which the database sends only what is asked."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

import penstock
from penstock import RunError
from penstock.compilation import compile_read
from penstock.diagnostics import Source
from penstock.kit.databases.finder import TableReader
from penstock.runtime import RuntimeSession
from tests.databases.places import Place
from tests.databases.test_statements import declare

pytestmark = pytest.mark.spark

DECLARED = """
CREATE TABLE users (id BIGINT PRIMARY KEY, name STRING, day DATE, seen TIMESTAMP) WITH ({place}, table = 'users');
CREATE TABLE visits (id BIGINT PRIMARY KEY, site STRING PRIMARY KEY, n INT) WITH ({place}, table = 'visits');
"""
TYPES = {
    "postgres": ("DATE", "TIMESTAMPTZ"),
    "mysql": ("DATE", "DATETIME(6)"),
    "sqlite": ("TEXT", "TEXT"),
    "duckdb": ("DATE", "TIMESTAMPTZ"),
}


@pytest.fixture
def tables(place: Place) -> Place:
    """Ten users and their visits."""
    day, seen = TYPES[place.dialect]
    zone = "" if place.dialect == "mysql" else "Z"
    place.execute(
        f"CREATE TABLE users (ignored TEXT, id BIGINT PRIMARY KEY, name TEXT, day {day}, seen {seen})",
        "CREATE TABLE visits (id BIGINT, site TEXT, n INTEGER, PRIMARY KEY (id, site))",
    )
    for key in range(10):
        name = "NULL" if key % 5 == 4 else f"'n{key % 3}'"
        values = f"'x', {key}, {name}, '2025-01-{key + 1:02}', '2025-01-01T00:00:{key:02}{zone}'"
        place.execute(f"INSERT INTO users VALUES ({values})", f"INSERT INTO visits VALUES ({key}, 's', {key * key})")
    return place


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], int]]:
    """The columns and the number of the rows that databases have sent."""
    seen: list[tuple[list[str], int]] = []
    plain = TableReader.select

    def select(self: TableReader, *given: Any) -> Any:
        rows = plain(self, *given)
        seen.append((rows.column_names, rows.num_rows))
        return rows

    monkeypatch.setattr(TableReader, "select", select)
    return seen


def read(spark: SparkSession, place: Place, sql: str) -> list[tuple[Any, ...]]:
    catalog = penstock.compile(DECLARED.format(place=declare(place))).catalog
    with RuntimeSession(spark, None) as session:
        rows = session.read(compile_read(Source("<read>", sql), catalog, memory=True))
    return sorted((tuple(row.values()) for row in rows), key=str)


def test_rows_equal_and_filters_reach_the_database(
    spark: SparkSession, tables: Place, sent: list[tuple[list[str], int]]
) -> None:
    names = [None if key % 5 == 4 else f"n{key % 3}" for key in range(10)]
    for condition, keys, fetched in (
        ("id > 2 AND id <= 5", [3, 4, 5], 3),
        ("id IN (1, 9, 77)", [1, 9], 2),
        ("name IS NULL", [4, 9], 2),
        ("name = 'n0'", [0, 3, 6], 3),
        ("day >= DATE '2025-01-09'", [8, 9], 2),
        ("name > 'n0' AND id < 5", [1, 2], 5),
        ("seen > TIMESTAMP '2025-01-01 00:00:07'", [8, 9], 10),
    ):
        rows = read(spark, tables, f"SELECT id, name FROM users WHERE {condition}")
        assert rows == sorted(((key, names[key]) for key in keys), key=str), condition
        assert sent.pop()[1] == fetched, condition


def test_only_columns_that_are_used_are_sent(
    spark: SparkSession, tables: Place, sent: list[tuple[list[str], int]]
) -> None:
    sql = "SELECT u.name, SUM(v.n) AS n FROM users u JOIN visits v ON u.id = v.id WHERE v.n < 10 GROUP BY u.name"
    assert read(spark, tables, sql) == [("n0", 9), ("n1", 1), ("n2", 4)]
    assert sorted(sent) == [(["id", "n"], 10), (["id", "name"], 10)]


def test_a_table_that_is_missing(spark: SparkSession, place: Place) -> None:
    place.execute("CREATE TABLE other (id BIGINT)")
    with pytest.raises(RunError, match="there is no table users") as refused:
        read(spark, place, "SELECT id FROM users")
    assert [each.code for each in refused.value.diagnostics] == ["R066"]
