"""UNION ALL: each branch that keeps state becomes a query of its own."""

from __future__ import annotations

from penstock.planner.lower.intermediates import materialise_input
from penstock.planner.plan import Intermediate, Node, UnionAll
from penstock.planner.plan.walk import stateful


def split_stateful_branches(node: Node) -> Node:
    """Cuts the plan so that each stateful branch of a UNION ALL is computed by a query of its own, at its own pace."""
    if isinstance(node, Intermediate) or (isinstance(node, UnionAll) and stateful(node) is None):
        return node
    inputs = tuple(map(split_stateful_branches, node.inputs))
    if isinstance(node, UnionAll):
        inputs = tuple(materialise_input(branch) for branch in inputs)
    return node.with_inputs(inputs)
