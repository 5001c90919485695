"""A table of the catalog -> its rows as they are now, from the place where they are kept."""

from __future__ import annotations

from typing import assert_never

from penstock.diagnostics import CompileError, Diagnostic, Span
from penstock.diagnostics.codes.building import B002
from penstock.diagnostics.codes.running import R032
from penstock.planner.catalog import OPERATION, PLANNED, Declared, Derived
from penstock.planner.connectors import EXAMPLE, connector_of
from penstock.planner.plan import KStream, Node, Origin, Snapshot
from penstock.planner.plan.walk import is_changing

PEEK = "penstock peek"
"""What a hint begins with that shows another way to see rows of a stream."""
_PLACED = f"WITH ({EXAMPLE}, operation = 'op')"


def read_snapshot(entry: Declared | Derived, span: Span) -> Node:
    """The rows of a table; raises CompileError for what has none that can be read now."""
    if entry.kind != "TABLE":
        reason = "it is a stream, which has no last row"
        hint = f"make a table of it, by CREATE TABLE and a SELECT FROM {entry.name} with GROUP BY, and read that"
        if isinstance(entry, Declared) and connector_of(entry.origin.connector).parses_records:
            hint = f"{PEEK} FILE… {entry.name} shows its first rows; or {hint}"
        raise CompileError(
            [R032.at(span, name=entry.name, reason=reason).also(entry.span, "made here").with_hint(hint)]
        )
    match entry:
        case Declared():
            origin = entry.origin
            # A database has rows, and not the records of a changelog.
            key: tuple[str, ...] | None = None if connector_of(origin.connector).changes_rows else origin.key
        case Derived():
            origin = find_written_origin(entry)
            key = None if origin.operation is None else entry.node.shape.key
        case _:
            assert_never(entry)
    problem = find_unreadable(origin, entry, span)
    if problem is not None:
        raise CompileError([problem])
    node = Snapshot(schema=origin.columns, shape=KStream(), span=span, origin=origin, key=key)
    return entry.place_items(node) if isinstance(entry, Declared) else node


def find_written_origin(table: Derived) -> Origin:
    """What a query writes, as a place to read from: changes that say what they do, or rows that are final."""
    sink = table.sink
    assert sink is not None, f"{table.name} is no view"
    assert connector_of(sink.connector).upserts or (OPERATION in dict(sink.options)) == is_changing(table.node)
    operation = dict(sink.options).get(OPERATION)
    return Origin(
        name=sink.name,
        connector=sink.connector,
        options=tuple((name, value) for name, value in sink.options if name not in PLANNED),
        columns=table.node.schema,
        key=(),
        time=None,
        delay=None,
        partitions=None,
        operation=None if operation is None else str(operation),
    )


def find_unreadable(origin: Origin, entry: Declared | Derived, span: Span) -> Diagnostic | None:
    """Why the rows at that place cannot be read, None if they can."""
    connector = connector_of(origin.connector)
    if not connector.keeps_rows:
        found = R032.at(span, name=entry.name, reason=f"its rows go to {connector.doc}").also(entry.span, "made here")
        return found.with_hint(f"{_PLACED} keeps them")
    if not connector.reads_now:
        return B002.at(span, "", construct=f"reading a table through {connector.name}")
    if origin.metadata and connector.changes_rows:
        found = B002.at(span, "", construct=f"reading METADATA columns through {connector.name}")
        found = found.because("Which version has changed a row is known to queries that keep running.")
        return found.also(entry.span, "declared here").with_hint("another declaration of the table without them")
    return None


def explain_out_of_reach(node: Snapshot) -> Diagnostic:
    """The finding that a table is in the memory of another process."""
    reason = "it is kept in the memory of the process that runs its query"
    found = R032.at(node.span, name=node.origin.name, reason=reason)
    return found.with_hint(f"{_PLACED} gives it a place that others can read, too")
