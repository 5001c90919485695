"""OVER RANGE: every row with aggregates over the rows of its partition that are not after it and not too far before."""

from __future__ import annotations

from penstock.planner.plan import FramedAggregate, Over
from tests.model.aggregate import Key, aggregate
from tests.model.scalars import evaluate_scalar
from tests.model.values import Row, Value, columns, milliseconds


def partition_of(node: Over, row: Row) -> Key:
    """The partition of a row; NULLs are one partition."""
    return tuple(evaluate_scalar(each, row, columns(node.input.schema)) for each in node.partition_by)


def framed(node: Over, each: FramedAggregate, row: Row, partition: list[Row]) -> Value:
    """One aggregate over a row's frame: both ends and all rows of the same time (its peers) belong to it."""
    first = row[node.time] - milliseconds(each.preceding)
    frame = [other for other in partition if first <= other[node.time] <= row[node.time]]
    return aggregate(each.aggregate, frame, columns(node.input.schema))


def over_row(node: Over, row: Row, partition: list[Row]) -> Row:
    """The result row of an input row."""
    return row | {each.aggregate.name: framed(node, each, row, partition) for each in node.aggregates}


def over(node: Over, rows: list[Row]) -> list[Row]:
    """One result row per input row."""
    return [
        over_row(node, row, [other for other in rows if partition_of(node, other) == partition_of(node, row)])
        for row in rows
    ]
