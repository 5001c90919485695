"""Every column of the result has a type."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.diagnostics import Diagnostic
from penstock.diagnostics.codes.kinds import K017
from penstock.planner.plan import RunningQuery
from penstock.planner.types import VOID


def check_types(query: RunningQuery) -> Iterator[Diagnostic]:
    """Finds columns of the result that have no type."""
    for each in query.root.schema:
        if each.type == VOID:
            found = K017.at(query.span, "", column=each.name)
            yield found.with_hint(f"CAST(NULL AS STRING) AS {each.name}")
