"""Joins on foreign keys, and lookups: Python workers keep the rows that others refer to in buckets."""

from __future__ import annotations

from typing import ClassVar

from msgspec.structs import replace

from penstock.planner.durations import duration_text
from penstock.planner.physical.bound_texts import find_followed_delay, find_scans, held_text
from penstock.planner.physical.estimates import Flow, UnknownFlow
from penstock.planner.physical.physical_operator import EACH_ROW, TABLE_BUCKETS, Contract, Ending, PhysicalOperator
from penstock.planner.physical.row_form import RowForm
from penstock.planner.plan import Emission, ForeignKeyJoin, Node, TableLookup, WTable
from penstock.planner.plan.texts import relation_text
from penstock.planner.state import find_delay


class ReferenceJoin(PhysicalOperator, frozen=True):
    """A join of tables on a foreign key. A bucket has the rows of both sides."""

    REASON: ClassVar[str] = "rows of one side refer to rows of the other, and both sides change"
    FOLLOWS_RATES: ClassVar[bool] = False
    READS_ORDER: ClassVar[bool] = True
    BUCKETS: ClassVar[int] = TABLE_BUCKETS

    node: ForeignKeyJoin

    @property
    def bound(self) -> str:
        left, right = self.node.left, self.node.right
        shown = f" and windows that rows of {relation_text(left)} show" * isinstance(right.shape, WTable)
        return f"{held_text(left)}; {held_text(right)}{shown}"

    def is_updating(self, emission: Emission) -> bool:
        return True

    def list_followed(self, *, is_timed: bool) -> list[Node]:
        return [side for side in (self.node.left, self.node.right) if isinstance(side.shape, WTable)]

    def find_form(self, *, is_kept: bool, is_numbered: bool) -> RowForm:
        return RowForm.ROWS if isinstance(self.node.shape, WTable) else RowForm.DELTAS


class _Lookup(PhysicalOperator, frozen=True):
    FOLLOWS_RATES: ClassVar[bool] = False
    CONTRACT: ClassVar[Contract] = Contract.OPERATOR
    GIVES_BACK: ClassVar[bool] = True
    BUCKETS: ClassVar[int] = TABLE_BUCKETS

    node: TableLookup

    def list_followed(self, *, is_timed: bool) -> list[Node]:
        return [self.node.stream] if is_timed or self.node.kept is not None else []

    @property
    def screened(self) -> tuple[Node, ...]:
        return (self.node.stream,)

    def find_flow(self, flow: Flow) -> Flow | UnknownFlow:
        """A row that is looked up meets one row of the table, or none."""
        return replace(flow, is_exact=False)

    def find_lag(self, time: str) -> int:
        """Its rows are rows of a stream that are not late."""
        return 0

    def count_buckets(self, partitions: int) -> int:
        return PhysicalOperator.count_buckets(self, self.node.partitions or partitions)


class CurrentLookup(_Lookup, frozen=True):
    """A lookup in the table as it is known when a row is processed."""

    REASON: ClassVar[str] = "the table counts as it is known when a row is processed"

    @property
    def bound(self) -> str:
        node = self.node
        if node.kept is None or not isinstance(node.table.shape, WTable):
            return held_text(node.table)
        key = ", ".join((*node.table.shape.key, "window"))
        last = duration_text(node.kept + find_followed_delay(node.stream))
        return f"one row per ({key}) of {relation_text(node.table)}: windows that end in the last {last}, and later"


class AsOfLookup(_Lookup, frozen=True):
    """A lookup in the table as it was at the time of a row, which waits until that is known."""

    REASON: ClassVar[str] = "the table counts as it was at the time of a row"

    @property
    def bound(self) -> str:
        node = self.node
        delay = max(find_delay(node.stream), *(each.origin.delay or 0 for each in find_scans(node.table)))
        last = f"with time in the last {duration_text(delay)}"
        return f"rows of {relation_text(node.stream)} {last}; {held_text(node.table)}, and records {last}"

    def find_ending(self, emission: Emission) -> Ending | None:
        return EACH_ROW
