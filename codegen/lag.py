"""The writer of an intermediate stream -> how far rows that it has yet to write can be behind its watermark."""

from __future__ import annotations

from typing import assert_never

from penstock.planner.plan import (
    Distinct,
    Filter,
    ForeignKeyJoin,
    GroupAggregate,
    Intermediate,
    IntervalJoin,
    JoinType,
    KStream,
    Latest,
    Node,
    Over,
    OverRows,
    Project,
    Ranked,
    Rekey,
    SessionWindow,
    Stateful,
    Stateless,
    TableJoin,
    TableLookup,
    TableRanked,
    WindowAggregate,
    WTable,
)
from penstock.planner.plan.walk import is_changing, walk


def max_lag(node: Node, time: str) -> int:
    """The greatest lag, in milliseconds, of the `time` of rows to come behind the watermark of a micro-batch.

    A negative lag means that these rows are at least so far after the watermark. `time` is an event time of the node's
    shape. The plan is not cut at its intermediate streams yet.
    """
    if isinstance(node, Stateless):
        (below,) = node.inputs
        return max_lag(below, node.name_below(time, 0))
    assert isinstance(node, Stateful)
    match node:
        case WindowAggregate():
            # A window that is still open ends after the watermark.
            return 0 if time == "window_end" or isinstance(node.window, SessionWindow) else node.window.size
        case Over():
            return node.pane + node.forward
        case Ranked() if node.pane is not None:
            return node.pane
        case Ranked() | Distinct() | OverRows():
            return -_min_distance(node.input, node.time, time)
        case TableLookup():
            return 0  # rows of a stream that are not late
        case TableJoin():
            # Windows meet at the end of the latest of them. The row has the window of the sides that are not shifted.
            shapes = [side.input.shape for side in node.sides]
            ends = {node.identity[-1], *(each.end for each in shapes if isinstance(each, WTable))}
            length = 0 if time in ends else _length(node)
            return length - min(side.shift for side in node.sides)
        case IntervalJoin():
            side = node.left if any(each.name == time for each in node.left.schema) else node.right
            own = node.left_time if side is node.left else node.right_time
            return _max_lag_of_join(node, is_left=side is node.left) - _min_distance(side, own, time)
        case GroupAggregate() | Latest() | ForeignKeyJoin() | TableRanked():
            raise AssertionError(f"{type(node).__name__} has no event time")
        case _:
            assert_never(node)


def max_disorder(node: Node) -> int:
    """The greatest disorder, in milliseconds, in which rows of windows are written, by the ends of the windows.

    `node` is a windowed table. If its rows change, its windows are computed from one stream.
    """
    if not is_changing(node):
        return 0
    while isinstance(node, Filter | Project):
        node = node.input
    assert isinstance(node, WindowAggregate), "rows that change come from windows"
    assert isinstance(node.input.shape, KStream)
    delay = next(each.delay for each in node.input.shape.times if each.column == node.time)
    return _length(node) + delay + node.grace


def _length(node: Node) -> int:
    """The milliseconds from the start to the end of the longest windows of a table."""
    windows = [below.window for below in walk(node) if isinstance(below, WindowAggregate)]
    assert not any(isinstance(each, SessionWindow) for each in windows), "sessions have no length"
    return max(each.size for each in windows if not isinstance(each, SessionWindow))


def _max_lag_of_join(node: IntervalJoin, *, is_left: bool) -> int:
    lower, upper = node.bound.lower.milliseconds, node.bound.upper.milliseconds
    if node.pane is None:
        # One row of a pair is new, and so not behind the watermark.
        return max(0, upper) if is_left else max(0, -lower)
    # A pane that is still held ends, with all that its own rows can meet, after the watermark.
    own = node.pane + node.bound.reach(node.type)[1]
    if is_left == (node.type is not JoinType.RIGHT):
        return own
    return own + upper if is_left else own - lower


def _min_distance(node: Node, time: str, other: str) -> int:
    """How many milliseconds at least, in each row, one event time lies after another; a negative number: before."""
    if other == time:
        return 0
    # An intermediate stream has one event time, but what is written there can have several; re-keying changes no row.
    while isinstance(node, Rekey | Intermediate):
        node = node.input
    assert isinstance(node.shape, KStream)
    times = {each.column: each for each in node.shape.times}
    return times[other].offset_min - times[time].offset_max
