"""The wings of the planner: imports between them go down only, and every pass is run."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from penstock.planner.passes.pipeline import CHECKS, REWRITES, SCRIPT_CHECKS, SCRIPT_REWRITES
from tests.house.files import ROOT, list_files
from tests.house.test_imports import imported

PLANNER = ROOT / "planner"

# Folders and modules of planner/, each above those that it may import.
WINGS = (
    *("types", "durations", "functions", "plan", "state", "scalars", "connectors", "catalog"),
    *("physical", "explain", "partitions", "lower", "passes", "reads", "script"),
)
DOOR = "__init__"


def test_statements_and_plans_are_no_dataclasses() -> None:
    """Python compiles the methods of a dataclass whenever its module is loaded, which `penstock check` waits for."""
    modules = [*list_files(PLANNER, ".py"), *list_files(ROOT / "grammar", ".py"), *list_files(ROOT / "parser", ".py")]
    checked = [path for path in modules if ROOT / "parser/format" not in path.parents]
    assert PLANNER / "plan" / "node.py" in checked
    assert [str(path) for path in checked if "@dataclass" in path.read_text(encoding="utf-8")] == []


def wing(path: Path) -> str:
    return path.relative_to(PLANNER).with_suffix("").parts[0]


def objection(above: str, name: str) -> str | None:
    """What is wrong with a module of the wing `above` importing `name`, None if nothing is."""
    room, _, rest = name.removeprefix("penstock.").partition(".")
    if room != "planner" or above == DOOR:
        return None
    below = rest.partition(".")[0]
    if below not in WINGS:
        return f"{name}: not a wing of the planner"
    return f"{name}: {below} is not below {above}" if WINGS.index(below) > WINGS.index(above) else None


def test_all_wings_have_a_place() -> None:
    assert {wing(path) for path in list_files(PLANNER, ".py")} == {*WINGS, DOOR}


@pytest.mark.parametrize("above", WINGS)
def test_imports_between_wings_go_down(above: str) -> None:
    paths = [path for path in list_files(PLANNER, ".py") if wing(path) == above]
    found = [(path, objection(above, name)) for path in paths for name in imported(path)]
    assert [f"{path.relative_to(ROOT)}: {text}" for path, text in found if text] == []


@pytest.mark.parametrize(
    ("above", "name"),
    [
        ("lower", "penstock.planner.passes.pipeline"),
        ("passes", "penstock.planner.script"),
        ("plan", "penstock.planner.scalars.scopes"),
        ("scalars", "penstock.planner.lower.select_items.Item"),
        ("script", "penstock.planner.attic"),
    ],
)
def test_the_order_refuses(above: str, name: str) -> None:
    assert objection(above, name)


def test_every_pass_is_run() -> None:
    run = {(each.__module__, each.__name__) for each in (*REWRITES, *CHECKS, *SCRIPT_CHECKS, *SCRIPT_REWRITES)}
    for path in list_files(PLANNER / "passes", ".py"):
        if path.stem not in ("__init__", "pipeline"):
            body = ast.parse(path.read_text(encoding="utf-8")).body
            names = [each.name for each in body if isinstance(each, ast.FunctionDef)]
            module = f"penstock.planner.passes.{path.stem}"
            assert any((module, name) in run for name in names), f"{path.stem} is in no tuple of pipeline.py"


def test_passes_say_what_they_do() -> None:
    assert [each.__name__ for each in (*CHECKS, *SCRIPT_CHECKS) if not each.__name__.startswith("check_")] == []
    assert [each.__name__ for each in (*REWRITES, *SCRIPT_REWRITES) if each.__name__.startswith("check_")] == []
