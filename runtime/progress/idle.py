"""Facts about the inputs of queries -> which inputs are idle, and the heartbeats that they get.

Spark's watermark is the watermark of the slowest input, and a silent input is the slowest. An input that was declared
with IDLE AFTER and has been silent for so long gets a heartbeat with the watermark of the others. Spark reads the
heartbeat as a row of the end stream and logs it. So a batch that is run again has the same watermark.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class InputPace:
    """The progress of an input as a query has seen it. Times are milliseconds since 1970."""

    idle: int | None
    """The milliseconds of silence after which the input no longer holds the watermark back; None: it always does."""
    spoke: int
    """When the query last found rows, or was started."""
    looked: int
    """When the query last looked for rows with a known result."""
    reached: int | None = None
    """The watermark of the input, None before its first row."""

    @property
    def is_idle(self) -> bool:
        """Whether the input no longer holds the watermark back."""
        return self.idle is not None and self.looked - self.spoke >= self.idle


def plan_heartbeats(paces: Mapping[Key, InputPace]) -> dict[Key, int]:
    """The heartbeats, as watermarks, of the idle inputs that are behind all others.

    `paces` are the inputs of queries whose results depend on each other. There are no heartbeats if all inputs are
    idle, or if an input that is not idle has had no row yet.
    """
    reached = [each.reached for each in paces.values() if not each.is_idle]
    level = min((-1 if each is None else each for each in reached), default=-1)
    if level <= 0:  # where watermarks begin
        return {}
    return {key: level for key, pace in paces.items() if pace.is_idle and (pace.reached or 0) < level}


def plan_stream_heartbeats(reached: Mapping[Key, int | None], known: Mapping[Key, int]) -> dict[Key, int]:
    """The heartbeats, as watermarks, of the intermediate streams among a query's inputs.

    `reached` has the watermarks of all inputs, None before their first rows. `known` says for each intermediate stream
    before which time no row will come. The query's watermark is the least of all, so no heartbeat goes beyond it.
    """
    level = min(max(each or 0, known.get(key, 0)) for key, each in reached.items())
    return {key: level for key in known if (reached[key] or 0) < level}
