"""The engine over a real PostgreSQL and Spark: statements in, tables out, and the same again after a restart."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from pyspark.sql import SparkSession

from penstock.server.database.bootstrap import prepare_catalog
from penstock.server.running.allowed import Allowed
from penstock.server.running.engine_process import EngineProcess
from penstock.server.running.home import Home
from penstock.server.running.live_query import RestartPolicy
from penstock.server.running.settings import EngineSettings
from tests.databases.conftest import server as server  # the embedded PostgreSQL
from tests.server.running.scripts import HOURS, declare_clicks

pytestmark = pytest.mark.spark
SECONDS = 120


@dataclass
class Catalog:
    """A database with the catalog of Penstock, as its superuser sees it."""

    db: psycopg.Connection
    url: str

    def send(self, text: str, author: str = "postgres") -> Any:
        """The answer of the engine to a statement."""
        [(number,)] = self.rows(
            "INSERT INTO penstock.statement (text, author, door) VALUES (%s, %s, 'http') RETURNING id", text, author
        )
        self.db.execute("NOTIFY penstock_statement")
        ended = "SELECT answer FROM penstock.statement WHERE id = %s AND finished IS NOT NULL"
        wait_for(lambda: bool(self.rows(ended, number)))
        return self.rows(ended, number)[0][0]

    def states(self) -> dict[str, str]:
        """The states of the queries, as SHOW QUERIES lists them."""
        return {row[0]: row[1] for row in self.send("SHOW QUERIES")["rows"]}

    def rows(self, text: str, *values: object) -> list[tuple[Any, ...]]:
        return self.db.execute(text, values).fetchall()


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it has not come true"
        time.sleep(0.05)


@pytest.fixture
def catalog(server: str) -> Iterator[Catalog]:
    name = f"engine_{time.monotonic_ns()}"
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}")
    url = server.replace("/postgres?", f"/{name}?")
    with psycopg.connect(url, autocommit=True) as db:
        prepare_catalog(db, "postgres")
        yield Catalog(db, url)


@contextmanager
def running(catalog: Catalog, state: Path, **options: Any) -> Iterator[EngineProcess]:
    """An engine in a thread of its own, ready for statements."""
    restarts = RestartPolicy(attempts=2, window=600, pauses=(0.1, 0.1))
    settings = EngineSettings(Home(catalog.url, None, 3), str(state), "postgres", restarts=restarts, **options)
    stopping = threading.Event()
    failures: list[BaseException] = []
    with psycopg.connect(**settings.connection()) as db:
        engine = EngineProcess(settings, db)

        def run() -> None:
            try:
                engine.run(stopping)
            except BaseException as error:
                failures.append(error)

        catalog.db.execute("DELETE FROM penstock.engine")
        thread = threading.Thread(target=run)
        thread.start()
        try:
            ready = "SELECT 1 FROM penstock.engine WHERE state = 'READY'"
            wait_for(lambda: bool(catalog.rows(ready)) or not thread.is_alive())
            yield engine
        finally:
            stopping.set()
            thread.join()
            assert failures == []


def write(folder: Path, name: str, *rows: tuple[int, str, str]) -> None:
    """A file of clicks, which is there at once."""
    folder.mkdir(exist_ok=True)
    lines = [json.dumps({"id": id_, "page": page, "ts": f"2026-01-01T{at}Z"}) for id_, page, at in rows]
    (folder / f".{name}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / f".{name}").rename(folder / name)


def test_statements_come_go_and_come_back(only_spark: SparkSession, catalog: Catalog, tmp_path: Path) -> None:
    clicks, state = tmp_path / "clicks", tmp_path / "state"
    write(clicks, "1.json", (1, "x", "10:00:00"), (2, "y", "10:30:00"), (3, "x", "10:31:00"), (9, "x", "12:30:00"))
    declared = declare_clicks(clicks)
    allowed = Allowed(paths=(str(clicks),), connectors=("files",))
    counts = "SELECT window_start::time::text, page, n FROM hourly ORDER BY 1, 2"
    with running(catalog, state, allowed=allowed):
        assert catalog.send(declared)["tag"] == "CREATE STREAM"
        made = catalog.send(HOURS)
        assert (made["tag"], made["queries"]) == ("CREATE TABLE", ["hourly"])
        assert [each["code"] for each in catalog.send("SET state_partitions = 2")["errors"]] == ["V012"]
        assert [each["code"] for each in catalog.send("SET spark.x = 2")["errors"]] == ["C007"]
        wait_for(lambda: len(catalog.rows(counts)) == 3)
        assert catalog.rows(counts) == [("10:00:00", "x", 2), ("10:00:00", "y", 1), ("12:00:00", "x", 1)]
        wait_for(lambda: len(catalog.rows("SELECT * FROM clicks")) == 3)
        assert catalog.rows("SELECT id FROM clicks") == [(2,), (3,), (9,)], "the newest three"
        comments = "SELECT obj_description('public.hourly'::regclass), obj_description('public.clicks'::regclass)"
        assert catalog.rows(comments) == [(HOURS, declared)]
        assert catalog.rows("SELECT has_table_privilege('penstock_reader', 'public.hourly', 'SELECT')") == [(True,)]

        stranger = catalog.send("DROP TABLE hourly", author="nobody")
        assert [each["code"] for each in stranger["errors"]] == ["V002"]
        catalog.db.execute("CREATE ROLE ada IN ROLE penstock_submitter")
        assert [each["sqlstate"] for each in catalog.send("DROP TABLE hourly", author="ada")["errors"]] == ["42501"]
        wrong = catalog.send("SHOW TABLES;\nCREATE TABLE x AS SELECT idd FROM clicks")
        assert [(each["code"], each["position"]) for each in wrong["errors"]] == [("N001", 39)]
        into = catalog.send("INSERT INTO hourly SELECT * FROM hourly", author="ada")
        assert [each["code"] for each in into["errors"]] == ["K008"]
        catalog.send(declare_clicks("/x").replace("path =", "password = 'typed', path ="), author="ada")
        assert catalog.rows("SELECT count(*) FROM penstock.statement WHERE text LIKE '%%typed%%'") == [(0,)]
        long = catalog.send(f"SELECT {'1, ' * 20_000} 1", author="ada")
        assert [each["code"] for each in long["errors"]] == ["V017"]
        away = catalog.send(declare_clicks("/etc").replace("STREAM clicks", "STREAM x"), author="ada")
        assert [each["code"] for each in away["errors"]] == ["V003"]
        catalog.db.execute("CREATE TABLE public.mine (x int)")
        taken = catalog.send(HOURS.replace("TABLE hourly", "TABLE mine"))
        assert [each["code"] for each in taken["errors"]] == ["V005"]
        assert [row[:2] for row in catalog.send("SHOW QUERIES")["rows"]] == [
            ["clicks", "RUNNING"],
            ["hourly", "RUNNING"],
        ]

        assert catalog.send("PAUSE QUERY hourly")["tag"] == "PAUSE QUERY"
        write(clicks, "2.json", (10, "z", "12:31:00"))
        wait_for(lambda: catalog.rows("SELECT max(id) FROM clicks") == [(10,)])
    assert catalog.rows("SELECT name, state FROM penstock.query ORDER BY name") == [
        ("clicks", "RUNNING"),
        ("hourly", "PAUSED"),
    ]
    with running(catalog, state, allowed=allowed):
        assert catalog.states() == {"clicks": "RUNNING", "hourly": "PAUSED"}
        assert len(catalog.rows(counts)) == 3, "a paused query does not go on by itself"
        assert catalog.send("RESUME QUERY hourly")["tag"] == "RESUME QUERY"
        wait_for(lambda: ("12:00:00", "z", 1) in catalog.rows(counts))
        assert catalog.rows("SELECT sum(n) FROM hourly") == [(5,)], "nothing is counted twice"

        replaced = HOURS.replace("CREATE", "CREATE OR REPLACE").replace("AS n", "AS m")
        assert catalog.send(replaced)["tag"] == "CREATE TABLE"
        wait_for(lambda: catalog.rows("SELECT sum(m) FROM hourly") == [(5,)])
        assert catalog.rows("SELECT version FROM penstock.relation WHERE name = 'hourly'") == [(2,)]
        assert catalog.send("DROP TABLE hourly")["tag"] == "DROP TABLE"
        assert catalog.send("DROP STREAM clicks")["tag"] == "DROP STREAM"
        assert catalog.rows("SELECT to_regclass('public.hourly'), to_regclass('public.clicks')") == [(None, None)]
        assert catalog.rows("SELECT name FROM penstock.relation") == []
        assert list((state / "checkpoints").iterdir()) == []


def test_a_query_that_fails_is_held_and_the_others_go_on(
    only_spark: SparkSession, catalog: Catalog, tmp_path: Path
) -> None:
    clicks = tmp_path / "clicks"
    write(clicks, "1.json", (1, "x", "10:00:00"), (0, "y", "10:00:01"))
    failing = "CREATE STREAM parts AS SELECT STREAM 10 DIV id AS part, ts FROM clicks"
    script = f"{declare_clicks(clicks)};\n{failing};\n"
    with running(catalog, tmp_path / "state", files=(("clicks.sql", script),)):
        held = "SELECT code, restarts FROM penstock.query WHERE name = 'parts' AND state = 'HELD'"
        wait_for(lambda: bool(catalog.rows(held)))
        assert catalog.rows(held) == [("R020", 2)]
        assert catalog.rows("SELECT state FROM penstock.query WHERE name = 'clicks'") == [("RUNNING",)]
        assert [row[6] for row in catalog.send("SHOW QUERIES")["rows"]] == ["", "R020: division by zero in parts"]
    with running(catalog, tmp_path / "state", files=(("clicks.sql", script),)):
        assert len(catalog.rows("SELECT 1 FROM penstock.definition")) == 2, "a file is not run twice"
