"""The writer of an intermediate stream -> how far rows that it has yet to write can be behind its watermark."""

from __future__ import annotations

from penstock.planner.physical.choose import choose
from penstock.planner.plan import Filter, KStream, Node, Project, Stateful, WindowAggregate
from penstock.planner.plan.walk import is_changing
from penstock.planner.state import find_window_length


def max_lag(node: Node, time: str) -> int:
    """The greatest lag, in milliseconds, of the `time` of rows to come behind the watermark of a micro-batch.

    `time` is an event time of the node's shape. The plan is not cut at its intermediate streams yet.
    """
    while not isinstance(node, Stateful):
        time = node.name_below(time, 0)
        (node,) = node.inputs
    return choose(node).find_lag(time)


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
    return find_window_length(node) + delay + node.grace
