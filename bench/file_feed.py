"""Rows that are made at a steady rate and arrive as files.

The event time of a row is the moment at which it was made, in milliseconds. A file holds the rows of one tick and one
stream. It is written elsewhere, and renamed into the folder of its stream when the tick is over.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from bench.nexmark import Recipe, is_of, list_events, make_rows, write_file

TICK = 200
"""Milliseconds from one file to the next."""
PHASE = 70
"""Milliseconds from a full second to the border of a tick, so that windows end within ticks."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """The files of a tick. `last`: the newest event time in milliseconds. `at`: when they came, in seconds.

    Both are since 1970. If there are several streams, the last of their files counts.
    """

    last: int
    at: float


@dataclass(slots=True)
class Feed:
    """Sends files of streams. `rows`: how many were sent so far. `end`: of the last tick, in milliseconds."""

    data: Path
    aside: Path
    streams: Sequence[str]
    rows: int = 0
    end: int = 0
    arrivals: list[Arrival] = field(default_factory=list)
    chance: np.random.Generator = field(default_factory=lambda: np.random.default_rng(1))

    def __post_init__(self) -> None:
        for stream in self.streams:
            (self.data / stream).mkdir(parents=True)

    def send(self, rate: int, seconds: float) -> range:
        """Sends for a while, and goes on where it stopped if that was just now. Returns the places of the arrivals."""
        first = len(self.arrivals)
        now = time.time()
        begin = self.end if self.end + TICK > 1_000 * now else find_tick(now)
        self.end = begin + round(1_000 * seconds / TICK) * TICK
        for start in range(begin, self.end, TICK):
            time.sleep(max(0.0, (start + TICK) / 1_000 - time.time()))
            self.arrivals.append(self._send_tick(start, rate))
        return range(first, len(self.arrivals))

    def _send_tick(self, start: int, rate: int) -> Arrival:
        size = rate * TICK // 1_000
        event = list_events(self.streams, self.rows, size)
        times = spread_times(start, size)
        self.rows += size
        name = f"{len(self.arrivals):06}"
        for stream in self.streams:
            mine = is_of(stream, event)
            when = times[mine].astype("datetime64[ms]")
            rows = make_rows(stream, event[mine], when, Recipe(0, rate=rate), self.chance)
            write_file(rows, self.aside / stream / name, "csv", int(time.time()))
        at = time.time()
        for stream in self.streams:
            os.replace(self.aside / stream / f"{name}.csv", self.data / stream / f"{name}.csv")
        return Arrival(int(times[-1]), at)


def find_tick(now: float) -> int:
    """The start of the next tick in milliseconds; `now` in seconds since 1970."""
    return -((PHASE - int(now * 1_000)) // TICK) * TICK + PHASE


def spread_times(start: int, size: int) -> np.ndarray:
    """The times of the rows of a tick in milliseconds, in order and as far apart from each other."""
    return start + np.arange(size, dtype=np.int64) * TICK // size
