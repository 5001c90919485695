"""Which tables are computed in the query that reads them, without files between the two.

Where there are no event times, nothing waits for a watermark, and an aggregation of Spark gives one row for a key in a
micro-batch. So another aggregation of the same query can read it. Groups read the changes of the table. A join reads
the rows of groups as they are: these have their key, even where a group has ceased to exist.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

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
)
from penstock.planner.plan.walk import list_nodes, stateful


def find_inside(root: Node) -> dict[Node, Node]:
    """The `Intermediate` nodes that need no query of their own, each with the operator that reads it."""
    nodes = list_nodes(root)
    readers = Counter(below for node in nodes for below in node.inputs)
    inside: dict[Node, Node] = {}
    for node in filter(_is_aggregation, nodes):
        find = _find_groups if isinstance(node, TableJoin) else _find_table
        found = (find(below) for below in node.inputs if _has_one_reader(below, readers))
        inside |= {each: node for each in found if each is not None}
    return inside


def _is_aggregation(node: Node) -> bool:
    """Whether aggregations of Spark compute it, and nothing below it has an event time to wait for."""
    if not isinstance(node, GroupAggregate | Latest | TableJoin) or _keeps_values(node):
        return False
    return not any(each.is_timed for each in list_nodes(node))


def _keeps_values(node: Node) -> bool:
    """Whether Python workers keep the values of groups."""
    return isinstance(node, GroupAggregate) and node.keeps_values


def _has_one_reader(node: Node, readers: Mapping[Node, int]) -> bool:
    """Whether no other operator reads it or anything below it, which might need it in another form."""
    return all(readers[each] == 1 for each in list_nodes(node))


def _find_table(node: Node) -> Intermediate | None:
    """The table of many rows that groups read, if an aggregation computes it."""
    while isinstance(node, Filter | Project | GroupingSets):
        node = node.input
    if not isinstance(node, Intermediate) or node.shared or not isinstance(node.shape, KTable) or not node.shape.key:
        return None
    operator = stateful(node.input)
    return node if operator is not None and _is_aggregation(operator) else None


def _find_groups(node: Node) -> Intermediate | None:
    """The groups that a join reads. Filters would send it each group that they leave out, and the join would keep that.

    A query has one join at most, because each join has its own number of partitions.
    """
    found = _find_table(node)
    if found is None or not isinstance(stateful(found.input), GroupAggregate):
        return None
    is_joined = any(isinstance(each, TableJoin) for each in list_nodes(found))
    return None if is_joined or _is_filtered(node) or _is_filtered(found.input) else found


def _is_filtered(node: Node) -> bool:
    """Whether a filter is above the next operator below, or above the next `Intermediate`."""
    while isinstance(node, Project):
        node = node.input
    return isinstance(node, Filter)
