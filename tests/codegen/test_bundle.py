"""A program has what it calls, and the imports of that, and no more."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from penstock import compile
from penstock.codegen import eject, lower
from penstock.codegen.bundle import bundle_definitions
from penstock.codegen.connectors import CALLS
from penstock.diagnostics import CompileError
from penstock.kit.databases.engine import ServerEngine
from penstock.kit.databases.engines import ENGINES
from tests.codegen.plans import query, scan

ONE = '''
import json as text
from collections.abc import Iterator, Mapping
from os import path

LIMIT = 3


def used(rows: Iterator[int]) -> str:
    """Calls what stands below."""
    unused = 1
    return text.dumps([help_out(row + unused) for row in rows])


def help_out(row: int) -> int:
    return min(row, LIMIT)


def unused(given: Mapping[str, int]) -> str:
    return path.sep
'''


def test_definitions_come_in_their_order_with_their_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one_bundled.py").write_text(ONE)
    monkeypatch.syspath_prepend(tmp_path)
    imports, parts = bundle_definitions("def run():\n    print(used([1]))\n", ["one_bundled"])
    assert imports == "import json as text\nfrom collections.abc import Iterator\n"
    assert [part.split("\n")[0] for part in parts] == [
        "LIMIT = 3",
        "def used(rows: Iterator[int]) -> str:",
        "def help_out(row: int) -> int:",
    ]


def test_a_name_is_defined_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("first_bundled", "second_bundled"):
        (tmp_path / f"{name}.py").write_text("def twice():\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(AssertionError, match="twice is defined twice"):
        bundle_definitions("twice()", ["first_bundled", "second_bundled"])


def test_a_program_for_a_connector_that_is_not_made_for_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(CALLS, "memory")
    with pytest.raises(CompileError, match="not supported yet: a program that writes through memory"):
        eject(lower([query(scan(), "q")]))


def test_a_program_has_the_functions_that_it_calls() -> None:
    tree = ast.parse(eject(lower([query(scan(), "q")])))
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    assert {"read_files", "read_json", "write_memory", "print_memory", "run", "main", "query_q"} <= defined
    assert defined & {"read_csv", "read_rate", "write_console", "pane_view", "pack_rows", "clock"} == set()


@pytest.mark.parametrize("name", ENGINES)
def test_a_program_has_the_databases_that_it_names(name: str) -> None:
    engine = ENGINES[name]
    place = f"url = '{engine.schemes[0]}://h/db'" if isinstance(engine, ServerEngine) else "path = 'shop.db'"
    script = f"""
        CREATE STREAM s (id BIGINT) WITH (connector = 'files', path = 'in', format = 'json');
        CREATE TABLE t (id BIGINT PRIMARY KEY) WITH (connector = '{name}', {place}, table = 't');
        INSERT INTO t SELECT STREAM id FROM s;
    """
    text = eject(compile(script).program)
    defined = {node.name for node in ast.parse(text).body if isinstance(node, ast.ClassDef)}
    assert {each for each in ENGINES if type(ENGINES[each]).__name__ in defined} == {name}
    assert f'ENGINES = {{"{name}": {name.upper()}}}' in text.replace("'", '"')
