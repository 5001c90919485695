"""A command -> the CPU seconds of its whole process tree, the seconds that it took, and how it ended.

It may be watched as well: then what it had used at moments on the way is told, too.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bench.watch import Moment, moment

_PR_SET_CHILD_SUBREAPER = 36
_LIMIT = 1_800  # seconds
_EVERY = 0.2


@dataclass(frozen=True, slots=True)
class Cost:
    """`cpu`: user and system time of the process and all that it started; `wall`: elapsed time; both in seconds."""

    cpu: float
    wall: float
    moments: list[Moment] = field(default_factory=list)


def adopt_orphans() -> None:
    """Makes this process the parent of descendants whose own has ended, so that their time is counted here.

    Spark's JVM outlives the Python that started it, and so do the Python workers that the JVM started.
    """
    if sys.platform != "linux":
        sys.exit("the benchmark counts the time of whole process trees, which only Linux lets it do")
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def measure(command: list[str], folder: Path, environment: dict[str, str], log: Path, *, watched: bool = False) -> Cost:
    """Runs a command to the end of its last process. `adopt_orphans` was called, and no other child is running.

    `watched`: five times a second this process looks at it, in time that does not count.

    Raises:
        RuntimeError: the command failed or took more than half an hour.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    with log.open("wb") as output:
        child = subprocess.Popen(
            command, cwd=folder, env=os.environ | environment, stdout=output, stderr=output, start_new_session=True
        )
        try:
            moments = list(_watch(child, start)) if watched else []
            status = child.wait(_LIMIT)
        except BaseException:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            raise
    wall = time.perf_counter() - start
    _wait_for_all()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if status != 0:
        text = log.read_text(encoding="utf-8", errors="replace")
        raise RuntimeError(f"{' '.join(command)} ended with {status}:\n{text[-4000:]}")
    return Cost(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall, moments)


def _watch(child: subprocess.Popen[bytes], start: float) -> Iterator[Moment]:
    """Until it ends, or has taken too long."""
    while time.perf_counter() < start + _LIMIT:
        yield moment(child.pid, time.time())
        try:
            child.wait(_EVERY)
        except subprocess.TimeoutExpired:
            continue
        return


def _wait_for_all() -> None:
    while True:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return
