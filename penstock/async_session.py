"""Sessions whose calls are awaited: `async with penstock.connect_async() as session`.

Calls run in threads, because both Spark's and a server's answers are waited for. A task that is cancelled stops the run
that it waits for.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from threading import Event
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

from penstock.rows import Rows

if TYPE_CHECKING:
    from penstock.client import QueryStatus, RemoteQuery, RemoteSession
    from penstock.runtime import QueryHandle, QueryReport, Status
    from penstock.session import Session

Result = TypeVar("Result")
_STEP_SECONDS = 0.5
"""The longest that a thread waits in one piece, so that a cancelled task leaves none behind."""


class AsyncQuery:
    """A query of an `AsyncSession`. `query`: the same as a session without `async` has it."""

    def __init__(self, query: QueryHandle | RemoteQuery) -> None:
        self.query = query

    def __repr__(self) -> str:
        return f"<AsyncQuery {self.query.name}>"

    @property
    def name(self) -> str:
        """The name of the query."""
        return self.query.name

    async def status(self) -> Status | QueryStatus:
        """The query as of its last finished micro-batch."""
        return await asyncio.to_thread(self.query.status)

    async def await_rows(self, n: int = 1, timeout: float | None = None) -> bool:
        """Waits, at most `timeout` seconds, until the query has written `n` rows. Raises as `await_rows` of `query`."""
        return await _repeat(lambda seconds: self.query.await_rows(n, seconds), self._has_ended, timeout)

    async def await_done(self, timeout: float | None = None) -> bool:
        """Waits, at most `timeout` seconds, until the query has ended. Raises as `await_done` of `query`."""
        return await _repeat(self.query.await_done, lambda: False, timeout)

    async def stop(self) -> None:
        """Ends the query: on a server for good, as DROP QUERY does."""
        await asyncio.to_thread(self.query.drop if hasattr(self.query, "drop") else self.query.stop)

    def _has_ended(self) -> bool:
        return not self.query.status().running


class AsyncSession:
    """What `connect_async` returns, for `async with`. It has the calls of a session, to be awaited."""

    def __init__(self, connect: Callable[[], Session | RemoteSession]) -> None:
        self._connect = connect
        self._session: Session | RemoteSession | None = None
        self._changing = asyncio.Lock()

    def __repr__(self) -> str:
        return "<AsyncSession: not open>" if self._session is None else f"<AsyncSession of {self._session!r}>"

    @property
    def session(self) -> Session | RemoteSession:
        """The session without `async`. Raises RuntimeError outside of `async with`."""
        if self._session is None:
            raise RuntimeError("the session is opened by: async with penstock.connect_async() as session")
        return self._session

    async def submit(self, sql: str, name: str = "<sql>") -> list[AsyncQuery]:
        """Starts every query of a script. Raises as `submit` of the session.

        A task that is cancelled stops the queries that it has started by then.
        """
        async with self._changing:
            session = self.session

            def start() -> list[AsyncQuery]:
                return [AsyncQuery(each) for each in session.submit(sql, name)]

            async def stop(queries: list[AsyncQuery]) -> None:
                for each in queries:
                    await each.stop()

            return await _finish(start, undo=stop)

    async def run_once(
        self, sql: str, name: str = "<sql>", *, drain: bool | None = None, overwrite: bool = False
    ) -> list[QueryReport]:
        """Runs the queries of a script over the input that is there now. Raises as `run_once` of the session.

        A task that is cancelled stops the queries. A server has no such runs, and raises TypeError.
        """
        session, stopping = self.session, Event()
        if not hasattr(session, "run_once"):
            raise TypeError("a server keeps its queries running: use submit")

        def run() -> list[QueryReport]:
            try:
                return session.run_once(sql, name, drain=drain, overwrite=overwrite, stopping=stopping)
            except KeyboardInterrupt:
                return []

        async with self._changing:
            return await _finish(run, cancel=stopping.set)

    async def sql(self, sql: str, name: str = "<sql>") -> Rows:
        """The rows of a SELECT over tables as they are now. Raises as `sql` of the session."""
        return await asyncio.to_thread(self.session.sql, sql, name)

    async def tables(self) -> list[str]:
        """The names of the tables."""
        return await asyncio.to_thread(self.session.tables)

    async def queries(self) -> list[AsyncQuery]:
        """The queries that the session has started; with a server, all its queries."""
        session = self.session
        return await asyncio.to_thread(lambda: [AsyncQuery(each) for each in session.queries()])

    async def __aenter__(self) -> AsyncSession:
        """Starts Spark, or connects to the server. A task that is cancelled closes what it has opened by then."""

        async def close(session: Session | RemoteSession) -> None:
            await asyncio.to_thread(session.__exit__, None, None, None)

        self._session = await _finish(self._connect, undo=close)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes the session. Raises as leaving a session does."""
        session, self._session = self.session, None
        await _finish(lambda: session.__exit__(kind, error, trace))


async def _finish(
    call: Callable[[], Result],
    *,
    cancel: Callable[[], None] = lambda: None,
    undo: Callable[[Result], Awaitable[None]] | None = None,
) -> Result:
    """What a call in a thread returns. A cancelled task waits for the end of the call, because threads go on.

    Args:
        call: what is called.
        cancel: called in a cancelled task, so that the call ends before its time.
        undo: takes back what the call has returned, in a cancelled task.
    """

    async def clean_up() -> None:
        with suppress(Exception):
            result = await work
            if undo is not None:
                await undo(result)

    work = asyncio.ensure_future(asyncio.to_thread(call))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        cancel()
        cleaning = asyncio.ensure_future(clean_up())
        while not cleaning.done():
            with suppress(asyncio.CancelledError):
                await asyncio.shield(cleaning)
        raise


async def _repeat(wait: Callable[[float], bool], has_ended: Callable[[], bool], timeout: float | None) -> bool:
    """Waits in steps; True as soon as `wait` says so, False when it has ended otherwise, or the time is over."""
    deadline = None if timeout is None else time.monotonic() + timeout
    while True:
        step = _STEP_SECONDS if deadline is None else min(_STEP_SECONDS, deadline - time.monotonic())
        if await asyncio.to_thread(wait, max(step, 0)):
            return True
        if (deadline is not None and time.monotonic() >= deadline) or await asyncio.to_thread(has_ended):
            return await asyncio.to_thread(wait, 0)
