"""Ranking rows of one event time, which are final together, and rows of a table."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from penstock.planner.functions import require_function
from penstock.planner.functions.facts import Framing
from penstock.planner.plan.expressions import Expression, Sorting, find_columns
from penstock.planner.plan.node import KStream, Unary, Waiting


class Ranking(msgspec.Struct, frozen=True):
    """An INT column called `name`: the place of the row in this order, from 1, by a function that gives a place.

    Rows that are equal in it are numbered in the order of all their columns.
    """

    name: str
    function: str
    order_by: tuple[Sorting, ...]

    @property
    def numbers_equal_rows(self) -> bool:
        """Whether rows that are equal in the order have different places."""
        return require_function(self.function).framing is Framing.ROW_NUMBER


class Ranked(Waiting, frozen=True, kw_only=True, eq=False):
    """Each row with its places among the rows of the same event time `time` and the same `partition_by`.

    The schema is the input's columns, then the rankings. `pane`: the length in milliseconds of a pane. Rows have
    been assigned to windows. They are ranked among rows of the same `partition_by` whose times lie in one [k·pane,
    (k+1)·pane).
    """

    NOUN: ClassVar[str] = "a ranking"

    partition_by: tuple[Expression, ...]
    rankings: tuple[Ranking, ...]
    pane: int | None = None

    @property
    def is_ordered(self) -> bool:
        """Whether the order of rows of one rank shows."""
        return any(each.numbers_equal_rows for each in self.rankings)

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return (*self.partition_by, *(each.value for ranking in self.rankings for each in ranking.order_by))

    @property
    def given_names(self) -> tuple[str, ...]:
        return tuple(ranking.name for ranking in self.rankings)


class TableRanked(Unary, frozen=True, kw_only=True, eq=False):
    """Each row of a table with its places among the rows that agree in `partition_by`. `input` sends changes.

    The schema is the input's columns, then the rankings. `most`: rows whose first place is greater are left out.
    `end`: the end of the window, where `input` is a windowed table and each partition has rows of one window. These
    are kept until the watermark of the windowed table has passed it.
    """

    NOUN: ClassVar[str] = "a ranking of a table"
    TAKES_TABLES: ClassVar[bool] = True

    partition_by: tuple[Expression, ...]
    rankings: tuple[Ranking, ...]
    most: int | None = None
    end: str | None = None

    @property
    def is_by_key(self) -> bool:
        """Whether a row of one key is always in the same partition."""
        return not isinstance(self.shape, KStream) and find_columns(*self.partition_by) <= set(self.shape.identity)

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return (*self.partition_by, *(each.value for ranking in self.rankings for each in ranking.order_by))

    @property
    def given_names(self) -> tuple[str, ...]:
        return tuple(ranking.name for ranking in self.rankings)
