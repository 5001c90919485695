"""Every place that is read can be read."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.diagnostics import Diagnostic
from penstock.diagnostics.codes.building import B002
from penstock.diagnostics.codes.connectors import C005
from penstock.planner.connectors import connector_of
from penstock.planner.plan import KTable, RunningQuery, Scan
from penstock.planner.plan.walk import walk


def check_sources(query: RunningQuery) -> Iterator[Diagnostic]:
    """Finds places that this version cannot read."""
    for node in walk(query.root):
        if not isinstance(node, Scan):
            continue
        connector = connector_of(node.origin.connector)
        if not (connector.is_source or connector.looks_up):
            yield C005.at(node.span, "", connector=connector.name, used="read")
        elif isinstance(node.shape, KTable) and not connector.reads_table:
            yield B002.at(node.span, "", construct=f"reading a table through {connector.name}")
