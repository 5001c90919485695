"""What moves the watermark of a query, and what waits for it. Plain data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WatermarkInput:
    """An input whose rows move the watermark. Times are in milliseconds."""

    name: str
    view: str
    """The view whose metric `newest` is the newest event time of a micro-batch's valid rows, NULL without any."""
    delay: int
    """How far the watermark of the input is behind its newest event time."""
    idle: int | None
    """After this much silence the input no longer holds the watermark back. None: it always does."""
    lag: int | None
    """How far rows to come may be behind the watermark of the query that writes this input. None: no query does."""
    grace: int = 0
    """How much further behind Spark's watermark of the input is, for an operator above that waits longer."""


@dataclass(frozen=True, slots=True)
class Closing:
    """When an operator sends rows that wait: once the watermark reaches the end of their window or pane.

    Ends lie `every` milliseconds apart, `offset` behind multiples of that since 1970. With 0 for `every`, each row has
    an end of its own, `offset` behind its time.
    """

    noun: str
    """What ends, as messages call it."""
    every: int
    offset: int
