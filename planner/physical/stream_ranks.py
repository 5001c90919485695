"""Rankings of the rows of a stream that have one time or one window."""

from __future__ import annotations

from typing import ClassVar

from penstock.planner.physical.bound_texts import kept_text, newest_text
from penstock.planner.physical.physical_operator import EACH_ROW, Contract, Ending, PhysicalOperator
from penstock.planner.plan import Emission, Ranked
from penstock.planner.state import find_delay, min_distance


class _StreamRanks(PhysicalOperator, frozen=True):
    """DuckDB ranks rows that have waited."""

    CONTRACT: ClassVar[Contract] = Contract.OPERATOR

    node: Ranked


class InstantRanks(_StreamRanks, frozen=True):
    """The rows of one time wait until the watermark has passed it."""

    @property
    def horizon(self) -> int | None:
        return find_delay(self.node.input)

    @property
    def bound(self) -> str:
        return newest_text(self.node.input, self.node.time)

    def find_ending(self, emission: Emission) -> Ending | None:
        return EACH_ROW

    def find_lag(self, time: str) -> int:
        return -min_distance(self.node.input, self.node.time, time)


class WindowRanks(_StreamRanks, frozen=True):
    """The rows of a window wait for its end."""

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

    def find_ending(self, emission: Emission) -> Ending | None:
        return Ending("window", self.pane, 0)

    def find_lag(self, time: str) -> int:
        return self.pane
