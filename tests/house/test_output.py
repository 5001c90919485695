"""Whatever is printed passes `diagnostics/terminal.py`: nothing goes round it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.house.files import ROOT, list_files

ROOMS = ("kit", "grammar", "parser", "diagnostics", "planner", "evaluator", "codegen", "runtime", "server", "penstock")
HOME = "diagnostics/terminal.py"
ROUND = {
    # The streams behind the guard, and descriptors.
    *("sys.__stdout__", "sys.__stderr__", "sys.stdout.buffer", "sys.stderr.buffer", "os.write", "os.fdopen"),
    # Consoles, logs and warnings of their own.
    *("rich.console.Console", "rich.print", "logging.basicConfig", "logging.StreamHandler", "logging.FileHandler"),
    *("logging.Formatter", "pprint.pprint", "traceback.print_exc", "click.echo_via_pager", "builtins.print"),
}
"""What shows text and does not pass the guard, or need not."""
DOORS = {f"penstock.diagnostics.terminal.{name}" for name in ("exact", "styled", "GuardedStream")}
ALLOWED = {
    # Consoles with the guard's rules, and logs with them.
    "runtime/progress/plain_console.py": {"rich.console.Console", "penstock.diagnostics.terminal.styled"},
    "diagnostics/logs.py": {"logging.basicConfig", "logging.StreamHandler", "logging.Formatter"},
    # Findings with colours.
    "penstock/commands/show_findings.py": {"penstock.diagnostics.terminal.styled"},
    # What the prompt of the shell draws.
    "penstock/shell/read_lines.py": {"penstock.diagnostics.terminal.styled"},
    # Scripts, programs and rows that others read.
    "penstock/commands/answers.py": {"penstock.diagnostics.terminal.exact"},
    "penstock/commands/describe.py": {"penstock.diagnostics.terminal.exact"},
    "penstock/commands/fmt.py": {"penstock.diagnostics.terminal.exact"},
    "penstock/commands/translate.py": {"penstock.diagnostics.terminal.exact"},
    # Files of secrets.
    "server/serving.py": {"os.fdopen"},
    "server/database/embedded.py": {"os.fdopen"},
    "server/postgres/tls.py": {"os.fdopen"},
}
PRINTING = {
    # Behind the guard of the command line, which `tests/penstock/test_steering.py` walks.
    *(path.relative_to(ROOT).as_posix() for path in (ROOT / "penstock").glob("*.py")),
    *(path.relative_to(ROOT).as_posix() for path in (ROOT / "penstock" / "commands").glob("*.py")),
    *(path.relative_to(ROOT).as_posix() for path in (ROOT / "penstock" / "shell").glob("*.py")),
    # Behind that of the engine's process.
    "server/running/__main__.py",
    # Prints the documentation of functions, for the build.
    "planner/functions/__main__.py",
    # Is sent to another Python, and its output is read here.
    "runtime/spark/workers.py",
} - {"penstock/client.py", "penstock/session.py"}
"""The modules with `print` or `click.echo`."""


def find_names(text: str) -> Iterator[str]:
    """Dotted names that a module uses, with the names of their modules; `print` is `print`."""
    tree = ast.parse(text)
    known: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                top = each.name.partition(".")[0]
                known[each.asname or top] = each.name if each.asname else top
        elif isinstance(node, ast.ImportFrom):
            known |= {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
    for node in ast.walk(tree):
        path: list[str] = []
        part: ast.AST = node
        while isinstance(part, ast.Attribute):
            path.insert(0, part.attr)
            part = part.value
        if isinstance(part, ast.Name):
            yield ".".join([known.get(part.id, part.id), *path])


@pytest.mark.parametrize("room", ROOMS)
def test_nothing_goes_round_the_guard(room: str) -> None:
    found: dict[str, set[str]] = {}
    for path in list_files(ROOT / room, ".py"):
        name = path.relative_to(ROOT).as_posix()
        names = {*find_names(path.read_text(encoding="utf-8"))}
        wrong = names & (ROUND | DOORS) - ALLOWED.get(name, set())
        if name not in PRINTING:
            wrong |= names & {"print", "click.echo", "click.secho"}
        if wrong and name != HOME:
            found[name] = wrong
    assert found == {}


@pytest.mark.parametrize(
    "text",
    [
        "import sys\nsys.__stdout__.write('a')",
        "from sys import __stderr__\n__stderr__",
        "import sys as s\ns.stdout.buffer.write(b'a')",
        "from rich.console import Console as C\nC()",
        "import logging\nlogging.basicConfig()",
        "from penstock.diagnostics.terminal import styled\nstyled(a).write(b)",
    ],
)
def test_the_rule_refuses(text: str) -> None:
    assert {*find_names(text)} & (ROUND | DOORS)


def test_the_lists_have_no_more_than_there_is() -> None:
    for name, allowed in ALLOWED.items():
        assert allowed <= {*find_names((ROOT / name).read_text(encoding="utf-8"))}, name
