"""Slips in a script -> which of them its tests notice, and rows that would show the other ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from penstock.compilation import Compilation, compile_sources
from penstock.diagnostics import CompileError, Source
from penstock.diagnostics.codes.testing import T101
from penstock.testing.cases import Case, read_cases
from penstock.testing.find_difference import Found, Versions
from penstock.testing.run_case import Scripts, read_script, run_case
from penstock.testing.script_mutants import Mutant, list_mutants
from penstock.testing.script_relations import ScriptRelations

HISTORIES = 60
"""Histories in which rows are looked for that a slip changes."""


@dataclass(frozen=True)
class Survivor:
    """A slip that no test notices. `found`: rows that show it, None if none were found."""

    file: str
    mutant: Mutant
    found: Found | None
    versions: Versions


@dataclass
class Mutation:
    """What became of the slips in the scripts of a file of tests."""

    tried: int = 0
    survivors: list[Survivor] = field(default_factory=list)


def try_mutants(source: Source, folder: Path, keyword: str = "") -> Mutation:
    """Runs the tests of a file over each slip. Raises CompileError if the file cannot be read as tests."""
    cases = [case for case in read_cases(source) if keyword.lower() in case.begin.name.text.lower()]
    result = Mutation()
    by_script: dict[tuple[str, ...], list[Case]] = {}
    for case in cases:
        if case.refused is None and run_case(case, folder, {}, to_end=False, again=False).passes:
            by_script.setdefault(tuple(each.text for each in case.begin.scripts), []).append(case)
    for names, tests in by_script.items():
        sources = [read_script(each, folder) for each in tests[0].begin.scripts]
        original = compile_sources(sources)
        for file, mutant, changed in list_changed(sources):
            result.tried += 1
            if not is_noticed(names, tests, folder, changed):
                versions = Versions(original, changed)
                found = next(filter(None, map(versions.find, range(HISTORIES))), None)
                result.survivors.append(Survivor(file, mutant, found, versions))
    return result


def list_changed(sources: Sequence[Source]) -> Iterator[tuple[str, Mutant, Compilation]]:
    """The scripts with one slip that are accepted, with the file that has it."""
    for place, source in enumerate(sources):
        for mutant in list_mutants(source.text):
            changed = [*sources[:place], Source(source.name, mutant.text), *sources[place + 1 :]]
            try:
                yield source.name, mutant, compile_sources(changed)
            except CompileError:
                continue


def is_noticed(names: tuple[str, ...], tests: Sequence[Case], folder: Path, changed: Compilation) -> bool:
    """Whether a test fails over the script, other than by what the evaluator does not know."""
    scripts: Scripts = {names: ScriptRelations(changed)}
    results = (run_case(case, folder, scripts, to_end=False, again=False) for case in tests)
    return any(each.code != T101.id for result in results for each in result.findings)
