"""Tables by key: the newest rows, and joins of tables on their keys."""

from __future__ import annotations

from typing import ClassVar

from penstock.planner.durations import duration_text
from penstock.planner.physical.physical_operator import Ending, PhysicalOperator
from penstock.planner.physical.row_form import RowForm, find_keyed_form
from penstock.planner.plan import Emission, Latest, TableJoin, WTable
from penstock.planner.plan.texts import expression_text, relation_text
from penstock.planner.state import find_window_length, find_windows_span


class LatestRows(PhysicalOperator, frozen=True):
    """Spark's aggregation keeps the newest row of each key."""

    REASON: ClassVar[str] = "the newest upsert of each key counts"
    IS_AGGREGATION: ClassVar[bool] = True
    FOLLOWS_RATES: ClassVar[bool] = False

    node: Latest

    @property
    def bound(self) -> str:
        key = ", ".join(self.node.shape.key)
        return f"one row per {key} of {relation_text(self.node)}, and the key of each deleted one, forever"

    def is_updating(self, emission: Emission) -> bool:
        return True

    def find_form(self, *, is_kept: bool, is_numbered: bool) -> RowForm:
        return find_keyed_form(self.node, is_kept=is_kept)


class KeyJoin(PhysicalOperator, frozen=True):
    """Spark's aggregation keeps the newest row of each side for a key."""

    REASON: ClassVar[str] = "all sides have one key, so that one state has the rows of all"
    IS_AGGREGATION: ClassVar[bool] = True
    FOLLOWS_RATES: ClassVar[bool] = False

    node: TableJoin

    @property
    def bound(self) -> str:
        keys = ", ".join(expression_text(key) for key in self.node.sides[0].keys)
        return f"one row per {keys} of each of {relation_text(self.node)}, and each deleted key, forever"

    def is_updating(self, emission: Emission) -> bool:
        return True

    def find_form(self, *, is_kept: bool, is_numbered: bool) -> RowForm:
        return find_keyed_form(self.node, is_kept=is_kept)


class WindowJoin(PhysicalOperator, frozen=True):
    """The same for each window. The rows of a window are kept until it is final."""

    REASON: ClassVar[str] = "all sides have one key and one window, so that one state has the rows of all"
    FOLLOWS_RATES: ClassVar[bool] = False

    node: TableJoin

    @property
    def horizon(self) -> int | None:
        return find_windows_span(self.node)

    @property
    def bound(self) -> str:
        keys = ", ".join(expression_text(key) for key in self.node.sides[0].keys)
        span = duration_text(find_windows_span(self.node))
        return f"one row per ({keys}, window) of each of {relation_text(self.node)}: windows of the last {span}"

    def is_updating(self, emission: Emission) -> bool:
        return emission is Emission.CHANGES

    def find_ending(self, emission: Emission) -> Ending | None:
        return Ending("joined window", 0, 0) if emission is Emission.FINAL else None

    def find_lag(self, time: str) -> int:
        """Windows meet at the end of the latest of them. The row has the window of the sides that are not shifted."""
        shapes = [side.input.shape for side in self.node.sides]
        ends = {self.node.identity[-1], *(each.end for each in shapes if isinstance(each, WTable))}
        length = 0 if time in ends else find_window_length(self.node)
        return length - min(side.shift for side in self.node.sides)

    def find_form(self, *, is_kept: bool, is_numbered: bool) -> RowForm:
        return RowForm.ORDERED_ROWS if is_numbered else RowForm.ROWS
