"""An engine over a real PostgreSQL whose Spark is a fake. The test is its loop."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Lock
from typing import Any

import psycopg
import pytest

from penstock import runtime
from penstock.codegen.program import Program
from penstock.diagnostics import Source
from penstock.parser import ast, list_statements
from penstock.server.engine_protocol import StatementAnswer
from penstock.server.planning.statement_planner import PlannedStatement, plan_made
from penstock.server.running.engine_process import EngineProcess
from penstock.server.running.home import Home
from penstock.server.running.live_query import RestartPolicy
from penstock.server.running.settings import EngineSettings
from penstock.server.running.steps import await_steps
from penstock.server.running.store import WaitingStatement
from tests.server.running.engines import Catalog
from tests.server.running.scripts import declare_clicks

PAGES = "CREATE TABLE pages AS SELECT page, COUNT(*) AS n FROM clicks GROUP BY page"
NEW_PAGES = PAGES.replace("CREATE", "CREATE OR REPLACE").replace("FROM clicks", "FROM clicks WHERE id > 1")
LEDGER = (
    "CREATE TABLE IF NOT EXISTS {}.penstock_ledger (query text, sink text, batch bigint, digest text, "
    "epoch bigint NOT NULL, rows bigint NOT NULL, written_at timestamptz NOT NULL DEFAULT now(), "
    "PRIMARY KEY (query, sink, batch))"
)
_MAKING = Lock()
"""Two sessions of PostgreSQL that make one table at once get an error, whatever IF NOT EXISTS says."""


class FakeSession:
    """Makes the tables of a program. A round does what `rounds` says; without it, it ends at once."""

    def __init__(self, url: str, rounds: Callable[[str, Event], None]) -> None:
        self.url, self.rounds = url, rounds

    def start(self, program: Program) -> list[Any]:
        self._make_tables(program)
        return []

    def run_once(self, program: Program, *, drain: bool, progress: Any, stopping: Event) -> None:
        self._make_tables(program)
        self.rounds(program.queries[-1].name, stopping)

    def close(self) -> None:
        pass

    def _make_tables(self, program: Program) -> None:
        with _MAKING, psycopg.connect(self.url, autocommit=True) as db:
            for query in program.queries:
                options = dict(query.output.options)
                table = str(options["table"])
                columns = "page text PRIMARY KEY, n bigint"
                if "rows" in options:
                    columns = "number bigint, c0 bigint, c1 text, c2 timestamptz"
                db.execute(f"CREATE TABLE IF NOT EXISTS {table} ({columns})".encode())
                db.execute(LEDGER.format(table.split(".")[0]).encode())


class FakeEngine:
    """An engine that does what the test tells it."""

    def __init__(self, catalog: Catalog, state: Path, **options: Any) -> None:
        home = Home(catalog.url, None, 3)
        restarts = RestartPolicy(attempts=1, window=600, pauses=(0.0,))
        self.settings = EngineSettings(home, str(state), "postgres", restarts=restarts, **options)
        self.process = EngineProcess(self.settings, self.settings.connect())
        self.store, self.changes, self.works = self.process._store, self.process._changes, self.process._works
        self.script, self.live = self.process._script, self.process._live

    def send(self, text: str, author: str = "postgres") -> StatementAnswer:
        [(statement, text)] = list_statements(Source("statement", text))
        waiting = self.store.add_statement(text, author, "http")
        number = waiting.number * 1000
        does: Any = statement
        if not isinstance(statement, ast.Drop | ast.Pause | ast.Resume | ast.Show | ast.ExplainWhy):
            does = plan_made(self.script, statement, Source("statement", text), number, author)
            assert isinstance(does, PlannedStatement)
        taken = WaitingStatement(waiting.number, text, author, "http")
        return await_steps(self.process._apply(does, taken, number))

    def make_from_file(self, text: str) -> None:
        [(statement, text)] = list_statements(Source("statement", text))
        self.process._run_file_statement(statement, text, "clicks.sql")

    def restore(self) -> None:
        self.process._restore(Event())

    def look_until(self, condition: Callable[[], bool], seconds: float = 10) -> None:
        """Looks at the changes as the engine does."""
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, "it has not come true"
            self.works.go_on()
            self.changes.look()
            time.sleep(0.02)

    def close(self) -> None:
        self.works.end(each.stop() for each in [*self.live.values(), *self.changes.buildings])
        self.store.db.close()


@contextmanager
def run_fake_engine(
    catalog: Catalog,
    state: Path,
    monkeypatch: pytest.MonkeyPatch,
    rounds: Callable[[str, Event], None] = lambda _, __: None,
    **options: Any,
) -> Iterator[FakeEngine]:
    """An engine that has restored what is in force."""
    monkeypatch.setattr(runtime, "connect", lambda *_: FakeSession(catalog.url, rounds))
    engine = FakeEngine(catalog, state, **options)
    try:
        engine.restore()
        if not engine.script.definitions:
            engine.make_from_file(declare_clicks())
        yield engine
    finally:
        engine.close()


def wait_until_stopped(_: str, stopping: Event) -> None:
    """A round that does not end before it is stopped."""
    assert stopping.wait(60)
    raise KeyboardInterrupt
