"""Joins of two streams within a bounded difference of their event times."""

from __future__ import annotations

from enum import Enum
from typing import ClassVar

import msgspec

from penstock.planner.plan.expressions import Expression, list_compared
from penstock.planner.plan.node import Binary


class JoinType(Enum):
    INNER = "inner"
    LEFT = "left"
    RIGHT = "right"
    FULL = "full"
    SEMI = "semi"
    ANTI = "anti"


class BoundEnd(msgspec.Struct, frozen=True):
    """One end of a time bound: a difference in milliseconds, itself allowed (`closed`) or not."""

    milliseconds: int
    closed: bool


class TimeBound(msgspec.Struct, frozen=True):
    """`lower <= right.time - left.time <= upper`, each end closed or open."""

    lower: BoundEnd
    upper: BoundEnd

    @property
    def width(self) -> int:
        """The milliseconds between the two ends."""
        return self.upper.milliseconds - self.lower.milliseconds

    def reach(self, type_: JoinType) -> tuple[int, int]:
        """How far before and behind a row, in milliseconds, the rows lie that decide what becomes of it in a join.

        The row is a left one, in a RIGHT join a right one, in a FULL join either.
        """
        lower, upper = self.lower.milliseconds, self.upper.milliseconds
        match type_:
            case JoinType.RIGHT:
                return max(0, upper), max(0, -lower)
            case JoinType.FULL:
                return max(0, -lower, upper), max(0, -lower, upper)
            case _:
                return max(0, -lower), max(0, upper)


class IntervalJoin(Binary, frozen=True, kw_only=True, eq=False):
    """Pairs of a left and a right row with equal keys whose times differ within `bound` and that satisfy `residual`.

    `equalities` pair an expression over the left input with an expression of the same type over the right input. NULL
    equals nothing. `left_time`, `right_time`: the event-time columns. `residual` is over both inputs' columns. The
    inputs' column names are disjoint (`alias.column`); the schema is the left columns followed by the right ones
    (SEMI, ANTI: the left ones only). LEFT, RIGHT, FULL pad unmatched rows of the preserved sides with NULL, once.

    `pane`: the length in milliseconds of the panes in which the join is computed, None if a row meets its partners one
    by one as they are read. A pane is the set of rows with times in [k·pane, (k+1)·pane). They are rows of the left
    side, in a RIGHT join of the right side, in a FULL join of both sides. The rows that these can meet are kept with
    them. When the watermark has passed all these rows, all rows of the pane are sent.

    `partitions`: the number of partitions of the join's state, None where none of its streams says one. `grace`: the
    milliseconds by which its inputs may be later than declared.
    """

    NOUN: ClassVar[str] = "a stream-stream join"

    type: JoinType
    equalities: tuple[tuple[Expression, Expression], ...]
    left_time: str
    right_time: str
    bound: TimeBound
    residual: Expression | None
    pane: int | None
    partitions: int | None = None
    grace: int = 0

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return list_compared(self.equalities, self.residual)

    @property
    def event_times(self) -> tuple[str, ...]:
        return (self.left_time, self.right_time)

    @property
    def is_timed(self) -> bool:
        return True
