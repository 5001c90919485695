"""What every physical operator says of the operator that it runs."""

from __future__ import annotations

import msgspec

from penstock.planner.plan import Stateful


class PhysicalOperator(msgspec.Struct, frozen=True):
    """One way to run an operator with state. By default it keeps rows forever. Times are in milliseconds."""

    node: Stateful

    @property
    def horizon(self) -> int | None:
        """How long it may keep a row, in event time; None: forever."""
        return None
