"""Rankings of a table: Python workers keep its rows in buckets."""

from __future__ import annotations

from typing import ClassVar

from penstock.planner.durations import duration_text
from penstock.planner.physical.physical_operator import TABLE_BUCKETS, PhysicalOperator
from penstock.planner.physical.row_form import RowForm
from penstock.planner.plan import Emission, Node, TableRanked
from penstock.planner.plan.texts import relation_text
from penstock.planner.state import find_windows_span


class _TableRanks(PhysicalOperator, frozen=True):
    FOLLOWS_RATES: ClassVar[bool] = False
    READS_ORDER: ClassVar[bool] = True
    BUCKETS: ClassVar[int] = TABLE_BUCKETS

    node: TableRanked

    @property
    def bound(self) -> str:
        node = self.node
        last = f": windows of the last {duration_text(find_windows_span(node))}" if node.end is not None else ""
        return f"one row per {', '.join(node.shape.key) or 'table'} of {relation_text(node)}{last}"

    def is_updating(self, emission: Emission) -> bool:
        return True

    def list_followed(self, *, is_timed: bool) -> list[Node]:
        return [] if self.node.end is None else [self.node.input]


class MovingRanks(_TableRanks, frozen=True):
    """A row may move from one partition to another, so rows are sent as deltas."""

    REASON: ClassVar[str] = "a change can move a row to another partition"

    def find_form(self, *, is_kept: bool, is_numbered: bool) -> RowForm:
        return RowForm.DELTAS


class KeyedRanks(_TableRanks, frozen=True):
    """A row of one key is always in one partition, so it is sent with the row before."""

    REASON: ClassVar[str] = "the key says the partition, so that a row stays in it"

    @property
    def horizon(self) -> int | None:
        return None if self.node.end is None else find_windows_span(self.node)

    def find_form(self, *, is_kept: bool, is_numbered: bool) -> RowForm:
        return RowForm.CHANGES
