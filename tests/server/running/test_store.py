"""The logs in the catalog do not grow for ever."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from penstock.server.running.store import Store
from tests.databases.conftest import server as server  # the embedded PostgreSQL
from tests.server.running.engines import open_catalog


@pytest.fixture
def catalog(server: str) -> Iterator[psycopg.Connection]:
    with open_catalog(server) as catalog:
        yield catalog.db


def test_the_newest_changes_are_kept(catalog: psycopg.Connection) -> None:
    store = Store(catalog)
    store.trim_changes(3)
    catalog.execute("INSERT INTO penstock.change (relation, op) SELECT 't', 'insert' FROM generate_series(1, 10)")
    store.trim_changes(3)
    assert catalog.execute("SELECT seq FROM penstock.change ORDER BY seq").fetchall() == [(8,), (9,), (10,)]


def test_the_newest_statements_are_kept_and_those_that_are_needed(catalog: psycopg.Connection) -> None:
    """A statement of a file is not run twice, and one that waits will be answered."""
    catalog.execute(
        "INSERT INTO penstock.statement (text, author, door, state, finished) "
        "SELECT 'x', 'ada', CASE WHEN n = 2 THEN 'file' ELSE 'http' END, "
        "CASE WHEN n = 3 THEN 'waiting' ELSE 'done' END, CASE WHEN n = 3 THEN NULL ELSE now() END "
        "FROM generate_series(1, 10) AS n"
    )
    Store(catalog).trim_statements(2, 1 << 30)
    kept = [number for (number,) in catalog.execute("SELECT id FROM penstock.statement ORDER BY id")]
    assert kept == [2, 3, 9, 10]


def test_the_log_of_statements_has_a_size(catalog: psycopg.Connection) -> None:
    """A statement may have a megabyte, so a number is no limit of the disk."""
    catalog.execute("DELETE FROM penstock.statement")
    catalog.execute(
        "INSERT INTO penstock.statement (text, author, door, state, finished) SELECT "
        "(SELECT string_agg(md5(n::text || m), '') FROM generate_series(1, 300) AS m), 'ada', 'http', 'done', now() "
        "FROM generate_series(1, 10) AS n"
    )
    Store(catalog).trim_statements(100, 30_000)
    assert catalog.execute("SELECT count(*) FROM penstock.statement").fetchone() == (3,)
    Store(catalog).trim_statements(100, 30_000)
    assert catalog.execute("SELECT count(*) FROM penstock.statement").fetchone() == (3,)


def test_each_author_gets_a_turn(catalog: psycopg.Connection) -> None:
    catalog.execute("DELETE FROM penstock.statement")
    for author in ("eve", "eve", "eve", "ada", "sam", "ada"):
        catalog.execute("INSERT INTO penstock.statement (text, author, door) VALUES ('x', %s, 'http')", [author])
    store = Store(catalog)
    assert [each.author for each in store.take()] == ["eve", "ada", "sam"]
    assert [each.author for each in store.take(["eve", "sam"])] == ["ada"]
    assert [each.author for each in store.take(["ada", "sam"])] == ["eve"]
