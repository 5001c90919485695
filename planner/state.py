"""What decides how long a query keeps rows: delays, distances of times, windows, and whether it keeps what it sent."""

from __future__ import annotations

from penstock.planner.plan import Intermediate, KStream, KTable, Node, Rekey, SessionWindow, TableJoin, WindowAggregate
from penstock.planner.plan.walk import rows_leave, walk


def sends_changes(root: Node, *, upserts: bool) -> bool:
    """Whether a query of `root` keeps what it has sent: rows of its table can cease to exist, or are asked for again.

    `upserts`: whether a row replaces the one of its key where it is written; in a changelog it does not.
    """
    return isinstance(root.shape, KTable) and (rows_leave(root) or not upserts)


def find_windows_span(node: Node) -> int:
    """How far behind the newest row a window may begin that is still kept, in milliseconds.

    Windows that can still change are kept, and windows that a shift brings together with them.
    """
    spans = [0]
    for below in walk(node):
        if isinstance(below, WindowAggregate):
            length = below.window.gap if isinstance(below.window, SessionWindow) else below.window.size
            spans.append(length + find_delay(below.input) + below.grace)
    shifts = [abs(side.shift) for below in walk(node) if isinstance(below, TableJoin) for side in below.sides]
    return max(spans) + sum(shifts)


def find_delay(node: Node) -> int:
    """The watermark delay of a stream in milliseconds."""
    return node.shape.delay or 0 if isinstance(node.shape, KStream) else 0


def min_distance(node: Node, time: str, other: str) -> int:
    """How many milliseconds at least, in each row, one event time lies after another; a negative number: before."""
    if other == time:
        return 0
    # An intermediate stream has one event time, but what is written there can have several; re-keying changes no row.
    while isinstance(node, Rekey | Intermediate):
        node = node.input
    assert isinstance(node.shape, KStream)
    times = {each.column: each for each in node.shape.times}
    return times[other].offset_min - times[time].offset_max


def find_window_length(node: Node) -> int:
    """The milliseconds from the start to the end of the longest windows of a table."""
    windows = [below.window for below in walk(node) if isinstance(below, WindowAggregate)]
    assert not any(isinstance(each, SessionWindow) for each in windows), "sessions have no length"
    return max(each.size for each in windows if not isinstance(each, SessionWindow))
