"""OVER: one output row per input row, with aggregates over the rows of its frame."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.planner.plan.expressions import Aggregate, Expression
from penstock.planner.plan.node import Node

OVER_FUNCTIONS = ("COUNT", "SUM", "AVG", "MIN", "MAX")
"""The aggregates that can be computed over a frame, without DISTINCT."""


@dataclass(frozen=True, slots=True)
class FramedAggregate:
    """An aggregate over the rows of the same partition whose time is in [row.time - preceding, row.time].

    `preceding` is in milliseconds; both ends and all peers are included.
    """

    aggregate: Aggregate
    preceding: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Over(Node):
    """The schema is the input's columns, then the aggregates. `partition_by` is over the input's columns."""

    input: Node
    partition_by: tuple[Expression, ...]
    time: str
    aggregates: tuple[FramedAggregate, ...]
