"""docs/command-line.md has what `--help` of each command prints."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest

from penstock.commands.cli import main
from tests.house.files import ROOT

PAGE = ROOT / "docs" / "command-line.md"
HEAD = """# Command line

What `penstock --help` and `penstock COMMAND --help` print. Exit codes: 0 done, 1 refused, 2 wrong usage or a file
that cannot be read, 3 failed while running. Made by `.venv/bin/pytest --accept tests/docs`.
"""
WIDTH = 100


def sections() -> Iterator[str]:
    whole = click.Context(main, info_name="penstock", terminal_width=WIDTH, help_option_names=["-h", "--help"])
    yield f"```text\n{main.get_help(whole)}\n```\n"
    for name in main.list_commands(whole):
        command = main.commands[name]
        context = click.Context(command, info_name=name, parent=whole, terminal_width=WIDTH)
        yield f"## {name}\n```text\n{command.get_help(context)}\n```\n"


def test_the_page_has_the_help_of_each_command(request: pytest.FixtureRequest) -> None:
    page = "\n".join([HEAD, *sections()])
    if request.config.getoption("--accept"):
        PAGE.write_text(page, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page


def test_a_command_without_help_would_be_seen() -> None:
    assert [name for name, command in main.commands.items() if not command.help] == []
