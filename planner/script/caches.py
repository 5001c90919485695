"""No lookup keeps rows of a table that the same script writes: they would be old as soon as it has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from penstock.diagnostics import Diagnostic
from penstock.diagnostics.codes.connectors import C022
from penstock.planner.connectors import connector_of
from penstock.planner.plan import Options, RemoteLookup, RunningQuery
from penstock.planner.plan.walk import walk

CACHE = "cache_ttl"


def check_caches(queries: Iterable[RunningQuery]) -> Iterator[Diagnostic]:
    """Finds lookups with a cache in tables that queries of the script write."""
    queries = tuple(queries)
    written = {identify_table(each.sink.connector, each.sink.options): each for each in queries}
    lookups = (node for query in queries for node in walk(query.root) if isinstance(node, RemoteLookup))
    for node in dict.fromkeys(lookups):
        writer = written.get(identify_table(node.origin.connector, node.origin.options))
        if writer is not None and CACHE in dict(node.origin.options):
            found = C022.at(node.span, "", table=node.origin.name).also(writer.span, "written here")
            yield found.with_hint(f"leave {CACHE} out, and each micro-batch sees what has been written before")


def identify_table(connector: str, options: Options) -> tuple[object, ...]:
    """What is equal for two declarations of one table, as far as their options tell."""
    names = [each.name for each in connector_of(connector).options if each.identifies]
    return (connector, *(dict(options).get(name) for name in names))
