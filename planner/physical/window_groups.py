"""Groups of windows: by Spark's own aggregation, from partial aggregates, or with sessions that Python workers keep."""

from __future__ import annotations

from typing import ClassVar

from penstock.planner.physical.bound_texts import distinct_text, values_text, windows_text
from penstock.planner.physical.physical_operator import TABLE_BUCKETS, Contract, Ending, PhysicalOperator
from penstock.planner.physical.row_form import RowForm
from penstock.planner.plan import Cumulate, Emission, Hop, SessionWindow, Tumble, WindowAggregate
from penstock.planner.state import find_delay


class _WindowGroups(PhysicalOperator, frozen=True):
    """All of them keep a group until the watermark has passed its window and the grace."""

    node: WindowAggregate

    @property
    def horizon(self) -> int | None:
        window = self.node.window
        length = window.gap if isinstance(window, SessionWindow) else window.size
        return length + find_delay(self.node.input) + self.node.grace

    @property
    def grace(self) -> int:
        return self.node.grace

    @property
    def bound(self) -> str:
        node = self.node
        row = f"one row per ({', '.join([*(each.name for each in node.keys), 'open window'])})"
        if node.keeps_values:
            return f"{row}, and one per {values_text(node)} that its rows have: {windows_text(node)}"
        return f"{row}{distinct_text(node)}: {windows_text(node)}"

    def is_updating(self, emission: Emission) -> bool:
        is_final = self.node.emission is Emission.FINAL
        assert is_final or emission is Emission.CHANGES, "a query that sends final rows has a changing window"
        return not is_final

    def find_ending(self, emission: Emission) -> Ending | None:
        if self.node.emission is not Emission.FINAL:
            return None
        match self.node.window:
            case Tumble(size):
                return Ending("window", size, 0)
            case Hop(slide, size):
                return Ending("window", slide, size % slide)
            case Cumulate(step):
                return Ending("window", step, 0)
            case SessionWindow(gap):
                return Ending("session", 0, gap)

    def find_lag(self, time: str) -> int:
        """A window that is still open ends after the watermark."""
        return 0 if time == "window_end" or isinstance(self.node.window, SessionWindow) else self.node.window.size

    def find_form(self, *, is_kept: bool, is_numbered: bool) -> RowForm:
        return RowForm.ORDERED_ROWS if is_numbered else RowForm.ROWS


class FixedWindows(_WindowGroups, frozen=True):
    """Spark's aggregation of windows whose length is known."""

    CONTRACT: ClassVar[Contract] = Contract.GROUPS


class SparkSessions(_WindowGroups, frozen=True):
    """Spark's aggregation of sessions, each of which is sent once."""

    CONTRACT: ClassVar[Contract] = Contract.GROUPS
    HOLDS_BACK: ClassVar[bool] = True


class SessionBuckets(_WindowGroups, frozen=True):
    """Sessions that change: Python workers keep them in buckets, and know the row before."""

    BUCKETS: ClassVar[int] = TABLE_BUCKETS

    def find_form(self, *, is_kept: bool, is_numbered: bool) -> RowForm:
        return RowForm.CHANGES


class PartialWindows(_WindowGroups, frozen=True):
    """Windows of HOP, merged from partial aggregates of each micro-batch."""

    CONTRACT: ClassVar[Contract] = Contract.OPERATOR
    BUCKETS: ClassVar[int] = 2
    """Partial aggregates are few, and each bucket has tables of its own."""

    @property
    def bound(self) -> str:
        keys = ", ".join(each.name for each in self.node.keys)
        row = f"one row per {keys} and micro-batch" if keys else "one row per micro-batch"
        return f"partial aggregates, {row} in each open window: {windows_text(self.node)}"
