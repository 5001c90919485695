"""The files of the project: those that git knows or would add, and none that tools leave beside them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
LEFT_BY_TOOLS = {"__pycache__", "build", "out", "spark-warehouse"}


def list_files(root: Path, *suffixes: str) -> list[Path]:
    """The project's files below a folder whose names end so, sorted."""
    return sorted(path for path in find_files(root) if path.suffix in suffixes and path.is_file())


def find_files(root: Path) -> Iterator[Path]:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        names = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):  # git is not installed, or this is no work tree
        yield from walk_files(root)
    else:
        yield from (root / name for name in names.split("\0") if name)


def walk_files(root: Path) -> Iterator[Path]:
    """All files, without hidden folders and those that tools write."""
    for folder, inner, names in os.walk(root):
        inner[:] = [name for name in inner if not name.startswith(".") and name not in LEFT_BY_TOOLS]
        yield from (Path(folder, name) for name in names)
