"""INSERT, UPDATE and DELETE through Spark: the tables equal a replay in Python, after any micro-batch."""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import penstock
from penstock.runtime import RuntimeSession
from tests.databases.places import Place

pytestmark = pytest.mark.spark

HISTORIES = int(os.environ.get("PENSTOCK_TABLE_HISTORIES", "1"))
STREAM = """
CREATE STREAM ops (id BIGINT, name STRING, n BIGINT)
  WITH (connector = 'files', path = '{folder}/ops', format = 'json', files_per_batch = 1);
CREATE TABLE puts (id BIGINT PRIMARY KEY, name STRING, n BIGINT) WITH ({place}, table = 'puts');
CREATE TABLE deletes (id BIGINT PRIMARY KEY, name STRING, n BIGINT) WITH ({place}, table = 'deletes');
CREATE TABLE names (id BIGINT PRIMARY KEY, name STRING, n BIGINT) WITH ({place}, table = 'names');
CREATE TABLE sums (id BIGINT PRIMARY KEY, name STRING, n BIGINT) WITH ({place}, table = 'sums');
CREATE TABLE known (id BIGINT PRIMARY KEY, name STRING, n BIGINT) WITH ({place}, table = 'known');
CREATE TABLE adds (id BIGINT PRIMARY KEY, name STRING, n BIGINT) WITH ({place}, table = 'adds');
CREATE TABLE plain (id BIGINT PRIMARY KEY, name STRING, n BIGINT) WITH ({place}, table = 'plain');
INSERT INTO puts SELECT STREAM id, name, n FROM ops;
DELETE FROM deletes USING ops AS o WHERE deletes.id = o.id AND o.n > 5;
UPDATE names SET name = o.name FROM ops AS o WHERE names.id = o.id ELSE INSERT (n) VALUES (o.n);
UPDATE sums SET n = sums.n * 2 + o.n, name = CONCAT(sums.name, o.name) FROM STREAM ops AS o WHERE sums.id = o.id
  ELSE INSERT (n, name) VALUES (o.n + 100, '');
UPDATE known SET n = known.n + 1 FROM ops AS o WHERE o.id = known.id AND o.name <> 'c';
UPDATE adds SET n = adds.n - o.n, name = o.name FROM ops AS o WHERE adds.id = o.id ELSE INSERT (n) VALUES (100);
UPDATE plain SET n = o.n FROM ops AS o WHERE plain.id = o.id;
CREATE TABLE counts WITH ({place}, table = 'counts', create = 'if_missing')
  AS SELECT id, COUNT(*) AS c, SUM(n) AS n FROM ops WHERE id IS NOT NULL GROUP BY id HAVING SUM(n) % 3 <> 0;
"""
BEFORE = {key: {"id": key, "name": "old", "n": key} for key in range(4)}


def declare(place: Place) -> str:
    """The options that say where the tables are."""
    if "://" in place.url:
        return f"connector = '{place.dialect}', url = '{place.url}'"
    return f"connector = '{place.dialect}', path = '{place.url}'"


class Replay:
    """The tables as plain dictionaries, row by row."""

    def __init__(self) -> None:
        self.tables: dict[str, dict[int, dict[str, Any]]] = {
            name: {key: dict(row) for key, row in BEFORE.items()}
            for name in ("puts", "deletes", "names", "sums", "known", "adds", "plain")
        }
        self.counts: dict[int, dict[str, Any]] = {}
        self.rejected = {"known": 0, "plain": 0, "puts": 0, "deletes": 0, "names": 0, "sums": 0, "adds": 0}

    def apply(self, op: Mapping[str, Any]) -> None:
        """What one row of the stream does to each table."""
        key, name, n = op["id"], op["name"], op["n"]
        tables = self.tables
        for table, row in tables.items():
            concerned = {"deletes": n > 5, "known": name != "c"}.get(table, True)
            if concerned and (key is None or (table in ("known", "plain") and key not in row)):
                self.rejected[table] += 1
        if key is None:
            return
        tables["puts"][key] = dict(op)
        if n > 5:
            tables["deletes"].pop(key, None)
        tables["names"].setdefault(key, {"id": key, "n": n})["name"] = name
        total = tables["sums"].setdefault(key, {"id": key, "name": "", "n": n + 100})
        total["n"], total["name"] = total["n"] * 2 + n, total["name"] + name
        less = tables["adds"].setdefault(key, {"id": key, "n": 100})
        less["n"], less["name"] = less["n"] - n, name
        if name != "c" and key in tables["known"]:
            tables["known"][key]["n"] += 1
        if key in tables["plain"]:
            tables["plain"][key]["n"] = n
        count = self.counts.setdefault(key, {"id": key, "c": 0, "n": 0})
        count["c"], count["n"] = count["c"] + 1, count["n"] + n


