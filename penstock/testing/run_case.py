"""A test -> whether it passes, and if not, why."""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeGuard

from penstock.compilation import compile_sources
from penstock.diagnostics import CompileError, Diagnostic, Source, Span
from penstock.diagnostics.codes.testing import T113, T114, T115, T116
from penstock.parser.ast import RowsOf, Text, Then, ThenChanges, ThenFails, ThenRefused, ThenRows
from penstock.planner.plan import RunningQuery, Scan
from penstock.planner.plan.walk import walk
from penstock.testing.cases import Case, read_cases
from penstock.testing.expectations import Judge, Seen
from penstock.testing.given_values import START
from penstock.testing.other_arrivals import find_dependence, given_text
from penstock.testing.planned_steps import PlannedStep, plan_case
from penstock.testing.query_runs import QueryRun
from penstock.testing.row_files import read_beside
from penstock.testing.script_relations import ScriptRelations

if TYPE_CHECKING:
    from penstock.testing.spark_engine import SparkEngine

Scripts: TypeAlias = dict[tuple[str, ...], ScriptRelations | CompileError]
"""Compiled scripts, or why they are refused, by the names of their files."""


Part: TypeAlias = tuple[int, int]
"""The number of the first test, and how many tests it is from one to the next."""


@dataclass
class CaseResult:
    """What became of a test. It passes if there is no finding. `seconds`: how long it took."""

    name: str
    source: Source
    line: int
    findings: list[Diagnostic] = field(default_factory=list)
    seen: list[Seen] = field(default_factory=list)
    seconds: float = 0.0
    start: datetime = START

    @property
    def passes(self) -> bool:
        return not self.findings


def run_source(
    source: Source,
    folder: Path,
    *,
    keyword: str = "",
    to_end: bool = False,
    engine: SparkEngine | None = None,
    part: Part = (0, 1),
) -> list[CaseResult]:
    """The tests of a file whose name has the keyword. Raises CompileError if the file cannot be read as tests.

    `folder`: where the scripts and the files of rows are. `to_end`: a test goes on behind a step that fails.
    `engine`: computes the rows instead of the evaluator. `part`: which of the tests are run.
    """
    scripts: Scripts = {}
    cases = [case for case in read_cases(source) if keyword.lower() in case.begin.name.text.lower()]
    first, step = part
    return [run_case(case, folder, scripts, to_end=to_end, engine=engine) for case in cases[first::step]]


def run_case(
    case: Case,
    folder: Path,
    scripts: Scripts,
    *,
    to_end: bool,
    engine: SparkEngine | None = None,
    again: bool = True,
) -> CaseResult:
    """Runs one test, and `again` with other arrivals if it passes. `scripts` keeps compiled scripts for other tests."""
    begun = time.perf_counter()
    span = case.begin.span
    result = CaseResult(case.begin.name.text, span.source, span.source.position(span.start)[0])
    try:
        script = compile_script(case, folder, scripts)
        if case.refused is not None:
            judge_refusal(case.refused, script, result)
        elif isinstance(script, CompileError):
            raise script
        else:
            run_steps(case, script.for_test(), folder, result, to_end=to_end, engine=engine, again=again)
    except CompileError as refusal:
        result.findings += [each for each in refusal.diagnostics if each.severity == "error"]
    except Exception as mistake:  # the other tests still run
        result.findings.append(explain_mistake(mistake, span))
    result.seconds = time.perf_counter() - begun
    return result


def explain_mistake(mistake: Exception, span: Span) -> Diagnostic:
    """The finding for what nothing else explains, with the line of Penstock that failed."""
    place = traceback.extract_tb(mistake.__traceback__)[-1]
    found = T116.at(span, kind=type(mistake).__name__)
    found = found.because(f"This is a bug in Penstock. {Path(place.filename).name}:{place.lineno} says: {mistake}")
    return found.with_hint("report the test and its script to the project")


def compile_script(case: Case, folder: Path, scripts: Scripts) -> ScriptRelations | CompileError:
    """The script, or why it is refused. Raises CompileError if it cannot be read."""
    names = tuple(each.text for each in case.begin.scripts)
    if names not in scripts:
        sources = [read_script(each, folder) for each in case.begin.scripts]
        try:
            scripts[names] = ScriptRelations(compile_sources(sources))
        except CompileError as refusal:
            scripts[names] = refusal
    return scripts[names]


def read_script(name: Text, folder: Path) -> Source:
    """Raises CompileError."""
    return Source(str(folder / name.text), read_beside(name, folder))


