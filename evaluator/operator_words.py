"""An operator -> what a script calls it, where the evaluator does not know what it means."""

from __future__ import annotations

from penstock.planner.plan import (
    AssignWindows,
    Filter,
    GroupingSets,
    Intermediate,
    Node,
    Project,
    Rekey,
    Scan,
    UnionAll,
)

CLAUSES: dict[type[Node], str] = {
    AssignWindows: "a window function",
    Filter: "WHERE",
    GroupingSets: "GROUPING SETS",
    Intermediate: "an intermediate stream",
    Project: "SELECT",
    Rekey: "PARTITION BY",
    Scan: "a declared relation",
    UnionAll: "UNION ALL",
}


def describe_operator(node: Node) -> str:
    """The clause of the operator, or its noun."""
    return CLAUSES.get(type(node), node.NOUN)
