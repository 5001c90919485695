"""Groups of windows: by Spark's own aggregation, from partial aggregates, or with sessions that Python workers keep."""

from __future__ import annotations

from penstock.planner.physical.physical_operator import PhysicalOperator
from penstock.planner.plan import SessionWindow, WindowAggregate
from penstock.planner.state import find_delay


class _WindowGroups(PhysicalOperator, frozen=True):
    """All of them keep a group until the watermark has passed its window and the grace."""

    node: WindowAggregate

    @property
    def horizon(self) -> int | None:
        window = self.node.window
        length = window.gap if isinstance(window, SessionWindow) else window.size
        return length + find_delay(self.node.input) + self.node.grace


class FixedWindows(_WindowGroups, frozen=True):
    """Spark's aggregation of windows whose length is known."""


class SparkSessions(_WindowGroups, frozen=True):
    """Spark's aggregation of sessions, each of which is sent once."""


class SessionBuckets(_WindowGroups, frozen=True):
    """Sessions that change: Python workers keep them in buckets, and know the row before."""


class PartialWindows(_WindowGroups, frozen=True):
    """Windows of HOP, merged from partial aggregates of each micro-batch."""
