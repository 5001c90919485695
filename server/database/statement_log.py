"""The engine as doors reach it: a statement is a row in PostgreSQL, and so is its answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import psycopg
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from penstock.diagnostics.codes.server import V007, V008, V010
from penstock.server.engine_protocol import RefusedError, Statement, StatementAnswer
from penstock.server.running.answer_json import read_answer
from penstock.server.running.sqlstates import refusals_of
from penstock.server.tasks import end_task

LOG = logging.getLogger("penstock.server")
AWAY_SECONDS = 10
"""An engine that has not been seen for so long is taken to be away."""


class StatementLog:
    """An Engine over the catalog of the server. Use it in `async with`.

    `seconds`: how long a statement waits for its answer. `max_bytes`: the most bytes of its text.
    """

    def __init__(self, conninfo: str, seconds: float, max_bytes: int) -> None:
        self._conninfo, self._seconds, self._max_bytes = conninfo, seconds, max_bytes
        self._pool = AsyncConnectionPool(
            conninfo,
            kwargs={"autocommit": True, "application_name": "penstock doors"},
            check=AsyncConnectionPool.check_connection,
            min_size=1,
            max_size=8,
            timeout=10,
            open=False,
        )
        self._relations: frozenset[str] = frozenset()
        self._waiting: dict[str, asyncio.Event] = {}
        self._listener: asyncio.Task[None] | None = None

    async def __aenter__(self) -> StatementLog:
        await self._pool.open(wait=True)
        self._listener = asyncio.create_task(self._listen())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._listener is not None
        await end_task(self._listener)
        await self._pool.close()

    def relations(self) -> frozenset[str]:
        """The names of all streams, tables and views of Penstock, in lower case, as known in this process."""
        return self._relations

    async def run(self, statement: Statement) -> StatementAnswer:
        """Runs a statement; see `Engine.run`. Raises RefusedError."""
        size = len(statement.text.encode())
        if size > self._max_bytes:
            raise RefusedError(refusals_of([V010.at(None, size=f"{size:,}", limit=f"{self._max_bytes:,}")]))
        try:
            return await self._run(statement)
        except (psycopg.OperationalError, PoolTimeout):
            finding = V007.at(None).because("PostgreSQL does not answer.")
            raise RefusedError(refusals_of([finding.with_hint("send the statement again in a minute")])) from None

    async def _run(self, statement: Statement) -> StatementAnswer:
        await self._require_engine()
        sending = asyncio.create_task(self._send(statement))
        try:
            number = await asyncio.shield(sending)
        except asyncio.CancelledError:  # it may be in the log already
            await self._withdraw(await sending, "cancelled")
            raise
        answered = self._waiting.setdefault(str(number), asyncio.Event())
        try:
            return await asyncio.wait_for(self._await_answer(number, answered), self._seconds)
        except TimeoutError:
            await self._withdraw(number, "expired")
            finding = V008.at(None, seconds=f"{self._seconds:g}")
            hint = "SELECT * FROM penstock.statements tells what becomes of it"
            raise RefusedError(refusals_of([finding.with_hint(hint)])) from None
        except asyncio.CancelledError:
            await asyncio.shield(self._withdraw(number, "cancelled"))
            raise
        finally:
            del self._waiting[str(number)]

    async def _require_engine(self) -> None:
        """Raises RefusedError if no engine is there. One that starts will take the statement when it is ready."""
        async with self._pool.connection() as db:
            found = await db.execute(
                "SELECT 1 FROM penstock.engine WHERE state <> 'STOPPED' AND seen > now() - make_interval(secs => %s)",
                [AWAY_SECONDS],
            )
            if await found.fetchone() is None:
                raise RefusedError(refusals_of([V007.at(None).with_hint("send the statement again in a minute")]))

    async def _send(self, statement: Statement) -> int:
        async with self._pool.connection() as db:
            made = await db.execute(
                "INSERT INTO penstock.statement (text, author, door) VALUES (%s, %s, %s) RETURNING id",
                [statement.text, statement.author, statement.door],
            )
            row = await made.fetchone()
            assert row is not None
            await db.execute("NOTIFY penstock_statement")
            return int(row[0])

    async def _await_answer(self, number: int, answered: asyncio.Event) -> StatementAnswer:
        while True:
            body = await self._read(number)
            if body is not None:
                answer = read_answer(body)
                if isinstance(answer, StatementAnswer):
                    return answer
                raise RefusedError(answer)
            with suppress(TimeoutError):  # a notice may be lost while the listener connects again
                await asyncio.wait_for(answered.wait(), 2)
            answered.clear()

    async def _read(self, number: int) -> Mapping[str, Any] | None:
        async with self._pool.connection() as db:
            found = await db.execute("SELECT answer FROM penstock.statement WHERE id = %s", [number])
            row = await found.fetchone()
            body: Mapping[str, Any] | None = None if row is None else row[0]
            return body

    async def _withdraw(self, number: int, state: str) -> None:
        """Takes a statement back that the engine has not begun."""
        async with self._pool.connection() as db:
            await db.execute(
                "UPDATE penstock.statement SET state = %s, finished = now() WHERE id = %s AND state = 'waiting'",
                [state, number],
            )

    async def _listen(self) -> None:
        """Hears of answers and of changes of the catalog; connects again when the connection is lost."""
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(self._conninfo, autocommit=True) as db:
                    await db.execute("LISTEN penstock_answer")
                    await db.execute("LISTEN penstock_catalog")
                    await self._read_relations()
                    async for notice in db.notifies():
                        if notice.channel == "penstock_catalog":
                            await self._read_relations()
                        elif notice.payload in self._waiting:  # anybody may send notices
                            self._waiting[notice.payload].set()
            except psycopg.Error as error:
                LOG.warning("the catalog cannot be read: %s", str(error).strip())
                await asyncio.sleep(1)

    async def _read_relations(self) -> None:
        # A connection that hears notices does nothing else meanwhile.
        async with self._pool.connection() as db:
            found = await db.execute("SELECT name FROM penstock.relation")
            self._relations = frozenset(name for (name,) in await found.fetchall())
