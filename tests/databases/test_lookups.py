"""Joins of streams with tables of databases through Spark: rows equal those of a Python dict at each moment."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import penstock
from penstock.runtime import RuntimeSession
from tests.databases.places import Place
from tests.databases.test_statements import declare

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
}
"""What is shown, and the join of the stream `c`."""
Click = Mapping[str, Any]
Users = dict[int, tuple[str | None, int | None]]
Visits = dict[tuple[int, str], int]


def expect(click: Click, users: Users, visits: Visits) -> dict[str, list[str | None]]:
    """What each query shows of a click."""
    n, key = click["n"], click["id"]
    user = users.get(key)
    name, score = user or (None, None)
    scored = score is not None and score > n
    found = visits.get((key, click["site"]))
    later = None if name is None else visits.get((score, name))  # type: ignore[arg-type]
    return {
        "inner": [name] if user and n % 7 else [],
        "left": [name],
        "scored": [name if scored else None],
        "known": ["x"] if scored else [],
        "unknown": [] if user else ["x"],
        "composite": [] if found is None else [str(found)],
        "chained": [None if later is None else f"{name}{later}"] if user else [],
    }


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
    )
    program = penstock.compile(make_script(tmp_path, place, union, "query STRING, n BIGINT, name STRING")).program
    users: Users = {}
    visits: Visits = {}
    wanted: list[tuple[Any, ...]] = []
    numbers = iter(range(10_000))
    files = iter(range(100))
    for _ in range(3):
        change_tables(place, users, visits, draw)
        for _ in range(draw.randint(1, 2)):
            keys = [*range(8), None, 2**31 - 1, 2**31 + 3, -1]
            clicks = [click(next(numbers), draw.choice(keys), draw.choice(["a", "b", None])) for _ in range(30)]
            put_clicks(tmp_path, next(files), clicks)
            for each in clicks:
                for query, names in expect(each, users, visits).items():
                    wanted += [(query, each["n"], name) for name in names]
        with RuntimeSession(spark, str(tmp_path / "state")) as session:
            session.run_once(program, drain=False)
    assert read_rows(tmp_path) == sorted(wanted, key=str)
