"""Which tables the query that reads them computes: those that have no other reader, and need no files between."""

from __future__ import annotations

import pytest

import penstock

TABLES = """
CREATE TABLE t (id BIGINT PRIMARY KEY, g BIGINT, v BIGINT) WITH (connector = 'files', path = 't', format = 'json');
CREATE TABLE u (id BIGINT PRIMARY KEY, g BIGINT, v BIGINT) WITH (connector = 'files', path = 'u', format = 'json');
CREATE STREAM s (id BIGINT KEY, v BIGINT, time TIMESTAMP, WATERMARK FOR time AS time - 1 SECOND)
WITH (connector = 'files', path = 's', format = 'json');
CREATE VIEW sums AS SELECT g, SUM(v) AS total FROM t GROUP BY g;
CREATE VIEW groups AS SELECT total, COUNT(*) AS n FROM sums GROUP BY total;
CREATE VIEW joined AS SELECT t.id AS id, t.v AS v, u.g AS g FROM t JOIN u ON t.id = u.id;
"""


def list_queries(sql: str) -> list[str]:
    """The Spark queries, without the last one."""
    program = penstock.compile(f"{TABLES} CREATE TABLE result WITH (connector = 'console') AS {sql}").program
    names = [each.name for each in program.queries]
    assert names[-1] == "result"
    return names[:-1]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT g, COUNT(*) AS n FROM t GROUP BY g",
        "SELECT COUNT(*) AS n FROM t",
        "SELECT * FROM groups",
        "SELECT g, COUNT(*) AS n FROM joined WHERE v > 0 GROUP BY g",
        "SELECT n, COUNT(*) AS m FROM (SELECT id, COUNT(*) AS n FROM s GROUP BY id) q GROUP BY n",
        "SELECT u.id, sums.total FROM u LEFT JOIN sums ON u.id = sums.g",
        "SELECT u.id, q.n FROM u JOIN (SELECT id, COUNT(*) AS n FROM s GROUP BY id) q ON u.id = q.id",
    ],
)
def test_one_query_computes_both(sql: str) -> None:
    assert list_queries(sql) == []


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("SELECT g, MAX(v) AS most FROM t GROUP BY g", "Python workers keep values"),
        ("SELECT most, COUNT(*) AS n FROM (SELECT g, MAX(v) AS most FROM t GROUP BY g) q GROUP BY most", "the same"),
        ("SELECT u.id, q.n FROM u JOIN (SELECT g, COUNT(*) AS n FROM t GROUP BY g HAVING COUNT(*) > 1) q ON u.id = q.g",
         "the join would keep all groups"),
        ("SELECT u.id, sums.total FROM u JOIN (SELECT * FROM sums WHERE total > 1) sums ON u.id = sums.g", "the same"),
        ("SELECT sums.g, groups.n FROM sums LEFT JOIN groups ON sums.g = groups.total", "two readers"),
        ("SELECT sums.g, groups.n FROM sums JOIN groups ON sums.total = groups.total", "two readers"),
        ("SELECT u.id, q.n FROM u JOIN (SELECT g, COUNT(*) AS n FROM joined GROUP BY g) q ON u.id = q.g", "two joins"),
        ("SELECT id, COUNT(*) AS n FROM (SELECT STREAM id, COUNT(*) AS m FROM s GROUP BY id, TUMBLE(time, 1 MINUTE)) q"
         " GROUP BY id", "windows wait for the watermark"),
    ],
)  # fmt: skip
def test_a_query_of_its_own_computes_it(sql: str, why: str) -> None:
    assert list_queries(sql), why


def test_the_join_has_its_own_number_of_partitions() -> None:
    script = TABLES.replace("path = 't'", "path = 't', partitions = 8").replace(
        "path = 'u'", "path = 'u', partitions = 8"
    )
    script += "CREATE TABLE result WITH (connector = 'console') AS SELECT g, COUNT(*) AS n FROM joined GROUP BY g"
    (query,) = penstock.compile(script).program.queries
    assert query.partitions == 8


def test_a_group_of_all_rows_is_stored_beside_the_table() -> None:
    script = f"{TABLES} CREATE TABLE result WITH (connector = 'console') AS SELECT COUNT(*) AS n FROM t"
    (query,) = penstock.compile(script).program.queries
    assert query.store is not None
    assert query.store.on_disk
