"""Inputs of operators that keep state: what keeps state below them is computed by queries of its own."""

from __future__ import annotations

from penstock.planner.plan import Filter, Intermediate, KStream, Latest, Node, Stateful, UnionAll, anchor_times
from penstock.planner.plan.walk import stateful, walk


def materialise_input(node: Node, time: str | None = None) -> Node:
    """The input of a stateful operator: what keeps state below it is computed by queries of their own.

    `time` is the column of `node` that the operator goes by, None if it needs no event time. A table has its changes
    written.
    """
    below = stateful(node)
    if below is None:
        return node
    if isinstance(node.input if isinstance(node, Filter) else node, Stateful):
        if not isinstance(node.shape, KStream):
            return Intermediate(schema=node.schema, shape=node.shape, span=node.span, input=node)
        times = anchor_times(each for each in node.shape.times if each.column == time)
        assert bool(times) == (time is not None), f"{time} is no event time"
        return Intermediate(schema=node.schema, shape=KStream(node.shape.key, times), span=node.span, input=node)
    changed = []
    for place, each in enumerate(node.inputs):  # no comprehension, which would take the stack of a deep plan twice
        changed.append(materialise_input(each, None if time is None else node.name_below(time, place)))
    return node.with_inputs(tuple(changed))


def compute_changes(node: Node) -> Node:
    """The table's changes; a stream is left as it is. What operators with state send are changes already."""
    if isinstance(node.shape, KStream) or any(isinstance(each, Stateful) for each in walk(node)):
        return node
    return Latest(schema=node.schema, shape=node.shape, span=node.span, input=node)


def materialise_changes(node: Node) -> Node:
    """The input of an operator that needs the row before: a table's changes, from a query of their own.

    UNION ALL needs no common order of its branches here, so the changes of all branches are read.
    """
    if isinstance(node, Latest) and isinstance(node.input, UnionAll):
        return node.input
    return materialise_input(compute_changes(node))
