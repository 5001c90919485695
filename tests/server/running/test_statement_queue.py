"""Statements on their way, without Spark: the test is the engine that carries them out."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from penstock.parser import ast
from penstock.server.engine_protocol import StatementAnswer
from penstock.server.planning.statement_planner import Added, Direct, PlannedStatement, Removed
from penstock.server.running.home import Home
from penstock.server.running.live_script import LiveScript
from penstock.server.running.settings import EngineSettings
from penstock.server.running.statement_queue import Ready, StatementQueue
from penstock.server.running.steps import Steps, await_steps
from penstock.server.running.store import WaitingStatement
from tests.databases.conftest import server as server  # the embedded PostgreSQL
from tests.server.running.engines import Catalog, open_catalog, wait_for
from tests.server.running.scripts import declare_clicks

VIEW = "CREATE VIEW {} AS SELECT STREAM id FROM clicks"


@pytest.fixture
def catalog(server: str) -> Iterator[Catalog]:
    with open_catalog(server) as catalog:
        for role in ("eve", "ada"):
            if not catalog.rows("SELECT 1 FROM pg_roles WHERE rolname = %s", role):
                catalog.db.execute(f"CREATE ROLE {role} IN ROLE penstock_submitter")
        yield catalog


class Engine:
    """Carries statements out when it is told to."""

    def __init__(self, catalog: Catalog, plan_seconds: float) -> None:
        self.script = LiveScript(Home(catalog.url, None, 3))
        settings = EngineSettings(Home(catalog.url, None, 3), "", "postgres", plan_seconds=plan_seconds)
        self.queue = StatementQueue(settings, self.script)
        self.done: list[str] = []

    def apply(self, does: PlannedStatement | Direct, waiting: WaitingStatement, number: int) -> Steps[StatementAnswer]:
        yield from ()
        if isinstance(does, PlannedStatement):
            self.script.add(does.planned)
            self.queue.note(Added(does.planned))
            self.done.append(does.planned.definition.relation or "")
            assert does.planned.definition.number == number
            return StatementAnswer(does.tag)
        assert isinstance(does, ast.Drop)
        name = does.name.text
        definition = self.script.find_relation(name)
        assert definition is not None
        self.script.remove(definition)
        self.queue.note(Removed(definition))
        self.done.append(f"-{name}")
        return StatementAnswer("DROP")

    def next(self) -> Ready:
        ready = self.queue.next(60)
        assert ready is not None
        return ready

    def carry_out(self, ready: Ready) -> None:
        await_steps(self.queue.carry_out(ready, self.apply))


@contextmanager
def run(catalog: Catalog, plan_seconds: float = 20) -> Iterator[Engine]:
    engine = Engine(catalog, plan_seconds)
    engine.queue.start()
    try:
        yield engine
    finally:
        engine.queue.close()


def send(catalog: Catalog, text: str, author: str) -> int:
    insert = "INSERT INTO penstock.statement (text, author, door) VALUES (%s, %s, 'http') RETURNING id"
    [(number,)] = catalog.rows(insert, text, author)
    catalog.db.execute("NOTIFY penstock_statement")
    return int(number)


def answer(catalog: Catalog, number: int) -> dict[str, object]:
    ended = "SELECT answer FROM penstock.statement WHERE id = %s AND finished IS NOT NULL"
    wait_for(lambda: bool(catalog.rows(ended, number)))
    found: dict[str, object] = catalog.rows(ended, number)[0][0]
    return found


def codes(found: dict[str, object]) -> list[str]:
    errors = found["errors"]
    assert isinstance(errors, list)
    return [each["code"] for each in errors]


def test_answers_do_not_wait_for_an_engine_that_is_busy(catalog: Catalog) -> None:
    with run(catalog) as engine:
        made = send(catalog, declare_clicks(), "eve")
        ready = engine.next()
        # It has not been carried out yet.
        assert answer(catalog, send(catalog, "SHOW STREAMS", "ada"))["rows"] == []
        assert codes(answer(catalog, send(catalog, "DESCRIBE clicks", "ada"))) == ["K012"]
        assert codes(answer(catalog, send(catalog, "SELEC", "ada"))) == ["S001"]
        engine.carry_out(ready)
        assert answer(catalog, made)["tag"] == "CREATE STREAM"
        rows = answer(catalog, send(catalog, "SHOW STREAMS", "ada"))["rows"]
        assert isinstance(rows, list)
        assert [row[0] for row in rows] == ["clicks"]


def test_a_plan_that_is_out_of_date_is_made_again(catalog: Catalog) -> None:
    with run(catalog) as engine:
        send(catalog, declare_clicks(), "eve")
        engine.carry_out(engine.next())
        first = send(catalog, VIEW.format("a"), "eve")
        one = engine.next()
        second = send(catalog, VIEW.format("A"), "ada")
        other = engine.next()
        engine.carry_out(one)
        engine.carry_out(other)
        assert answer(catalog, first)["tag"] == "CREATE VIEW"
        assert codes(answer(catalog, second)) == ["K011"]
        third = send(catalog, VIEW.format("b"), "ada")
        ready = engine.next()
        engine.carry_out(ready)
        assert answer(catalog, third)["tag"] == "CREATE VIEW"
        assert engine.done == ["clicks", "a", "b"]


def test_statements_of_a_text_are_carried_out_in_order(catalog: Catalog) -> None:
    with run(catalog) as engine:
        text = f"{declare_clicks()}; {VIEW.format('a')}; SHOW VIEWS; DROP VIEW a; SHOW VIEWS"
        sent = send(catalog, text, "eve")
        for _ in range(3):
            engine.carry_out(engine.next())
        assert answer(catalog, sent)["rows"] == []
        assert engine.done == ["clicks", "a", "-a"]
        broken = send(catalog, f"{VIEW.format('b')}; SELECT nothing; {VIEW.format('c')}", "eve")
        engine.carry_out(engine.next())
        assert "errors" in answer(catalog, broken)
        assert engine.done[3:] == ["b"]


def test_a_slow_statement_ends_and_others_pass_it(catalog: Catalog) -> None:
    slow = "EXPLAIN SELECT STREAM " + ", ".join(f"id + {n} AS c{n}" for n in range(3200)) + " FROM clicks"
    with run(catalog, plan_seconds=0.5) as engine:
        send(catalog, declare_clicks(), "eve")
        engine.carry_out(engine.next())
        sent = [send(catalog, slow, "eve") for _ in range(3)]
        began = time.monotonic()
        assert answer(catalog, send(catalog, "SHOW TABLES", "ada"))["tag"] == "SHOW"
        assert time.monotonic() - began < 3
        assert {code for number in sent for code in codes(answer(catalog, number))} <= {"V018", "L004"}


def test_a_process_with_many_files_takes_statements(catalog: Catalog, caplog: pytest.LogCaptureFixture) -> None:
    """`select` knows no descriptors from 1024 on."""
    kept = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, kept[1]), kept[1]))
    opened = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        with run(catalog):
            for _ in range(2):
                assert answer(catalog, send(catalog, "SHOW TABLES", "ada"))["tag"] == "SHOW"
        assert caplog.messages == []
    finally:
        for each in opened:
            os.close(each)
        resource.setrlimit(resource.RLIMIT_NOFILE, kept)


def test_who_may_not_send_is_refused(catalog: Catalog) -> None:
    with run(catalog):
        assert codes(answer(catalog, send(catalog, "SHOW TABLES", "nobody"))) == ["V002"]


def test_a_queue_goes_on_when_its_connection_is_lost(catalog: Catalog) -> None:
    with run(catalog):
        assert answer(catalog, send(catalog, "SHOW TABLES", "ada"))["tag"] == "SHOW"
        ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'penstock engine'"
        assert catalog.rows(f"{ended} AND datname = current_database()")
        assert answer(catalog, send(catalog, "SHOW TABLES", "ada"))["tag"] == "SHOW"
