"""Which tables are computed in the query that reads them, without files between the two.

Where there are no event times, nothing waits for a watermark, and an aggregation of Spark gives one row for a key in a
micro-batch. So another aggregation of the same query can read it. Groups read the changes of the table. A join reads
the rows of groups as they are: these have their key, even where a group has ceased to exist.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from penstock.planner.physical.choose import choose
from penstock.planner.plan import (
    Filter,
    GroupAggregate,
    GroupingSets,
    Intermediate,
    KTable,
    Node,
    Project,
    Stateful,
    TableJoin,
)
from penstock.planner.plan.walk import list_nodes, stateful


def find_fused(root: Node) -> dict[Node, Node]:
    """The `Intermediate` nodes that need no query of their own, each with the operator that reads it."""
    nodes = list_nodes(root)
    readers = Counter(below for node in nodes for below in node.inputs)
    fused: dict[Node, Node] = {}
    for node in filter(_is_aggregation, nodes):
        for below in node.inputs:
            is_join = isinstance(node, TableJoin)
            found = _find_groups(below) if is_join else _find_table(below, Filter, Project, GroupingSets)
            if found is not None and _has_one_reader(below, readers):
                fused[found] = node
    return fused


def list_operators(root: Node, fused: Collection[Node]) -> Iterator[Stateful]:
    """The operators with state of one Spark query, the last one first. `fused`: as `find_fused` gives them."""
    pending = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, Stateful):
            yield node
        if not isinstance(node, Intermediate) or node in fused:
            pending += node.inputs


def _is_aggregation(node: Node) -> bool:
    """Whether aggregations of Spark compute it, and nothing below it has an event time to wait for."""
    if not isinstance(node, Stateful) or not choose(node).IS_AGGREGATION:
        return False
    return not any(each.is_timed for each in list_nodes(node))


def _has_one_reader(node: Node, readers: Mapping[Node, int]) -> bool:
    """Whether no other operator reads it or anything below it, which might need it in another form."""
    return all(readers[each] == 1 for each in list_nodes(node))


def _find_table(node: Node, *between: type[Node]) -> Intermediate | None:
    """The table of many rows below the operators `between`, if an aggregation computes it."""
    found = _skip(node, *between)
    if not isinstance(found, Intermediate) or found.shared:
        return None
    if not isinstance(found.shape, KTable) or not found.shape.key:
        return None
    operator = stateful(found.input)
    return found if operator is not None and _is_aggregation(operator) else None


def _find_groups(node: Node) -> Intermediate | None:
    """The groups that a join reads, unless a filter lies between: the join would keep each group that it leaves out.

    A query has one join at most, because each join has its own number of partitions.
    """
    found = _find_table(node, Project)
    if found is None or not isinstance(_skip(found.input, Project), GroupAggregate):
        return None
    return None if any(isinstance(each, TableJoin) for each in list_nodes(found)) else found


def _skip(node: Node, *kinds: type[Node]) -> Node:
    """The first node below of another kind. Each of these kinds has one input."""
    while isinstance(node, kinds):
        (node,) = node.inputs
    return node
