"""Joins of two streams within a bounded difference of their event times."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from penstock.planner.plan.expressions import Expression
from penstock.planner.plan.node import Node


class JoinType(Enum):
    INNER = "inner"
    LEFT = "left"
    RIGHT = "right"
    FULL = "full"
    SEMI = "semi"
    ANTI = "anti"


@dataclass(frozen=True, slots=True)
class Limit:
    """One end of a time bound: a difference in milliseconds, itself allowed (`closed`) or not."""

    milliseconds: int
    closed: bool


@dataclass(frozen=True, slots=True)
class TimeBound:
    """`lower <= right.time - left.time <= upper`, each end closed or open."""

    lower: Limit
    upper: Limit


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalJoin(Node):
    """Pairs of a left and a right row with equal keys whose times differ within `bound` and that satisfy `residual`.

    `equalities` pair an expression over the left input with one over the right input, of one type; NULL equals
    nothing. `left_time`, `right_time`: the event-time columns. `residual` is over both inputs' columns. The inputs'
    column names are disjoint (`alias.column`); the schema is the left columns followed by the right ones (SEMI, ANTI:
    the left ones only). LEFT, RIGHT, FULL pad unmatched rows of the preserved sides with NULL, once.
    """

    left: Node
    right: Node
    type: JoinType
    equalities: tuple[tuple[Expression, Expression], ...]
    left_time: str
    right_time: str
    bound: TimeBound
    residual: Expression | None
