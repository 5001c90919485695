"""Programs that keep running: their start and their end, the cores that they use, and percentiles of what they take."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import numpy as np

from bench.turns import ROOT
from bench.watch import Moment, moment


def start_program(command: Sequence[str], place: Path, log: IO[bytes]) -> subprocess.Popen[bytes]:
    """Starts a program in the folder `place`, in a session of its own."""
    given = {"SPARK_CONF_DIR": str(place), "TMPDIR": str(place), "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, cwd=place, env=os.environ | given, stdout=log, stderr=log, start_new_session=True)


def end_all(child: subprocess.Popen[bytes]) -> None:
    """Ends a program and all that it has started."""
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    while True:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def watch_program(process: int, found: list[Moment], ended: threading.Event, every: float = 0.5) -> None:
    """Looks at a process and its descendants until the event is set."""
    while not ended.wait(every):
        found.append(moment(process, time.time()))


def count_cores(moments: Sequence[Moment], begin: float, end: float) -> float:
    """The CPU seconds for each second between two times. Between two moments the use is even."""
    first, last = np.interp([begin, end], [each.time for each in moments], [each.cpu for each in moments])
    return float(last - first) / (end - begin)


def find_peak(moments: Sequence[Moment], begin: float, end: float) -> int:
    """The most memory that was resident at a moment between two times, in bytes."""
    return max(each.memory for each in moments if begin <= each.time <= end)


def percentile(times: Sequence[float], part: float) -> float:
    """The time that this part of the sorted times did not exceed."""
    return times[min(len(times) - 1, int(part * len(times)))]
