"""What a run that failed raises."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.diagnostics.diagnostic import Diagnostic


class RunError(Exception):
    """Queries could not start, or stopped before their end. `diagnostics` holds at least one error."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics: tuple[Diagnostic, ...] = tuple(diagnostics)
        super().__init__("; ".join(f"{d.code}: {d.message}" for d in self.diagnostics))
