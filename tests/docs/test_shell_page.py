"""docs/shell.md: the session is as printed, and the commands are the ones that there are."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from penstock.commands.cli import main
from penstock.commands.shell import WELCOME
from penstock.shell.shell_commands import COMMANDS

PAGE = (Path(__file__).parents[2] / "docs" / "shell.md").read_text(encoding="utf-8")
DECLARATION = (
    "CREATE STREAM orders (id BIGINT, price DOUBLE) WITH (connector = 'files', path = 'orders.json', format = 'json');"
)


def test_the_session_is_as_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "orders.sql").write_text(DECLARATION)
    lines = [{"id": 1, "price": 12.99}, {"id": 2, "price": 4.99}, {"id": 3, "price": 1}]
    (tmp_path / "orders.json").write_text("".join(json.dumps(each) + "\n" for each in lines))
    (session,) = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
    typed = re.findall(r"^penstock> (.*)$", session, re.MULTILINE)
    printed = CliRunner().invoke(main, ["shell", "orders.sql"], input="\n".join(typed)).stdout
    shown = [line for line in session.splitlines() if not line.startswith(("$ ", "penstock> ")) and line != WELCOME]
    assert [*filter(str.strip, map(str.rstrip, printed.splitlines()))] == [*filter(None, shown)]


def test_every_command_is_described() -> None:
    rows = PAGE.partition("| command |")[2].partition("\n\n")[0]
    assert set(re.findall(r"`\\([\w?]+)", rows)) == COMMANDS.keys()
