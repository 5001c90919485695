"""Streams as they arrive: rows in micro-batches, the watermark in force in each, and which rows are late by law.

The law. The watermark in force in a micro-batch comes from the micro-batches before it: the least, over the query's
inputs, of (newest event time so far − delay). A row is late iff its event time is *before* it. As measured on Spark 4.3
(policy `min`), an input without data yet holds the watermark at the epoch. A row dated at or before the epoch is late
from the start. The watermark never goes down, and rows that are late themselves cannot move it.
Rows without an event time are rejected. Event times here are whole milliseconds, as Spark's watermark is.

Spark itself drops a row that *equals* the watermark whenever the watermark stood still for a micro-batch. To meet this
law a lowering must give Spark one millisecond more of delay, and count as late what is at or before Spark's watermark.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from penstock.evaluator.typed_values import EPOCH, Row, milliseconds
from penstock.planner.plan import (
    Distinct,
    IntervalJoin,
    Node,
    Over,
    OverRows,
    Ranked,
    Scan,
    TableJoin,
    TableLookup,
    WindowAggregate,
)
from penstock.planner.plan.walk import walk

Tables = dict[str, list[Row]]
START = EPOCH + milliseconds(1)
"""The watermark before all inputs have had data."""
DRAINED = datetime(9999, 1, 1)
"""The watermark after the end of the input."""


@dataclass(frozen=True, slots=True)
class History:
    """What arrived, by micro-batch and input, in order of arrival. Every micro-batch names every input."""

    batches: tuple[Tables, ...]

    def tables(self) -> Tables:
        """All rows by input, without the borders."""
        names = self.batches[0] if self.batches else {}
        return {name: [row for batch in self.batches for row in batch[name]] for name in names}

    def size(self) -> int:
        """The number of rows of all inputs."""
        return sum(len(rows) for rows in self.tables().values())


@dataclass(frozen=True, slots=True)
class Clock:
    """The event-time column of an input and how many milliseconds its watermark stays behind the newest time."""

    time: str
    delay: int


class Fate(Enum):
    """What becomes of a row before the query's operators see it."""

    USED = "used"
    LATE = "late"
    REJECTED = "rejected"


def clocks(plan: Node) -> dict[str, Clock]:
    """The clocks of a plan's inputs; none where no operator waits for a watermark (nothing is late there).

    The grace period of a window or a join is delay on top of the declared one for the inputs that feed it.
    """
    nodes = list(walk(plan))
    waiting = (WindowAggregate, Distinct, IntervalJoin, Over, OverRows, Ranked)
    meeting = any(isinstance(node, TableJoin) and node.is_windowed for node in nodes)
    as_of = any(isinstance(node, TableLookup) and node.as_of is not None for node in nodes)
    if not as_of and not meeting and not any(isinstance(node, waiting) for node in nodes):
        return {}
    origins = [node.origin for node in nodes if isinstance(node, Scan)]
    graces = dict.fromkeys((each.name for each in origins), 0)
    for node in nodes:
        if isinstance(node, WindowAggregate | IntervalJoin):
            for below in walk(node):
                if isinstance(below, Scan):
                    graces[below.origin.name] = max(graces[below.origin.name], node.grace)
    return {
        each.name: Clock(each.time, each.delay + graces[each.name])
        for each in origins
        if each.time and each.delay is not None
    }


def watermarks(history: History, clocks: Mapping[str, Clock], resumed: int = 0) -> list[datetime]:
    """The watermark in force in each micro-batch, and one more for after the last.

    A query that is stopped and resumed before the micro-batch `resumed` (0: never) remembers its watermark, and not how
    far each input was. The watermark stays until all inputs have had rows again.
    """
    newest: dict[str, datetime] = {}
    result = [START]
    for number, batch in enumerate(history.batches):
        if number == resumed:
            newest.clear()
        for name, clock in clocks.items():
            times = [row[clock.time] for row in batch[name] if row[clock.time] is not None]
            if times:
                newest[name] = max([*times, newest.get(name, EPOCH)])
        held = [newest[name] - milliseconds(clock.delay) for name, clock in clocks.items() if name in newest]
        result.append(max(result[-1], min(held)) if len(held) == len(clocks) and held else result[-1])
    return result


def sort_out(history: History, clocks: Mapping[str, Clock], resumed: int = 0) -> dict[Fate, History]:
    """The history split by what becomes of each row; the micro-batches stay the same. `resumed` as in `watermarks`."""
    in_force = watermarks(history, clocks, resumed)

    def fate(name: str, row: Row, watermark: datetime) -> Fate:
        if name not in clocks:
            return Fate.USED
        time = row[clocks[name].time]
        return Fate.REJECTED if time is None else Fate.LATE if time < watermark else Fate.USED

    def part(wanted: Fate) -> History:
        return History(
            tuple(
                {name: [row for row in rows if fate(name, row, watermark) is wanted] for name, rows in batch.items()}
                for batch, watermark in zip(history.batches, in_force, strict=False)
            )
        )

    return {wanted: part(wanted) for wanted in Fate}


def accepted(history: History, clocks: Mapping[str, Clock]) -> History:
    """The rows that a query must use: neither late nor rejected."""
    return sort_out(history, clocks)[Fate.USED]
