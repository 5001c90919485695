"""Tasks that run until the server ends."""

from __future__ import annotations

import asyncio

from penstock.server.tasks import end_task


def test_a_cancellation_that_is_lost_comes_again() -> None:
    async def lose_one() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(60)

    async def run() -> asyncio.Task[None]:
        task = asyncio.create_task(lose_one())
        await asyncio.sleep(0)
        await asyncio.wait_for(end_task(task), 20)
        return task

    assert asyncio.run(run()).cancelled()


def test_a_task_that_has_failed_is_ended() -> None:
    async def fail() -> None:
        raise ValueError

    async def run() -> asyncio.Task[None]:
        task = asyncio.create_task(fail())
        await asyncio.wait({task})
        await end_task(task)
        return task

    assert isinstance(asyncio.run(run()).exception(), ValueError)
