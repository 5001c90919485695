"""EXPLAIN WHY over queries that run: each cause is named within two micro-batches. One engine has all of them."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from click.testing import CliRunner
from psycopg import conninfo
from pyspark.sql import SparkSession

from penstock.commands.cli import main
from penstock.server.database.bootstrap import add_token
from penstock.server.database.statement_log import StatementLog
from penstock.server.http.door import HttpDoor, HttpSettings
from penstock.server.postgres.relay import Relay, Upstream
from penstock.server.running.live_query import RestartPolicy
from tests.databases.conftest import server as server  # the embedded PostgreSQL
from tests.server.running.engines import Catalog, open_catalog, run_engine, wait_for, write
from tests.server.running.scripts import declare_clicks

pytestmark = pytest.mark.spark
TOKEN = "pst_why"
HOUR = "SELECT STREAM window_start, page, COUNT(*) AS n FROM {} GROUP BY page, TUMBLE(ts, 1 HOUR)"
BOTH = "(SELECT STREAM page, ts FROM clicks UNION ALL SELECT STREAM page, ts FROM {}) u"
QUERIES = f"""
CREATE STREAM hours AS {HOUR.format("clicks")};
CREATE STREAM rare AS SELECT STREAM window_start, COUNT(*) AS n FROM clicks
  GROUP BY TUMBLE(ts, 1 SECOND) HAVING COUNT(*) > 100;
CREATE STREAM with_empty AS {HOUR.format(BOTH.format("empty"))};
CREATE STREAM with_slow AS {HOUR.format(BOTH.format("slow"))};
CREATE STREAM large AS SELECT STREAM id, ts FROM clicks WHERE id > 1000;
CREATE STREAM parts AS SELECT STREAM 10 DIV id AS part, ts FROM clicks;
CREATE STREAM late_hours AS {HOUR.format("late")};
CREATE TABLE kept (id BIGINT PRIMARY KEY, page STRING) WITH (
  connector = 'postgres', url = '<url>', table = 'mine.kept',
  statement_timeout = 3 SECONDS, retry_max_delay = 1 SECOND);
