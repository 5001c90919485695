"""Tables read while their queries run: whole micro-batches only; and what SELECTs make of their rows."""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from pyspark.sql import SparkSession

import penstock
from penstock.compilation import compile_read
from penstock.diagnostics import Source
from penstock.runtime import RuntimeSession
from penstock.runtime.checkpoint.sink_log import list_committed

Rows = list[dict[str, Any]]
ACCOUNTS = ["a", "b", "c", "d", None]
FUNDS = Decimal("100.10")
BATCHES = 6
WAIT_SECONDS = 120


class Log:
    """The files of a folder's log, by name."""

    def __init__(self, **files: list[str]) -> None:
        self._files = files

    def is_folder(self, path: str) -> bool:
        return path == "out/_spark_metadata"

    def names(self, folder: str) -> list[str]:
        return [name.removeprefix("b") for name in self._files]

    def read(self, path: str) -> str:
        names = self._files["b" + path.rpartition("/")[2]]
        return "\n".join(
            ["v1", *(json.dumps({"path": f"file:///x/out/{name}", "size": 1, "action": "add"}) for name in names)]
        )


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, []),
        ({"b0": ["q"], "b2": ["c"], "b1": ["p", "a"], "b.3.tmp": ["x"]}, ["q", "p", "a", "c"]),
        ({"b0": ["q"], "b1": ["p"], "b2.compact": ["q", "p", "b"], "b3": ["a"]}, ["q", "p", "b", "a"]),
        ({"b2.compact": ["q"], "b5.compact": ["q", "p"], "b4": ["p"]}, ["q", "p"]),
    ],
)
def test_the_log_lists_files_in_the_order_of_micro_batches(files: dict[str, list[str]], expected: list[str]) -> None:
    log: Any = Log(**files)
    assert list(list_committed(log, "out") or ()) == expected
    assert list_committed(log, "elsewhere") is None


def script(folder: Path) -> str:
    def place(name: str) -> str:
        return f"connector = 'files', path = '{folder}/{name}', format = 'json'"

    groups = "SELECT account, SUM(amount) AS total, COUNT(*) AS n, MAX(at) AS newest FROM moves GROUP BY account"
    return f"""
SET state_partitions = 2;
SET trigger_interval = 300 MILLISECONDS;
CREATE STREAM moves (account STRING, amount DECIMAL(10,2), at TIMESTAMP)
WITH ({place("moves")}, files_per_batch = 1);
CREATE TABLE totals WITH ({place("totals")}, operation = 'op') AS {groups} HAVING SUM(amount) <> 0;
CREATE TABLE kept AS {groups};
"""


