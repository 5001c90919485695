"""What decides how much a query keeps: watermark delays, spans of windows, and whether it keeps what it has sent."""

from __future__ import annotations

from penstock.planner.plan import KStream, KTable, Node, SessionWindow, TableJoin, WindowAggregate
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
