"""The libraries of the console are what their packages give, built as the lock file says."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.house.files import ROOT

VENDOR = ROOT / "server" / "http" / "vendor"
CONSOLE = ROOT / "server" / "http" / "console"
BUILT = {
    "drawing": ("dagre.js", "dagre.license.txt", "uplot.css", "uplot.js", "uplot.license.txt"),
    "editor": ("codemirror.js", "codemirror.license.txt"),
}


def run(*command: str, folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def read_lock(part: str) -> dict[str, dict[str, str]]:
    """The packages of a lock file by their names."""
    packages = json.loads((VENDOR / part / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    return {name.removeprefix("node_modules/"): package for name, package in packages.items() if name}


@pytest.mark.skipif(not (shutil.which("npm") and shutil.which("node")), reason="npm is not installed")
@pytest.mark.parametrize("part", BUILT)
def test_the_libraries_are_built_from_their_packages(tmp_path: Path, part: str) -> None:
    for name in ("package.json", "package-lock.json", *(path.name for path in (VENDOR / part).glob("*.*js"))):
        shutil.copy(VENDOR / part / name, tmp_path)
    run("npm", "ci", "--silent", "--ignore-scripts", "--no-audit", "--no-fund", folder=tmp_path)
    made = tmp_path / "made"
    made.mkdir()
    run("node", "build.mjs", str(made), folder=tmp_path)
    assert sorted(path.name for path in made.iterdir()) == sorted(BUILT[part])
    for name in BUILT[part]:
        assert (made / name).read_bytes() == (CONSOLE / name).read_bytes(), f"{name}: make console"


@pytest.mark.parametrize("part", BUILT)
def test_versions_are_pinned_with_their_digests(part: str) -> None:
    wanted = json.loads((VENDOR / part / "package.json").read_text(encoding="utf-8"))["devDependencies"]
    locked = read_lock(part)
    assert {name: locked[name]["version"] for name in wanted} == wanted
    assert [name for name, package in locked.items() if "integrity" not in package] == []


def test_the_editor_has_the_versions_of_its_lock_file() -> None:
    head = (CONSOLE / "codemirror.js").read_text(encoding="utf-8").splitlines()[0]
    bundled = dict(re.findall(r"((?:@[\w-]+/)?[\w-]+) (\d+\.\d+\.\d+)", head))
    locked = read_lock("editor")
    assert len(bundled) > 10
    assert bundled == {name: locked[name]["version"] for name in bundled}
    assert set(bundled) == {name for name in locked if "esbuild" not in name}


def test_licences_lie_beside() -> None:
    for name in ("dagre", "uplot"):
        assert "Permission is hereby granted, free of charge" in (CONSOLE / f"{name}.license.txt").read_text(
            encoding="utf-8"
        )
    parts = (CONSOLE / "codemirror.license.txt").read_text(encoding="utf-8").split(f"\n{'-' * 72}\n\n")
    locked = read_lock("editor")
    wanted = {f"{name} {package['version']}" for name, package in locked.items() if "esbuild" not in name}
    assert {part.partition("\n")[0] for part in parts} == wanted
    assert [part for part in parts if "Permission is hereby granted, free of charge" not in part] == []


def test_the_editor_asks_nobody_and_runs_no_text() -> None:
    text = (CONSOLE / "codemirror.js").read_text(encoding="utf-8")
    assert re.findall(r"\beval\(|new Function\(|\bimport\(|fetch\(|XMLHttpRequest", text) == []
