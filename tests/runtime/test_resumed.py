"""Changed scripts over the checkpoints of what they were, through Spark: they go on, are refused, or begin anew."""

from __future__ import annotations

import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import penstock
from penstock.codegen.program import Program
from penstock.evaluator.evaluate import evaluate
from penstock.runtime import RunError, RuntimeSession
from tests.jvm.sessions import open_session
from tests.model.rows import difference
from tests.properties.test_spark import AT_ONCE
from tests.runtime.programs import written

pytestmark = pytest.mark.spark

DECLARED = """
CREATE STREAM orders (id BIGINT KEY, product STRING, price DOUBLE, quantity BIGINT, time TIMESTAMP,
  WATERMARK FOR time AS time - 10 MINUTES) WITH (connector = 'files', path = '{folder}/orders', format = 'json');
CREATE STREAM shipments (id BIGINT KEY, cost DOUBLE, time TIMESTAMP,
  WATERMARK FOR time AS time - 10 MINUTES) WITH (connector = 'files', path = '{folder}/shipments', format = 'json');
CREATE TABLE prices (product STRING PRIMARY KEY, list BIGINT)
  WITH (connector = 'files', path = '{folder}/prices', format = 'json');
SET state_partitions = 2;
"""
# What a query was, and what it is when it goes on. No window or pane is full before that.
CHANGED = {
    "filtered": (
        "SELECT STREAM id FROM orders WHERE price > 4",
        "SELECT STREAM o.id, product, price * 2 AS twice FROM orders o WHERE o.price > 2",
    ),
    "united": (
        "SELECT STREAM id FROM orders UNION ALL SELECT STREAM id FROM orders",
        "SELECT STREAM id, 1 AS part FROM orders WHERE id <> 8 UNION ALL SELECT STREAM id, 2 FROM orders",
    ),
    "windows": (
        """SELECT STREAM product, SUM(quantity) AS items, COUNT(*) AS n FROM orders
          GROUP BY product, TUMBLE(time, 1 HOUR)""",
        """SELECT STREAM kind, pieces, many, pieces * 2 AS twice, window_end FROM (
          SELECT STREAM product AS kind, window_end, SUM(quantity) AS pieces, COUNT(*) AS many FROM orders
          GROUP BY product, TUMBLE(time, 1 HOUR)) AS w WHERE many > 2""",
    ),
    "latest": (
        "SELECT product, MAX(quantity) AS most, COUNT(*) AS n FROM orders GROUP BY product",
        "SELECT product AS kind, MAX(quantity) AS top, COUNT(*) AS n, COUNT(*) + 1 AS more FROM orders GROUP BY kind",
    ),
    "newest": ("SELECT product AS k, list AS l FROM prices", "SELECT p.product AS kind, list AS price FROM prices p"),
    "known": (
        "SELECT STREAM o.id, p.list FROM orders o JOIN prices p ON o.product = p.product",
        """SELECT STREAM b.list * 2 AS twice, a.id AS number FROM orders AS a JOIN prices AS b
          ON a.product = b.product""",
    ),
    "running": (
        """SELECT STREAM id, total FROM (SELECT STREAM id, SUM(paid) OVER
          (PARTITION BY product ORDER BY time RANGE 10 MINUTES PRECEDING) AS total
          FROM (SELECT STREAM id, product, quantity * 2 AS paid, time FROM orders) AS x) AS y""",
        """SELECT STREAM sum * 2 AS twice, id FROM (SELECT STREAM id, SUM(n) OVER
          (PARTITION BY kind ORDER BY time RANGE 10 MINUTES PRECEDING) AS sum
          FROM (SELECT STREAM id, product AS kind, quantity * 2 AS n, time FROM orders) AS y) AS z WHERE sum > 20""",
    ),
    "remembered": (
        "SELECT STREAM id, SUM(quantity) OVER (PARTITION BY product ORDER BY time ROWS 2 PRECEDING) AS n FROM orders",
        """SELECT STREAM id + 1 AS next, sum FROM (SELECT STREAM id,
          SUM(quantity) OVER (PARTITION BY product ORDER BY time ROWS 2 PRECEDING) AS sum FROM orders) AS z
          WHERE id > 2""",
    ),
    "joined": (
        """SELECT STREAM o.id, s.cost FROM orders o JOIN shipments s
          ON o.id = s.id AND s.time BETWEEN o.time AND o.time + 5 MINUTES""",
        """SELECT STREAM b.cost * 2 AS twice, a.id AS number FROM orders AS a JOIN shipments AS b
          ON a.id = b.id AND b.time BETWEEN a.time AND a.time + 5 MINUTES""",
    ),
}
IN_PASSING = ("filtered", "united", "known")
TABLES = ("latest", "newest")


