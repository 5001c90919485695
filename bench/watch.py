"""A process and its descendants -> their CPU time and memory at a moment; Spark's event log -> its micro-batches."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import median

import numpy as np

EVENTS = {
    "spark.eventLog.enabled": "true",
    "spark.eventLog.rolling.enabled": "false",
    "spark.eventLog.compress": "false",
}
"""What makes Spark write an event log; `spark.eventLog.dir` is the folder, which has to be there."""

_TICK = 1 / os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
WARM_UP = 3
"""Micro-batches that are not counted: one in which tables get their rows, and two in which the JVM compiles."""


@dataclass(frozen=True, slots=True)
class Moment:
    """`time`: seconds since 1970. `cpu`: seconds so far. `memory`: the sum of what is resident, in bytes."""

    time: float
    cpu: float
    memory: int


@dataclass(frozen=True, slots=True)
class Batches:
    """What a micro-batch costs once the query is warm, in seconds; what is held in the end, in bytes.

    `wall` is the median, `cpu` the mean. `memory`: the most that was resident at a moment, of all processes together.
    `state`: what the state stores say that they use, on the heap or in RocksDB.
    """

    wall: float
    cpu: float
    memory: int
    state: int


@dataclass(frozen=True, slots=True)
class Batch:
    """A micro-batch: its start in seconds since 1970, how long it took, and the state after it in rows and bytes.

    `query`: the identifier that Spark gives to its query.
    """

    query: str
    start: float
    seconds: float
    rows: int
    state: int

    @property
    def end(self) -> float:
        """Seconds since 1970."""
        return self.start + self.seconds


def moment(process: int, now: float) -> Moment:
    """A process and its descendants that are there now, with those of their children that have ended.

    A JVM of Penstock has a session of its own, so they are found by their parents.
    """
    found: dict[int, list[str]] = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            # The name, in parentheses, may hold anything; the state is the third field.
            stat = (folder / "stat").read_text(encoding="utf-8", errors="replace")
        except OSError:  # has ended
            continue
        found[int(folder.name)] = stat.rpartition(")")[2].split()
    ticks, pages = 0, 0
    ahead = [process]
    while ahead:
        parent = ahead.pop()
        ahead += [each for each, fields in found.items() if int(fields[1]) == parent]
        if parent in found:
            ticks += sum(map(int, found[parent][11:15]))
            pages += int(found[parent][21])
    return Moment(now, ticks * _TICK, pages * _PAGE)


def warm_batches(events: Path, moments: Sequence[Moment], skipped: int = WARM_UP) -> Batches:
    """The micro-batches of the one query whose event log is in the folder, without the first ones, which are `skipped`.

    Raises:
        ValueError: it had too few micro-batches.
    """
    found = read_batches(events)
    warm = found[skipped:]
    if not warm:
        raise ValueError(f"{len(found)} micro-batches are too few")
    times, cpu = [each.time for each in moments], [each.cpu for each in moments]
    start, end = np.interp([warm[0].start, warm[-1].end], times, cpu)
    return Batches(
        median(batch.seconds for batch in warm),
        float(end - start) / len(warm),
        max(each.memory for each in moments),
        max(batch.state for batch in warm),
    )


def read_batches(events: Path) -> list[Batch]:
    """The micro-batches with rows of the event logs in a folder, in the order of their starts."""
    return sorted(_batches(events), key=lambda batch: batch.start)


def _batches(events: Path) -> Iterator[Batch]:
    for file in events.iterdir():
        for line in file.read_text(encoding="utf-8").splitlines():
            if "QueryProgressEvent" not in line[:200]:
                continue
            progress = json.loads(line)["progress"]
            if any(source["numInputRows"] for source in progress["sources"]):
                states = progress["stateOperators"]
                yield Batch(
                    progress["id"],
                    datetime.fromisoformat(progress["timestamp"]).timestamp(),
                    progress["batchDuration"] / 1000,
                    sum(state["numRowsTotal"] for state in states),
                    sum(state["memoryUsedBytes"] for state in states),
                )
