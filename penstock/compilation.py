"""SQL text -> Compilation: every stage of a script, from its text to the program for Spark."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from penstock.diagnostics import CompileError, Diagnostic, Source, Span
from penstock.parser import parse
from penstock.parser.ast import Statement
from penstock.planner import Catalog, Settings, merge_partials, plan_read, plan_script
from penstock.planner.plan import Answer, RunningQuery

if TYPE_CHECKING:
    from penstock.codegen.program import Program, Read


@dataclass(frozen=True)
class Compilation:
    """An accepted script, which may be spread over several sources.

    `answers` are to EXPLAIN, SHOW and DESCRIBE; `catalog` is the given one plus what the script declares; `diagnostics`
    are warnings.
    """

    sources: tuple[Source, ...]
    statements: tuple[Statement, ...]
    queries: tuple[RunningQuery, ...]
    answers: tuple[Answer, ...]
    settings: Settings
    catalog: Catalog
    diagnostics: tuple[Diagnostic, ...]

    @cached_property
    def program(self) -> Program:
        """What Spark is told. Made when first asked for: `penstock check` answers without loading the SQL printer."""
        from penstock.codegen import lower

        return lower(self.queries, self.settings)

    def for_large_batches(self) -> Compilation:
        """The script for a run of large micro-batches, with `SET partial_aggregates = ON` unless it says OFF.

        The state of such a query differs, so a checkpoint must not outlive the run.
        """
        if self.settings.partial_aggregates is not None:
            return self
        settings = msgspec.structs.replace(self.settings, partial_aggregates=True)
        queries = tuple(merge_partials(query, settings) for query in self.queries)
        return replace(self, queries=queries, settings=settings)


def compile(sql: str, catalog: Catalog | None = None, name: str = "<sql>") -> Compilation:
    """Parse, plan and check the statements of `sql`. Starts nothing.

    `catalog` holds what earlier scripts declared; `name` is how errors cite the text. Raises CompileError, with every
    error that was found, when the script is refused.
    """
    return compile_sources([Source(name, sql)], catalog)


def compile_read(source: Source, catalog: Catalog, *, memory: bool) -> Read:
    """The one SELECT of the source over tables as they are now. `memory`: tables in memory are at hand, too.

    Raises CompileError.
    """
    from penstock.codegen import lower_read

    statements = parse(source)
    return lower_read(plan_read(statements, catalog, Span(source, 0, len(source.text)), memory=memory))


def compile_sources(sources: Iterable[Source], catalog: Catalog | None = None) -> Compilation:
    """As `compile`, for a script of several sources: later ones see what earlier ones declare."""
    sources = tuple(sources)
    statements: list[Statement] = []
    unreadable: list[Diagnostic] = []
    for source in sources:
        try:
            statements += parse(source)
        except CompileError as refusal:
            unreadable += refusal.diagnostics
    if unreadable:
        raise CompileError(unreadable)
    planned = plan_script(statements, catalog)
    return Compilation(
        sources,
        tuple(statements),
        planned.queries,
        planned.answers,
        planned.settings,
        planned.catalog,
        planned.warnings,
    )