def judge_refusal(then: ThenRefused, script: ScriptRelations | CompileError, result: CaseResult) -> None:
    """Whether the script is refused as expected."""
    code = then.code.text.upper()
    if isinstance(script, ScriptRelations):
        result.findings.append(T114.at(then.code.span, code=code).because("It is accepted."))
    elif code not in (found := sorted({each.code for each in script.diagnostics if each.severity == "error"})):
        result.findings.append(T114.at(then.code.span, code=code).because(f"It is refused with {', '.join(found)}."))


def run_steps(
    case: Case,
    script: ScriptRelations,
    folder: Path,
    result: CaseResult,
    *,
    to_end: bool,
    engine: SparkEngine | None = None,
    again: bool = True,
) -> None:
    """Runs the steps, and if not `to_end` stops behind the first one that is not as expected. Raises CompileError."""
    steps, place = plan_case(case, script, folder)
    result.start = place.start
    find_views(case, script)
    runs = make_runs(case, script, engine)
    written = {query.sink.name.lower() for query in script.queries}
    for run in runs.values():
        run.refuse_written(written)
    for number, step in enumerate(steps, start=1):
        judge = Judge(place, runs, result.seen)
        findings = run_step(step, judge)
        if findings:
            result.findings += [name_step(each, number, len(steps)) for each in findings]
            if not to_end:
                return
    if not result.findings and engine is None and again:
        result.findings += check_arrivals(case, script, steps, place.start)


def make_runs(case: Case, script: ScriptRelations, engine: SparkEngine | None) -> dict[RunningQuery, QueryRun]:
    """The queries, on the evaluator or on Spark. Raises CompileError."""
    if engine is None:
        return {query: QueryRun(query) for query in script.queries}
    from penstock.testing.spark_engine import make_spark_runs

    return make_spark_runs(case, script, engine)


def check_arrivals(
    case: Case, script: ScriptRelations, steps: Sequence[PlannedStep], start: datetime
) -> Iterator[Diagnostic]:
    """A finding for each relation that is expected, and whose rows depend on how the rows of the test arrive."""
    asked = {each.relation.folded: each.relation for step in case.steps for each in step.then if asks_rows(each)}
    for relation in asked.values():
        for query in script.find_output(relation).queries:
            found = find_dependence(query, [step.arrival for step in steps], start)
            if found is not None:
                columns = {node.origin.name: node.origin.columns for node in walk(query.root) if isinstance(node, Scan)}
                words = [
                    *found.table,
                    "With these rows, all at once and one by one:",
                    given_text(found, columns, start),
                ]
                finding = T115.at(relation.span, relation=relation.text, cause=found.cause)
                yield finding.because("\n".join(words))


def asks_rows(then: Then) -> TypeGuard[ThenRows | ThenChanges]:
    """Whether rows that the script computes are expected."""
    return isinstance(then, ThenChanges) or (isinstance(then, ThenRows) and then.of is RowsOf.RESULT)


def run_step(step: PlannedStep, judge: Judge) -> list[Diagnostic]:
    """What is wrong after a step."""
    for run in judge.runs.values():
        run.step(step.arrival)
    findings: list[Diagnostic] = []
    for then in step.then:
        try:
            findings += judge.judge(then)
        except CompileError as refusal:
            findings += refusal.diagnostics
    expected = {each.code.text.upper() for each in step.then if isinstance(each, ThenFails)}
    return [*find_failures(judge.runs, expected, step), *findings]


def find_failures(runs: dict[RunningQuery, QueryRun], expected: set[str], step: PlannedStep) -> list[Diagnostic]:
    """A finding for each query that fails in this step, although that is not expected."""
    return [
        T113.at(step.span, query=run.query.name, reason=str(run.failure))
        .because(f"penstock run would stop with {run.failed_with}.")
        .with_hint(f"THEN FAILS {run.failed_with} expects it")
        for run in runs.values()
        if run.failed_with is not None and run.failed_with not in expected
    ]


def find_views(case: Case, script: ScriptRelations) -> None:
    """Plans the views that are asked for, before the queries begin to run. Names that are wrong are found later."""
    for step in case.steps:
        for then in step.then:
            relation = getattr(then, "relation", None)
            if relation is not None:
                try:
                    script.find_output(relation)
                except CompileError:
                    continue


def name_step(finding: Diagnostic, number: int, steps: int) -> Diagnostic:
    """The finding with the number of its step, where there are several."""
    if steps == 1:
        return finding
    words = f"This is step {number} of {steps}."
    return finding.because(f"{finding.detail}\n{words}" if finding.detail else words)
