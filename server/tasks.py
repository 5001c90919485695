"""Tasks that run until the server ends."""

from __future__ import annotations

import asyncio
from typing import Any

_AGAIN_SECONDS = 1


async def end_task(task: asyncio.Task[Any]) -> None:
    """Cancels a task and waits for its end. What it raised is not raised again.

    Python 3.11 loses a cancellation that comes when what the task waits for has just ended.
    """
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=_AGAIN_SECONDS)
