"""Joins of two streams: pairs one by one as rows are read, or the pairs of a pane together."""

from __future__ import annotations

from penstock.planner.physical.physical_operator import Ending, PhysicalOperator
from penstock.planner.plan import Emission, IntervalJoin, JoinType
from penstock.planner.state import find_delay


class PairJoin(PhysicalOperator, frozen=True):
    """Spark's join: a row meets its partners one by one."""

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
    def horizon(self) -> int | None:
        return sum(self.reach) + self.delay

    def find_ending(self, emission: Emission) -> Ending | None:
        """A pair is sent at once, a row without a partner when none can come any more."""
        pads = self.node.type not in (JoinType.INNER, JoinType.SEMI)
        return Ending("row without a partner", 0, self.reach[1]) if pads else None


class PaneJoin(PairJoin, frozen=True):
    """The rows of a pane wait for all that they can meet. DuckDB joins them."""

    @property
    def pane(self) -> int:
        """The length of a pane."""
        assert self.node.pane is not None
        return self.node.pane

    @property
    def horizon(self) -> int | None:
        return sum(self.reach) + self.pane + self.delay

    def find_ending(self, emission: Emission) -> Ending | None:
        return Ending("pane of the join", self.pane, self.reach[1])
