"""Which tables are computed in the query that reads them, without files between the two.

Where there are no event times, nothing waits for a watermark, and an aggregation of Spark gives one row for a key in a
micro-batch. So another aggregation of the same query can read it.
"""

from __future__ import annotations

from collections import Counter

from penstock.planner.plan import (
    Filter,
    GroupAggregate,
    GroupingSets,
    Intermediate,
    KTable,
    Latest,
    Node,
    Project,
    TableJoin,
    Unnest,
)
from penstock.planner.plan.walk import list_nodes, stateful

_BETWEEN = (Filter, Project, GroupingSets, Unnest)


def find_inside(root: Node) -> dict[Node, Node]:
    """The `Intermediate` nodes that need no query of their own, each with the operator that reads it."""
    nodes = list_nodes(root)
    readers = Counter(below for node in nodes for below in node.inputs)
    inside: dict[Node, Node] = {}
    for node in filter(_is_aggregation, nodes):
        for below in node.inputs:
            while isinstance(below, _BETWEEN):
                below = below.input
            if isinstance(below, Intermediate) and readers[below] == 1 and _is_table(below):
                inside[below] = node
    return inside


def _is_table(node: Intermediate) -> bool:
    """Whether it is a table of many rows that such aggregations compute."""
    if node.shared or not isinstance(node.shape, KTable) or not node.shape.key:
        return False
    operator = stateful(node.input)
    return operator is not None and _is_aggregation(operator)


def _is_aggregation(node: Node) -> bool:
    """Whether aggregations of Spark compute it, and nothing below it has an event time to wait for."""
    if not isinstance(node, GroupAggregate | Latest | TableJoin) or (
        isinstance(node, GroupAggregate) and node.keeps_values
    ):
        return False
    return not any(each.is_timed for each in list_nodes(node))
