"""SELECT DISTINCT: Spark keeps different rows until the watermark has passed them."""

from __future__ import annotations

from penstock.planner.physical.physical_operator import EACH_ROW, Ending, PhysicalOperator
from penstock.planner.plan import Distinct, Emission
from penstock.planner.state import find_delay


class DistinctRows(PhysicalOperator, frozen=True):
    """Spark's aggregation over all columns."""

    node: Distinct

    @property
    def horizon(self) -> int | None:
        return find_delay(self.node.input)

    def find_ending(self, emission: Emission) -> Ending | None:
        return EACH_ROW
