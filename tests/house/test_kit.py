"""The modules of `kit` bear what is done to them: workers get functions by value, and jobs get them in an archive."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.house.files import ROOT, list_files

KIT = ROOT / "kit"
ON_PYSPARK = {
    *("checkpoint_sources", "clock_view", "datagen", "intermediate", "rate"),
    *("delta.delta_feed", "delta.delta_writer", "files.csv_files", "files.files", "files.openable_files"),
    *("files.ordered_files", "tables.table_batches", "tables.table_lookup", "worker.computed_views"),
}
"""The modules that need pyspark as soon as they are imported. Scripts are compiled without it."""


def find_roots(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The names of the packages that statements import from."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (each.name.partition(".")[0] for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]


def find_inner_imports(text: str) -> set[str]:
    """The packages that functions and classes import, and blocks that run. Blocks for type checkers never run."""
    parts = [node for node in ast.parse(text).body if not is_for_types(node)]
    return {*find_roots(inner for node in parts for inner in ast.walk(node) if inner is not node)}


def is_for_types(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(KIT).with_suffix("").parts)


def test_pyspark_is_imported_where_it_is_needed() -> None:
    trees = {dotted(path): ast.parse(path.read_text(encoding="utf-8")) for path in list_files(KIT, ".py")}
    assert {name for name, tree in trees.items() if "pyspark" in find_roots(tree.body)} == ON_PYSPARK


@pytest.mark.parametrize("path", list_files(KIT, ".py"), ids=dotted)
def test_no_function_imports_penstock(path: Path) -> None:
    """A worker would run the import, and has no Penstock."""
    assert "penstock" not in find_inner_imports(path.read_text(encoding="utf-8"))


def test_inner_imports_are_found() -> None:
    text = "import a\ndef f():\n    import b.c\n    from d.e import f\n"
    text += "if TYPE_CHECKING:\n    import g\nif a:\n    import h\n"
    assert find_inner_imports(text) == {"b", "d", "h"}
