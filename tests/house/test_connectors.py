"""A connector is what its modules say: nobody else knows its name, and what the planner allows the runtime can do."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.planner.connectors import CONNECTORS, INTERMEDIATE, INTERNAL, Connector, find_connector
from penstock.runtime import connectors as runtime
from tests.house.files import ROOT, list_files

FOLDERS = ("planner/connectors", "codegen/connectors", "kit", "runtime/connectors")
NAMED = {*(each.name for each in CONNECTORS)}


def modules() -> Iterator[Path]:
    """The modules that must not know a connector by its name."""
    for room in ("parser", "planner", "evaluator", "codegen", "runtime", "penstock"):
        for path in list_files(ROOT / room, ".py"):
            if not any(path.is_relative_to(ROOT / folder) for folder in FOLDERS):
                yield path


def literals(node: ast.AST) -> Iterator[tuple[str, int]]:
    """The texts that values are compared with, and those that calls are given."""
    for each in ast.walk(node):
        parts: list[ast.AST] = []
        if isinstance(each, ast.Compare):
            parts = [each.left, *each.comparators]
        elif isinstance(each, ast.MatchValue):
            parts = [each.value]
        elif isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id[0].isupper():
            parts = [*each.args, *(keyword.value for keyword in each.keywords)]
        for part in parts:
            for leaf in ast.walk(part) if isinstance(part, ast.Tuple | ast.Set | ast.List) else [part]:
                if isinstance(leaf, ast.Constant) and isinstance(leaf.value, str):
                    yield leaf.value, leaf.lineno


def named_connectors(text: str) -> list[tuple[str, int]]:
    return [(value, line) for value, line in literals(ast.parse(text)) if value in NAMED]


def test_only_connectors_know_their_names() -> None:
    found = {path: named_connectors(path.read_text(encoding="utf-8")) for path in modules()}
    assert {str(path.relative_to(ROOT)): named for path, named in found.items() if named} == {}


@pytest.mark.parametrize(
    "text", ["a == 'files'", "a in ('rate', b)", "Sink(n, 'memory', ())", "match a:\n case 'rate': 1"]
)
def test_the_rule_refuses(text: str) -> None:
    assert named_connectors(text)


@pytest.mark.parametrize("connector", [*CONNECTORS, *INTERNAL], ids=lambda each: each.name)
def test_the_runtime_can_do_what_the_planner_allows(connector: Connector) -> None:
    made = runtime.connector_of(connector.name)
    reads = connector.is_source or connector.reads_now
    assert (made.source is not None) == reads
    assert (made.sink is not None) == (connector.is_sink and connector is not INTERMEDIATE)  # it is written as files


def test_modules_are_called_as_their_connectors() -> None:
    modules = {path.stem for path in list_files(ROOT / "planner" / "connectors", ".py")}
    shared = {"__init__", "database_options", "delta_place", "file_formats", "local_paths", "meeting", "option"}
    shared |= {"starting_offsets", "topics"}
    assert modules == {each.name for each in (*CONNECTORS, *INTERNAL)} | shared
    run = {path.stem for path in list_files(ROOT / "runtime" / "connectors", ".py")}
    shared = {"__init__", "database_tables", "protocol", "table_sink"}
    assert run == {each.name for each in (*CONNECTORS, *INTERNAL) if not each.is_database} | shared


@pytest.mark.parametrize("connector", INTERNAL, ids=lambda each: each.name)
def test_no_script_can_name_an_internal_connector(connector: Connector) -> None:
    assert find_connector(connector.name) is None
