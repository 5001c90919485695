"""The libraries of the console are what their packages give, built as the lock file says."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.house.files import ROOT

DRAWING = ROOT / "server" / "http" / "vendor" / "drawing"
CONSOLE = ROOT / "server" / "http" / "console"
BUILT = ("dagre.js", "dagre.license.txt", "uplot.css", "uplot.js", "uplot.license.txt")


def run(*command: str, folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(not (shutil.which("npm") and shutil.which("node")), reason="npm is not installed")
def test_the_libraries_are_built_from_their_packages(tmp_path: Path) -> None:
    for name in ("package.json", "package-lock.json", "build.mjs"):
        shutil.copy(DRAWING / name, tmp_path)
    run("npm", "ci", "--silent", "--ignore-scripts", "--no-audit", "--no-fund", folder=tmp_path)
    made = tmp_path / "made"
    made.mkdir()
    run("node", "build.mjs", str(made), folder=tmp_path)
    assert sorted(path.name for path in made.iterdir()) == sorted(BUILT)
    for name in BUILT:
        assert (made / name).read_bytes() == (CONSOLE / name).read_bytes(), f"{name}: npm run build"


def test_versions_are_pinned_with_their_digests() -> None:
    wanted = json.loads((DRAWING / "package.json").read_text(encoding="utf-8"))["devDependencies"]
    locked = json.loads((DRAWING / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    assert {name: locked[f"node_modules/{name}"]["version"] for name in wanted} == wanted
    assert [name for name, package in locked.items() if name and "integrity" not in package] == []


def test_licences_lie_beside() -> None:
    for name in ("dagre", "uplot"):
        assert "Permission is hereby granted, free of charge" in (CONSOLE / f"{name}.license.txt").read_text(
            encoding="utf-8"
        )
