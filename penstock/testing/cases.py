"""The statements of a file of tests -> cases, each with its steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from penstock.diagnostics import CompileError, Source
from penstock.diagnostics.codes.testing import T106
from penstock.parser import parse_tests
from penstock.parser.ast import (
    BeginTest,
    Given,
    GivenEnd,
    GivenRows,
    GivenSilence,
    GivenWatermark,
    RowFile,
    TestStatement,
    Then,
    ThenRefused,
)

GIVEN = (GivenRows, GivenWatermark, GivenSilence, GivenEnd)


@dataclass(slots=True)
class CaseStep:
    """What is given together, and what is expected then."""

    given: list[Given] = field(default_factory=list)
    then: list[Then] = field(default_factory=list)


@dataclass(slots=True)
class Case:
    """One test: its first statement, and the steps behind it."""

    begin: BeginTest
    steps: list[CaseStep] = field(default_factory=list)

    @property
    def refused(self) -> ThenRefused | None:
        """The expectation that the script is refused, which stands alone."""
        return next((each for step in self.steps for each in step.then if isinstance(each, ThenRefused)), None)


def read_cases(source: Source) -> list[Case]:
    """The tests of a file. Raises CompileError for statements that are none, or stand at a wrong place."""
    return split_cases(parse_tests(source))


def split_cases(statements: Iterable[TestStatement]) -> list[Case]:
    """Raises CompileError for a statement at a wrong place."""
    cases: list[Case] = []
    for statement in statements:
        if isinstance(statement, BeginTest):
            cases.append(Case(statement))
            continue
        if not cases:
            raise misplaced(statement, "a file of tests begins with TEST 'name' OF 'script.sql'")
        steps = cases[-1].steps
        if isinstance(statement, GIVEN):
            if any(isinstance(each, GivenEnd) for step in steps for each in step.given):
                raise misplaced(statement, "nothing comes after GIVEN END; TEST begins another test")
            if not steps or steps[-1].then:
                steps.append(CaseStep())
            steps[-1].given.append(statement)
        else:
            if not steps:
                steps.append(CaseStep())
            steps[-1].then.append(statement)
    for case in cases:
        check_case(case)
    return cases


def check_case(case: Case) -> None:
    """Raises CompileError for a test that expects nothing, or a refusal among other things."""
    expected = [each for step in case.steps for each in step.then]
    if not expected:
        raise misplaced(case.begin, "a test has THEN, which says what is expected")
    behind = case.steps[-1]
    if not behind.then:
        raise misplaced(behind.given[0], "nothing is expected behind it: THEN says what comes, or leave it out")
    refused = case.refused
    if refused is not None and (len(expected) > 1 or case.steps[0].given):
        raise misplaced(refused, "a script that is refused takes no rows: it stands alone behind TEST")


def list_named_files(cases: Iterable[Case]) -> Iterator[str]:
    """The scripts and the files of rows that tests name."""
    for case in cases:
        yield from (each.text for each in case.begin.scripts)
        for step in case.steps:
            for statement in (*step.given, *step.then):
                rows = getattr(statement, "rows", None)
                if isinstance(rows, RowFile):
                    yield rows.path.text


def misplaced(statement: TestStatement, hint: str) -> CompileError:
    words = " ".join(statement.span.text.split()[:2])
    return CompileError([T106.at(statement.span, statement=words).with_hint(hint)])
