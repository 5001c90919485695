"""Check of a text while it is typed, without the engine: the planner over the relations that there are."""

from __future__ import annotations

import anyio
import anyio.to_thread

from penstock.compilation import compile
from penstock.diagnostics import CompileError, Report, report
from penstock.planner import Catalog

Definition = tuple[str, int, str]
"""Name, version and statement of a relation."""


class Checker:
    """Remembers the catalog of the relations that it has seen, so that each is planned once."""

    def __init__(self) -> None:
        self._catalogs: list[tuple[Definition, Catalog]] = []
        self._one = anyio.CapacityLimiter(1)  # checks share the process with all requests

    async def check(self, text: str, definitions: list[Definition]) -> list[Report]:
        """What is wrong with a script, and what it is warned about. In a thread of its own, one after the other."""
        return await anyio.to_thread.run_sync(self._check, text, definitions, limiter=self._one)

    def _check(self, text: str, definitions: list[Definition]) -> list[Report]:
        try:
            findings = compile(text, self._plan_relations(definitions)).diagnostics
        except CompileError as refusal:
            findings = refusal.diagnostics
        return [report(finding) for finding in findings]

    def _plan_relations(self, definitions: list[Definition]) -> Catalog:
        known = 0
        for (before, _), now in zip(self._catalogs, definitions, strict=False):
            if before != now:
                break
            known += 1
        del self._catalogs[known:]
        for definition in definitions[known:]:
            catalog = self._catalogs[-1][1] if self._catalogs else Catalog()
            try:
                catalog = compile(definition[2], catalog).catalog
            except CompileError:
                # The engine, which may be of another version, knows more. What uses the relation is refused as unknown.
                catalog = catalog.without(definition[0])
            self._catalogs.append((definition, catalog))
        return self._catalogs[-1][1] if self._catalogs else Catalog()
