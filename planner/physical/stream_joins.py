"""Joins of two streams: pairs one by one as rows are read, or the pairs of a pane together."""

from __future__ import annotations

from typing import ClassVar

from penstock.planner.physical.bound_texts import kept_text
from penstock.planner.physical.physical_operator import Contract, Ending, PhysicalOperator
from penstock.planner.plan import Emission, IntervalJoin, JoinType
from penstock.planner.state import find_delay, min_distance


class _StreamJoin(PhysicalOperator, frozen=True):
    node: IntervalJoin

    @property
    def reach(self) -> tuple[int, int]:
        """Time range, before and after a row, in which its partners lie."""
        return self.node.bound.reach(self.node.type)

    @property
    def delay(self) -> int:
        """How far the watermark is behind the newest row of either side."""
        return max(find_delay(self.node.left), find_delay(self.node.right)) + self.node.grace

    @property
    def grace(self) -> int:
        return self.node.grace

    def _find_side(self, time: str) -> tuple[bool, int]:
        """Whether a column is of the left side, and how far it is at least behind the event time of its side."""
        node = self.node
        is_left = any(each.name == time for each in node.left.schema)
        side, own = (node.left, node.left_time) if is_left else (node.right, node.right_time)
        return is_left, min_distance(side, own, time)


class PairJoin(_StreamJoin, frozen=True):
    """Spark's join: a row meets its partners one by one."""

    @property
    def horizon(self) -> int | None:
        return sum(self.reach) + self.delay

    @property
    def bound(self) -> str:
        node = self.node
        lower, upper = node.bound.lower.milliseconds, node.bound.upper.milliseconds
        kept = (node.left, max(upper, 0)), (node.right, max(-lower, 0))
        return "; ".join(kept_text(side, reach, self.delay) for side, reach in kept)

    def find_ending(self, emission: Emission) -> Ending | None:
        """A pair is sent at once, a row without a partner when none can come any more."""
        pads = self.node.type not in (JoinType.INNER, JoinType.SEMI)
        return Ending("row without a partner", 0, self.reach[1]) if pads else None

    def find_lag(self, time: str) -> int:
        """One row of a pair is new, and so not behind the watermark."""
        is_left, distance = self._find_side(time)
        bound = self.node.bound
        return max(0, bound.upper.milliseconds if is_left else -bound.lower.milliseconds) - distance


class PaneJoin(_StreamJoin, frozen=True):
    """The rows of a pane wait for all that they can meet. DuckDB joins them."""

    CONTRACT: ClassVar[Contract] = Contract.OPERATOR

    @property
    def pane(self) -> int:
        """The length of a pane."""
        assert self.node.pane is not None
        return self.node.pane

    @property
    def horizon(self) -> int | None:
        return sum(self.reach) + self.pane + self.delay

    @property
    def bound(self) -> str:
        back, forward = self.reach
        own, met = self.pane + forward, back + self.pane + forward
        reaches = {JoinType.RIGHT: (met, own), JoinType.FULL: (met, met)}.get(self.node.type, (own, met))
        kept = zip(self.node.inputs, reaches, strict=True)
        return "; ".join(kept_text(side, reach, self.delay) for side, reach in kept)

    def find_ending(self, emission: Emission) -> Ending | None:
        return Ending("pane of the join", self.pane, self.reach[1])

    def find_lag(self, time: str) -> int:
        """A pane that is still held ends, with all that its own rows can meet, after the watermark."""
        is_left, distance = self._find_side(time)
        own, bound = self.pane + self.reach[1] - distance, self.node.bound
        if is_left == (self.node.type is not JoinType.RIGHT):
            return own
        return own + bound.upper.milliseconds if is_left else own - bound.lower.milliseconds
