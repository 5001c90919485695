"""Interval joins as a double loop over all pairs."""

from __future__ import annotations

from datetime import datetime

from penstock.evaluator.expression_values import compare, evaluate_scalar, holds
from penstock.evaluator.typed_values import Row, columns, milliseconds
from penstock.planner.plan import IntervalJoin, JoinType, TimeBound

LEFT_KEPT = (JoinType.LEFT, JoinType.FULL)
RIGHT_KEPT = (JoinType.RIGHT, JoinType.FULL)


def within(bound: TimeBound, left: datetime, right: datetime) -> bool:
    """Whether the right time lies within the bound of the left one."""
    difference, lower, upper = (
        right - left,
        milliseconds(bound.lower.milliseconds),
        milliseconds(bound.upper.milliseconds),
    )
    above = difference >= lower if bound.lower.closed else difference > lower
    return above and (difference <= upper if bound.upper.closed else difference < upper)


def matches(node: IntervalJoin, left: Row, right: Row) -> bool:
    """Whether two rows are a pair of the join. A NULL key equals nothing."""
    if not within(node.bound, left[node.left_time], right[node.right_time]):
        return False
    left_types, right_types = columns(node.left.schema), columns(node.right.schema)
    return all(
        compare("=", evaluate_scalar(one, left, left_types), evaluate_scalar(two, right, right_types))
        for one, two in node.equalities
    ) and holds(node.residual, left | right, {**left_types, **right_types})


def padded(node: IntervalJoin, left: Row | None, right: Row | None) -> Row:
    """A result row of both sides; a side that is None becomes NULLs."""
    left = left if left is not None else dict.fromkeys(column.name for column in node.left.schema)
    right = right if right is not None else dict.fromkeys(column.name for column in node.right.schema)
    return left | right


def interval_join(node: IntervalJoin, lefts: list[Row], rights: list[Row]) -> list[Row]:
    """One row per pair; unmatched rows of the preserved sides once, padded."""
    pairs = [(i, j) for i, left in enumerate(lefts) for j, right in enumerate(rights) if matches(node, left, right)]
    matched_lefts, matched_rights = {i for i, _ in pairs}, {j for _, j in pairs}
    if node.type is JoinType.SEMI:
        return [row for i, row in enumerate(lefts) if i in matched_lefts]
    if node.type is JoinType.ANTI:
        return [row for i, row in enumerate(lefts) if i not in matched_lefts]
    result = [padded(node, lefts[i], rights[j]) for i, j in pairs]
    if node.type in LEFT_KEPT:
        result += [padded(node, row, None) for i, row in enumerate(lefts) if i not in matched_lefts]
    if node.type in RIGHT_KEPT:
        result += [padded(node, None, row) for j, row in enumerate(rights) if j not in matched_rights]
    return result
