"""What differs from one database to the other is in its `DatabaseEngine`. Other code does not ask for its name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.kit.databases.engine import ServerEngine
from penstock.kit.databases.engines import ENGINES
from penstock.planner.connectors import DATABASES
from tests.house.files import ROOT, list_files
from tests.house.test_imports import BELOW

SCHEMES = {scheme for each in ENGINES.values() if isinstance(each, ServerEngine) for scheme in each.schemes}
NAMED = {*ENGINES, *SCHEMES}
REGISTRATION = "kit/databases/engines.py"
MEANT = {
    "penstock/translate/place_options.py": {"postgresql"},  # in the URLs of other systems
    "runtime/spark/workers.py": {"duckdb"},  # the package, which panes need
}


def find_names(text: str) -> Iterator[tuple[str, int]]:
    """Names of databases that values are compared with or chosen by, and their lines."""
    for node in ast.walk(ast.parse(text)):
        parts: list[ast.AST | None] = []
        match node:
            case ast.Compare():
                parts = [node.left, *node.comparators]
            case ast.MatchValue():
                parts = [node.value]
            case ast.Dict():
                parts = [*node.keys]
            case ast.Subscript():
                parts = [node.slice]
        for part in parts:
            for leaf in part.elts if isinstance(part, ast.Tuple | ast.Set | ast.List) else [part]:
                if isinstance(leaf, ast.Constant) and leaf.value in NAMED:
                    yield str(leaf.value), leaf.lineno


def modules() -> Iterator[Path]:
    for room in BELOW:
        yield from list_files(ROOT / room, ".py")


def test_no_code_depends_on_the_name_of_a_database() -> None:
    found = []
    for path in modules():
        place = str(path.relative_to(ROOT))
        names = [each for each in find_names(path.read_text(encoding="utf-8")) if each[0] not in MEANT.get(place, ())]
        found += [(place, *each) for each in names if place != REGISTRATION]
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "a.dialect == 'sqlite'",
        "a in ('duckdb', b)",
        "{'postgres': 1}[a]",
        "TYPES['postgres']",
        "match a:\n case 'sqlite': 1",
        "c.dialect.name != 'postgresql'",
    ],
)
def test_the_rule_refuses(text: str) -> None:
    assert [*find_names(text)]


def test_each_database_is_registered_under_its_own_name() -> None:
    assert tuple(ENGINES) == DATABASES
    for name, engine in ENGINES.items():
        module = ROOT / "kit" / "databases" / f"{name}.py"
        assert f"\n{name.upper()} = {type(engine).__name__}()\n" in module.read_text(encoding="utf-8")
        assert type(engine).__module__ == f"penstock.kit.databases.{name}"
