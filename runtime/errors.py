"""What a run that failed raises."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.diagnostics.codes.running import R077
from penstock.diagnostics.diagnostic import Diagnostic


class RunError(Exception):
    """Queries could not start, or stopped before their end. `diagnostics` holds at least one error."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics: tuple[Diagnostic, ...] = tuple(diagnostics)
        super().__init__("; ".join(f"{d.code}: {d.message}" for d in self.diagnostics))


def explain_loss(query: str, reason: str) -> Diagnostic:
    """The finding that records of a topic are gone."""
    hint = "--reset begins anew with what is left; a longer retention.ms of the topic avoids this"
    return R077.at(None, query=query, reason=reason).with_hint(hint)
