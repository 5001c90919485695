"""Joins of streams with tables of databases through Spark: rows equal those of a Python dict at each moment."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from pyspark.sql import SparkSession

import penstock
from penstock import RunError
from penstock.codegen import spark_text, write_job
from penstock.evaluator.evaluate import evaluate
from penstock.evaluator.history import Tables
from penstock.planner.plan import Node
from penstock.runtime import RuntimeSession
from tests import campaign
from tests.databases.places import DIALECTS, MOSTLY_POSTGRES, Place
from tests.databases.proxy import Proxy
from tests.databases.test_statements import declare
from tests.skips import skip_no_case

pytestmark = pytest.mark.spark

HISTORIES = int(os.environ.get("PENSTOCK_TABLE_HISTORIES", "1"))
DECLARED = """
CREATE STREAM clicks (
  n BIGINT, id BIGINT, site STRING, time TIMESTAMP, WATERMARK FOR time AS time - INTERVAL '10' SECOND
) WITH (connector = 'files', path = '{folder}/clicks', format = 'json', files_per_batch = 1);
CREATE TABLE users (id INT PRIMARY KEY, name STRING, score BIGINT) WITH ({place}, table = 'users'{options});
CREATE TABLE visits (id BIGINT PRIMARY KEY, site STRING PRIMARY KEY, n BIGINT)
  WITH ({place}, table = 'visits'{options});