def row(number: int, **more: object) -> dict[str, Any]:
    return {"id": number, "time": datetime(2024, 1, 1, 10, number % 30, number), **more}


ORDERS = [row(n, product="ab"[n % 2], price=float(n), quantity=n * n) for n in range(1, 13)]
SHIPMENTS = [row(n, cost=n / 2) for n in range(0, 12, 2)]


PRICES = [{"product": product, "list": price} for product, price in (("a", 1), ("b", 2), ("a", 3), ("b", 4))]


def put(folder: Path, name: str, **streams: list[dict[str, Any]]) -> None:
    for stream, rows in streams.items():
        file = folder / stream / f"{name}.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text("".join(json.dumps(row, default=lambda time: f"{time.isoformat()}Z") + "\n" for row in rows))
        os.utime(file, (1_750_000_000, 1_750_000_000))


def compiled(folder: Path, statements: str) -> penstock.Compilation:
    return penstock.compile(DECLARED.format(folder=folder) + statements)


def test_changed_queries_go_on(only_spark: SparkSession, tmp_path: Path) -> None:
    def outcome(name: str) -> str:
        folder = tmp_path / name
        folder.mkdir()
        kind = "TABLE" if name in TABLES else "STREAM"
        was, now = (compiled(folder, f"CREATE {kind} result AS {text};") for text in CHANGED[name])
        spark = open_session(only_spark, list(CHANGED).index(name))
        with RuntimeSession(spark, str(folder / "state")) as session:
            put(folder, "1", orders=ORDERS[:6], shipments=SHIPMENTS[:3], prices=PRICES[:2])
            session.run_once(was.program, drain=False)
            assert bool(session.rows("result")) == (name in (*IN_PASSING, *TABLES))
            put(folder, "2", orders=ORDERS[6:], shipments=SHIPMENTS[3:], prices=PRICES[2:])
            session.run_once(now.program, drain=True)
            orders = ORDERS[6:] if name in IN_PASSING else ORDERS
            tables = {"orders": orders, "shipments": SHIPMENTS, "prices": PRICES}
            return difference(session.rows("result"), evaluate(now.queries[0].root, tables))

    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = dict(zip(CHANGED, pool.map(outcome, CHANGED), strict=True))
    assert not any(found.values()), found


FILES = "CREATE STREAM {name} WITH (connector = 'files', path = '{folder}/{name}', format = 'json') AS {query};"
LARGE = "SELECT STREAM id, quantity FROM orders WHERE quantity > {least}"
BUSIEST = """SELECT STREAM window_start, MAX(n) AS most FROM (
  SELECT STREAM product, window_start AS minute, COUNT(*) AS n FROM orders GROUP BY product, TUMBLE(time, 1 MINUTE)) m
  GROUP BY TUMBLE(minute, 1 HOUR)"""


