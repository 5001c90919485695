"""docs/how-to/ is right: pages are short, scripts are accepted, and commands have the options that pages name."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from penstock import compile
from penstock.commands.cli import main
from tests.house.files import ROOT, list_files

PAGES = list_files(ROOT / "docs" / "how-to", ".md")
TEST_PAGE = ROOT / "docs" / "how-to" / "test.md"
MOST_WORDS = 400
BLOCK = re.compile(r"^ *```(?P<language>\w+)\n(?P<text>.*?)^ *```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"\bpenstock (?P<name>[a-z][\w-]*)(?P<rest>.*)$", re.MULTILINE)


def list_blocks(path: Path, *languages: str) -> list[str]:
    blocks = BLOCK.finditer(path.read_text(encoding="utf-8"))
    return [block["text"] for block in blocks if block["language"] in languages]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_the_page_is_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").split()) <= MOST_WORDS


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_the_script_is_accepted_without_warnings(path: Path) -> None:
    (script,) = list_blocks(path, "sql")
    compilation = compile(script)
    assert compilation.queries
    assert compilation.diagnostics == ()


def list_commands() -> list[tuple[str, str]]:
    """The name of each command that a page shows, and the rest of its line."""
    texts = [text for path in PAGES for text in list_blocks(path, "sh", "ini", "text")]
    return [(command["name"], command["rest"]) for text in texts for command in COMMAND.finditer(text)]


@pytest.mark.parametrize(("name", "rest"), list_commands())
def test_a_command_has_the_options(name: str, rest: str) -> None:
    options = {option for parameter in main.commands[name].params for option in parameter.opts}
    assert {word for word in shlex.split(rest) if word.startswith("--")} <= options


def test_commands_are_found() -> None:
    assert len(list_commands()) > 15


@pytest.mark.spark
def test_the_test_of_the_page_passes(tmp_path: Path) -> None:
    (script,) = list_blocks(TEST_PAGE, "sql")
    (test,) = list_blocks(TEST_PAGE, "python")
    (tmp_path / "totals.sql").write_text(script, encoding="utf-8")
    (tmp_path / "test_totals.py").write_text(test, encoding="utf-8")
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_totals.py"]
    ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout
    assert "1 passed" in ended.stdout
