"""Engines in threads of the tests, over an embedded PostgreSQL and the Spark of the test run."""

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

from penstock.server.database.bootstrap import prepare_catalog
from penstock.server.running.engine_process import EngineProcess
from penstock.server.running.home import Home
from penstock.server.running.live_query import RestartPolicy
from penstock.server.running.settings import EngineSettings

SECONDS = 300
QUICK_RESTARTS = RestartPolicy(attempts=2, window=600, pauses=(0.1, 0.1))


@dataclass
class Catalog:
    """A database with the catalog of Penstock, as its superuser sees it."""

    db: psycopg.Connection
    url: str

    def begin(self, text: str, author: str = "postgres") -> int:
        """Sends a statement; returns its number."""
        insert = "INSERT INTO penstock.statement (text, author, door) VALUES (%s, %s, 'http') RETURNING id"
        [(number,)] = self.rows(insert, text, author)
        self.db.execute("NOTIFY penstock_statement")
        return int(number)

    def is_answered(self, number: int) -> bool:
        return bool(self.rows("SELECT 1 FROM penstock.statement WHERE id = %s AND finished IS NOT NULL", number))

    def await_answer(self, number: int) -> Any:
        wait_for(lambda: self.is_answered(number))
        return self.rows("SELECT answer FROM penstock.statement WHERE id = %s", number)[0][0]

    def send(self, text: str, author: str = "postgres") -> Any:
        """The answer of the engine to a statement."""
        return self.await_answer(self.begin(text, author))

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


@contextmanager
def open_catalog(server: str) -> Iterator[Catalog]:
    """A new database of a server, with the catalog of Penstock."""
    name = f"engine_{time.monotonic_ns()}"
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}")
    url = server.replace("/postgres?", f"/{name}?")
    with psycopg.connect(url, autocommit=True) as db:
        prepare_catalog(db, "postgres")
        yield Catalog(db, url)


@contextmanager
def run_engine(
    catalog: Catalog, state: Path, restarts: RestartPolicy = QUICK_RESTARTS, **options: Any
) -> Iterator[EngineProcess]:
    """An engine in a thread of its own, ready for statements."""
    settings = EngineSettings(Home(catalog.url, None, 3), str(state), "postgres", restarts=restarts, **options)
    stopping = threading.Event()
    failures: list[BaseException] = []
    with settings.connect() as db:
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
            if not failures:
                yield engine
        finally:
            stopping.set()
            thread.join()
            for each in failures:
                raise each


def write(folder: Path, name: str, *rows: tuple[int, str | None, str]) -> None:
    """A file of clicks, which is there at once."""
    folder.mkdir(exist_ok=True)
    lines = [json.dumps({"id": id_, "page": page, "ts": f"2026-01-01T{at}Z"}) for id_, page, at in rows]
    (folder / f".{name}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / f".{name}").rename(folder / name)
