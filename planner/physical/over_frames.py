"""OVER: frames of time are answered a pane at a time, frames of rows one by one."""

from __future__ import annotations

from typing import ClassVar

from penstock.planner.physical.bound_texts import kept_text, newest_text, partitions_text
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
from penstock.planner.physical.state_bytes import TABLE_ENTRY, packed_bytes, table_bytes
from penstock.planner.plan import Emission, Over, OverRows
from penstock.planner.state import find_delay, min_distance


class TimeFrames(PhysicalOperator, frozen=True):
    """The rows of a pane wait for the rows of their frames. DuckDB computes the frames."""

    REASON: ClassVar[str] = "its frames are stretches of time"
    CONTRACT: ClassVar[Contract] = Contract.OPERATOR
    GIVES_BACK: ClassVar[bool] = True

    node: Over

    @property
    def horizon(self) -> int | None:
        return self.node.back + self.node.pane + self.node.forward + find_delay(self.node.input)

    @property
    def bound(self) -> str:
        node = self.node
        return kept_text(node.input, node.back + node.pane + node.forward, find_delay(node.input))

    def estimate(self, load: Load) -> StateEstimate | UnknownFlow:
        node, flow = self.node, load.flows[0]
        pane, length = seconds(node.pane), seconds(node.back + node.pane + node.forward)
        cuts = len({-node.back % node.pane, node.forward % node.pane}) / pane
        side = PackedSide(flow, list_types(node.input), sum_windows(length, pane, load.lag))
        size = packed_size(side, load, PANE_BUCKETS if node.partition_by else 1, cuts)
        return StateEstimate(flow.rate * (length + load.lag), size, flow.is_exact, flow.streams, is_packed=True)

    def find_flow(self, flow: Flow) -> Flow | UnknownFlow:
        return flow

    def find_ending(self, emission: Emission) -> Ending | None:
        return Ending("pane of OVER", self.node.pane, self.node.forward)

    def find_lag(self, time: str) -> int:
        return self.node.pane + self.node.forward


class RowFrames(PhysicalOperator, frozen=True):
    """Python workers keep the last rows of each partition in buckets."""

    REASON: ClassVar[str] = "its frames are numbers of rows, whatever the times of these are"
    CONTRACT: ClassVar[Contract] = Contract.OPERATOR
    GIVES_BACK: ClassVar[bool] = True
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

    def estimate(self, load: Load) -> StateEstimate | UnknownFlow:
        if self.node.partition_by:
            return UnknownFlow("how many partitions have last rows does not follow from a rate")
        rows, types = load.flows[0].rate * load.lag, list_types(self.node.input)
        size = rows * packed_bytes(types) + 2 * table_bytes(types) + TABLE_ENTRY * load.on_heap
        return StateEstimate(rows, size, load.flows[0].is_exact, load.flows[0].streams, is_packed=True)

    def find_flow(self, flow: Flow) -> Flow | UnknownFlow:
        return flow

    def find_ending(self, emission: Emission) -> Ending | None:
        return EACH_ROW

    def find_lag(self, time: str) -> int:
        return -min_distance(self.node.input, self.node.time, time)