"""
USERS = "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, score BIGINT, ignored TEXT)"
VISITS = "CREATE TABLE visits (n BIGINT, site TEXT, id BIGINT, PRIMARY KEY (id, site))"
JOINS = {
    "inner": ("u.name", "JOIN users u ON c.id = u.id AND c.n % 7 <> 0"),
    "left": ("u.name", "LEFT JOIN users u ON u.id = c.id"),
    "scored": ("u.name", "LEFT JOIN users u ON u.id = c.id AND u.score > c.n"),
    "known": ("'x'", "LEFT SEMI JOIN users u ON u.id = c.id AND u.score > c.n"),
    "unknown": ("'x'", "LEFT ANTI JOIN users u ON u.id = c.id"),
    "composite": ("CAST(v.n AS STRING)", "JOIN visits v ON v.site = c.site AND c.id = v.id"),
    "chained": (
        "CONCAT(u.name, CAST(v.n AS STRING))",
        "JOIN users u ON u.id = c.id LEFT JOIN visits v ON v.id = u.score AND v.site = u.name",
    ),
    "in": ("'x'", "WHERE c.id IN (SELECT id FROM users)"),
    "not in": ("'x'", "WHERE c.id NOT IN (SELECT id FROM users)"),
    "not in one": ("'x'", "WHERE NOT (c.site IN (SELECT name FROM users u WHERE u.id = c.id))"),
    "exists": ("'x'", "WHERE EXISTS (SELECT * FROM visits WHERE id = c.id AND site = c.site AND visits.n > c.n)"),
    "not exists": ("'x'", "WHERE NOT EXISTS (SELECT 1 FROM visits v WHERE v.id = c.id AND v.site = c.site)"),
}
"""What is shown, and the join of the stream `c` or its WHERE."""
TRIED = {dialect: campaign.take_some(list(JOINS), len(DIALECTS), first) for first, dialect in enumerate(DIALECTS)}
"""The joins that are tried in each database."""
Click = Mapping[str, Any]
Users = dict[int, tuple[str | None, int | None]]
Visits = dict[tuple[int, str], int]


def expect(click: Click, users: Users, visits: Visits) -> dict[str, list[str | None]]:
    """What each query shows of a click."""
    n, key, site = click["n"], click["id"], click["site"]
    user = users.get(key)
    name, score = user or (None, None)
    scored = score is not None and score > n
    found = visits.get((key, site))
    is_absent = not users or (key is not None and user is None)
    # The name of no user is nothing, and that of a user may be NULL, as may the site.
    is_named = False if user is None else None if site is None or name is None else site == name
    later = None if name is None else visits.get((score, name))  # type: ignore[arg-type]
    return {
        "inner": [name] if user and n % 7 else [],
        "left": [name],
        "scored": [name if scored else None],
        "known": ["x"] if scored else [],
        "unknown": [] if user else ["x"],
        "composite": [] if found is None else [str(found)],
        "chained": [None if later is None else f"{name}{later}"] if user else [],
        "in": ["x"] if user else [],
        "not in": ["x"] if is_absent else [],
        "not in one": ["x"] if is_named is False else [],
        "exists": ["x"] if found is not None and found > n else [],
        "not exists": [] if found is not None else ["x"],
    }


def evaluate_rows(plan: Node, clicks: Iterable[Click], users: Users, visits: Visits) -> list[tuple[Any, ...]]:
    """What the reference evaluator makes of the plan, in the order of `read_rows`."""
    tables: Tables = {
        "clicks": [{**each, "time": datetime.fromisoformat(each["time"])} for each in clicks],
        "users": [{"id": key, "name": name, "score": score} for key, (name, score) in users.items()],
        "visits": [{"id": key, "site": site, "n": n} for (key, site), n in visits.items()],
    }
    return sorted((tuple(row.values()) for row in evaluate(plan, tables)), key=str)


def make_script(folder: Path, place: Place, query: str, columns: str, options: str = "") -> str:
    """The script of a query that writes files."""
    files = f"connector = 'files', path = '{folder}/shown', format = 'json'"
    head = DECLARED.format(folder=folder, place=declare(place), options=options)
    return f"{head} CREATE STREAM shown ({columns}) WITH ({files}); INSERT INTO shown {query};"


def put_clicks(folder: Path, number: int, clicks: Iterable[Click]) -> None:
    """One file of the stream, and so one micro-batch."""
    file = folder / "clicks" / f"{number:03}.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text("".join(json.dumps(each) + "\n" for each in clicks))
    os.utime(file, (1_750_000_000 + number, 1_750_000_000 + number))


def click(n: int, key: int | None, site: str | None = "a", second: int = 0) -> Click:
    return {"n": n, "id": key, "site": site, "time": f"2025-01-01T00:{second // 60:02}:{second % 60:02}Z"}


def read_rows(folder: Path) -> list[tuple[Any, ...]]:
    """The values of the rows that the query has written, in any order."""
    lines = (line for file in (folder / "shown").glob("*.json") for line in file.read_text().splitlines())
    return sorted((tuple(json.loads(line).values()) for line in lines), key=str)


def change_tables(place: Place, users: Users, visits: Visits, draw: random.Random) -> None:
    """Puts and deletes some rows, in the database and here."""
    for _ in range(draw.randint(1, 8)):
        key, site = draw.choice([*range(8), 2**31 - 1]), draw.choice("ab")
        place.execute(f"DELETE FROM users WHERE id = {key}", f"DELETE FROM visits WHERE id = {key} AND site = '{site}'")
        users.pop(key, None)
        visits.pop((key, site), None)
        if draw.random() < 0.7:
            user = draw.choice(["a", "b", None]), draw.choice([None, 3, 6, 50])
            users[key], visits[key, site] = user, draw.randint(0, 99)
            name, score = ("NULL" if each is None else f"'{each}'" for each in user)
            place.execute(
                f"INSERT INTO users VALUES ({key}, {name}, {score}, 'i')",
                f"INSERT INTO visits VALUES ({visits[key, site]}, '{site}', {key})",
            )


@pytest.mark.draws
@pytest.mark.parametrize("seed", range(HISTORIES))
def test_rows_equal_a_dict(spark: SparkSession, tmp_path: Path, place: Place, seed: int) -> None:
    draw = random.Random(seed)
    place.execute(USERS, VISITS)
    union = " UNION ALL ".join(
        f"SELECT STREAM '{query}' AS query, c.n, {shown} AS name FROM clicks c {join}"
        for query, (shown, join) in JOINS.items()
        if query in TRIED[place.dialect]
    )
    compiled = penstock.compile(make_script(tmp_path, place, union, "query STRING, n BIGINT, name STRING"))
    program, [query] = compiled.program, compiled.queries
    users: Users = {}
    visits: Visits = {}
    wanted: list[tuple[Any, ...]] = []
    numbers = iter(range(10_000))
    files = iter(range(100))
    for number in range(3):
        if number:  # at first both tables are empty
            change_tables(place, users, visits, draw)
        for _ in range(draw.randint(1, 2)):
            keys = [*range(8), None, 2**31 - 1, 2**31 + 3, -1]
            clicks = [click(next(numbers), draw.choice(keys), draw.choice(["a", "b", None])) for _ in range(30)]
            put_clicks(tmp_path, next(files), clicks)
            found = [
                (name, each["n"], shown)
                for each in clicks
                for name, values in expect(each, users, visits).items()
                if name in TRIED[place.dialect]
                for shown in values
            ]
            assert sorted(found, key=str) == evaluate_rows(query.root, clicks, users, visits)
            wanted += found
        with RuntimeSession(spark, str(tmp_path / "state")) as session:
            session.run_once(program, drain=False)
    assert read_rows(tmp_path) == sorted(wanted, key=str)


def run_query(
    spark: SparkSession, folder: Path, place: Place, query: str, columns: str, options: str = "", drain: bool = False
) -> list[tuple[Any, ...]]:
    """What a query has written after one more run."""
    program = penstock.compile(make_script(folder, place, query, columns, options)).program
    with RuntimeSession(spark, str(folder / "state")) as session:
        session.run_once(program, drain=drain)
    return read_rows(folder)


@MOSTLY_POSTGRES
def test_a_window_follows(spark: SparkSession, tmp_path: Path, place: Place) -> None:
    place.execute(USERS, VISITS, "INSERT INTO users VALUES (1, 'a', 0, ''), (2, 'b', 0, '')")
    put_clicks(tmp_path, 0, [click(n, n % 4, second=n) for n in range(100)])
    query = (
        "SELECT STREAM u.name, COUNT(*) AS n FROM clicks c JOIN users u ON u.id = c.id "
        "GROUP BY u.name, TUMBLE(c.time, INTERVAL '1' MINUTE)"
    )
    rows = run_query(spark, tmp_path, place, query, "name STRING, n BIGINT", drain=True)
    assert rows == [("a", 10), ("a", 15), ("b", 10), ("b", 15)]


@MOSTLY_POSTGRES
def test_a_cache_shows_old_rows_for_its_time(spark: SparkSession, tmp_path: Path, place: Place) -> None:
    place.execute(USERS, VISITS, "INSERT INTO users VALUES (1, 'old', 0, '')")
    query, columns = "SELECT STREAM c.n, u.name FROM clicks c LEFT JOIN users u ON u.id = c.id", "n BIGINT, name STRING"

    def show(number: int, options: str) -> list[Any]:
        put_clicks(tmp_path, number, [click(number, key) for key in (1, 2, 1, None)])
        rows = run_query(spark, tmp_path, place, query, columns, options)
        return sorted((name for n, name in rows if n == number), key=str)

    hour = ", cache_ttl = 1 HOUR, cache_size = 2"
    assert show(0, hour) == [None, None, "old", "old"]
    place.execute("UPDATE users SET name = 'new' WHERE id = 1", "INSERT INTO users VALUES (2, 'b', 0, '')")
    # The worker is another one if Spark has ended the first.
    assert show(1, hour) in ([None, None, "old", "old"], [None, "b", "new", "new"])
    assert show(2, "") == [None, "b", "new", "new"]
    assert show(3, ", cache_ttl = 1 MILLISECOND") == [None, "b", "new", "new"]


def test_a_table_that_differs_is_refused_before_the_first_row(
    spark: SparkSession, tmp_path: Path, place: Place
) -> None:
    query = "SELECT STREAM c.n, u.name FROM clicks c JOIN users u ON u.id = c.id"
    put_clicks(tmp_path, 0, [click(0, 1)])
    for made, reason in (
        (None, "there is no table users"),
        ("CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT)", "has no column score"),
        ("CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, score TEXT)", "does not hold all values of BIGINT"),
        ("CREATE TABLE users (id INTEGER, name TEXT, score BIGINT)", "has no primary key or unique constraint"),
    ):
        place.execute("DROP TABLE IF EXISTS users", *([made] if made else ["CREATE TABLE empty (id INTEGER)"]))
        with pytest.raises(RunError, match=reason) as refused:
            run_query(spark, tmp_path, place, query, "n BIGINT, name STRING")
        assert [each.code for each in refused.value.diagnostics] == ["R066"]
    assert not (tmp_path / "shown").exists() or read_rows(tmp_path) == []


def test_values_that_the_declaration_does_not_allow(spark: SparkSession, tmp_path: Path, place: Place) -> None:
    if place.dialect != "sqlite":
        skip_no_case("its columns have types")
    place.execute(USERS, VISITS, "INSERT INTO users VALUES (1, 'a', 'many', '')")
    put_clicks(tmp_path, 0, [click(0, 1)])
    query = "SELECT STREAM c.n, u.score FROM clicks c JOIN users u ON u.id = c.id"
    with pytest.raises(RunError, match=r"column score of table users .* has a value that its declaration") as refused:
        run_query(spark, tmp_path, place, query, "n BIGINT, score BIGINT")
    assert [each.code for each in refused.value.diagnostics] == ["R066"]


def test_reports_count_keys_by_table(spark: SparkSession, tmp_path: Path) -> None:
    place = Place("sqlite", str(tmp_path / "shop.sqlite"))
    place.execute(USERS, VISITS, "INSERT INTO users VALUES (1, 'a', 0, ''), (2, 'b', 1, '')")
    place.execute("INSERT INTO visits VALUES (7, 'a', 0)")
    query = (
        "SELECT STREAM c.n, u.name FROM clicks c LEFT JOIN users u ON u.id = c.id "
        "LEFT SEMI JOIN visits v ON v.id = u.score AND v.site = u.name"
    )
    columns, options = "n BIGINT, name STRING", ", cache_ttl = 1 HOUR, batch_size = 2"
    batches: list[list[int | None]] = [[1, 2, 1, 3, None], [4], [None]]
    for number, keys in enumerate(batches):
        put_clicks(tmp_path, number, [click(n, key) for n, key in enumerate(keys)])
    program = penstock.compile(make_script(tmp_path, place, query, columns, options)).program

    def count() -> list[tuple[Any, ...]]:
        with RuntimeSession(spark, str(tmp_path / "state")) as session:
            [report] = session.run_once(program, drain=False)
        return [(each.name, each.gets, each.hits, each.misses, each.batches, each.failures) for each in report.lookups]

    assert count() == [("users", 4, 2, 2, 3, 0), ("visits", 2, 1, 1, 1, 0)]
    put_clicks(tmp_path, 3, [click(0, 9)])
    assert count() == [("users", 1, 0, 1, 1, 0), ("visits", 0, 0, 0, 0, 0)]
    assert read_rows(tmp_path) == [(0, "a"), (2, "a")]


def test_a_query_that_cannot_read_its_table_reports_the_failure(spark: SparkSession, tmp_path: Path) -> None:
    place = Place("sqlite", str(tmp_path / "shop.sqlite"))
    place.execute(USERS, VISITS, "INSERT INTO users VALUES (1, 'a', 0, ''), (2, 'b', 'many', '')")
    put_clicks(tmp_path, 0, [click(0, 1)])
    put_clicks(tmp_path, 1, [click(1, 2)])
    query = "SELECT STREAM c.n, u.score FROM clicks c JOIN users u ON u.id = c.id"
    program = penstock.compile(make_script(tmp_path, place, query, "n BIGINT, score BIGINT")).program
    with RuntimeSession(spark, str(tmp_path / "state")) as session:
        [handle] = session.start(program)
        for _ in range(2):
            with pytest.raises(RunError, match="column score of table users"):
                handle.await_done(60)
        [report] = handle.status().lookups
    assert (report.gets, report.hits, report.failures, report.retries) == (1, 1, 1, 0)


def test_a_server_that_is_away_for_a_moment(
    spark: SparkSession, tmp_path: Path, postgres: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "told-to-nobody-7141"
    monkeypatch.setenv("SHOP_PASSWORD", secret)
    postgres.execute(USERS, VISITS, "INSERT INTO users VALUES (1, 'a', 0, '')")
    parts = urlsplit(postgres.url)
    socket_path = f"{parse_qs(parts.query)['host'][0]}/.s.PGSQL.5432"
    with Proxy(socket_path, 0, "before") as proxy:
        url = f"postgresql://postgres@127.0.0.1:{proxy.port}/postgres?{parts.query.partition('&')[2]}"
        options = ", password = ENV('SHOP_PASSWORD'), retry_backoff = 1 SECOND"
        query = "SELECT STREAM c.n, u.name FROM clicks c JOIN users u ON u.id = c.id"
        script = make_script(tmp_path, Place("postgres", url), query, "n BIGINT, name STRING", options)
        program = penstock.compile(script).program
        put_clicks(tmp_path, 0, [click(0, 1)])
        with RuntimeSession(spark, str(tmp_path / "state")) as session:
            session.run_once(program, drain=False)
            put_clicks(tmp_path, 1, [click(1, 1)])
            proxy.refuses = 2
            postgres.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'penstock'"
            )
            session.run_once(program, drain=False)
            assert proxy.refuses == 0
    assert read_rows(tmp_path) == [(0, "a"), (1, "a")]
    texts = [script, spark_text(program), *write_job(program).values(), repr(program)]
    texts += [file.read_text(errors="replace") for file in tmp_path.rglob("*") if file.is_file()]
    assert [text for text in texts if secret in text] == []
