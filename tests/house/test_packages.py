"""What an install contains is what lies on disk, under the one name `penstock`."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.house.files import ROOT, list_files

ROOMS = ("codegen", "diagnostics", "evaluator", "grammar", "kit", "parser", "planner", "runtime", "server")


def setuptools_table() -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    return table


def test_every_package_on_disk_is_listed() -> None:
    modules = (path for room in (*ROOMS, "penstock") for path in list_files(ROOT / room, ".py"))
    folders = [path.parent.relative_to(ROOT).parts for path in modules if path.name == "__init__.py"]
    on_disk = {".".join(folder if folder[0] == "penstock" else ("penstock", *folder)) for folder in folders}
    assert sorted(on_disk) == setuptools_table()["packages"]


def test_every_folder_with_modules_is_a_package() -> None:
    modules = [path for room in ROOMS for path in list_files(ROOT / room, ".py")]
    assert [str(path) for path in modules if not (path.parent / "__init__.py").is_file()] == []


def test_rooms_are_mapped_below_penstock() -> None:
    assert setuptools_table()["package-dir"] == {"penstock": "penstock", **{f"penstock.{room}": room for room in ROOMS}}


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_are_linked_below_penstock(room: str) -> None:
    link = ROOT / "penstock" / room
    assert link.is_symlink()
    assert str(link.readlink()) == f"../{room}"


def test_no_file_has_more_than_400_lines() -> None:
    long = {}
    for folder in (*ROOMS, "penstock", "tests", "examples", "bench"):
        for path in list_files(ROOT / folder, ".py", ".lark"):
            lines = len(path.read_text(encoding="utf-8").splitlines())
            if lines > 400:
                long[str(path.relative_to(ROOT))] = lines
    assert long == {}


def test_files_are_those_that_git_knows_or_would_add(tmp_path: Path) -> None:
    made = ("kept.py", "new.py", "inner/deep.py", ".hidden/left.py", "__pycache__/left.py", "notes.txt")
    for name in made:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    project = [tmp_path / name for name in ("inner/deep.py", "kept.py", "new.py")]
    assert list_files(tmp_path, ".py") == project, "without git"
    (tmp_path / ".gitignore").write_text(".hidden\n__pycache__\n", encoding="utf-8")
    subprocess.run(["git", "init", "--quiet", "."], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "kept.py"], cwd=tmp_path, check=True)
    assert list_files(tmp_path, ".py") == project, "with git"


def test_contributing_names_all_variables_of_the_tests() -> None:
    texts = [path.read_text(encoding="utf-8") for path in list_files(ROOT / "tests", ".py")]
    read = {name for text in texts for name in re.findall(r'environ\.get\("(PENSTOCK_\w+)"', text)}
    assert "PENSTOCK_STATEMENTS" in read
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert {name for name in read if f"`{name}`" not in page} == set()


HEAVY = {"pyspark", "pandas", "numpy", "pyarrow", "duckdb", "py4j"}
SQL = "CREATE STREAM s (a INT) WITH (connector = 'files', path = 'x', format = 'json'); SELECT STREAM a FROM s"
COMPILE = f'import penstock; penstock.compile("{SQL}")'


@pytest.mark.parametrize(
    ("code", "heavy"),
    [
        ("import penstock", HEAVY | {"lark", "sqlglot", "click", "rich"}),
        ("import penstock.diagnostics", HEAVY | {"lark", "sqlglot", "click", "rich"}),
        (COMPILE, HEAVY | {"penstock.evaluator"}),
        ("import penstock.evaluator", HEAVY | {"lark", "click", "rich"}),
        ("import penstock.pytest_plugin", HEAVY | {"lark", "sqlglot", "click", "rich"}),
    ],
    ids=["penstock", "diagnostics", "compile", "evaluator", "pytest_plugin"],
)
def test_light_things_load_no_heavy_ones(code: str, heavy: set[str]) -> None:
    script = f"{code}\nimport sys\nprint(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert "penstock" in loaded
    assert heavy & loaded == set()
