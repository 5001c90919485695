"""SET partial_aggregates = ON, or a run over much input: windows of HOP are merged from partial aggregates.

Windows that overlap share them: a row is aggregated once, and not once for each of its windows. That is cheaper where
a micro-batch has many rows. But each micro-batch adds its own, so that long windows would hold far more of them than
they have groups.
"""

from __future__ import annotations

from msgspec.structs import replace

from penstock.planner.functions.facts import Framing
from penstock.planner.plan import Aggregate, Emission, Hop, KStream, Node, RunningQuery, Settings, WindowAggregate
from penstock.planner.plan.walk import fold_plan
from penstock.planner.types import (
    BIGINT,
    DATE,
    DOUBLE,
    FLOAT,
    INTEGERS,
    MEAN_SCALE,
    STRING,
    TIMESTAMP,
    Decimal,
    is_exact,
)

_LONGEST = 600_000
"""Milliseconds: the longest windows that are merged."""
_MOST = 12
"""A row is in at most so many of them. Each window holds tables of its own."""
_WIDEST_MEAN = 31
"""The digits of a mean whose sum and quotients fit their types, however many rows there are."""


def merge_partials(query: RunningQuery, settings: Settings) -> RunningQuery:
    """The query with merged windows where the setting is on, and they can be."""
    if not settings.partial_aggregates:
        return query

    def remake(node: Node, below: tuple[Node, ...]) -> Node:
        remade = node.with_inputs(below)
        is_merged = isinstance(remade, WindowAggregate) and can_merge(remade)
        return replace(remade, merges_partials=True) if is_merged else remade

    return replace(query, root=fold_plan(query.root, remake))


def can_merge(node: WindowAggregate) -> bool:
    """True if DuckDB computes its keys and aggregates like Spark, and its windows are short and final.

    Spark takes 0.0 for -0.0, and one NaN for another, so floating-point keys are left to it.
    """
    window = node.window
    if not isinstance(window, Hop) or not isinstance(node.input.shape, KStream) or node.emission is not Emission.FINAL:
        return False
    if not window.slide < window.size <= min(_LONGEST, _MOST * window.slide) or not node.given_names:
        return False
    keys = {each.name for each in node.keys}
    are_known = all(is_exact(each.type) for each in node.schema if each.name in keys)
    return are_known and all(map(_is_mergeable, node.aggregates))


def _is_mergeable(aggregate: Aggregate) -> bool:
    type_ = aggregate.type
    if aggregate.distinct or aggregate.order_by:
        return False
    match aggregate.entry.framing:
        case Framing.COUNT | Framing.COUNT_IF:
            return True
        case Framing.SUM:
            return isinstance(type_, Decimal) or type_ in (BIGINT, DOUBLE)
        case Framing.MEAN:
            if isinstance(type_, Decimal):
                return type_.precision <= _WIDEST_MEAN and type_.scale <= MEAN_SCALE
            return type_ == DOUBLE
        case Framing.MIN | Framing.MAX:
            return isinstance(type_, Decimal) or type_ in (*INTEGERS, FLOAT, DOUBLE, DATE, TIMESTAMP, STRING)
        case _:
            return False
