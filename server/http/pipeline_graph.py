"""The pipeline: which relations and queries there are, and which read or write which."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from penstock.server.http.door_catalog import Row

_FIGURES = ("input_rate", "output_rate", "lag_seconds", "batch", "out")


def build_pipeline(lineage: Iterable[Row], relations: Iterable[Row], queries: Iterable[Row]) -> dict[str, Any]:
    """The graph as JSON: `nodes`, and `edges` as pairs of their ids, from where rows go to where.

    A relation and the query that fills it are one node. A query that fills no relation of its own is another one, whose
    id has a blank at its end, as no name of a relation has.
    """
    lineage = list(lineage)
    shown = {row["name"]: row for row in relations}
    running = {row["name"]: row for row in queries}
    written = {name for row in lineage for name in row["writes"]}
    read = {name for row in lineage for name in row["reads"]}
    nodes, edges = [], []
    for row in lineage:
        name, relation = row["relation"], shown.get(row["relation"])
        if relation is None and row["query"] is None:
            continue
        id_ = f"{row['query']} " if relation is None else name
        kind = "query" if relation is None else relation["kind"].lower()
        if row["is_declared"] and name not in written:
            kind = "source"
        elif row["is_declared"] and name not in read:
            kind = "sink"
        node = {"id": id_, "name": row["query"] if relation is None else relation["shown"], "kind": kind}
        nodes.append({**node, "connector": row["connector"], **_show_query(running.get(row["query"]))})
        edges += [(each, id_) for each in row["reads"]] + [(id_, each) for each in row["writes"]]
    known = {node["id"] for node in nodes}
    # A statement also reads names of its own WITH clause.
    return {"nodes": nodes, "edges": [list(edge) for edge in dict.fromkeys(edges) if known.issuperset(edge)]}


def _show_query(row: Row | None) -> dict[str, Any]:
    """What a node shows of its query; nulls without one."""
    status = (row or {}).get("status") or {}
    inputs = status.get("inputs") or ()
    return {
        "query": row and row["name"],
        "state": row and row["state"],
        "code": row and row["code"],
        "message": row and row["message"],
        **{name: status.get(name) for name in _FIGURES},
        "late": sum(each.get("late") or 0 for each in inputs) if row else None,
        "rejected": _count_rejected(status) if row else None,
    }


def _count_rejected(status: dict[str, Any]) -> int:
    """Rows of inputs that were malformed, and rows that tables refused."""
    places = [*(status.get("inputs") or ()), *(status.get("tables") or ())]
    return sum(each.get("rejected") or 0 for each in places)
