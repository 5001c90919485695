"""Groups of windows: by Spark's own aggregation, from partial aggregates, or with sessions that Python workers keep."""

from __future__ import annotations

from typing import ClassVar

from penstock.planner.physical.bound_texts import distinct_text, values_text, windows_text
from penstock.planner.physical.estimates import WINDOW, Load, StateEstimate, UnknownFlow, list_kept_types, seconds
from penstock.planner.physical.open_windows import sum_growing_windows, sum_windows
from penstock.planner.physical.physical_operator import TABLE_BUCKETS, Contract, Ending, PhysicalOperator
from penstock.planner.physical.row_form import RowForm
from penstock.planner.physical.state_bytes import (
    ENTRY,
    SESSION_ENTRY,
    TABLE_ENTRY,
    is_collected,
    packed_bytes,
    row_bytes,
    table_bytes,
    value_bytes,
)
from penstock.planner.plan import Cumulate, Emission, Hop, SessionWindow, Tumble, WindowAggregate
from penstock.planner.scalars.find_type import find_type
from penstock.planner.state import find_delay
from penstock.planner.types import BIGINT, BOOLEAN


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

    def estimate(self, load: Load) -> StateEstimate | UnknownFlow:
        """The state of Spark's own aggregation. There are at most as many groups as rows."""
        node, flow = self.node, load.flows[0]
        keys = [each.type for each in node.schema[: len(node.keys)]]
        value = row_bytes(list_kept_types(node)) + sum(each.entry.sketch_bytes for each in node.aggregates)
        entry = ENTRY + row_bytes([*keys, WINDOW])
        match node.window:
            case SessionWindow(gap):
                rows = flow.rate * (seconds(gap) + load.lag)
                entry, value = SESSION_ENTRY + row_bytes([*keys, BIGINT]), value + row_bytes([*keys, WINDOW])
                windows = load.lag // seconds(gap) + 2
            case Cumulate(step, size):
                rows = flow.rate * sum_growing_windows(seconds(size), seconds(step), load.lag)
                windows = (load.lag + seconds(size)) // seconds(step) + 1
            case Tumble(size):
                rows = flow.rate * sum_windows(seconds(size), seconds(size), load.lag)
                windows = (load.lag + seconds(size)) // seconds(size) + 1
            case Hop(slide, size):
                rows = flow.rate * sum_windows(seconds(size), seconds(slide), load.lag)
                windows = (load.lag + seconds(size)) // seconds(slide) + 1
        if not load.on_heap:
            entry -= ENTRY if not isinstance(node.window, SessionWindow) else SESSION_ENTRY
        groups = rows if node.keys else min(rows, windows)
        collected = 0.0
        for each in node.aggregates:
            if is_collected(each):
                types = [find_type(part, node.input) for part in each.arguments]
                collected += sum(value_bytes(type_) for type_ in types if type_ is not None)
        is_exact = not node.keys and not collected and not isinstance(node.window, SessionWindow)
        return StateEstimate(groups, groups * (entry + value) + rows * collected, is_exact, flow.streams)

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

    REASON: ClassVar[str] = "the length of its windows is known"
    CONTRACT: ClassVar[Contract] = Contract.GROUPS


class SparkSessions(_WindowGroups, frozen=True):
    """Spark's aggregation of sessions, each of which is sent once."""

    REASON: ClassVar[str] = "each session is sent once, when it is over"
    CONTRACT: ClassVar[Contract] = Contract.GROUPS
    HOLDS_BACK: ClassVar[bool] = True


class SessionBuckets(_WindowGroups, frozen=True):
    """Sessions that change: Python workers keep them in buckets, and know the row before."""

    REASON: ClassVar[str] = "sessions change and become one, so each is sent with the row before"
    BUCKETS: ClassVar[int] = TABLE_BUCKETS

    def estimate(self, load: Load) -> StateEstimate | UnknownFlow:
        """Each session has its key, a count, its times, and exact sums or values."""
        node = self.node
        assert isinstance(node.window, SessionWindow)
        keys = [each.type for each in node.schema[: len(node.keys)]]
        fields = [*keys, BOOLEAN, *[BIGINT] * 4, *list_kept_types(node)]
        rows = load.flows[0].rate * (seconds(node.window.gap) + load.lag)
        buckets = min(rows, self.count_buckets(load.partitions)) if keys else 1
        size = rows * packed_bytes(fields) + buckets * (table_bytes(fields) + TABLE_ENTRY * load.on_heap)
        return StateEstimate(rows, size, False, load.flows[0].streams, is_packed=True)

    def find_form(self, *, is_kept: bool, is_numbered: bool) -> RowForm:
        return RowForm.CHANGES


class PartialWindows(_WindowGroups, frozen=True):
    """Windows of HOP, merged from partial aggregates of each micro-batch."""

    REASON: ClassVar[str] = "its windows overlap, and a row is aggregated once for all of them"
    CONTRACT: ClassVar[Contract] = Contract.OPERATOR
    BUCKETS: ClassVar[int] = 2
    """Partial aggregates are few, and each bucket has tables of its own."""

    @property
    def bound(self) -> str:
        keys = ", ".join(each.name for each in self.node.keys)
        row = f"one row per {keys} and micro-batch" if keys else "one row per micro-batch"
        return f"partial aggregates, {row} in each open window: {windows_text(self.node)}"

    def estimate(self, load: Load) -> StateEstimate | UnknownFlow:
        return UnknownFlow("how many groups a micro-batch has does not follow from a rate")
