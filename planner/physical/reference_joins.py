"""Joins on foreign keys, and lookups: Python workers keep the rows that others refer to in buckets."""

from __future__ import annotations

from typing import ClassVar

from penstock.planner.physical.physical_operator import EACH_ROW, TABLE_BUCKETS, Contract, Ending, PhysicalOperator
from penstock.planner.physical.row_form import RowForm
from penstock.planner.plan import Emission, ForeignKeyJoin, Node, TableLookup, WTable


class ReferenceJoin(PhysicalOperator, frozen=True):
    """A join of tables on a foreign key. A bucket has the rows of both sides."""

    READS_ORDER: ClassVar[bool] = True
    BUCKETS: ClassVar[int] = TABLE_BUCKETS

    node: ForeignKeyJoin

    def is_updating(self, emission: Emission) -> bool:
        return True

    def list_followed(self, *, is_timed: bool) -> list[Node]:
        return [side for side in (self.node.left, self.node.right) if isinstance(side.shape, WTable)]

    def find_form(self, *, is_kept: bool, is_numbered: bool) -> RowForm:
        return RowForm.ROWS if isinstance(self.node.shape, WTable) else RowForm.DELTAS


class _Lookup(PhysicalOperator, frozen=True):
    CONTRACT: ClassVar[Contract] = Contract.OPERATOR
    BUCKETS: ClassVar[int] = TABLE_BUCKETS

    node: TableLookup

    def list_followed(self, *, is_timed: bool) -> list[Node]:
        return [self.node.stream] if is_timed or self.node.kept is not None else []

    def find_lag(self, time: str) -> int:
        """Its rows are rows of a stream that are not late."""
        return 0

    def count_buckets(self, partitions: int) -> int:
        return PhysicalOperator.count_buckets(self, self.node.partitions or partitions)


class CurrentLookup(_Lookup, frozen=True):
    """A lookup in the table as it is known when a row is processed."""


class AsOfLookup(_Lookup, frozen=True):
    """A lookup in the table as it was at the time of a row, which waits until that is known."""

    def find_ending(self, emission: Emission) -> Ending | None:
        return EACH_ROW
