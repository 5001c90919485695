"""A class name is defined once in the code base, so that a reader who meets it knows which class it is."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module

import pytest

from tests.house.files import ROOT, list_files
from tests.house.test_imports import BELOW


def test_a_class_name_is_defined_once() -> None:
    definitions: dict[str, list[str]] = defaultdict(list)
    for room in BELOW:
        for path in list_files(ROOT / room, ".py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                # py4j looks for a class of this name within a class.
                if isinstance(node, ast.ClassDef) and node.name != "Java":
                    definitions[node.name].append(str(path.relative_to(ROOT)))
    assert {name: paths for name, paths in definitions.items() if len(paths) > 1} == {}


def test_what_a_module_offers_is_there() -> None:
    """`from module import *` fails for a name in `__all__` that the module has not."""
    missing: list[str] = []
    for room in BELOW:
        for path in list_files(ROOT / room, ".py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            offered, named = list_offered(tree), set(list_named(tree))
            missing += [f"{path.relative_to(ROOT)}: {name}" for name in offered if name not in named]
    assert missing == []


def list_offered(tree: ast.Module) -> list[str]:
    """The names in `__all__`."""
    return [
        name.value
        for node in tree.body
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets)
        for name in ast.walk(node.value)
        if isinstance(name, ast.Constant) and isinstance(name.value, str)
    ]


def list_named(tree: ast.Module) -> Iterator[str]:
    """The names that a module imports, defines and assigns, wherever it does so."""
    for node in ast.walk(tree):
        match node:
            case ast.alias():
                yield node.asname or node.name.partition(".")[0]
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                yield node.name
            case ast.Name(ctx=ast.Store()):
                yield node.id
            case _:
                pass


@pytest.mark.parametrize("package", ["penstock", "penstock.planner", "penstock.runtime"])
def test_names_that_are_loaded_late_have_a_home(package: str) -> None:
    """`_HOMES` names modules as texts, which no type checker follows."""
    interface = import_module(package)
    prefix = "" if package == "penstock" else f"{package}."
    for name, home in interface._HOMES.items():
        path = ROOT.joinpath(*f"{prefix}{home}".removeprefix("penstock.").split("."))
        module = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        if not module.is_file():
            module = ROOT / "penstock" / module.relative_to(ROOT)
        assert name in list_named(ast.parse(module.read_text(encoding="utf-8"))), f"{name} is not in {home}"
