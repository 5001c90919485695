"""Reading a declared stream or table."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.planner.plan.node import Column, EventTime, KStream, Node


@dataclass(frozen=True, slots=True)
class Origin:
    """A declared outside place: its connector and checked options, the columns stored there, its event time.

    `delay`: watermark delay in milliseconds, None where no watermark is declared. `partitions`: None if not declared.
    `idle`: the milliseconds of silence after which the stream no longer holds a watermark back, None if it always does.
    `behind`: of an intermediate stream with an event time, by how many milliseconds at most a row's time is before the
    watermark that the query which writes it had in the micro-batch before.
    """

    name: str
    connector: str
    options: tuple[tuple[str, str | int | bool], ...]
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    time: str | None
    delay: int | None
    partitions: int | None
    idle: int | None = None
    behind: int | None = None

    @property
    def stream(self) -> KStream:
        """The shape of its rows read as a stream."""
        times = () if self.time is None or self.delay is None else (EventTime(self.time, self.delay),)
        return KStream(self.key, times)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan(Node):
    """All rows of a declared stream, minus malformed ones and (under a stateful operator) late ones."""

    origin: Origin
