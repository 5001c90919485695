"""Groups without windows, over streams and over tables."""

from __future__ import annotations

from typing import ClassVar

from penstock.planner.physical.bound_texts import distinct_text, values_text
from penstock.planner.physical.estimates import Load, StateEstimate, UnknownFlow, list_kept_types
from penstock.planner.physical.physical_operator import TABLE_BUCKETS, Contract, PhysicalOperator
from penstock.planner.physical.row_form import RowForm, find_keyed_form
from penstock.planner.physical.state_bytes import ENTRY, is_collected, row_bytes
from penstock.planner.plan import Emission, GroupAggregate
from penstock.planner.plan.walk import is_retracting

_NO_GROUPS = "how many groups there are does not follow from a rate"


class _KeyGroups(PhysicalOperator, frozen=True):
    node: GroupAggregate

    @property
    def horizon(self) -> int | None:
        is_small = not (self.node.keys or self.node.keeps_values or any(each.distinct for each in self.node.aggregates))
        return 0 if is_small else None

    @property
    def bound(self) -> str:
        node = self.node
        keys = ", ".join(key.name for key in node.keys)
        there = f"{keys} that there has been" if is_retracting(node) else keys
        row = f"one row per {there}" if keys else "one row"
        if node.keeps_values:
            rows = f"rows of {'it' if keys else 'the table'}"
            return f"{row}, forever, and one per {values_text(node)} that {rows} have"
        return f"{row}{distinct_text(node)}, forever" if keys or distinct_text(node) else row

    def estimate(self, load: Load) -> StateEstimate | UnknownFlow:
        node = self.node
        collects = node.keeps_values or any(map(is_collected, node.aggregates))
        if node.keys or collects or is_retracting(node):
            return UnknownFlow(_NO_GROUPS if node.keys else "how many different values there are is not known")
        kept = sum(each.entry.sketch_bytes for each in node.aggregates) + row_bytes(list_kept_types(node))
        return StateEstimate(1, ENTRY * load.on_heap + kept, True, load.flows[0].streams)

    def is_updating(self, emission: Emission) -> bool:
        return True

    def find_form(self, *, is_kept: bool, is_numbered: bool) -> RowForm:
        return find_keyed_form(self.node, is_kept=is_kept)


class StreamGroups(_KeyGroups, frozen=True):
    """Groups of a stream: Spark's aggregation keeps one row of each."""

    REASON: ClassVar[str] = "rows of a stream only add to their group"
    IS_AGGREGATION: ClassVar[bool] = True
    CONTRACT: ClassVar[Contract] = Contract.GROUPS


class TableSums(_KeyGroups, frozen=True):
    """Groups of a table: Spark adds up what rows bring, and takes out what rows before have brought."""

    REASON: ClassVar[str] = "rows leave their group as the table changes, and what they added can be taken out"
    IS_AGGREGATION: ClassVar[bool] = True


class TableValues(_KeyGroups, frozen=True):
    """Groups of a table whose values Python workers keep, each with the number of its rows."""

    REASON: ClassVar[str] = "rows leave their group as the table changes, and an aggregate needs the values that stay"
    BUCKETS: ClassVar[int] = TABLE_BUCKETS
