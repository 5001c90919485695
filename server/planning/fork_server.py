"""A process that forks another one for each job, and ends jobs that take too long or too much."""

from __future__ import annotations

import gc
import logging
import os
import resource
import selectors
import signal
import socket
import sys
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any, NoReturn, Protocol

from penstock.server.planning.job_messages import Done, Ended, Job, JobAnswer, News, pack, take_frames

LOG = logging.getLogger("penstock.planning")
JOBS, JOBS_OF_OWNER = 4, 2
"""How many jobs run at once, and how many of one owner."""
MEMORY = 1 << 30
"""Bytes of address space that a job may take besides what it begins with."""
STACK = 256 << 20
DEPTH = 100_000
TICK_SECONDS = 1.0
NICE, QUICK_SECONDS = 5, 0.5
"""Others on this machine go first when a job takes so long."""


class Planner(Protocol):
    """What jobs are done with."""

    def note(self, news: Any) -> None:
        """Learns something that all later jobs know."""
        ...

    def run(self, work: Any) -> Any:
        """Does a job, in a process of its own. What it raises is a fault."""
        ...


@dataclass
class RunningJob:
    """A job whose process runs. `ends`: the moment at which its time is up."""

    job: Job
    process: int
    plug: socket.socket
    ends: float
    received: bytearray = field(default_factory=bytearray)
    is_slow: bool = False
    is_late: bool = False


class ForkServer:
    """Reads jobs and notes from a socket until the other end closes it. One thread."""

    def __init__(self, plug: socket.socket, planner: Planner) -> None:
        self._plug, self._planner = plug, planner
        self._received = bytearray()
        self._waiting: deque[Job] = deque()
        self._running: dict[int, RunningJob] = {}
        self._selector = selectors.DefaultSelector()
        self._selector.register(plug, selectors.EVENT_READ)

    def serve(self) -> None:
        """Returns when the other end is closed. Jobs that run are ended then."""
        gc.collect()
        gc.freeze()  # else each forked process would copy what it does not change
        told = 0.0
        try:
            while True:
                for key, _ in self._selector.select(self._find_pause()):
                    if key.fileobj is self._plug:
                        if not self._read_plug():
                            return
                    else:
                        self._read_job(self._running[key.fd])
                self._end_late()
                self._start()
                if time.monotonic() - told > TICK_SECONDS:
                    told = time.monotonic()
                    self._plug.sendall(pack(None))  # it lives
        except ConnectionError:
            return
        finally:
            for each in self._running.values():
                os.kill(each.process, signal.SIGKILL)

    def _find_pause(self) -> float:
        ends = min((each.ends for each in self._running.values()), default=time.monotonic() + TICK_SECONDS)
        return min(TICK_SECONDS, max(0.0, ends - time.monotonic()))

    def _read_plug(self) -> bool:
        data = self._plug.recv(1 << 20)
        self._received += data
        for message in take_frames(self._received):
            match message:
                case News(news):
                    try:
                        self._planner.note(news)
                    except Exception:
                        LOG.exception("news cannot be noted")
                case Job():
                    self._waiting.append(message)
        return bool(data)

    def _start(self) -> None:
        """Starts waiting jobs, in order, but not too many of one owner."""
        for job in list(self._waiting):
            if len(self._running) >= JOBS:
                return
            if sum(each.job.owner == job.owner for each in self._running.values()) < JOBS_OF_OWNER:
                self._waiting.remove(job)
                self._fork(job)

    def _fork(self, job: Job) -> None:
        reading, writing = socket.socketpair()
        process = os.fork()
        if process == 0:
            reading.close()
            self._plug.close()
            run_limited(self._planner, job, writing)
        writing.close()
        running = RunningJob(job, process, reading, time.monotonic() + job.seconds)
        self._running[reading.fileno()] = running
        self._selector.register(reading, selectors.EVENT_READ)

    def _end_late(self) -> None:
        now = time.monotonic()
        for each in self._running.values():
            if now >= each.ends - each.job.seconds + QUICK_SECONDS and not each.is_slow:
                each.is_slow = True
                os.setpriority(os.PRIO_PROCESS, each.process, NICE)
            if now >= each.ends and not each.is_late:
                each.is_late = True
                os.kill(each.process, signal.SIGKILL)

    def _read_job(self, running: RunningJob) -> None:
        data = running.plug.recv(1 << 20)
        if data:
            running.received += data
            return
        self._selector.unregister(running.plug)
        del self._running[running.plug.fileno()]
        running.plug.close()
        _, status = os.waitpid(running.process, 0)
        packed = bytes(running.received)
        if os.waitstatus_to_exitcode(status) != 0:
            packed = pack(explain_end(os.waitstatus_to_exitcode(status)))
        self._plug.sendall(pack(JobAnswer(running.job.number, packed)))


def explain_end(code: int) -> Ended:
    """Why a process has ended with this code, which is negative for a signal."""
    if -code in (signal.SIGKILL, signal.SIGALRM, signal.SIGXCPU):
        return Ended("time")
    if -code in (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT):
        return Ended("memory", "the stack or the memory is used up")
    return Ended("fault", f"exit code {code}")


def run_limited(planner: Planner, job: Job, writing: socket.socket) -> NoReturn:
    """The life of a forked process: it writes the outcome of the job, and ends."""
    # The kernel ends it, whatever it does, also when nobody watches it any more.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, job.seconds + 1)
    with open("/proc/self/statm", encoding="ascii") as file:
        taken = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + STACK + MEMORY,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.setrecursionlimit(DEPTH)
    threading.stack_size(STACK)
    packed: list[bytes] = []

    def run() -> None:
        packed.append(run_job(planner, job))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    writing.sendall(packed[0])
    os._exit(0)


def run_job(planner: Planner, job: Job) -> bytes:
    """The outcome of a job as a frame."""
    try:
        return pack(Done(planner.run(job.work)))
    except MemoryError:
        return pack(Ended("memory", "the memory is used up"))
    except Exception as error:
        LOG.exception("a job failed")
        return pack(Ended("fault", type(error).__name__))
