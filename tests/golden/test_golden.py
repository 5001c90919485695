"""Every section of every golden file is what its stage prints. `pytest --accept` rewrites them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from penstock.codegen import spark_text
from penstock.compilation import Compilation, compile
from penstock.diagnostics import CompileError, Diagnostic, Source, render
from penstock.explain import explain
from penstock.parser import ast_text, parse, unparse
from penstock.parser.ast import Stage
from penstock.planner import mermaid, plan_text, state_text
from penstock.planner.passes import pipeline
from penstock.planner.passes.check_sources import check_sources
from penstock.planner.passes.check_supported import check_supported
from tests.golden.cases import CASES, Case

WHAT_RUNS = (check_supported, check_sources)


def ast(sql: str) -> str:
    """The trees of the statements."""
    return "\n".join(ast_text(statement) for statement in parse(Source("<golden>", sql)))


def planned(sql: str) -> Compilation:
    """The plans of a script that the planner knows how to run and this version does not."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pipeline, "CHECKS", tuple(each for each in pipeline.CHECKS if each not in WHAT_RUNS))
        return compile(sql)


def error(sql: str, compile: Callable[[str], Compilation] = compile) -> str:
    """All findings, rendered. The SQL must be refused."""
    with pytest.raises(CompileError) as refusal:
        compile(sql)
    return "\n".join(render(finding) for finding in refusal.value.diagnostics)


# What prints each section. A section is a stage: SQL in, text out.
STAGES: dict[str, Callable[[str], str]] = {
    "ast": ast,
    "plan": lambda sql: plan_text(compile(sql).queries),
    "partitions": lambda sql: explain(compile(sql), Stage.PARTITIONS).rstrip("\n"),
    "mermaid": lambda sql: mermaid(compile(sql).queries, compile(sql).settings, compile(sql).catalog),
    "state": lambda sql: state_text(compile(sql).queries, compile(sql).settings),
    "physical": lambda sql: explain(compile(sql), Stage.PHYSICAL).rstrip("\n"),
    "spark": lambda sql: spark_text(compile(sql).program),
    "warning": lambda sql: "\n".join(render(finding) for finding in compile(sql).diagnostics),
    "error": error,
    "planned": lambda sql: plan_text(planned(sql).queries),
    "planned_partitions": lambda sql: explain(planned(sql), Stage.PARTITIONS).rstrip("\n"),
    "planned_error": lambda sql: error(sql, planned),
    "planned_state": lambda sql: state_text(planned(sql).queries, planned(sql).settings),
}

SECTIONS = [pytest.param(case, section, id=f"{case.name}:{section}") for case in CASES for section in case.sections]


@pytest.mark.parametrize(("case", "section"), SECTIONS)
def test_golden(case: Case, section: str, request: pytest.FixtureRequest) -> None:
    printed = STAGES[section](case.sql)
    if request.config.getoption("--accept"):
        case.accept(section, printed)
    else:
        assert printed == case.sections[section]


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES if "error" in case.sections])
def test_fix_is_accepted(case: Case) -> None:
    with pytest.raises(CompileError) as refusal:
        compile(case.sql)
    for finding in refusal.value.diagnostics:
        if finding.fix is not None:
            compile(pasted(case.sql, finding))


def pasted(sql: str, finding: Diagnostic) -> str:
    """The SQL with the statement that the finding is in replaced by what it proposes."""
    place = finding.labels[0].span.start
    whole = next(each.span for each in parse(Source("<golden>", sql)) if each.span.start <= place < each.span.end)
    return f"{sql[: whole.start]}{finding.fix}{sql[whole.end :]}"


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_round_trip(case: Case) -> None:
    try:
        statements = parse(Source("<golden>", case.sql))
    except CompileError:
        assert "error" in case.sections
        return
    text = ";\n".join(map(unparse, statements))
    assert parse(Source("<golden>", text)) == statements
    assert ";\n".join(map(unparse, parse(Source("<golden>", text)))) == text
