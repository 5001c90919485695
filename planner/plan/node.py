"""What every relation of a plan has: columns with types, and its kind (KStream, KTable, WTable)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from penstock.diagnostics.source import Span
from penstock.planner.types import Type


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a relation. Names are unique within a relation, without regard to case."""

    name: str
    type: Type
    nullable: bool = True


@dataclass(frozen=True, slots=True)
class KStream:
    """An append-only stream of facts.

    `key`: the columns that it is partitioned by, empty if none is known. `time`: the event-time column that still
    carries its watermark, None if there is none. `delay`: milliseconds by which the watermark stays behind the newest
    event time.
    """

    key: tuple[str, ...] = ()
    time: str | None = None
    delay: int | None = None


@dataclass(frozen=True, slots=True)
class KTable:
    """The changelog of a table: the newest row per key."""

    key: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WTable:
    """One table per window. Partitioned by `key` only; a row is identified by key, `window_start` and `window_end`."""

    key: tuple[str, ...]


Shape: TypeAlias = KStream | KTable | WTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """The part that all plan nodes share. `span` is the text that asked for the node."""

    schema: tuple[Column, ...]
    shape: Shape
    span: Span = field(compare=False, repr=False)

    def column(self, name: str) -> Column:
        """The column of that exact name; the planner has resolved it before."""
        return next(column for column in self.schema if column.name == name)
