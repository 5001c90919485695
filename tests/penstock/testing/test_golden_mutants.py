"""Slips in golden scripts: tests of the rows that `--cover` prints notice 95 % of the ones that rows can show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from penstock.compilation import Compilation, compile
from penstock.diagnostics import CompileError, Source
from penstock.evaluator import Arrival, QueryFailure, Unsupported
from penstock.planner.catalog import Declared
from penstock.planner.plan import RunningQuery
from penstock.testing.cases import read_cases
from penstock.testing.coverage import cover_script
from penstock.testing.drawn_rows import draw_row, list_values
from penstock.testing.find_difference import play, shown_columns
from penstock.testing.given_values import START
from penstock.testing.planned_steps import plan_case
from penstock.testing.row_text import difference
from penstock.testing.script_mutants import Mutant, list_mutants
from penstock.testing.script_relations import ScriptRelations
from tests import campaign
from tests.golden.cases import CASES

HISTORIES = 60
"""Histories in which rows are looked for that show a slip which no test notices."""


@dataclass(frozen=True)
class Slip:
    """A slip, and what became of it: noticed, shown by other rows alone, or shown by none."""

    mutant: Mutant
    outcome: str


def list_tests(compilation: Compilation) -> list[list[Arrival]]:
    """The tests that consist of what `--cover` prints."""
    script, tests = ScriptRelations(compilation), []
    for each in cover_script("a_test.sql", script, [], Path()).classes:
        if each.given is not None:
            lines = [line for line in each.given if line != "GIVEN END;"]
            head, tail = "TEST 'a' OF 'a.sql';", f"GIVEN END;\nTHEN {each.relation} NOTHING;"
            (case,) = read_cases(Source("a_test.sql", "\n".join([head, *lines, tail])))
            tests.append([step.arrival for step in plan_case(case, script.for_test(), Path())[0]])
    return tests


def draw_history(compilation: Compilation, seed: int) -> list[Arrival]:
    """Two steps of drawn rows, and the end of the input."""
    chance, values = Random(seed), list_values((compilation,))
    declared = [each.origin for each in compilation.catalog.entries.values() if isinstance(each, Declared)]
    steps = [
        Arrival({each.name: [draw_row(each, values, chance) for _ in range(chance.randint(0, 4))] for each in declared})
        for _ in range(2)
    ]
    return [*steps, Arrival(is_end=True)]


def differ(old: RunningQuery, new: RunningQuery, arrivals: Sequence[Arrival]) -> bool:
    """Whether two versions of a query come to other rows, as far as the evaluator knows."""
    try:
        rows, others = play(old, arrivals), play(new, arrivals)
    except Unsupported:
        return False
    if isinstance(rows, str) or isinstance(others, str):
        return rows != others
    columns = [each for each in old.root.schema if not each.hidden]
    return bool(difference(rows, others, columns, START))


def try_slips(text: str) -> Iterator[Slip]:
    """The slips in a script that are accepted and keep its columns."""
    original = compile(text)
    tests = list_tests(original)
    for mutant in list_mutants(text):
        try:
            changed = compile(mutant.text)
        except CompileError:
            continue
        pairs = list(zip(original.queries, changed.queries, strict=False))
        if len(original.queries) != len(changed.queries) or any(
            shown_columns(old) != shown_columns(new) for old, new in pairs
        ):
            continue
        pairs = [(old, new) for old, new in pairs if old.root != new.root]
        if any(differ(old, new, arrivals) for arrivals in tests for old, new in pairs):
            yield Slip(mutant, "noticed")
        elif any(
            differ(old, new, draw_history(each, seed))
            for seed in range(HISTORIES)
            for each in (original, changed)
            for old, new in pairs
        ):
            yield Slip(mutant, "shown by other rows")
        else:
            yield Slip(mutant, "shown by none")


@pytest.mark.draws
def test_slips_in_golden_scripts() -> None:
    outcomes, survivors = Counter[str](), list[Mutant]()
    for case in campaign.take_some(CASES, 20):
        try:
            slips = list(try_slips(case.sql))
        except (CompileError, Unsupported, QueryFailure):
            continue
        outcomes.update(each.outcome for each in slips)
        survivors += [each.mutant for each in slips if each.outcome == "shown by other rows"]
    noticed, missed = outcomes["noticed"], outcomes["shown by other rows"]
    assert noticed > 20
    assert noticed >= 0.95 * (noticed + missed), survivors
