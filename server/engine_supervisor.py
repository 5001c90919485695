"""Keeps the engine's process running."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from penstock.server.running.settings import REFUSED

LOG = logging.getLogger("penstock.server")
STOP_SECONDS = 4
"""How long the engine has to stop at the end of its micro-batches. Nothing is lost when it is killed instead."""
PAUSES = (1, 2, 5, 10, 30)
"""The seconds before an engine that has ended is started again; the first ones for an engine that lived a while."""


class EngineRefusedError(Exception):
    """The engine does not run the files that it was started with. The text says why."""


class EngineSupervisor:
    """The process of the engine, started again when it ends by itself.

    `settings`: what the process is told, until one has been ready (True) and later. `log`: the file for its messages.
    """

    def __init__(self, settings: Callable[[bool], str], log: Path) -> None:
        self._settings, self._log = settings, log
        self._process: asyncio.subprocess.Process | None = None
        self.was_ready = False
        """Whether a process has run the files. Others know that, and set it."""

    async def run(self) -> None:
        """Runs until it is cancelled, and then stops the engine at the end of its micro-batches.

        Raises:
            EngineRefusedError: a file is refused, or the first start fails.
        """
        failures = 0
        try:
            while True:
                began = time.monotonic()
                size = self._log.stat().st_size if self._log.exists() else 0
                code = await self._run_once()
                if code == REFUSED:
                    raise EngineRefusedError(self._log.read_bytes()[size:].decode("utf-8", "replace").strip())
                failures = 0 if time.monotonic() - began > 60 else failures + 1
                pause = PAUSES[min(failures, len(PAUSES) - 1)]
                LOG.warning("the engine has ended with code %s; starting it again in %s s", code, pause)
                await asyncio.sleep(pause)
        finally:
            await asyncio.shield(self._stop())

    @property
    def process(self) -> int | None:
        """The identifier of the process, None while there is none."""
        return None if self._process is None or self._process.returncode is not None else self._process.pid

    async def _run_once(self) -> int:
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-m", "penstock.server.running"),
                stdin=asyncio.subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C is for the server, which stops the engine
            )
        assert self._process.stdin is not None
        self._process.stdin.write(self._settings(not self.was_ready).encode() + b"\n")
        return await self._process.wait()

    async def _stop(self) -> None:
        process = self._process
        if process is None or process.returncode is not None:
            return
        with suppress(ProcessLookupError):
            process.terminate()
        try:
            await asyncio.wait_for(process.wait(), STOP_SECONDS)
        except TimeoutError:
            LOG.warning("the engine does not stop; its checkpoints say where it goes on")
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # with Spark's JVM
            await process.wait()