INSERT INTO kept SELECT STREAM id, page FROM clicks;
"""


@dataclass
class Served:
    """An engine with both doors, and the folder that its inputs are in."""

    catalog: Catalog
    folder: Path
    db: psycopg.Connection[Any]
    """Through the relay."""
    url: str
    """Of the door of HTTP."""
    blocker: psycopg.Connection[Any]
    """Has locked the table `mine.kept` since before the engine was started."""

    def explain(self, query: str) -> dict[str, tuple[str, dict[str, Any]]]:
        """The causes, each with its text and its numbers."""
        rows = self.db.execute(f"EXPLAIN WHY {query}").fetchall()
        return {cause: (text, json.loads(numbers)) for cause, text, numbers in rows}

    def count_batches(self, query: str) -> int:
        """How many micro-batches a query has finished since it was started."""
        batches = {row[0]: row[4] for row in self.db.execute("SHOW QUERIES").fetchall()}
        return int(batches[query] or 0)

    def await_cause(self, query: str, cause: str, since: int | None = 0) -> tuple[str, dict[str, Any]]:
        """The text and the numbers of a cause, which is named within two micro-batches.

        `since`: how many were finished when the cause began; None if the query does not run.
        """
        wait_for(lambda: cause in self.explain(query))
        assert since is None or self.count_batches(query) <= since + 2
        return self.explain(query)[cause]


@contextmanager
def open_doors(url: str) -> Iterator[tuple[int, int]]:
    """The ports of both doors, which run in a thread."""
    opened = threading.Event()
    ports: list[int] = []
    loop = asyncio.new_event_loop()
    stopping = asyncio.Event()

    async def run() -> None:
        async with AsyncExitStack() as stack:
            log = await stack.enter_async_context(StatementLog(url, seconds=60, max_bytes=100_000))
            relay = Relay(Upstream(str(conninfo.conninfo_to_dict(url)["host"])), log)
            await relay.start("127.0.0.1", 0)
            stack.push_async_callback(relay.stop)
            door = await stack.enter_async_context(HttpDoor(HttpSettings(url, port=0), log))
            ports.extend((relay.port, door.port))
            opened.set()
            await stopping.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(run(),))
    thread.start()
    try:
        wait_for(lambda: opened.is_set() or not thread.is_alive())
        postgres, http = ports
        yield postgres, http
    finally:
        loop.call_soon_threadsafe(stopping.set)
        thread.join()
        loop.close()


@contextmanager
def hold_table(catalog: Catalog) -> Iterator[psycopg.Connection[Any]]:
    """A connection that lets others read the table `mine.kept`, and not write it."""
    catalog.db.execute("CREATE SCHEMA mine")
    catalog.db.execute("CREATE TABLE mine.kept (id bigint PRIMARY KEY, page text)")
    with psycopg.connect(catalog.url) as blocker:
        blocker.execute("LOCK TABLE mine.kept IN SHARE MODE")
        yield blocker


@pytest.fixture(scope="module")
def served(only_spark: SparkSession, server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("why")
    clicks = [(1, "x", "10:00:00"), (0, "y", "10:00:10"), (2, "x", "10:10:00")]
    write(folder / "clicks", "1.json", *clicks)
    write(folder / "slow", "1.json", (1, "x", "08:30:00"))
    write(folder / "late", "1.json", (1, "x", "12:30:00"))
    for name in ("empty", "dirty"):
        (folder / name).mkdir()
    for name in ("slow", "dirty"):
        (folder / name / "2.json").write_text('{"id": "none"}\n', encoding="utf-8")
    names = ("clicks", "slow", "late", "empty", "dirty")
    declared = [declare_clicks(folder / name).replace("STREAM clicks", f"STREAM {name}") for name in names]
    with open_catalog(server) as catalog, hold_table(catalog) as blocker:
        catalog.db.execute("CREATE ROLE ada LOGIN IN ROLE penstock_owner")
        add_token(catalog.db, TOKEN, "ada", "test")
        script = ";\n".join(("SET state_partitions = 1", *declared, QUERIES.replace("<url>", catalog.url)))
        restarts = RestartPolicy(attempts=1, pauses=(3,))
        with (
            run_engine(catalog, folder / "state", restarts, files=(("why.sql", script),)),
            open_doors(catalog.url) as (postgres, http),
            psycopg.connect(
                host="127.0.0.1", port=postgres, user="ada", dbname=catalog.db.info.dbname, autocommit=True
            ) as db,
        ):
            yield Served(catalog, folder, db, f"http://127.0.0.1:{http}", blocker)


def test_a_query_that_fails_is_retried_and_then_held(served: Served) -> None:
    text, numbers = served.await_cause("parts", "retrying", None)
    assert "It failed with R020: division by zero in parts" in text
    assert numbers["code"] == "R020"
    text, numbers = served.await_cause("parts", "held", None)
    assert text.endswith("RESUME QUERY starts it once more.")
    assert numbers["code"] == "R020"
    assert list(served.explain("parts")) == ["held"]


def test_a_database_that_does_not_take_rows(served: Served) -> None:
    """The first micro-batch waits for a lock, so the query is still starting."""
    text, numbers = served.await_cause("kept", "retrying")
    assert numbers["query"] == "kept"
    assert "The database has not taken the rows" in text
    assert list(served.explain("kept")) == ["retrying", "starting"]
    text, _ = served.explain("kept")["starting"]
    assert text.endswith("It has not finished its first micro-batch.")
    served.blocker.rollback()
    wait_for(lambda: served.catalog.rows("SELECT id FROM mine.kept ORDER BY id") == [(0,), (1,), (2,)])
    wait_for(lambda: not served.explain("kept").keys() & {"retrying", "starting"})


def test_an_input_without_rows(served: Served) -> None:
    text, _ = served.await_cause("empty", "no_rows")
    assert text.endswith(f"Files are read from {served.folder}/empty.")
    assert list(served.explain("empty")) == ["no_rows"]


def test_a_silent_input(served: Served) -> None:
    text, numbers = served.await_cause("with_empty", "silent")
    assert numbers["input"] == "empty"
    assert numbers["others"] == "2026-01-01T10:09:55+00:00"
    assert text.endswith("With IDLE AFTER in its WATERMARK FOR, the others go on without it.")


def test_an_input_that_is_behind(served: Served) -> None:
    _, numbers = served.await_cause("with_slow", "behind")
    assert (numbers["input"], numbers["behind_seconds"]) == ("slow", 6_000)


def test_filtered_rows(served: Served) -> None:
    text, numbers = served.await_cause("large", "all_left_out")
    assert (numbers["filtered"], numbers["used"]) == (3, 0)
    assert "3 rows were read, 3 filtered" in text


def test_rejected_rows(served: Served) -> None:
    _, numbers = served.await_cause("dirty", "all_left_out")
    assert (numbers["rejected"], numbers["used"]) == (1, 0)
    _, numbers = served.await_cause("slow", "some_left_out")
    assert (numbers["rejected"], numbers["used"]) == (1, 1)


def test_rows_without_a_result(served: Served) -> None:
    _, numbers = served.await_cause("rare", "no_result")
    assert numbers["used"] == 3


def test_a_window_that_is_open_through_all_doors(served: Served) -> None:
    text, numbers = served.await_cause("hours", "not_final")
    assert (numbers["end"], numbers["missing_seconds"]) == ("2026-01-01T11:00:00+00:00", 3_005)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with httpx.Client(base_url=served.url, headers=headers, timeout=60) as client:

        def read_reasons() -> dict[str, Any]:
            reasons = client.get("/v1/queries/hours").json()["status"].get("reasons", [])
            return {each["cause"]: (each["text"], each["numbers"]) for each in reasons}

        wait_for(lambda: read_reasons().get("not_final") == (text, numbers))
    run = CliRunner().invoke(main, ["why", "hours", "--url", served.url], env={"PENSTOCK_TOKEN": TOKEN})
    assert f"not_final: {text}" in run.stdout.splitlines()


def test_late_rows_some_and_then_all(served: Served) -> None:
    wait_for(lambda: "not_final" in served.explain("late_hours"))
    since = served.count_batches("late_hours")
    write(served.folder / "late", "2.json", (2, "x", "12:00:00"), (3, "x", "12:40:00"))
    _, numbers = served.await_cause("late_hours", "some_left_out", since)
    assert (numbers["late"], numbers["used"]) == (1, 2)
    served.db.execute("PAUSE QUERY late_hours")
    text, _ = served.await_cause("late_hours", "paused", None)
    assert text.endswith("RESUME QUERY lets it go on.")
    assert list(served.explain("late_hours")) == ["paused"]
    write(served.folder / "late", "3.json", (4, "x", "12:01:00"))
    served.db.execute("RESUME QUERY late_hours")
    _, numbers = served.await_cause("late_hours", "all_left_out")
    assert (numbers["late"], numbers["used"]) == (1, 0)


def test_state_that_grows(served: Served) -> None:
    wait_for(lambda: "not_final" in served.explain("hours"))
    since = served.count_batches("hours")
    write(served.folder / "clicks", "3.json", (3, "z", "10:11:00"))
    text, numbers = served.await_cause("hours", "state_grows", since)
    assert (numbers["rows_before"], numbers["rows"]) == (2, 3)
    assert text.endswith("EXPLAIN STATE says what bounds it.")


def test_no_new_rows(served: Served) -> None:
    """Nothing comes for ten seconds."""
    _, numbers = served.await_cause("slow", "no_new_rows")
    assert numbers["rows"] == 2
    assert numbers["seconds"] >= 10
