"""Code that tells operators apart names all of them: mypy then lists what a new operator needs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import TypeGuard, get_args

from penstock.planner.physical.choose import Physical
from penstock.planner.plan import Operator, ReadOperator
from tests.house.files import ROOT, list_files

NAMES = {each.__name__ for each in (*get_args(Operator), *get_args(ReadOperator))}
PHYSICAL = {each.__name__ for each in get_args(Physical)}


def test_every_ladder_over_operators_ends_in_assert_never() -> None:
    paths = [
        path for room in ("planner", "codegen", "kit", "runtime", "penstock") for path in list_files(ROOT / room, ".py")
    ]
    found = [f"{path.relative_to(ROOT)}:{line}" for path in paths for line in open_ladders(path)]
    assert found == []


def open_ladders(path: Path) -> Iterator[int]:
    """The lines of `match` statements over operators that do not end so."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Match):
            patterns = [each for case in node.cases for each in ast.walk(case.pattern)]
            classes = {
                each.cls.id for each in patterns if isinstance(each, ast.MatchClass) if isinstance(each.cls, ast.Name)
            }
            if classes & (NAMES | PHYSICAL) and "assert_never(" not in ast.unparse(node.cases[-1]):
                yield node.lineno


def test_every_node_is_in_a_union() -> None:
    """`Unary` and its like are bases, and no operators."""
    paths = list_files(ROOT / "planner" / "plan", ".py")
    classes = [each for path in paths for each in ast.walk(ast.parse(path.read_text("utf-8"))) if is_class(each)]
    parents: dict[str, list[str]] = {each.name: list(map(ast.unparse, each.bases)) for each in classes}
    bases = {base for each in parents.values() for base in each}
    nodes = {name for name in parents if name not in bases and "Node" in above(name, parents)}
    assert nodes == NAMES


def test_every_physical_operator_is_in_the_union() -> None:
    """A class whose name begins with an underscore is a base."""
    paths = list_files(ROOT / "planner" / "physical", ".py")
    classes = [each for path in paths for each in ast.walk(ast.parse(path.read_text("utf-8"))) if is_class(each)]
    parents = {each.name: list(map(ast.unparse, each.bases)) for each in classes}
    found = {name for name in parents if "PhysicalOperator" in above(name, parents) and not name.startswith("_")}
    assert found == {*PHYSICAL, "PhysicalOperator"}


def test_no_way_of_running_is_another_one() -> None:
    """In a ladder the case of a class would hide the cases of the classes that derive from it."""
    ways = get_args(Physical)
    assert [(one, other) for one in ways for other in ways if one is not other and issubclass(one, other)] == []


def is_class(node: ast.AST) -> TypeGuard[ast.ClassDef]:
    return isinstance(node, ast.ClassDef)


def above(name: str, parents: dict[str, list[str]]) -> set[str]:
    """The class and all that it derives from."""
    return {name}.union(*(above(each, parents) for each in parents.get(name, ())))
