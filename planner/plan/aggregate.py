"""Grouping: per window (WTable, or its final rows as a KStream) and per key (KTable).

A node's schema is: the keys, then (windowed) `window_start` and `window_end`, then the aggregates.
"""

from __future__ import annotations

from enum import Enum
from typing import ClassVar, TypeAlias

import msgspec

from penstock.planner.plan.expressions import Aggregate, Expression, Named
from penstock.planner.plan.node import Unary, Waiting


class Tumble(msgspec.Struct, frozen=True):
    """Windows [n·size, (n+1)·size) since 1970-01-01T00:00:00Z; `size` in milliseconds."""

    size: int


class Hop(msgspec.Struct, frozen=True):
    """Windows [n·slide, n·slide + size), slide <= size, both in milliseconds; a row is in each that contains it."""

    slide: int
    size: int


class Cumulate(msgspec.Struct, frozen=True):
    """Windows [n·size, n·size + k·step) that grow by a step until they reach the size, a multiple of it.

    In milliseconds. A row is in each that contains it.
    """

    step: int
    size: int


class SessionWindow(msgspec.Struct, frozen=True):
    """Per key: maximal runs of rows in which each is at most `gap` milliseconds after the one before.

    A session reaches from its first row's time to its last row's time plus the gap.
    """

    gap: int


Window: TypeAlias = Tumble | Hop | Cumulate | SessionWindow


class Emission(Enum):
    """When results come out: once, when the watermark has passed the window; or at every change."""

    FINAL = "FINAL"
    CHANGES = "CHANGES"


class _Grouping:
    """The part that both kinds of groups share."""

    __slots__ = ()

    keys: tuple[Named, ...]
    aggregates: tuple[Aggregate, ...]

    @property
    def expressions(self) -> tuple[Expression, ...]:
        parts = (part for each in self.aggregates for part in each.expressions)
        return (*(key.value for key in self.keys), *parts)

    @property
    def given_names(self) -> tuple[str, ...]:
        return (*(key.name for key in self.keys), *(each.name for each in self.aggregates))

    @property
    def keeps_values(self) -> bool:
        """Whether it keeps values of its rows, each with the number of rows that have it."""
        return any(each.keeps_values for each in self.aggregates)


class WindowAggregate(_Grouping, Waiting, frozen=True, kw_only=True, eq=False):
    """One row per (keys, window) that has rows. `time` is the input's event-time column.

    The shape is WTable with CHANGES and KStream with FINAL; `grace` is in milliseconds. `every`: with CHANGES, a row
    comes at most once in so many milliseconds (None: with every micro-batch that changes it). `retention`: for how many
    milliseconds behind its end a window can still be looked up. `merges_partials`: the state holds partial aggregates
    of each micro-batch, and not a row for each key and window.

    Sessions with CHANGES are a KTable, whose key includes the window: a session that grows is another row.
    """

    NOUN: ClassVar[str] = "a window aggregation"

    window: Window
    keys: tuple[Named, ...]
    aggregates: tuple[Aggregate, ...]
    emission: Emission
    grace: int = 0
    every: int | None = None
    retention: int | None = None
    merges_partials: bool = False

    @property
    def rows_leave(self) -> bool:
        """Whether rows that it has sent can cease to exist: sessions grow, and become one."""
        return isinstance(self.window, SessionWindow) and self.emission is Emission.CHANGES


class GroupAggregate(_Grouping, Unary, frozen=True, kw_only=True, eq=False):
    """One row per distinct value of the keys (one row in all without keys), updated forever: a KTable."""

    NOUN: ClassVar[str] = "a GROUP BY"
    TAKES_TABLES: ClassVar[bool] = True

    keys: tuple[Named, ...]
    aggregates: tuple[Aggregate, ...]


class Distinct(Waiting, frozen=True, kw_only=True, eq=False):
    """The rows of `input`, equal ones once. Equal rows have equal times: `time` is the input's event-time column."""

    NOUN: ClassVar[str] = "SELECT DISTINCT"