def put_file(folder: Path, number: int, ops: Iterable[Mapping[str, Any]]) -> None:
    """One file of the stream, and so one micro-batch."""
    file = folder / "ops" / f"{number:03}.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text("".join(json.dumps(op) + "\n" for op in ops))
    os.utime(file, (1_750_000_000 + number, 1_750_000_000 + number))


def check_tables(place: Place, replay: Replay) -> None:
    for table, rows in replay.tables.items():
        wanted = sorted((key, row.get("name"), row.get("n")) for key, row in rows.items())
        assert sorted(place.rows(f"SELECT id, name, n FROM {table}")) == wanted, table
    totals = [(key, row["c"], row["n"]) for key, row in replay.counts.items() if row["n"] % 3 != 0]
    assert sorted(place.rows("SELECT id, c, n FROM counts")) == sorted(totals)
    for table, count in replay.rejected.items():
        if count:
            assert place.rows(f"SELECT COUNT(*) FROM {table}_rejected") == [(count,)], table


@pytest.mark.draws
@pytest.mark.parametrize("seed", range(HISTORIES))
def test_tables_equal_a_replay(spark: SparkSession, tmp_path: Path, place: Place, seed: int) -> None:
    draw = random.Random(seed)
    columns = "id BIGINT PRIMARY KEY, name TEXT, n BIGINT"
    replay = Replay()
    for table in replay.tables:
        values = ", ".join(f"({row['id']}, '{row['name']}', {row['n']})" for row in BEFORE.values())
        place.execute(f"CREATE TABLE {table} ({columns})", f"INSERT INTO {table} VALUES {values}")
    program = penstock.compile(STREAM.format(folder=tmp_path, place=declare(place))).program
    number = 0
    rejected: Counter[str] = Counter()
    for _ in range(draw.randint(1, 3)):  # runs, each of several micro-batches
        for _ in range(draw.randint(1, 3)):
            ops = [
                {"id": draw.choice([*range(8), None]), "name": draw.choice("abc"), "n": draw.randint(-3, 12)}
                for _ in range(draw.randint(0, 12))
            ]
            put_file(tmp_path, number, ops)
            number += 1
            for op in ops:
                replay.apply(op)
        with RuntimeSession(spark, str(tmp_path / "state")) as session:
            reports = session.run_once(program, drain=False)
        check_tables(place, replay)
        for report in reports:
            assert report.table is not None
            rejected[report.name] += report.table.rejected
    assert +rejected == +Counter(replay.rejected)


MONEY = """
CREATE STREAM ops (id BIGINT, name STRING, n BIGINT)
  WITH (connector = 'files', path = '{folder}/ops', format = 'json', files_per_batch = 1);
CREATE TABLE t (id BIGINT PRIMARY KEY, m DECIMAL(9, 2), v INT, s SMALLINT) WITH ({place}, table = 't');
UPDATE t SET m = t.m + 0.5, v = t.v - CASE WHEN o.name = 'x' THEN 3 ELSE 1 END
  FROM ops AS o WHERE t.id = o.id ELSE INSERT (m, v, s) VALUES (0, 0, 7);
"""


def test_numbers_of_other_types_are_added(spark: SparkSession, tmp_path: Path, postgres: Place) -> None:
    """What is added has fewer digits than the column."""
    postgres.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, m DECIMAL(9, 2), v INTEGER, s SMALLINT)")
    postgres.execute("INSERT INTO t VALUES (1, 1.25, 10, 1), (2, NULL, NULL, 2)")
    names = "xyxxy"
    put_file(tmp_path, 0, [{"id": number % 3 + 1, "name": name, "n": 0} for number, name in enumerate(names)])
    program = penstock.compile(MONEY.format(folder=tmp_path, place=declare(postgres))).program
    with RuntimeSession(spark, str(tmp_path / "state")) as session:
        session.run_once(program, drain=False)
    found = sorted((id_, None if m is None else float(m), v, s) for id_, m, v, s in postgres.rows("SELECT * FROM t"))
    assert found == [(1, 2.25, 4, 1), (2, None, None, 2), (3, 0.5, -3, 7)]
