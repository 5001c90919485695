"""Where a new query begins to read a topic."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.codegen.program import Input
from penstock.planner.connectors.starting_offsets import read_offsets, read_time


@dataclass(frozen=True, slots=True)
class Starting:
    """Where a new query begins to read a topic. With neither, it begins with the next record to come."""

    offsets: dict[int, int] | None = None
    """By partition. Partitions that are not named begin with their first record."""
    time: int | None = None
    """The records of this time in milliseconds, and what comes behind them."""


def starting_of(source: Input) -> Starting:
    """Where a new query begins to read the topic of an input."""
    given = str(source.values["starting"])
    if given.lower() == "earliest":
        return Starting(offsets={})
    return Starting(read_offsets(given), read_time(given))
