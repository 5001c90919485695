"""Tasks that are cancelled leave no session and no query behind, and the next call waits for their threads."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from threading import Event
from typing import Any, cast

import pytest

from penstock.async_session import AsyncSession
from penstock.session import Session


class SlowQuery:
    def __init__(self) -> None:
        self.is_stopped = False

    def stop(self) -> None:
        self.is_stopped = True


class SlowSession:
    """A session whose calls take until `go` is set."""

    def __init__(self) -> None:
        self.go, self.entered = Event(), Event()
        self.started: list[SlowQuery] = []
        self.calls = self.closed = 0
        self.fails = False

    def connect(self) -> Session:
        self.wait()
        return cast(Session, self)

    def wait(self) -> None:
        self.entered.set()
        assert self.go.wait(30)
        if self.fails:
            raise RuntimeError("it failed")

    def submit(self, _sql: str, _name: str) -> list[SlowQuery]:
        self.calls += 1
        self.wait()
        self.started.append(SlowQuery())
        return [self.started[-1]]

    def __exit__(self, *_: object) -> None:
        self.wait()
        self.closed += 1


async def cancel(slow: SlowSession, call: Coroutine[Any, Any, Any], times: int = 1) -> asyncio.Task[Any]:
    """A task that is cancelled while its call runs in a thread."""
    slow.go.clear()
    slow.entered.clear()
    task = asyncio.create_task(call)
    assert await asyncio.to_thread(slow.entered.wait, 30)
    for _ in range(times):
        task.cancel()
        await asyncio.sleep(0.05)
    assert not task.done()
    return task


@pytest.mark.parametrize("times", [1, 2])
def test_a_session_that_is_opened_in_vain_is_closed(times: int) -> None:
    async def use() -> None:
        slow = SlowSession()
        session = AsyncSession(slow.connect)
        task = await cancel(slow, session.__aenter__(), times)
        slow.go.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert slow.closed == 1
        with pytest.raises(RuntimeError, match="the session is opened by"):
            _ = session.session

    asyncio.run(use())


def test_queries_that_are_started_in_vain_are_stopped_before_the_next_call() -> None:
    async def use() -> None:
        slow = SlowSession()
        slow.go.set()
        async with AsyncSession(slow.connect) as session:
            task = await cancel(slow, session.submit("one"))
            following = asyncio.create_task(session.submit("two"))
            await asyncio.sleep(0.1)
            assert slow.calls == 1
            slow.go.set()
            with pytest.raises(asyncio.CancelledError):
                await task
            await following
            assert [each.is_stopped for each in slow.started] == [True, False]

    asyncio.run(use())


def test_a_cancelled_call_that_fails_is_cancelled() -> None:
    async def use() -> None:
        slow = SlowSession()
        task = await cancel(slow, AsyncSession(slow.connect).__aenter__())
        slow.fails = True
        slow.go.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert slow.closed == 0

    asyncio.run(use())


def test_after_its_end_there_is_no_session() -> None:
    async def use() -> None:
        slow = SlowSession()
        slow.go.set()
        async with AsyncSession(slow.connect) as session:
            pass
        assert slow.closed == 1
        with pytest.raises(RuntimeError, match="the session is opened by"):
            _ = session.session

    asyncio.run(use())