def stored(folder: Path, *names: str) -> dict[str, bytes]:
    """The files below some folders, and what is in them."""
    files = (file for name in names for file in (folder / name).rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def large(folder: Path, least: int, more: str = "") -> Program:
    return compiled(folder, FILES.format(name="large", folder=folder, query=LARGE.format(least=least)) + more).program


def refused(session: RuntimeSession, program: Program, *, reset: bool = False) -> str:
    with pytest.raises(RunError) as failure:
        session.reset(program) if reset else session.run_once(program, drain=False)
    (finding,) = failure.value.diagnostics
    return finding.code


def test_a_refusal_touches_nothing(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path, "1", orders=ORDERS)
    shown = "SELECT STREAM id FROM orders"
    with RuntimeSession(spark, str(tmp_path / "state")) as session:
        session.run_once(large(tmp_path, 50, f"CREATE STREAM shown AS {shown};"), drain=False)
        before = stored(tmp_path, "state", "large")
        # The first query could go on, the second one cannot.
        other = compiled(
            tmp_path,
            f"CREATE STREAM shown AS {shown} WHERE id > 1;"
            + FILES.format(name="large", folder=tmp_path, query=LARGE.format(least=60)),
        )
        assert refused(session, other.program) == "R010"
        # Nor can they begin anew, where all rows would come twice.
        assert refused(session, other.program, reset=True) == "R014"
        assert stored(tmp_path, "state", "large") == before


def test_a_query_begins_anew(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path, "1", orders=ORDERS)
    state = tmp_path / "state"
    (state / "mine").mkdir(parents=True)
    (state / "mine" / "thesis.txt").write_text("all of it")
    chain = FILES.format(name="busiest", folder=tmp_path, query=BUSIEST)
    with RuntimeSession(spark, str(state)) as session:
        session.run_once(large(tmp_path, 50, chain), drain=True)
        assert {file.name for file in state.iterdir()} == {"mine", "large", "busiest", "busiest_intermediate1"}
        for name in ("large", "busiest"):
            (tmp_path / name).rename(tmp_path / f"former {name}")
        # What was a chain no longer is.
        changed = large(
            tmp_path, 60, FILES.format(name="busiest", folder=tmp_path, query="SELECT STREAM id FROM orders")
        )
        names = sorted(Path(place).name for place in session.reset(changed).checkpoints)
        assert names == ["busiest", "busiest_intermediate1", "large"]
        assert [file.name for file in state.iterdir()] == ["mine"]
        session.run_once(changed, drain=False)
        assert sorted(row["quantity"] for row in written(tmp_path / "large")) == [64, 81, 100, 121, 144]
        assert sorted(row["id"] for row in written(tmp_path / "busiest")) == list(range(1, 13))
    assert (state / "mine" / "thesis.txt").read_text() == "all of it"


def test_a_query_killed_in_its_first_write_begins_again(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path, "1", orders=ORDERS)
    program = compiled(tmp_path, "CREATE STREAM a AS SELECT STREAM id FROM orders;").program
    place = tmp_path / "state" / "a"
    with RuntimeSession(spark, str(tmp_path / "state")) as session:
        session.run_once(program, drain=False)
    for folder in ("offsets", "commits", "sources"):
        shutil.rmtree(place / folder)
    for name in ("offsets/.0.8a9f.tmp", "offsets/..0.8a9f.tmp.crc", "sources/0/.0.8a9f.tmp"):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(b"")
    with RuntimeSession(spark, str(tmp_path / "state")) as session:
        session.run_once(program, drain=False)
        assert len(session.rows("a")) == 12


def test_only_checkpoints_are_removed_and_none_that_is_in_use(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path, "1", orders=ORDERS)
    program = compiled(
        tmp_path, "CREATE STREAM a AS SELECT STREAM id FROM orders; CREATE STREAM b AS SELECT STREAM id FROM orders;"
    ).program
    with RuntimeSession(spark, str(tmp_path / "state")) as session:
        (tmp_path / "state" / "b").mkdir(parents=True)
        (tmp_path / "state" / "b" / "thesis.txt").write_text("all of it")
        session.run_once(Program(program.settings, program.queries[:1]), drain=False)
        before = stored(tmp_path, "state")
        assert refused(session, program, reset=True) == "R011"
        assert stored(tmp_path, "state") == before
        (tmp_path / "state" / "b" / "thesis.txt").unlink()
        handles = session.start(program)
        assert refused(session, program, reset=True) == "R012"
        for handle in handles:
            handle.stop()
        (tmp_path / "orders").rename(tmp_path / "elsewhere")
        assert refused(session, program, reset=True) == "R003"
        (tmp_path / "elsewhere").rename(tmp_path / "orders")
        # A removal that was interrupted is finished by the next start.
        (tmp_path / "state" / "a" / "removing").touch()
        session.run_once(program, drain=False)
        assert len(session.rows("a")) == 12
        assert not (tmp_path / "state" / "a" / "removing").exists()
