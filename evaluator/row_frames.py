"""OVER: every row with functions over the rows of its partition that are in its frame.

Rows of one time are in the order of all their columns, NULLs first. Not modelled: columns without an order.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from penstock.evaluator.expression_values import evaluate_scalar, holds
from penstock.evaluator.row_groups import Key, aggregate
from penstock.evaluator.typed_values import Row, Types, Value, columns, milliseconds
from penstock.planner.plan import Aggregate, FramedAggregate, Over, OverRows, RowsFrame


def partition_of(node: Over | OverRows, row: Row) -> Key:
    """The partition of a row; NULLs are one partition."""
    return tuple(evaluate_scalar(each, row, columns(node.input.schema)) for each in node.partition_by)


def order_of(node: Over | OverRows, row: Row) -> tuple[Value, ...]:
    """The place of a row in its partition."""
    values = [row[node.time], *(row[each.name] for each in node.input.schema)]
    return tuple((value is not None, 0 if value is None else value) for value in values)


def framed(node: Over | OverRows, each: FramedAggregate, row: Row, partition: list[Row]) -> Value:
    """One function over a row's frame."""
    partition = sorted(partition, key=lambda other: order_of(node, other))
    frame = frame_of(node, each, row, partition)
    types = columns(node.input.schema)
    if each.aggregate.function in ORDERED:
        return ORDERED[each.aggregate.function](Framed(each.aggregate, node.time, row, frame, partition, types))
    return aggregate(each.aggregate, frame, types)


def frame_of(node: Over | OverRows, each: FramedAggregate, row: Row, partition: list[Row]) -> list[Row]:
    """The rows of a row's frame. Both ends and all rows of the same time belong to a frame of time."""
    if isinstance(each.frame, RowsFrame):
        place = next(i for i, other in enumerate(partition) if other is row)
        return partition[max(place + each.frame.start, 0) : max(place + each.frame.end + 1, 0)]
    first, last = (row[node.time] + milliseconds(end) for end in (each.frame.start, each.frame.end))
    return [other for other in partition if first <= other[node.time] <= last]


class Framed:
    """A function, a row, the rows of its frame and of its partition in order."""

    def __init__(
        self, function: Aggregate, time: str, row: Row, frame: list[Row], partition: list[Row], types: Types
    ) -> None:
        self.function, self.time, self.row, self.frame, self.types = function, time, row, frame, types
        self.partition = partition

    def argument(self, place: int, row: Row) -> Value:
        return evaluate_scalar(self.function.arguments[place], row, self.types)

    def edge(self, place: int) -> Value:
        """The argument in the first or last row that FILTER lets pass."""
        kept = [other for other in self.frame if holds(self.function.condition, other, self.types)]
        return self.argument(0, kept[place]) if kept else None

    def away(self, direction: int) -> Value:
        """The argument some rows away, if that row is in the frame, else the default."""
        count = self.argument(1, self.row) if len(self.function.arguments) > 1 else 1
        place = next(i for i, other in enumerate(self.partition) if other is self.row) + direction * count
        inside = 0 <= place < len(self.partition) and any(other is self.partition[place] for other in self.frame)
        if inside:
            return self.argument(0, self.partition[place])
        return self.argument(2, self.row) if len(self.function.arguments) > 2 else None

    def before(self) -> list[datetime]:
        """The times of the rows of the frame that are before the row."""
        return [other[self.time] for other in self.frame if other[self.time] < self.row[self.time]]

    def number(self) -> int:
        return next(i for i, other in enumerate(self.frame) if other is self.row) + 1


ORDERED: dict[str, Callable[[Framed], Value]] = {
    "FIRST": lambda framed: framed.edge(0),
    "FIRST_VALUE": lambda framed: framed.edge(0),
    "LAST": lambda framed: framed.edge(-1),
    "LAST_VALUE": lambda framed: framed.edge(-1),
    "LAG": lambda framed: framed.away(-1),
    "LEAD": lambda framed: framed.away(1),
    "ROW_NUMBER": Framed.number,
    "RANK": lambda framed: len(framed.before()) + 1,
    "DENSE_RANK": lambda framed: len(set(framed.before())) + 1,
}


def over_row(node: Over | OverRows, row: Row, partition: list[Row]) -> Row:
    """The result row of an input row."""
    return row | {each.aggregate.name: framed(node, each, row, partition) for each in node.aggregates}


def over(node: Over | OverRows, rows: list[Row]) -> list[Row]:
    """One result row per input row."""
    return [
        over_row(node, row, [other for other in rows if partition_of(node, other) == partition_of(node, row)])
        for row in rows
    ]
