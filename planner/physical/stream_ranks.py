"""Rankings of the rows of a stream that have one time or one window."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp

from penstock.planner.physical.bound_texts import kept_text, newest_text
from penstock.planner.physical.estimates import (
    PANE_BUCKETS,
    Flow,
    Load,
    PackedSide,
    StateEstimate,
    UnknownFlow,
    list_types,
    packed_size,
    seconds,
)
from penstock.planner.physical.open_windows import sum_windows
from penstock.planner.physical.physical_operator import EACH_ROW, Contract, Ending, PhysicalOperator
from penstock.planner.plan import Emission, Ranked
from penstock.planner.plan.walk import find_assigned_windows
from penstock.planner.state import find_delay, min_distance


class _StreamRanks(PhysicalOperator, frozen=True):
    """DuckDB ranks rows that have waited."""

    CONTRACT: ClassVar[Contract] = Contract.OPERATOR
    GIVES_BACK: ClassVar[bool] = True

    node: Ranked

    def _estimate(self, load: Load, length: float, held: float, cuts: float) -> StateEstimate:
        """`length`: the seconds of a pane. `held`: the seconds that its tables hold. `cuts`: tables per second."""
        flow = load.flows[0]
        side = PackedSide(flow, list_types(self.node.input), held)
        size = packed_size(side, load, PANE_BUCKETS if self._has_keys() else 1, cuts)
        return StateEstimate(flow.rate * (length + load.lag), size, flow.is_exact, flow.streams, is_packed=True)

    def _has_keys(self) -> bool:
        """Whether rows are ranked by more than their window."""
        assigned, names = find_assigned_windows(self.node.input)
        windows = set() if assigned is None else {names.get(each.name) for each in assigned.schema[-2:]}
        return any(not isinstance(each, exp.Column) or each.name not in windows for each in self.node.partition_by)

    def find_flow(self, flow: Flow) -> Flow | UnknownFlow:
        return flow


class InstantRanks(_StreamRanks, frozen=True):
    """The rows of one time wait until the watermark has passed it."""

    REASON: ClassVar[str] = "rows of one time are ranked, and are final together"

    @property
    def horizon(self) -> int | None:
        return find_delay(self.node.input)

    @property
    def bound(self) -> str:
        return newest_text(self.node.input, self.node.time)

    def estimate(self, load: Load) -> StateEstimate | UnknownFlow:
        """Each time has tables of its own."""
        return self._estimate(load, 0, load.lag, load.flows[0].rate)

    def find_ending(self, emission: Emission) -> Ending | None:
        return EACH_ROW

    def find_lag(self, time: str) -> int:
        return -min_distance(self.node.input, self.node.time, time)


class WindowRanks(_StreamRanks, frozen=True):
    """The rows of a window wait for its end."""

    REASON: ClassVar[str] = "rows are ranked within the windows that they are assigned to"

    @property
    def pane(self) -> int:
        """The length of a window."""
        assert self.node.pane is not None
        return self.node.pane

    @property
    def horizon(self) -> int | None:
        return find_delay(self.node.input) + self.pane

    @property
    def bound(self) -> str:
        return kept_text(self.node.input, self.pane, find_delay(self.node.input))

    def estimate(self, load: Load) -> StateEstimate | UnknownFlow:
        length = seconds(self.pane)
        return self._estimate(load, length, sum_windows(length, length, load.lag), 1 / length)

    def find_ending(self, emission: Emission) -> Ending | None:
        return Ending("window", self.pane, 0)

    def find_lag(self, time: str) -> int:
        return self.pane
