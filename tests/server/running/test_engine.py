"""The engine over a real PostgreSQL and Spark: statements in, tables out, and the same again after a restart."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest
from pyspark.sql import SparkSession

from penstock.codegen.program import Program
from penstock.runtime import QueryHandle, RuntimeSession
from penstock.server.running.allowed import Allowed
from tests.databases.conftest import server as server  # the embedded PostgreSQL
from tests.server.running.engines import Catalog, open_catalog, run_engine, wait_for, write
from tests.server.running.scripts import HOURS, declare_clicks

pytestmark = pytest.mark.spark


@pytest.fixture
def catalog(server: str) -> Iterator[Catalog]:
    with open_catalog(server) as catalog:
        yield catalog


def test_statements_come_go_and_come_back(only_spark: SparkSession, catalog: Catalog, tmp_path: Path) -> None:
    clicks, state = tmp_path / "clicks", tmp_path / "state"
    write(clicks, "1.json", (1, "x", "10:00:00"), (2, "y", "10:30:00"), (3, "x", "10:31:00"), (9, "x", "12:30:00"))
    declared = declare_clicks(clicks)
    allowed = Allowed(paths=(str(clicks),), connectors=("files",))
    counts = "SELECT window_start::time::text, page, n FROM hourly ORDER BY 1, 2"
    with run_engine(catalog, state, allowed=allowed):
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

        lineage = "SELECT relation, query, is_declared, connector, reads, writes FROM penstock.lineage ORDER BY number"
        assert catalog.rows(lineage) == [
            ("clicks", "clicks", True, "files", [], []),
            ("hourly", "hourly", False, None, ["clicks"], []),
        ]
        # As a server leaves it that notes none.
        catalog.db.execute("DELETE FROM penstock.lineage WHERE relation = 'clicks'")
        assert catalog.send("PAUSE QUERY hourly")["tag"] == "PAUSE QUERY"
        write(clicks, "2.json", (10, "z", "12:31:00"))
        wait_for(lambda: catalog.rows("SELECT max(id) FROM clicks") == [(10,)])
    assert catalog.rows("SELECT name, state FROM penstock.query ORDER BY name") == [
        ("clicks", "RUNNING"),
        ("hourly", "PAUSED"),
    ]
    with run_engine(catalog, state, allowed=allowed):
        assert catalog.states() == {"clicks": "RUNNING", "hourly": "PAUSED"}
        assert [row[0] for row in catalog.rows(lineage)] == ["clicks", "hourly"]
        assert len(catalog.rows(counts)) == 3, "a paused query does not go on by itself"
        assert catalog.send("RESUME QUERY hourly")["tag"] == "RESUME QUERY"
        wait_for(lambda: ("12:00:00", "z", 1) in catalog.rows(counts))
        assert catalog.rows("SELECT sum(n) FROM hourly") == [(5,)], "nothing is counted twice"

        replaced = HOURS.replace("CREATE", "CREATE OR REPLACE").replace("AS n", "AS m")
        assert catalog.send(replaced)["tag"] == "CREATE TABLE"
        wait_for(lambda: catalog.rows("SELECT version FROM penstock.relation WHERE name = 'hourly'") == [(2,)])
        assert catalog.rows("SELECT sum(m) FROM hourly") == [(5,)]
        assert catalog.send("DROP TABLE hourly")["tag"] == "DROP TABLE"
        assert catalog.send("DROP STREAM clicks")["tag"] == "DROP STREAM"
        assert catalog.rows("SELECT to_regclass('public.hourly'), to_regclass('public.clicks')") == [(None, None)]
        assert catalog.rows("SELECT name FROM penstock.relation") == []
        assert catalog.rows(lineage) == []
        assert list((state / "checkpoints").iterdir()) == []


def test_a_query_that_fails_is_held_and_the_others_go_on(
    only_spark: SparkSession, catalog: Catalog, tmp_path: Path
) -> None:
    clicks = tmp_path / "clicks"
    write(clicks, "1.json", (1, "x", "10:00:00"), (0, "y", "10:00:01"))
    failing = "CREATE STREAM parts AS SELECT STREAM 10 DIV id AS part, ts FROM clicks"
    script = f"{declare_clicks(clicks)};\n{failing};\n"
    with run_engine(catalog, tmp_path / "state", files=(("clicks.sql", script),)):
        held = "SELECT code, restarts FROM penstock.query WHERE name = 'parts' AND state = 'HELD'"
        wait_for(lambda: bool(catalog.rows(held)))
        assert catalog.rows(held) == [("R020", 2)]
        assert catalog.rows("SELECT state FROM penstock.query WHERE name = 'clicks'") == [("RUNNING",)]
        assert [row[6] for row in catalog.send("SHOW QUERIES")["rows"]] == ["", "R020: division by zero in parts"]
    with run_engine(catalog, tmp_path / "state", files=(("clicks.sql", script),)):
        assert len(catalog.rows("SELECT 1 FROM penstock.definition")) == 2, "a file is not run twice"


def test_a_start_that_takes_long_holds_up_nobody_else(
    only_spark: SparkSession, catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entered, released = Event(), Event()
    start = RuntimeSession.start

    def start_late(session: RuntimeSession, program: Program) -> list[QueryHandle]:
        if program.queries[0].name == "slow":
            entered.set()
            assert released.wait(120)
        return start(session, program)

    monkeypatch.setattr(RuntimeSession, "start", start_late)
    clicks = tmp_path / "clicks"
    write(clicks, "1.json", (1, "x", "10:00:00"))
    for role in ("grace", "joan"):
        catalog.db.execute(f"CREATE ROLE {role} IN ROLE penstock_submitter")
    with run_engine(catalog, tmp_path / "state", files=(("clicks.sql", f"{declare_clicks(clicks)};\n"),)):
        slow = catalog.begin(HOURS.replace("hourly", "slow"), "grace")
        assert entered.wait(120)
        assert catalog.send("CREATE VIEW few AS SELECT STREAM id FROM clicks")["tag"] == "CREATE VIEW"
        assert catalog.send(HOURS)["queries"] == ["hourly"]
        assert catalog.states() == {"clicks": "RUNNING", "slow": "STARTING", "hourly": "RUNNING"}
        over = catalog.begin("CREATE VIEW more AS SELECT page FROM slow", "joan")
        dropped = catalog.begin("DROP STREAM clicks")
        time.sleep(1)
        assert [*map(catalog.is_answered, (slow, over, dropped))] == [False] * 3, "they need each other"
        released.set()
        assert catalog.await_answer(slow)["queries"] == ["slow"]
        assert catalog.await_answer(over)["tag"] == "CREATE VIEW"
        assert [each["code"] for each in catalog.await_answer(dropped)["errors"]] == ["K015"]
        wait_for(lambda: catalog.rows("SELECT sum(n) FROM slow") == [(1,)])
        assert catalog.send("DROP VIEW few")["tag"] == "DROP VIEW"


def test_tables_without_a_primary_key_are_shown(only_spark: SparkSession, catalog: Catalog, tmp_path: Path) -> None:
    """A group whose key is NULL, and the one row of a result without a key, as they are and as they change."""
    clicks = tmp_path / "clicks"
    write(clicks, "1.json", (1, "x", "10:00:00"), (2, None, "10:00:01"), (3, None, "10:00:02"))
    pages = "CREATE TABLE pages AS SELECT page, COUNT(*) AS n FROM clicks GROUP BY page"
    total = "CREATE TABLE total AS SELECT COUNT(*) AS n FROM clicks"
    script = f"{declare_clicks(clicks)};\n{pages};\n{total};\n"
    catalog.db.execute("INSERT INTO penstock.listener VALUES ('total', now() + interval '1 hour')")
    with run_engine(catalog, tmp_path / "state", files=(("clicks.sql", script),)):
        wait_for(lambda: catalog.rows("SELECT page, n FROM pages ORDER BY page") == [("x", 1), (None, 2)])
        wait_for(lambda: catalog.rows("SELECT n FROM total") == [(3,)])
        write(clicks, "2.json", (4, None, "10:00:03"))
        wait_for(lambda: catalog.rows("SELECT page, n FROM pages ORDER BY page") == [("x", 1), (None, 3)])
        wait_for(lambda: catalog.rows("SELECT n FROM total") == [(4,)])
        changes = "SELECT op, key, row FROM penstock.change WHERE relation = 'total' ORDER BY seq DESC LIMIT 1"
        assert catalog.rows(changes) == [("update", {}, {"n": 4})]
        assert catalog.rows("SELECT to_regclass('public.pages_rejected')") == [(None,)]
