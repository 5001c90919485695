"""Groups without windows, over streams and over tables."""

from __future__ import annotations

from typing import ClassVar

from penstock.planner.physical.physical_operator import TABLE_BUCKETS, Contract, PhysicalOperator
from penstock.planner.physical.row_form import RowForm, find_keyed_form
from penstock.planner.plan import Emission, GroupAggregate


class _KeyGroups(PhysicalOperator, frozen=True):
    node: GroupAggregate

    @property
    def horizon(self) -> int | None:
        is_small = not (self.node.keys or self.node.keeps_values or any(each.distinct for each in self.node.aggregates))
        return 0 if is_small else None

    def is_updating(self, emission: Emission) -> bool:
        return True

    def find_form(self, *, is_kept: bool, is_numbered: bool) -> RowForm:
        return find_keyed_form(self.node, is_kept=is_kept)


class StreamGroups(_KeyGroups, frozen=True):
    """Groups of a stream: Spark's aggregation keeps one row of each."""

    CONTRACT: ClassVar[Contract] = Contract.GROUPS


class TableSums(_KeyGroups, frozen=True):
    """Groups of a table: Spark adds up what rows bring, and takes out what rows before have brought."""


class TableValues(_KeyGroups, frozen=True):
    """Groups of a table whose values Python workers keep, each with the number of its rows."""

    BUCKETS: ClassVar[int] = TABLE_BUCKETS
