"""What is known of the inputs of queries -> which of them are idle, and how far they are then taken to be.

Spark's watermark is that of the slowest input, and an input that says nothing is the slowest. One that was declared
with IDLE AFTER and has been silent for so long is told how far the others are: a heartbeat, which Spark reads as a row
of the end stream and logs as such, so that a batch that is run again has the same watermark.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class InputPace:
    """An input as a query has seen it. All times are milliseconds since 1970.

    `looked`: when the query last looked for rows, of those times of which it is known what was there; `spoke`: when it
    last found any, or was started. `reached`: the watermark of the input, None before its first row. `idle`: the
    silence after which the input holds nothing back, None if it always does.
    """

    idle: int | None
    spoke: int
    looked: int
    reached: int | None = None

    @property
    def is_idle(self) -> bool:
        """Whether the input holds nothing back."""
        return self.idle is not None and self.looked - self.spoke >= self.idle


def plan_heartbeats(paces: Mapping[Key, InputPace]) -> dict[Key, int]:
    """The watermarks of the inputs that are to be told one: the idle ones that are behind all the others.

    `paces` are the inputs of queries whose results depend on each other. Nothing moves where all are idle, or where one
    that is not has had no row yet.
    """
    reached = [each.reached for each in paces.values() if not each.is_idle]
    level = min((-1 if each is None else each for each in reached), default=-1)
    if level <= 0:  # where watermarks begin
        return {}
    return {key: level for key, pace in paces.items() if pace.is_idle and (pace.reached or 0) < level}


def plan_stream_heartbeats(reached: Mapping[Key, int | None], known: Mapping[Key, int]) -> dict[Key, int]:
    """The watermarks that the intermediate streams among a query's inputs are to be told.

    `reached` are those of all its inputs, None before their first rows; `known`, of intermediate streams, before what
    time no row is to come. None of them is told more than moves the query's watermark, which is the least of all.
    """
    level = min(max(each or 0, known.get(key, 0)) for key, each in reached.items())
    return {key: level for key in known if (reached[key] or 0) < level}
