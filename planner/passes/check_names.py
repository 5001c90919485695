"""No column of a table has the name of a column that codegen puts beside it."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.diagnostics import Diagnostic
from penstock.diagnostics.codes.kinds import K016
from penstock.planner.plan import KStream, RunningQuery
from penstock.planner.plan.reserved import TABLE_COLUMNS
from penstock.planner.plan.walk import walk


def check_names(query: RunningQuery) -> Iterator[Diagnostic]:
    """Finds columns of tables with reserved names."""
    for node in walk(query.root):
        if not isinstance(node.shape, KStream):
            taken = next((each.name for each in node.schema if each.name.lower() in TABLE_COLUMNS), None)
            if taken is not None:
                yield K016.at(node.span, "", name=taken).with_hint(f"{taken} AS another_name")