def put(path: Path, rows: Rows, written: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.parent.with_suffix(".draft")
    draft.write_text("".join(json.dumps(row, default=float) + "\n" for row in rows))
    os.utime(draft, (written, written))
    draft.rename(path)


def moves(chance: random.Random) -> Iterator[Rows]:
    """In each file money goes from one account to another, sometimes all that is there."""
    held: dict[str | None, Decimal] = dict.fromkeys(ACCOUNTS, FUNDS)
    number = 0

    def move(account: str | None, amount: Decimal) -> dict[str, Any]:
        nonlocal number
        number += 1
        return {"account": account, "amount": amount, "at": f"2024-01-01T00:00:{number:02d}.000001Z"}

    yield [move(account, FUNDS) for account in ACCOUNTS]
    for _ in range(BATCHES - 1):
        rows = []
        for _ in range(2):
            giver, taker = chance.sample(ACCOUNTS, 2)
            amount = held[giver] if chance.random() < 0.4 else Decimal(chance.randrange(1, 500)) / 100
            held[giver] -= amount
            held[taker] += amount
            rows += [move(giver, -amount), move(taker, amount)]
        yield rows


def groups(files: list[Rows]) -> Rows:
    """The batch answer, sorted by account, NULL first."""
    found: dict[str | None, dict[str, Any]] = {}
    for row in (row for rows in files for row in rows):
        group = found.setdefault(row["account"], {"account": row["account"], "total": Decimal(0), "n": 0})
        newest = datetime.fromisoformat(row["at"])
        group.update(total=group["total"] + row["amount"], n=group["n"] + 1, newest=newest)
    return sorted(found.values(), key=lambda group: (group["account"] is not None, group["account"] or ""))


@pytest.mark.spark
def test_every_read_is_the_answer_after_some_micro_batch(spark: SparkSession, tmp_path: Path) -> None:
    files = list(moves(random.Random(3)))
    answers = {"kept": [groups(files[:number]) for number in range(BATCHES + 1)]}
    answers["totals"] = [[row for row in rows if row["total"]] for rows in answers["kept"]]
    seen: dict[str, list[int]] = {"kept": [0], "totals": [0]}
    waiting = list(enumerate(files))

    def feed() -> None:
        number, rows = waiting.pop(0)
        put(tmp_path / "moves" / f"{number}.json", rows, 1_700_000_000 + number)

    feed()
    with penstock.connect(checkpoint=str(tmp_path / "state")) as session:
        session._spark._spark.conf.set("spark.sql.streaming.fileSink.log.compactInterval", 3)
        session.submit(script(tmp_path))
        deadline = time.monotonic() + WAIT_SECONDS
        while {each[-1] for each in seen.values()} != {BATCHES}:
            assert time.monotonic() < deadline, seen
            both = session.sql(
                "SELECT * FROM (SELECT 'kept' AS source, * FROM kept UNION ALL SELECT 'totals', * FROM totals) a"
                " ORDER BY account"
            )
            for name, batches in seen.items():
                found = [{k: v for k, v in row.items() if k != "source"} for row in both if row["source"] == name]
                assert sum(row["total"] for row in found) in (0, FUNDS * len(ACCOUNTS))
                assert found in answers[name], (name, batches, found)
                batches.append(max(n for n, rows in enumerate(answers[name]) if rows == found))
            if waiting:
                feed()
    assert all(batches == sorted(batches) for batches in seen.values())
    assert all(len(set(batches)) > 3 for batches in seen.values()), seen

    sql = "SELECT * FROM totals ORDER BY account"
    log = tmp_path / "totals" / "_spark_metadata"
    (part, *_) = (tmp_path / "totals").glob("part-*.json")
    (tmp_path / "totals" / "part-of-a-batch.json").write_bytes(part.read_bytes())
    with penstock.connect() as reader:
        reader.catalog = penstock.compile(script(tmp_path)).catalog
        assert reader.sql(sql) == answers["totals"][BATCHES]
        (log / str(BATCHES - 1)).unlink(missing_ok=True)
        (log / f"{BATCHES - 1}.compact").unlink(missing_ok=True)
        assert reader.sql(sql) == answers["totals"][BATCHES - 1]
        with pytest.raises(penstock.RunError, match="R030"):
            reader.sql("SELECT * FROM kept")


PEOPLE: Rows = [
    {
        "id": 1,
        "name": "ann",
        "city": 7,
        "pay": Decimal("10.50"),
        "tags": ["x", "y"],
        "place": {"x": 1, "y": 0.5},
        "v": 1,
    },
    {"id": 2, "name": "bob", "city": 8, "pay": Decimal("20.00"), "tags": [], "place": None, "v": 1},
    {"id": 3, "name": None, "city": 7, "pay": None, "tags": None, "place": {"x": None, "y": 1.5}, "v": 1},
    {"id": 4, "name": "dan", "city": None, "pay": Decimal("-3.25"), "tags": ["z"], "place": None, "v": 1},
]
OLD: Rows = [
    {"id": 1, "name": "old", "v": 0},
    {"id": 5, "name": "gone", "v": 0},
    {"id": 5, "v": 1, "op": "D"},
    {"id": 3, "v": 0, "op": "delete"},
    {"name": "nobody", "v": 1},
]
TIME, LATER = "2023-11-14T10:00:00Z", "2023-11-14T11:00:00Z"
CITIES: Rows = [{"id": 7, "city": "Ulm"}, {"id": 9, "city": "Hof"}, {"id": 10, "city": None}]
SELECTS = (
    "SELECT * FROM people ORDER BY id",
    "SELECT upper(name) AS n, pay * 2 AS twice FROM people p WHERE p.id <> 2 ORDER BY twice DESC NULLS LAST, 1 LIMIT 2",
    "SELECT city, COUNT(*) AS n, COUNT(DISTINCT name) AS d, MAX(name) AS m, SUM(pay) AS s FROM people GROUP BY city"
    " HAVING COUNT(*) < 9 ORDER BY COUNT(*) DESC, city NULLS FIRST",
    "SELECT p.name AS name, c.city AS city FROM people p LEFT JOIN cities c ON p.city = c.id ORDER BY p.id",
    "SELECT p.id AS p, c.id AS c FROM people p FULL JOIN cities c ON p.city = c.id AND p.id > 1"
    " ORDER BY p NULLS LAST, c",
    "WITH a AS (SELECT p.id AS id FROM people p LEFT SEMI JOIN cities c ON p.city < c.id),"
    " b AS (SELECT p.id AS id FROM people p LEFT ANTI JOIN cities c ON p.city = c.id)"
    " SELECT * FROM (SELECT 'a' AS k, id FROM a UNION ALL SELECT 'b', id FROM b) x ORDER BY k, id",
    "SELECT MAX(n) AS most FROM"
    " (SELECT city, COUNT(*) AS n FROM (SELECT DISTINCT city, name FROM people) d GROUP BY city) g",
    "SELECT a.id AS a, b.id AS b FROM rich a JOIN rich b ON a.pay < b.pay",
    "SELECT p.id AS id FROM people p JOIN (SELECT MAX(pay) AS most FROM people) m ON TRUE WHERE p.pay = m.most",
    "SELECT * FROM nobody",
    "SELECT * FROM (SELECT city FROM people UNION SELECT id FROM cities) t ORDER BY city NULLS FIRST",
    "SELECT * FROM (SELECT city FROM people INTERSECT SELECT id FROM cities) t ORDER BY city",
    "SELECT * FROM (SELECT city FROM people EXCEPT SELECT id FROM cities UNION ALL SELECT 1) t ORDER BY 1 NULLS FIRST",
    "SELECT id, name, c.city AS place FROM people p JOIN cities c USING (id) ORDER BY id",
    "SELECT p.id AS p, c.id AS c FROM people p CROSS JOIN cities c ORDER BY p, c",
    "SELECT p.id AS p, c.city AS c FROM people p, cities c WHERE p.city = c.id ORDER BY p",
    "SELECT id FROM people ORDER BY id LIMIT 2 OFFSET 1",
    "SELECT id FROM people ORDER BY id OFFSET 3",
    "SELECT x, y FROM (VALUES (1, 'a'), (2, 'b')) AS t (x, y) ORDER BY x DESC",
    "SELECT 1 + 1 AS two, 'x' AS letter",
    "SELECT city, COUNT(*) AS n FROM people GROUP BY ALL ORDER BY city NULLS FIRST",
    "WITH few (a, b) AS (SELECT id, name FROM people) SELECT a, b FROM few ORDER BY a",
    "SELECT number, pay FROM tall ORDER BY number",
    "SELECT * FROM UNNEST(ARRAY[2, 1]) AS u (e) ORDER BY e",
    "SELECT id, name, e FROM people JOIN numbers ON id = e ORDER BY id",
    "SELECT g, name FROM GENERATE_SERIES(1, 5) AS g (g) JOIN people ON id = g WHERE g > 1 ORDER BY g",
    "SELECT id, tag FROM people, UNNEST(tags) AS t (tag) ORDER BY id, tag",
)


@pytest.mark.spark
def test_selects_over_tables_are_those_of_any_database(spark: SparkSession, tmp_path: Path) -> None:
    place = f"connector = 'files', path = '{tmp_path}"
    columns = "name STRING, city BIGINT, pay DECIMAL(10,2), tags ARRAY<STRING>, place STRUCT<x: INT, y: DOUBLE>, v INT"
    declared = f"""
CREATE TABLE people (id BIGINT PRIMARY KEY, {columns})
WITH ({place}/people', format = 'json', operation = 'op', sequence = 'v');
CREATE STREAM arrivals (id BIGINT KEY, city STRING, time TIMESTAMP, WATERMARK FOR time AS time)
WITH ({place}/arrivals', format = 'json');
CREATE TABLE cities (id BIGINT PRIMARY KEY, city STRING) WITH (connector = 'memory', rows = 4);
INSERT INTO cities SELECT STREAM id, city FROM arrivals;
CREATE TABLE nobody (id BIGINT PRIMARY KEY, name STRING) WITH ({place}/nobody', format = 'csv');
CREATE TABLE counted WITH ({place}/counted', format = 'csv', operation = 'op') AS
SELECT COUNT(*) AS n, MAX(city) AS city FROM arrivals;
CREATE TABLE hourly WITH ({place}/hourly', format = 'parquet') AS
SELECT COUNT(*) AS n FROM arrivals GROUP BY TUMBLE(time, 1 HOUR) EMIT FINAL;
CREATE VIEW rich AS SELECT id, pay FROM people WHERE pay > 0;
CREATE VIEW tall (number, pay) AS SELECT id, pay FROM people WHERE pay > 0;
CREATE VIEW numbers AS SELECT * FROM UNNEST(ARRAY[1, 2]) AS u (e);
"""
    put(tmp_path / "people" / "1.json", [*OLD[:1], *PEOPLE[:2], *OLD[1:]], 1_700_000_000)
    put(tmp_path / "people" / "0.json", PEOPLE[2:], 1_700_000_001)
    put(tmp_path / "arrivals" / "0.json", [{"id": 9, "city": "Old", "time": TIME}], 1_700_000_000)
    put(tmp_path / "arrivals" / "1.json", [{**row, "time": LATER} for row in CITIES], 1_700_000_001)
    (tmp_path / "nobody").mkdir()
    database = duckdb.connect()
    database.execute("SET TimeZone = 'UTC'")
    database.execute(f"CREATE TABLE people AS SELECT * FROM (VALUES {', '.join(map(values, PEOPLE))}) t(id, "
                     "name, city, pay, tags, place, v)")  # fmt: skip
    database.execute(f"CREATE TABLE cities AS SELECT * FROM (VALUES {', '.join(map(values, CITIES))}) t(id, city)")
    database.execute("CREATE VIEW rich AS SELECT id, pay FROM people WHERE pay > 0")
    database.execute("CREATE VIEW tall (number, pay) AS SELECT id, pay FROM people WHERE pay > 0")
    database.execute("CREATE VIEW numbers AS SELECT * FROM UNNEST(ARRAY[1, 2]) AS u (e)")
    database.execute("CREATE TABLE nobody (id BIGINT, name TEXT)")
    with penstock.connect() as session:
        running = session.submit("SET state_partitions = 2;" + declared)
        deadline = time.monotonic() + WAIT_SECONDS
        while not all(query.status().rows > len(CITIES) for query in running) or not session.sql(
            "SELECT * FROM hourly"
        ):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        for query in running[1:]:
            query.stop()
        assert session.sql("SELECT * FROM counted") == [{"n": 4, "city": "Ulm"}]
        window = {"window_start": datetime.fromisoformat(TIME), "window_end": datetime.fromisoformat(LATER)}
        assert session.sql("SELECT * FROM hourly") == [{"n": 1, **window}]
        for sql in SELECTS:
            expected = database.execute(sql.replace("LEFT SEMI", "SEMI").replace("LEFT ANTI", "ANTI"))
            names = [each[0] for each in expected.description or ()]
            rows = [dict(zip(names, row, strict=True)) for row in expected.fetchall()]
            assert session.sql(sql) == rows, sql
        put(tmp_path / "arrivals" / "2.json", [{**CITIES[0], "time": LATER}], 1_700_000_002)
        while running[0].status().rows < len(CITIES) + 2:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        with pytest.raises(penstock.RunError, match="R034: memory sink cities holds only the newest 4 of 5"):
            session.sql("SELECT * FROM cities")


def values(row: dict[str, Any]) -> str:
    """A row as DuckDB writes it."""

    def value(name: str, each: Any) -> str:
        if each is None:
            return {"pay": "NULL::DECIMAL(10,2)", "tags": "NULL::TEXT[]"}.get(name, "NULL")
        if name == "pay":
            return f"{each}::DECIMAL(10,2)"
        if name == "place":
            x, y = ("NULL" if part is None else part for part in each.values())
            return f"{{'x': {x}::INT, 'y': {y}::DOUBLE}}"
        return f"{each}::TEXT[]" if name == "tags" else repr(each)

    return "(" + ", ".join(value(name, each) for name, each in row.items()) + ")"


@pytest.mark.spark
def test_columns_may_be_called_as_what_a_read_looks_for(spark: SparkSession, tmp_path: Path) -> None:
    given = [{"_name": "a", "read": 1}, {"_name": "b", "read": 2}, {"_name": "a", "read": 3}]
    put(tmp_path / "s" / "1.json", given, 1)
    sql = f"""
    CREATE STREAM s (_name STRING, read BIGINT) WITH (connector = 'files', path = '{tmp_path}/s', format = 'json');
    CREATE TABLE t WITH (connector = 'files', path = '{tmp_path}/t', format = 'json', operation = 'op') AS
    SELECT _name, MAX(read) AS read, COUNT(*) AS place, MIN(read) AS log, MAX(_name) AS name FROM s GROUP BY _name"""
    compiled = penstock.compile(sql)
    question = compile_read(Source("<read>", "SELECT * FROM t ORDER BY _name"), compiled.catalog, memory=True)
    with RuntimeSession(spark, str(tmp_path / "state")) as session:
        session.run_once(compiled.program, drain=False)
        rows = session.read(question)
    assert rows == [
        {"_name": "a", "read": 3, "place": 2, "log": 1, "name": "a"},
        {"_name": "b", "read": 2, "place": 1, "log": 2, "name": "b"},
    ]
