"""The other end of a fork server: sends jobs, and gets their outcomes."""

from __future__ import annotations

import asyncio
import logging
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import count
from typing import Any, Literal

from penstock.server.planning.job_messages import Done, Ended, Job, JobAnswer, News, pack, take_frames

LOG = logging.getLogger("penstock.planning")
SILENT_SECONDS = 20
"""A fork server that says nothing for so long, while jobs wait, is started anew."""
Outcome = Done | Ended


class ForkClient:
    """Jobs of one process. It is started by the first one, and again when it ends. To be used by one thread.

    `tell`: the notes that a new fork server begins with.
    """

    def __init__(self, kind: Literal["checks", "statements"], tell: Callable[[], Iterable[Any]] = tuple) -> None:
        self._kind, self._tell = kind, tell
        self._process: subprocess.Popen[bytes] | None = None
        self._plug: socket.socket | None = None
        self._received, self._unsent = bytearray(), bytearray()
        self._numbers = count(1)
        self._pending: set[int] = set()
        self._heard = 0.0

    @property
    def plug(self) -> socket.socket:
        """Readable when something comes. A new one after a restart."""
        if self._plug is None:
            self._start()
        assert self._plug is not None
        return self._plug

    @property
    def has_unsent(self) -> bool:
        """Whether something waits until the other end reads. `poll` sends it."""
        return bool(self._unsent)

    def submit(self, owner: str, work: Any, seconds: float) -> int:
        """Sends a job; its number."""
        number = next(self._numbers)
        if not self._pending:
            self._heard = time.monotonic()
        self._pending.add(number)
        self._send(Job(number, owner, work, seconds))
        return number

    def note(self, news: Any) -> None:
        """Sends news, if there is a fork server that does not know them."""
        if self._plug is not None:
            self._send(News(news))

    def poll(self) -> list[tuple[int, Outcome]]:
        """Sends what waits, and gives the outcomes that have come. Does not wait."""
        if self._plug is None:
            return []
        answers: list[tuple[int, Outcome]] = []
        try:
            self._flush()
            while data := self._plug.recv(1 << 20):
                self._received += data
            self._stop()  # the other end is closed
        except BlockingIOError:
            pass
        except OSError:
            self._stop()
        for message in take_frames(self._received):
            self._heard = time.monotonic()
            if isinstance(message, JobAnswer) and message.number in self._pending:
                self._pending.discard(message.number)
                (outcome,) = take_frames(bytearray(message.packed))
                answers.append((message.number, outcome))
        if self._plug is not None and self._pending and time.monotonic() - self._heard > SILENT_SECONDS:
            LOG.warning("the planning process is silent; it is started anew")
            self._stop()
        if self._plug is None:
            answers += [(number, Ended("fault", "the planning process has ended")) for number in self._pending]
            self._pending.clear()
        return answers

    def close(self) -> None:
        """Ends the process and all its jobs."""
        self._stop()

    def _start(self) -> None:
        self._plug, other = socket.socketpair()
        self._plug.setblocking(False)
        command = [sys.executable, "-m", "penstock.server.planning", self._kind]
        # stderr is shared with this process: its log
        self._process = subprocess.Popen(command, stdin=other.fileno(), stdout=subprocess.DEVNULL)
        other.close()
        self._received, self._unsent = bytearray(), bytearray()
        self._heard = time.monotonic()
        for news in self._tell():
            self._send(News(news))

    def _send(self, message: Job | News) -> None:
        _ = self.plug
        self._unsent += pack(message)
        with suppress(OSError):  # poll notices it
            self._flush()

    def _flush(self) -> None:
        assert self._plug is not None
        with suppress(BlockingIOError):
            while self._unsent:
                del self._unsent[: self._plug.send(self._unsent)]

    def _stop(self) -> None:
        if self._plug is not None:
            self._plug.close()
            self._plug = None
        if self._process is not None:
            try:
                self._process.wait(1)  # it ends its jobs
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None


class AsyncForks:
    """Jobs that tasks of an event loop wait for."""

    def __init__(self, kind: Literal["checks", "statements"]) -> None:
        self._client = ForkClient(kind)
        self._futures: dict[int, asyncio.Future[Outcome]] = {}
        self._watching: asyncio.Task[None] | None = None

    def open(self) -> None:
        """Starts the process, if it does not run."""
        _ = self._client.plug
        if self._watching is None:
            self._watching = asyncio.create_task(self._watch(), name="penstock planning")

    async def run(self, owner: str, work: Any, seconds: float, news: Any = None) -> Outcome:
        """The outcome of a job. `news`: what has to be known before."""
        self.open()
        if news is not None:
            self._client.note(news)
        future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._futures[self._client.submit(owner, work, seconds)] = future
        return await future

    async def close(self) -> None:
        """Ends the process. Jobs that are waited for are faults."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
        self._client.close()
        self._settle(self._client.poll() or [(each, Ended("fault", "the server stops")) for each in self._futures])

    async def _watch(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            arrived = asyncio.Event()
            plug = self._client.plug
            loop.add_reader(plug, arrived.set)
            if self._client.has_unsent:
                loop.add_writer(plug, arrived.set)
            try:
                with suppress(TimeoutError):
                    await asyncio.wait_for(arrived.wait(), 1)
            finally:
                loop.remove_reader(plug)
                loop.remove_writer(plug)
            self._settle(self._client.poll())

    def _settle(self, answers: Iterable[tuple[int, Outcome]]) -> None:
        for number, outcome in answers:
            future = self._futures.pop(number, None)
            if future is not None and not future.done():
                future.set_result(outcome)
