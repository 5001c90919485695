"""docs/first-table.md: the commands make the table, and the picture shows what they print.

`pytest --accept` draws the picture anew.
"""

from __future__ import annotations

import html
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console
from rich.text import Text

from tests.house.files import ROOT

PAGE = ROOT / "docs" / "first-table.md"
PICTURE = ROOT / "docs" / "images" / "first-table.svg"
BLOCK = re.compile(r"```(sh|console)\n(.*?)```", re.DOTALL)
MOST_COMMANDS, MOST_CHARACTERS = 10, 1_000
"""A thousand characters are five minutes of slow typing."""
WIDTH = 120
FONTS = re.compile(r"@font-face \{.*?\}\n", re.DOTALL)


def read_page() -> tuple[str, list[str]]:
    """What makes the folder, and the commands."""
    blocks = dict(BLOCK.findall(PAGE.read_text(encoding="utf-8")))
    return blocks["sh"], re.findall(r"^\$ (.*)$", blocks["console"], re.MULTILINE)


def run(folder: Path, command: str) -> str:
    """Runs a command in a shell of its own, as somebody types it. Returns what it prints."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COLUMNS": str(WIDTH)}
    shell = ["bash", "-o", "pipefail", "-c", command]
    ended = subprocess.run(shell, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return "\n".join(line.rstrip() for line in ended.stdout.strip("\n").splitlines())


def draw(steps: list[tuple[str, str]]) -> str:
    """The commands with what they print, as a terminal shows them. It loads no fonts from elsewhere."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    for command, printed in steps:
        console.print(Text(f"$ {command}", "bold green"))
        console.print(Text(printed))
    return FONTS.sub("", console.export_svg(title="A first table", unique_id="first-table"))


def read_words(text: str) -> list[str]:
    return re.sub(r"<[^>]*>", " ", html.unescape(text).replace("\xa0", " ")).split()


def test_ten_commands_are_typed_in_five_minutes() -> None:
    _, commands = read_page()
    assert len(commands) <= MOST_COMMANDS
    assert sum(map(len, commands)) <= MOST_CHARACTERS
    assert not [each for each in commands if re.search(r"\brm\b", each)]


@pytest.mark.spark
def test_the_picture_shows_what_the_commands_print(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    files, commands = read_page()
    run(tmp_path, files)
    steps = [(each, run(tmp_path, each)) for each in commands]
    assert [line.split() for line in steps[-1][1].splitlines()[-2:]] == [["CH", "3", "484.40"], ["AT", "1", "49.90"]]
    if request.config.getoption("--accept"):
        PICTURE.parent.mkdir(exist_ok=True)
        PICTURE.write_text(draw(steps), encoding="utf-8")
    shown = PICTURE.read_text(encoding="utf-8")
    assert read_words(shown[shown.index("</style>") :]) == read_words((drawn := draw(steps))[drawn.index("</style>") :])
    assert "http" not in shown.replace("http://www.w3.org/", "").replace("https://www.textualize.io", "")
