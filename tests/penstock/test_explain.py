"""EXPLAIN computes the stage that it shows, and no other."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import pytest
from click.testing import CliRunner

import penstock
from penstock import codegen
from penstock import explain as explanation
from penstock.commands.cli import main
from penstock.parser.ast import Stage

DECLARED = "CREATE STREAM s (id BIGINT, v DOUBLE) WITH (connector = 'files', path = 's', format = 'json');\n"
QUERY = "SELECT STREAM id, v * 2 AS twice FROM s"
# What each stage that needs no Program says of the query.
WITHOUT_CODEGEN = {
    Stage.AST: "twice",
    Stage.PLAN: "twice",
    Stage.STATE: "none",
    Stage.PHYSICAL: "none",
    Stage.PARTITIONS: "no join",
}


def fail(*_: object) -> NoReturn:
    raise ZeroDivisionError("a fault in codegen")


@pytest.fixture(autouse=True)
def fault(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (codegen, explanation):
        monkeypatch.setattr(module, "lower", fail)


@pytest.mark.parametrize(("stage", "told"), WITHOUT_CODEGEN.items())
def test_a_fault_in_codegen_does_not_break_other_stages(stage: Stage, told: str) -> None:
    assert told in explanation.explain(penstock.compile(f"{DECLARED}{QUERY};"), stage)
    (answer,) = penstock.compile(f"{DECLARED}EXPLAIN {stage.value} {QUERY};").answers
    assert told in explanation.answer_text(answer)


@pytest.mark.parametrize("stage", [each for each in Stage if each not in WITHOUT_CODEGEN])
def test_stages_of_codegen_show_its_fault(stage: Stage) -> None:
    with pytest.raises(ZeroDivisionError):
        explanation.explain(penstock.compile(f"{DECLARED}{QUERY};"), stage)


def test_a_script_that_only_explains_its_plan_runs_no_codegen(tmp_path: Path) -> None:
    script = tmp_path / "script.sql"
    script.write_text(f"{DECLARED}EXPLAIN PLAN {QUERY};")
    run = CliRunner().invoke(main, ["run", str(script)], catch_exceptions=False)
    assert run.exit_code == 0, run.output
    assert "twice" in run.output
