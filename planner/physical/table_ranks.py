"""Rankings of a table: Python workers keep its rows in buckets."""

from __future__ import annotations

from penstock.planner.physical.physical_operator import PhysicalOperator
from penstock.planner.plan import TableRanked
from penstock.planner.state import find_windows_span


class MovingRanks(PhysicalOperator, frozen=True):
    """A row may move from one partition to another, so rows are sent as deltas."""

    node: TableRanked


class KeyedRanks(MovingRanks, frozen=True):
    """A row of one key is always in one partition, so it is sent with the row before."""

    @property
    def horizon(self) -> int | None:
        return None if self.node.end is None else find_windows_span(self.node)
