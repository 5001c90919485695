"""PARTITION BY: the same rows, partitioned by something else."""

from __future__ import annotations

from penstock.planner.plan.expressions import Expression
from penstock.planner.plan.node import Unary


class Rekey(Unary, frozen=True, kw_only=True, eq=False):
    """The rows of `input`, partitioned by `keys`, expressions over them, into `into` partitions if that is not None.

    `inserted`: SET auto_repartition has added it; no PARTITION BY asks for it.
    """

    keys: tuple[Expression, ...]
    into: int | None = None
    inserted: bool = False

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return self.keys
