"""Imports go down only, and through interfaces.

kit, grammar, diagnostics <- parser <- planner <- codegen <- runtime <- server <- penstock. The evaluator is between
planner and penstock, beside the other three. A few modules of the package itself are below a room. A room sees the
interfaces (`__init__`) of the rooms below it, and their data. Only runtime and `kit` see pyspark. The modules of `kit`
are its data.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.files import ROOT, list_files

# Every room with the rooms below it that it may see.
BELOW = {
    "kit": [],
    "grammar": [],
    "diagnostics": [],
    "parser": ["grammar", "diagnostics"],
    "planner": ["diagnostics", "parser"],
    "evaluator": ["diagnostics", "parser", "planner"],
    "codegen": ["kit", "diagnostics", "planner"],
    "runtime": ["kit", "diagnostics", "codegen"],
    "server": ["kit", "diagnostics", "parser", "planner", "codegen", "runtime"],
    "penstock": ["kit", "diagnostics", "parser", "planner", "evaluator", "codegen", "runtime", "server"],
}
# The modules of a room that others may name besides its interface: its data.
DATA = {
    "kit": tuple(
        {path.relative_to(ROOT / "kit").parts[0].removesuffix(".py") for path in list_files(ROOT / "kit", ".py")}
    ),
    "grammar": (),
    "diagnostics": ("diagnostic", "source", "all_codes", "codes", "logs", "terminal"),
    "parser": ("ast",),
    "planner": ("catalog", "connectors", "physical", "plan", "types", "functions"),
    "evaluator": (),
    "codegen": (
        *("connector_options", "connectors", "files_cost", "fingerprint", "folders", "job_facts", "known_connectors"),
        *(
            "matching_files",
            "record_parsing",
            "record_reasons",
            "run_record",
            "sampled",
            "program",
            "program_settings",
            "spark_versions",
            "topic_start",
        ),
    ),
    "runtime": ("samples",),
    "server": ("client_limits", "http_tokens", "running", "serving"),
}

# Modules of the package itself that are below a room.
BELOW_ALL = {"runtime": ("rows",), "server": ("arrow", "compilation", "explain", "partition_check", "values")}


def modules(room: str) -> list[Path]:
    return list_files(ROOT / room, ".py")


def imported(path: Path) -> Iterator[str]:
    """Dotted names that a module imports, at its top or later; `from a import b` gives `a.b`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def exported(room: str) -> list[str]:
    """`__all__` of a room's interface."""
    body = ast.parse((ROOT / room / "__init__.py").read_text(encoding="utf-8")).body
    lists = [node.value for node in body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"]
    return [name for value in lists for name in ast.literal_eval(value)]


def objection(room: str, name: str) -> str | None:
    """What is wrong with `room` importing `name`, None if nothing is."""
    top, *path = name.split(".")
    if top == "pyspark" and room not in ("runtime", "kit"):
        return f"{name}: only runtime and kit see pyspark"
    if top in DATA:
        return f"{name}: rooms are imported through penstock"
    if top != "penstock" or (path and path[0] in BELOW_ALL.get(room, ())):
        return None
    seen = path[0] if path and path[0] in DATA else "penstock"
    if seen == room:
        return None
    if seen not in BELOW[room]:
        return f"{name}: {seen} is not below {room}"
    if len(path) == 1 or path[1] in DATA[seen] or (len(path) == 2 and path[1] in exported(seen)):
        return None
    return f"{name}: neither in the interface nor in the data of {seen}"


@pytest.mark.parametrize("room", BELOW)
def test_imports_go_down_and_through_interfaces(room: str) -> None:
    found = [(path, objection(room, name)) for path in modules(room) for name in imported(path)]
    assert [f"{path.relative_to(ROOT)}: {text}" for path, text in found if text] == []


@pytest.mark.parametrize(
    ("room", "name"),
    [
        ("kit", "penstock.diagnostics"),
        ("kit", "penstock.rows"),
        ("parser", "penstock.planner"),
        ("codegen", "penstock.parser.ast"),
        ("planner", "penstock.parser.parsing"),
        ("planner", "penstock.compilation"),
        ("diagnostics", "parser.ast"),
        ("codegen", "pyspark.sql"),
        ("codegen", "penstock.evaluator"),
        ("evaluator", "penstock.codegen"),
        ("evaluator", "penstock.kit"),
        ("evaluator", "pyspark.sql"),
    ],
)
def test_the_rule_refuses(room: str, name: str) -> None:
    assert objection(room, name)
