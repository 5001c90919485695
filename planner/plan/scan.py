"""Reading a declared stream or table."""

from __future__ import annotations

import msgspec

from penstock.planner.plan.expressions import Expression, Named
from penstock.planner.plan.failure import Failure
from penstock.planner.plan.node import Column, EventTime, KStream, Node
from penstock.planner.plan.secret_option import Options

DELETES = ("delete", "d", "-d")
"""What a record's operation is, without regard to case, where it deletes the row of its key."""


class Origin(msgspec.Struct, frozen=True):
    """A declared outside place: its connector and checked options, the columns stored there, its event time.

    `delay`: watermark delay in milliseconds, None where no watermark is declared. `partitions`: None if not declared.
    `idle`: the milliseconds of silence after which the stream no longer holds a watermark back, None if it always does.
    `lag`, for an intermediate stream with an event time: how far, at most, a row's time is behind a watermark, in
    milliseconds. It is the watermark that the writing query had in the micro-batch before. For tables, the rows are
    the records of a changelog. `operation` is a STRING column beside the others that says which records delete
    (DELETES), None if none does. `sequence` is the column whose greatest value is newest, where that is not the event
    time. Among records of one value, or without both, the order of files and lines decides. `retention`: for how many
    milliseconds of event time a table's former rows can be asked for. `computed_time`: the event time over the
    columns that records hold, None where they hold it. `defaults`: what a row has in columns that an INSERT does not
    name. `metadata`: the columns that the connector fills itself, each with its name for what they hold.
    """

    name: str
    connector: str
    options: Options
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    time: str | None
    delay: int | None
    partitions: int | None
    idle: int | None = None
    lag: int | None = None
    operation: str | None = None
    sequence: str | None = None
    retention: int | None = None
    computed_time: Expression | None = None
    defaults: tuple[Named, ...] = ()
    metadata: tuple[tuple[str, str], ...] = ()

    @property
    def stored(self) -> tuple[Column, ...]:
        """The columns that records hold."""
        others = {name for name, _ in self.metadata}
        if self.computed_time is not None and self.time is not None:
            others.add(self.time)
        return tuple(each for each in self.columns if each.name not in others)

    @property
    def newest(self) -> str | None:
        """The column by which a table's records are ordered before the order of files and lines."""
        return self.sequence or self.time

    @property
    def stream(self) -> KStream:
        """The shape of its rows read as a stream."""
        times = () if self.time is None or self.delay is None else (EventTime(self.time, self.delay),)
        return KStream(self.key, times)


class Scan(Node, frozen=True, kw_only=True, eq=False):
    """All rows of a declared stream, minus malformed ones and (under a stateful operator) late ones.

    For a table: the records of its changelog, minus malformed ones and records without a key or a place in its
    order. `failures`: minus the rows for which one of these conditions is true, too.
    """

    origin: Origin
    failures: tuple[Failure, ...] = ()
