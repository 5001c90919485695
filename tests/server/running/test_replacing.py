"""CREATE OR REPLACE builds a table beside the old one, over a real PostgreSQL and Spark."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from pyspark.sql import SparkSession

from penstock.runtime import RuntimeSession
from penstock.server.running import building_query
from tests.databases.conftest import server as server  # the embedded PostgreSQL
from tests.server.running.engines import Catalog, open_catalog, run_engine, wait_for, write
from tests.server.running.scripts import HOURS, declare_clicks

pytestmark = pytest.mark.spark
REPLACED = HOURS.replace("CREATE", "CREATE OR REPLACE").replace("AS n", "AS n, MAX(id) AS newest")
FAILING = HOURS.replace("CREATE", "CREATE OR REPLACE").replace("COUNT(*) AS n", "MAX(10 DIV id) AS n")
COUNTS = "SELECT page, n FROM hourly ORDER BY page"
VERSION = "SELECT version FROM penstock.relation WHERE name = 'hourly'"


@pytest.fixture
def catalog(server: str) -> Iterator[Catalog]:
    with open_catalog(server) as catalog:
        yield catalog


@contextmanager
def keep_reading(url: str, least: int) -> Iterator[list[int]]:
    """Reads the table all the time, also by a prepared statement. It must never have less than so many rows."""
    done = threading.Event()
    counts: list[int] = []
    failures: list[Exception] = []

    def read() -> None:
        with psycopg.connect(url, autocommit=True) as db:
            while not done.is_set():
                try:
                    for prepare in (False, True):
                        found = db.execute("SELECT count(*) FROM hourly WHERE n > 0", prepare=prepare).fetchone()
                        assert found is not None
                        counts.append(found[0])
                except psycopg.Error as error:
                    failures.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        yield counts
    finally:
        done.set()
        reader.join()
    assert failures == []
    assert min(counts) >= least


def codes(answer: Any) -> list[str]:
    return [each["code"] for each in answer["errors"]]


def test_readers_never_see_an_empty_table(
    only_spark: SparkSession, catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    released = threading.Event()
    run_once = RuntimeSession.run_once

    def run_late(session: RuntimeSession, program: Any, *, stopping: threading.Event, **given: Any) -> Any:
        while not released.wait(0.05):
            if stopping.is_set():
                raise KeyboardInterrupt
        return run_once(session, program, stopping=stopping, **given)

    monkeypatch.setattr(RuntimeSession, "run_once", run_late)
    monkeypatch.setattr(building_query, "START_SECONDS", 0.2)
    clicks, state = tmp_path / "clicks", tmp_path / "state"
    write(clicks, "1.json", (1, "x", "10:00:00"), (2, "y", "10:30:00"), (3, "x", "10:31:00"))
    script = (("clicks.sql", f"{declare_clicks(clicks)};\n{HOURS};\n"),)
    catalog.db.execute("CREATE ROLE keeper")
    with run_engine(catalog, state, files=script):
        wait_for(lambda: catalog.rows("SELECT to_regclass('hourly')") != [(None,)])
        wait_for(lambda: catalog.rows(COUNTS) == [("x", 2), ("y", 1)])
        catalog.db.execute("GRANT SELECT ON hourly TO keeper")
        made = catalog.send(REPLACED)
        assert (made["tag"], made["queries"]) == ("CREATE TABLE", ["hourly (new)"])
        assert made["notices"] == ["hourly is built beside the old one, which stays until then"]
        assert catalog.states() == {"clicks": "RUNNING", "hourly": "RUNNING", "hourly (new)": "RUNNING"}
        assert catalog.send("EXPLAIN WHY hourly")["rows"][0][0] == "replacing"
        assert codes(catalog.send("CREATE VIEW few AS SELECT page FROM hourly")) == ["V020"]
        assert codes(catalog.send("DROP TABLE hourly")) == ["V020"]
        assert catalog.send("PAUSE QUERY `hourly (new)`")["tag"] == "PAUSE QUERY"
        assert catalog.send("RESUME QUERY `hourly (new)`")["tag"] == "RESUME QUERY"
        assert catalog.send(REPLACED)["queries"] == ["hourly (new)"], "the newest statement counts"
    assert catalog.rows(COUNTS) == [("x", 2), ("y", 1)]
    catalog.db.execute("INSERT INTO penstock.listener VALUES ('hourly', now() + interval '1 hour')")
    with keep_reading(catalog.url, least=2) as counts, run_engine(catalog, state, files=script):
        assert catalog.states()["hourly"] == "RUNNING", "the old query goes on"
        write(clicks, "2.json", (4, "z", "10:32:00"))
        wait_for(lambda: ("z", 1) in catalog.rows(COUNTS))
        assert catalog.rows(VERSION) == [(1,)]
        released.set()
        wait_for(lambda: catalog.rows(VERSION) == [(2,)])
        newest = "SELECT page, n, newest FROM hourly ORDER BY page"
        assert catalog.rows(newest) == [("x", 2, 3), ("y", 1, 2), ("z", 1, 4)], "all that was there, at once"
        assert catalog.rows("SELECT * FROM penstock.listener") == [], "who follows changes begins anew"
        wait_for(lambda: catalog.states() == {"clicks": "RUNNING", "hourly": "RUNNING"})
        write(clicks, "3.json", (5, "z", "10:33:00"))
        wait_for(lambda: catalog.rows(newest) == [("x", 2, 3), ("y", 1, 2), ("z", 2, 5)])
        before = len(counts)
        wait_for(lambda: len(counts) > before)
    assert catalog.rows("SELECT has_table_privilege('keeper', 'hourly', 'SELECT')") == [(True,)]
    assert catalog.rows("SELECT has_schema_privilege('penstock_reader', 'penstock_build', 'USAGE')") == [(False,)]
    assert catalog.rows("SELECT relname FROM pg_class WHERE relnamespace = 'penstock_build'::regnamespace") == [
        ("penstock_ledger",),
        ("penstock_ledger_pkey",),
    ]
    assert catalog.rows("SELECT * FROM penstock.building") == []
    assert len(list((state / "checkpoints").iterdir())) == 2


def test_a_new_query_that_fails_leaves_the_old_one_in_force(
    only_spark: SparkSession, catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clicks, state = tmp_path / "clicks", tmp_path / "state"
    write(clicks, "1.json", (0, "x", "10:00:00"), (2, "y", "10:30:00"))
    script = (("clicks.sql", f"{declare_clicks(clicks)};\n{HOURS};\n"),)
    with run_engine(catalog, state, files=script):
        wait_for(lambda: catalog.rows("SELECT to_regclass('hourly')") != [(None,)])
        wait_for(lambda: catalog.rows(COUNTS) == [("x", 1), ("y", 1)])
        monkeypatch.setattr(building_query, "START_SECONDS", 100)
        assert codes(catalog.send(FAILING)) == ["R020"]
        assert catalog.states() == {"clicks": "RUNNING", "hourly": "RUNNING"}
        monkeypatch.setattr(building_query, "START_SECONDS", 0.01)
        assert catalog.send(FAILING)["queries"] == ["hourly (new)"]
        held = "SELECT code FROM penstock.query WHERE name = 'hourly (new)' AND state = 'HELD'"
        wait_for(lambda: catalog.rows(held) == [("R020",)])
        [row] = [row for row in catalog.send("SHOW QUERIES")["rows"] if row[0] == "hourly (new)"]
        assert (row[1], row[6]) == ("HELD", "R020: division by zero in hourly")
        cause, text, _ = catalog.send("EXPLAIN WHY hourly")["rows"][0]
        assert cause == "replacing"
        assert "R020" in text
        assert "DROP QUERY `hourly (new)`" in text
        assert catalog.rows(COUNTS) == [("x", 1), ("y", 1)]
        assert catalog.send("DROP QUERY `hourly (new)`")["tag"] == "DROP QUERY"
        assert catalog.states() == {"clicks": "RUNNING", "hourly": "RUNNING"}
        assert catalog.rows("SELECT * FROM penstock.building") == []
        assert catalog.rows("SELECT to_regclass('penstock_build.hourly')") == [(None,)]
        catalog.db.execute("CREATE SCHEMA own; CREATE VIEW own.copied AS SELECT n FROM hourly")
        assert codes(catalog.send(REPLACED)) == ["V019"]
        time.sleep(0.5)
        write(clicks, "2.json", (3, "y", "10:31:00"))
        wait_for(lambda: catalog.rows(COUNTS) == [("x", 1), ("y", 2)])
