"""Every column of an intermediate stream can be held by its Parquet files."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.diagnostics import Diagnostic, Span
from penstock.diagnostics.codes.connectors import C009
from penstock.diagnostics.codes.kinds import K016
from penstock.planner.connectors import find_unsupported_column
from penstock.planner.plan import Intermediate, Node, RunningQuery
from penstock.planner.plan.reserved import STREAM_COLUMNS
from penstock.planner.plan.walk import walk


def check_intermediates(query: RunningQuery) -> Iterator[Diagnostic]:
    """Finds columns that the intermediate streams of a query cannot hold."""
    for node in walk(query.root):
        if isinstance(node, Intermediate):
            yield from find_unsupported_columns(node, node.span)


def find_unsupported_columns(node: Node, span: Span) -> Iterator[Diagnostic]:
    """Findings on columns that an intermediate stream, which is Parquet files, cannot hold."""
    column = find_unsupported_column("parquet", node.schema)
    if column is not None:
        found = C009.at(span, "", format="parquet", column=column.name, type=column.type)
        found = found.because("Intermediate streams are written to such files.")
        yield found.with_hint(f"CAST({column.name} AS STRING)")
    taken = next((each.name for each in node.schema if each.name.lower() in STREAM_COLUMNS), None)
    if taken is not None:
        yield K016.at(span, "", name=taken).with_hint(f"{taken} AS another name, in the inner SELECT")
