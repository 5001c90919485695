"""SQL text -> Compilation: every stage of a script, from its text to the program for Spark."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from penstock.codegen import lower
from penstock.codegen.program import Program
from penstock.diagnostics import Diagnostic, Source
from penstock.parser import parse
from penstock.parser.ast import Statement
from penstock.planner import Catalog, plan
from penstock.planner.plan import RunningQuery


@dataclass(frozen=True, slots=True)
class Compilation:
    """An accepted script. `catalog` is the given one plus what the script declares; `diagnostics` are warnings."""

    source: Source
    statements: tuple[Statement, ...]
    queries: tuple[RunningQuery, ...]
    program: Program
    catalog: Catalog
    diagnostics: tuple[Diagnostic, ...]


def compile(sql: str, catalog: Catalog | None = None, name: str = "<sql>") -> Compilation:
    """Parse, plan and check the statements of `sql`, and lower its queries to a Spark program. Starts nothing.

    `catalog` holds what earlier scripts declared; `name` is how errors cite the text. Raises CompileError, with every
    error that was found, when the script is refused.
    """
    source = Source(name, sql)
    statements = parse(source)
    planned = plan(statements, catalog or Catalog())
    program = lower(planned.queries, planned.settings)
    return Compilation(source, statements, planned.queries, program, planned.catalog, planned.warnings)


def joined(compilations: Iterable[Compilation]) -> Program:
    """One program with the queries of several scripts; where they set the same thing, the last one holds."""
    programs = [compilation.program for compilation in compilations]
    settings = dict(setting for program in programs for setting in program.settings)
    return Program(tuple(settings.items()), tuple(query for program in programs for query in program.queries))
