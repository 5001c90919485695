"""A class name is defined once in the code base, so that a reader who meets it knows which class it is."""

from __future__ import annotations

import ast
from collections import defaultdict

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
