"""SELECT DISTINCT: Spark keeps different rows until the watermark has passed them."""

from __future__ import annotations

from typing import ClassVar

from msgspec.structs import replace

from penstock.planner.physical.bound_texts import newest_text
from penstock.planner.physical.estimates import WINDOW, Flow, Load, StateEstimate, UnknownFlow
from penstock.planner.physical.physical_operator import EACH_ROW, Contract, Ending, PhysicalOperator
from penstock.planner.physical.state_bytes import ENTRY, row_bytes
from penstock.planner.plan import Distinct, Emission
from penstock.planner.state import find_delay, min_distance


class DistinctRows(PhysicalOperator, frozen=True):
    """Spark's aggregation over all columns."""

    REASON: ClassVar[str] = "equal rows have one time, so each is kept until the watermark has passed it"
    CONTRACT: ClassVar[Contract] = Contract.GROUPS

    node: Distinct

    @property
    def horizon(self) -> int | None:
        return find_delay(self.node.input)

    @property
    def bound(self) -> str:
        return f"different {newest_text(self.node.input, self.node.time)}"

    def estimate(self, load: Load) -> StateEstimate | UnknownFlow:
        rows = load.flows[0].rate * load.lag
        key = row_bytes([*(each.type for each in self.node.schema if each.name != self.node.time), WINDOW])
        return StateEstimate(rows, rows * (ENTRY * load.on_heap + key), False, load.flows[0].streams)

    def find_flow(self, flow: Flow) -> Flow | UnknownFlow:
        return replace(flow, is_exact=False)

    def find_ending(self, emission: Emission) -> Ending | None:
        return EACH_ROW

    def find_lag(self, time: str) -> int:
        return -min_distance(self.node.input, self.node.time, time)
