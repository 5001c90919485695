"""Statements go to the engine and answers come back through the catalog, whatever happens in between."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from penstock.server.database.bootstrap import prepare_catalog
from penstock.server.database.statement_log import StatementLog
from penstock.server.engine_protocol import Refusal, RefusedError, Statement, StatementAnswer
from penstock.server.running.answer_json import answer_json, refusal_json
from tests.databases.conftest import server as server  # the embedded PostgreSQL

ANSWER = StatementAnswer("SHOW", ("name",), (("a",), (None,)), ("a notice",), ("text",), ("totals",))
REFUSAL = Refusal("K012", "42P01", "unknown name x", hint="did you mean y?", position=3)
SHOW = Statement("SHOW QUERIES", "ada", "http")


@pytest.fixture
def catalog(server: str) -> Iterator[psycopg.Connection]:
    name = f"log_{time.monotonic_ns()}"
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}")
    with psycopg.connect(server.replace("/postgres?", f"/{name}?"), autocommit=True) as db:
        prepare_catalog(db, "postgres")
        yield db


def see_engine(catalog: psycopg.Connection, state: str = "READY", age: int = 0) -> None:
    catalog.execute(
        "INSERT INTO penstock.engine (state, process, seen) VALUES (%s, 1, now() - make_interval(secs => %s)) "
        "ON CONFLICT (one) DO UPDATE SET state = EXCLUDED.state, seen = EXCLUDED.seen",
        [state, age],
    )


async def answer(catalog: psycopg.Connection, body: dict[str, Any]) -> None:
    """Answers the statement that comes next, as an engine does."""
    while True:
        row = catalog.execute("SELECT id FROM penstock.statement WHERE state = 'waiting'").fetchone()
        if row is not None:
            break
        await asyncio.sleep(0.02)
    done = "UPDATE penstock.statement SET state = 'done', answer = %s, finished = now() WHERE id = %s"
    catalog.execute(done, [Jsonb(body), row[0]])
    catalog.execute("SELECT pg_notify('penstock_answer', %s)", [str(row[0])])


def run(
    catalog: psycopg.Connection, work: Callable[[StatementLog], Awaitable[Any]], seconds: float = 30, size: int = 1000
) -> Any:
    """What `work` gives with an open log."""

    async def open_and_work() -> Any:
        # What waits for something that never comes fails, and does not hang.
        async with asyncio.timeout(120), StatementLog(f"{catalog.info.dsn}", seconds, size) as log:
            return await work(log)

    return asyncio.run(open_and_work())


def codes(refused: pytest.ExceptionInfo[RefusedError]) -> list[str]:
    return [each.code for each in refused.value.refusals]


def states(catalog: psycopg.Connection) -> list[str]:
    return [state for (state,) in catalog.execute("SELECT state FROM penstock.statement ORDER BY id")]


def test_an_answer_comes_back(catalog: psycopg.Connection) -> None:
    see_engine(catalog)

    async def work(log: StatementLog) -> StatementAnswer:
        given, _ = await asyncio.gather(log.run(SHOW), answer(catalog, answer_json(ANSWER)))
        return given

    assert run(catalog, work) == ANSWER
    sent = catalog.execute("SELECT text, author, door FROM penstock.statement").fetchall()
    assert sent == [("SHOW QUERIES", "ada", "http")]


def test_a_refusal_comes_back(catalog: psycopg.Connection) -> None:
    see_engine(catalog)

    async def work(log: StatementLog) -> None:
        await asyncio.gather(log.run(SHOW), answer(catalog, refusal_json((REFUSAL,))))

    with pytest.raises(RefusedError) as refused:
        run(catalog, work)
    assert refused.value.refusals == (REFUSAL,)


@pytest.mark.parametrize(("state", "age"), [(None, 0), ("STOPPED", 0), ("READY", 60)])
def test_an_engine_that_is_away_is_not_waited_for(catalog: psycopg.Connection, state: str | None, age: int) -> None:
    if state is not None:
        see_engine(catalog, state, age)
    with pytest.raises(RefusedError) as refused:
        run(catalog, lambda log: log.run(SHOW))
    assert codes(refused) == ["V007"]
    assert states(catalog) == []


def test_a_statement_that_waits_too_long_is_taken_back(catalog: psycopg.Connection) -> None:
    see_engine(catalog)
    with pytest.raises(RefusedError) as refused:
        run(catalog, lambda log: log.run(SHOW), seconds=0.3)
    assert codes(refused) == ["V008"]
    assert states(catalog) == ["expired"]


def test_a_statement_that_runs_is_not_taken_back(catalog: psycopg.Connection) -> None:
    see_engine(catalog)

    async def work(log: StatementLog) -> None:
        async def take() -> None:
            while catalog.execute("UPDATE penstock.statement SET state = 'running'").rowcount == 0:
                await asyncio.sleep(0.02)

        await asyncio.gather(log.run(SHOW), take())

    with pytest.raises(RefusedError):
        run(catalog, work, seconds=1)
    assert states(catalog) == ["running"]


def test_a_cancelled_statement_is_taken_back(catalog: psycopg.Connection) -> None:
    see_engine(catalog)

    async def work(log: StatementLog) -> None:
        task = asyncio.create_task(log.run(SHOW))
        while states(catalog) != ["waiting"]:
            assert not task.done(), task
            await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(catalog, work)
    assert states(catalog) == ["cancelled"]


def test_a_text_that_is_too_long_is_not_sent(catalog: psycopg.Connection) -> None:
    see_engine(catalog)
    with pytest.raises(RefusedError) as refused:
        run(catalog, lambda log: log.run(Statement("ü" * 501, "ada", "http")))
    assert codes(refused) == ["V010"]
    assert states(catalog) == []


def test_relations_are_known_soon(catalog: psycopg.Connection) -> None:
    async def work(log: StatementLog) -> None:
        assert log.relations() == frozenset()
        catalog.execute(
            "INSERT INTO penstock.relation (name, shown, kind, definition, author, columns) "
            "VALUES ('clicks', 'Clicks', 'STREAM', '', 'ada', '[]')"
        )
        while not log.relations():
            catalog.execute("NOTIFY penstock_catalog")  # the log may not listen yet
            await asyncio.sleep(0.05)
        assert log.relations() == {"clicks"}

    run(catalog, work)


def test_notices_of_others_do_no_harm(catalog: psycopg.Connection) -> None:
    see_engine(catalog)

    async def work(log: StatementLog) -> None:
        while not catalog.execute("SELECT 1 FROM pg_stat_activity WHERE query = 'LISTEN penstock_catalog'").fetchall():
            await asyncio.sleep(0.05)
        for payload in ("", "x", "-1", "9" * 5000, "\u0663"):
            catalog.execute("SELECT pg_notify('penstock_answer', %s)", [payload])
        begin = time.monotonic()
        await asyncio.gather(log.run(SHOW), answer(catalog, answer_json(ANSWER)))
        assert time.monotonic() - begin < 1.5, "it hears of the answer"

    run(catalog, work)


def test_a_lost_connection_is_made_again(catalog: psycopg.Connection) -> None:
    see_engine(catalog)

    async def work(log: StatementLog) -> StatementAnswer:
        catalog.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        given, _ = await asyncio.gather(log.run(SHOW), answer(catalog, answer_json(ANSWER)))
        return given

    assert run(catalog, work) == ANSWER


def test_a_database_that_is_away_is_named(catalog: psycopg.Connection) -> None:
    see_engine(catalog)
    name = catalog.info.dbname

    async def work(log: StatementLog) -> None:
        with psycopg.connect(catalog.info.dsn.replace(name, "postgres"), autocommit=True) as admin:
            catalog.close()
            admin.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
        with pytest.raises(RefusedError) as refused:
            await log.run(SHOW)
        assert codes(refused) == ["V007"]
        assert refused.value.refusals[0].detail == "PostgreSQL does not answer."

    run(catalog, work)
