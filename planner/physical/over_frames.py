"""OVER: frames of time are answered a pane at a time, frames of rows one by one."""

from __future__ import annotations

from typing import ClassVar

from penstock.planner.physical.bound_texts import kept_text, newest_text, partitions_text
from penstock.planner.physical.physical_operator import EACH_ROW, Contract, Ending, PhysicalOperator
from penstock.planner.plan import Emission, Over, OverRows
from penstock.planner.state import find_delay, min_distance


class TimeFrames(PhysicalOperator, frozen=True):
    """The rows of a pane wait for the rows of their frames. DuckDB computes the frames."""

    CONTRACT: ClassVar[Contract] = Contract.OPERATOR

    node: Over

    @property
    def horizon(self) -> int | None:
        return self.node.back + self.node.pane + self.node.forward + find_delay(self.node.input)

    @property
    def bound(self) -> str:
        node = self.node
        return kept_text(node.input, node.back + node.pane + node.forward, find_delay(node.input))

    def find_ending(self, emission: Emission) -> Ending | None:
        return Ending("pane of OVER", self.node.pane, self.node.forward)

    def find_lag(self, time: str) -> int:
        return self.node.pane + self.node.forward


class RowFrames(PhysicalOperator, frozen=True):
    """Python workers keep the last rows of each partition in buckets."""

    CONTRACT: ClassVar[Contract] = Contract.OPERATOR
    BUCKETS: ClassVar[int] = 4
    """Each task gets some, and each bucket is one call of Python."""

    node: OverRows

    @property
    def horizon(self) -> int | None:
        return None if self.node.partition_by else find_delay(self.node.input)

    @property
    def bound(self) -> str:
        node = self.node
        rows = f"the last {node.back} rows" if node.back != 1 else "the last row"
        return f"{rows} of {partitions_text(node)}, and {newest_text(node.input, node.time)}"

    def find_ending(self, emission: Emission) -> Ending | None:
        return EACH_ROW

    def find_lag(self, time: str) -> int:
        return -min_distance(self.node.input, self.node.time, time)
