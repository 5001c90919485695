"""How far the rows that a plan has yet to send can be behind its watermark."""

from __future__ import annotations

from penstock.evaluator.operator_words import describe_operator
from penstock.evaluator.typed_values import Unsupported
from penstock.planner.plan import (
    Distinct,
    Intermediate,
    IntervalJoin,
    JoinType,
    KStream,
    Node,
    Over,
    OverRows,
    Ranked,
    Rekey,
    Scan,
    SessionWindow,
    Stateless,
    TableJoin,
    TableLookup,
    WindowAggregate,
    WTable,
)
from penstock.planner.plan.walk import walk


def lag_of(node: Node, time: str) -> int:
    """The milliseconds, at most, from the event time `time` of a row to come to the watermark before it.

    A negative number means that these rows are at least so far ahead of the watermark.
    """
    match node:
        case Scan():
            return -least_distance(node, str(node.origin.time), time)
        case WindowAggregate():
            if isinstance(node.window, SessionWindow):
                return 1  # a row at the end of a session prolongs it, so one that ends at the watermark is open
            if time == "window_end":
                return 0  # a window that is open ends after the watermark
            return node.window.size
        case Over():
            return node.pane + node.forward
        case Ranked() if node.pane is not None:
            return node.pane
        case Ranked() | Distinct() | OverRows():
            return -least_distance(node.input, node.time, time)
        case TableLookup():
            return lag_of(node.stream, time)
        case IntervalJoin():
            return _lag_of_join(node, time)
        case TableJoin() if node.is_windowed:
            return _lag_of_windows(node, time)
        case _ if isinstance(node, Stateless):
            return max(lag_of(below, node.name_below(time, place)) for place, below in enumerate(node.inputs))
        case _:
            raise Unsupported(f"what is late behind {describe_operator(node)}")


def least_distance(node: Node, time: str, other: str) -> int:
    """How many milliseconds at least one event time of a stream lies after another in each row."""
    if time == other:
        return 0
    while isinstance(node, Intermediate | Rekey):  # an intermediate stream shows one of several event times
        node = node.input
    if not isinstance(node.shape, KStream):
        raise Unsupported(f"two event times of {describe_operator(node)}")
    times = {each.column: each for each in node.shape.times}
    if time not in times or other not in times:
        raise Unsupported(f"two event times of {describe_operator(node)}")
    return times[other].offset_min - times[time].offset_max


def _lag_of_join(node: IntervalJoin, time: str) -> int:
    is_left = any(each.name == time for each in node.left.schema)
    side, own = (node.left, node.left_time) if is_left else (node.right, node.right_time)
    lower, upper = node.bound.lower.milliseconds, node.bound.upper.milliseconds
    if node.pane is None:
        # A row of a side waits as long as the other side can have a partner for it.
        behind = max(0, upper) if is_left else max(0, -lower)
    else:
        behind = node.pane + node.bound.reach(node.type)[1]
        leads = node.type is not JoinType.RIGHT
        if is_left != leads:
            behind += upper if is_left else -lower
    return behind - least_distance(side, own, time)


def _lag_of_windows(node: TableJoin, time: str) -> int:
    """The windows of a row end together, and wait for the side that is shifted back the most."""
    ends = {node.identity[-1]}
    ends |= {side.input.shape.end for side in node.sides if isinstance(side.input.shape, WTable)}
    windows = [each.window for each in walk(node) if isinstance(each, WindowAggregate)]
    lengths = [each.size for each in windows if not isinstance(each, SessionWindow)]
    if time not in ends and len(lengths) < len(windows):
        raise Unsupported("when sessions begin")
    return (0 if time in ends else max(lengths)) - min(side.shift for side in node.sides)
