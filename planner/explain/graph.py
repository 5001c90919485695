"""Plans -> a graph to draw: what each operator does, the bound on its state, and from where rows go to where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.planner.explain.plan import list_bounds, number_nodes, operator_text, sink_text
from penstock.planner.plan import RunningQuery, Settings


def plan_graph(queries: Sequence[RunningQuery], settings: Settings) -> dict[str, list[Any]]:
    """Plans as JSON: `nodes` with id, label, detail and bound (null without state), `edges` as pairs of these ids.

    The names r0, r1 … in the details are the names of EXPLAIN PLAN. An id has the name of its query in front.
    """
    nodes, edges = [], []
    for query in queries:
        names = number_nodes(query.root)
        bounds = list_bounds(query, names, settings)
        for node, name in names.items():
            bound = "; ".join(bounds[node]) if node in bounds else None
            nodes.append(_node(f"{query.name}.{name}", type(node).__name__, operator_text(node, names), bound))
            edges += [[f"{query.name}.{names[below]}", f"{query.name}.{name}"] for below in node.inputs]
        nodes.append(_node(query.name, "Sink", sink_text(query, names), None))
        edges.append([f"{query.name}.{names[query.root]}", query.name])
    return {"nodes": nodes, "edges": edges}


def _node(name: str, label: str, detail: str, bound: str | None) -> dict[str, str | None]:
    return {"id": name, "label": label, "detail": detail, "bound": bound}
