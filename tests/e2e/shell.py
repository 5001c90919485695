"""A folder and command lines -> what a user sees who types them there."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from click.testing import CliRunner, Result

from penstock.commands.cli import main

PENSTOCK = (sys.executable, "-c", "from penstock.commands.cli import main; main(prog_name='penstock')")
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
LOCAL = ("--master", "local[2]")
Accounts: TypeAlias = dict[tuple[str, str], list[int]]


def call(
    folder: Path,
    *command: str,
    environment: Mapping[str, str] = ENVIRONMENT,
    text: str | None = None,
    seconds: float = 300,
) -> subprocess.CompletedProcess[str]:
    """Runs a command in a folder to its end; `text` is its standard input."""
    return subprocess.run(
        command, cwd=folder, env=environment, input=text, capture_output=True, text=True, check=False, timeout=seconds
    )


def penstock(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs `penstock` with these arguments."""
    return call(folder, *PENSTOCK, *arguments)


def penstock_here(folder: Path, *arguments: str) -> Result:
    """Runs `penstock` with these arguments in this process, whose Spark it takes if there is one."""
    with contextlib.chdir(folder):
        return CliRunner().invoke(main, arguments, prog_name="penstock")


def write(folder: Path, files: Mapping[str, str | Sequence[object]]) -> None:
    """Writes files, each a second younger than the one before: a text as it is, anything else as lines of JSON."""
    for number, (name, content) in enumerate(files.items()):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = content if isinstance(content, str) else "".join(f"{json.dumps(row)}\n" for row in content)
        path.write_text(lines, encoding="utf-8")
        os.utime(path, (1_750_000_000 + number,) * 2)


def accounts(output: str) -> Accounts:
    """The accounts at the end of a run by query and input: in, rejected, late, filtered, used; of the first one out."""
    found: Accounts = {}
    query = ""
    for line in output.partition("tables of databases")[0].splitlines():
        if line.startswith("│"):
            cells = [cell.strip() for cell in line.strip("│").split("│")]
            query = cells[0] or query
            found[query, cells[1]] = [int(cell.replace(",", "")) for cell in cells[2:] if cell]
    return found
