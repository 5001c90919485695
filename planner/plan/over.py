"""OVER: one output row per input row, with aggregates over the rows of its frames, by time or by number."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from penstock.planner.functions.facts import Framing
from penstock.planner.plan.expressions import Aggregate, Expression
from penstock.planner.plan.node import Waiting

_SHORTEST_PANE = 1000


class Frame(msgspec.Struct, frozen=True):
    """The rows of the same partition whose time is in [row.time + start, row.time + end], in milliseconds.

    Both ends and all peers, which are the rows of the same time, are included; a row need not be in its own frame.
    """

    start: int
    end: int


class RowsFrame(msgspec.Struct, frozen=True):
    """The rows of the same partition from `start` to `end` places behind the row, both included; none is behind 0.

    The rows of a partition are in the order of their times. Rows of one time are in the order of all their columns.
    """

    start: int
    end: int


class FramedAggregate(msgspec.Struct, frozen=True):
    """An aggregate, or a function that exists over frames only, over the rows of a frame."""

    aggregate: Aggregate
    frame: Frame | RowsFrame

    @property
    def framing(self) -> Framing:
        """How the function is computed over the frame."""
        framing = self.aggregate.entry.framing
        assert framing is not None, f"{self.aggregate.function} over a frame"
        return framing


class _OverAny(Waiting, frozen=True, kw_only=True, eq=False):
    """The schema is the input's columns, then the aggregates. `partition_by` is over the input's columns."""

    NOUN: ClassVar[str] = "OVER"

    partition_by: tuple[Expression, ...]
    aggregates: tuple[FramedAggregate, ...]

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return (*self.partition_by, *(part for each in self.aggregates for part in each.aggregate.expressions))

    @property
    def given_names(self) -> tuple[str, ...]:
        return tuple(each.aggregate.name for each in self.aggregates)


class Over(_OverAny, frozen=True, kw_only=True, eq=False):
    """OVER with frames that are stretches of time. Rows are answered a pane at a time.

    A pane is the set of rows of one partition with times in [k·length, (k+1)·length). For their frames, the rows `back`
    before it and `forward` behind it are kept as well. When the watermark has passed these rows, the pane is final. In
    short panes rows are kept more often, long ones answer later. With the reach of the frames as the length, every row
    is kept twice, whatever the frames.
    """

    @property
    def back(self) -> int:
        """How far the frames reach back, in milliseconds."""
        return max(0, *(-each.frame.start for each in self.aggregates))

    @property
    def forward(self) -> int:
        """How far the frames reach forward, in milliseconds."""
        return max(0, *(each.frame.end for each in self.aggregates))

    @property
    def pane(self) -> int:
        """The length of a pane in milliseconds."""
        return max(self.back + self.forward, _SHORTEST_PANE)

    @property
    def is_ordered(self) -> bool:
        """Whether the order of the rows of one time shows."""
        return any(each.framing.is_ordered for each in self.aggregates)


class OverRows(_OverAny, frozen=True, kw_only=True, eq=False):
    """As Over, but with frames that are numbers of rows. A row is answered when the watermark has passed its time.

    Which rows these are is known once that time is past. The last rows of each partition are kept for rows to come.
    """

    @property
    def back(self) -> int:
        """How many rows the frames reach back."""
        return max(-each.frame.start for each in self.aggregates)

    @property
    def is_ordered(self) -> bool:
        """Whether the order of the rows of one time shows: in which rows are kept, always."""
        return True
