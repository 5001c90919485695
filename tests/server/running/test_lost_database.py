"""PostgreSQL is started again while queries run: they are retried, and go on in the same process."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import psycopg
import pytest
from psycopg import conninfo
from pyspark.sql import SparkSession

from penstock.planner.plan import SecretOption
from penstock.server.database.bootstrap import prepare_catalog
from penstock.server.database.embedded import ENGINE, OWNER, EmbeddedPostgres
from penstock.server.running.engine_process import EngineProcess
from penstock.server.running.home import Home
from penstock.server.running.settings import EngineSettings
from tests.server.running.scripts import HOURS, declare_clicks
from tests.server.served import wait_for

pytestmark = pytest.mark.spark
COUNTS = "SELECT page, n FROM hourly ORDER BY page"


@pytest.fixture
def postgres(tmp_path: Path) -> Iterator[EmbeddedPostgres]:
    for each in (tmp_path, tmp_path.parent):
        each.chmod(0o755)  # it has a user of its own
    made = EmbeddedPostgres(tmp_path / "state")
    made.start()
    yield made
    made.stop()


def connect(postgres: EmbeddedPostgres) -> psycopg.Connection:
    place = conninfo.make_conninfo(postgres.url(ENGINE), password=postgres.passwords.read(ENGINE))
    return psycopg.connect(place, autocommit=True)


@contextmanager
def running(settings: EngineSettings) -> Iterator[EngineProcess]:
    """An engine in a thread of its own. A failure of it is raised at the end."""
    stopping = threading.Event()
    failures: list[BaseException] = []
    with settings.connect() as db:
        engine = EngineProcess(settings, db)

        def run() -> None:
            try:
                engine.run(stopping)
            except BaseException as error:
                failures.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield engine
        finally:
            stopping.set()
            thread.join()
    assert failures == []


def write(folder: Path, name: str, *pages: str) -> None:
    folder.mkdir(exist_ok=True)
    lines = [json.dumps({"id": 1, "page": page, "ts": "2026-01-01T10:00:00Z"}) for page in pages]
    (folder / f".{name}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / f".{name}").rename(folder / name)


def test_queries_go_on_when_postgresql_is_there_again(
    only_spark: SparkSession, postgres: EmbeddedPostgres, tmp_path: Path
) -> None:
    clicks = tmp_path / "clicks"
    write(clicks, "1.json", "a", "b")
    with connect(postgres) as db:
        prepare_catalog(db, OWNER)
    home = Home(postgres.url(ENGINE), SecretOption("FILE", str(postgres.passwords.file(ENGINE).resolve())), 10)
    script = f"{declare_clicks(clicks)};\n{HOURS};\n"
    settings = EngineSettings(home, str(tmp_path / "state"), OWNER, files=(("clicks.sql", script),))
    with running(settings) as engine:

        def states() -> set[str]:
            return {live.state for live in list(engine._live.values())}

        def counts() -> list[tuple[str, int]]:
            with connect(postgres) as db:
                return db.execute(COUNTS).fetchall()

        def answer(text: str) -> str:
            with connect(postgres) as db:
                row = db.execute(
                    "INSERT INTO penstock.statement (text, author, door) VALUES (%s, %s, 'http') RETURNING id",
                    [text, OWNER],
                ).fetchone()
                assert row is not None
                ended = "SELECT state FROM penstock.statement WHERE id = %s AND finished IS NOT NULL"
                (state,) = wait_for(lambda: db.execute(ended, row).fetchone())
                return str(state)

        wait_for(lambda: len(engine._live) == 2 and states() == {"RUNNING"})
        wait_for(lambda: counts() == [("a", 1), ("b", 1)])
        for kind in (signal.SIGINT, signal.SIGKILL):  # a stop that ends sessions, and a crash
            process = psutil.Process(postgres._server.get_postmaster_info().pid)
            process.send_signal(kind)
            process.wait(30)
            write(clicks, f"{kind}.json", "a", "c")
            wait_for(lambda: "RETRYING" in states(), "the queries are retried")
            postgres.start()
            wait_for(lambda: states() == {"RUNNING"}, "the queries go on")
        wait_for(lambda: counts() == [("a", 3), ("b", 1), ("c", 2)], "nothing is lost or counted twice")
        assert {live.restarts for live in engine._live.values()} == {0}, "the queries have not even been started again"
        assert answer("SHOW QUERIES") == "done"
        with connect(postgres) as db:
            kept = "SELECT DISTINCT state FROM penstock.query"  # the engine writes it once in a while
            wait_for(lambda: db.execute(kept).fetchall() == [("RUNNING",)], "the catalog says so")
