"""The command `penstock shell`."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from penstock.commands.options import CONF, read_settings
from penstock.commands.script_files import FAILED, INTERRUPTED, REFUSED, USAGE, errors_shown, read_source
from penstock.commands.show_findings import show_findings
from penstock.diagnostics import CompileError, Source
from penstock.diagnostics.codes.running import R087, R090

if TYPE_CHECKING:
    from penstock.shell.workspace import Workspace

WELCOME = "Statements end with a semicolon. \\? lists what can be typed, \\q ends."


@click.command()
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option("--master", metavar="URL", help="Spark cluster; the default is this machine.")
@click.option("--checkpoint", type=click.Path(file_okay=False), help="Folder for progress and state between runs.")
@CONF
def shell(files: tuple[str, ...], master: str | None, checkpoint: str | None, conf: tuple[str, ...]) -> None:
    """Check, run and query statements as they are typed, in one process.

    The FILEs are run first. Tab completes names and keywords, and the arrow keys find what was typed before. Spark
    starts with the first statement that needs it, and stays until the end.

    \b
    Examples:
      penstock shell orders.sql
      penstock shell
      penstock shell < statements.sql

    Where nobody types, the first error ends the shell. Exit code 0: done, 1: a statement was refused, 2: a file cannot
    be read, 3: failed while running, 130: Ctrl-C before the end.
    """
    settings = read_settings(conf)
    with errors_shown():
        sources = [read_source(file) for file in files]
    if find_spec("prompt_toolkit") is None:
        missing = R087.at(None, call="penstock shell", package="prompt_toolkit")
        show_findings([missing.with_hint("pip install 'penstock[shell]'")])
        sys.exit(USAGE)

    from penstock.runtime import RunError
    from penstock.shell.read_lines import is_typed, open_history, read_terminal
    from penstock.shell.split_texts import split_texts
    from penstock.shell.workspace import Workspace

    workspace, typed = Workspace(master, checkpoint, settings), is_typed()

    def run(source: Source) -> None:
        code = run_text(workspace, source)
        if code and not typed:
            sys.exit(code)

    try:
        for file in sources:
            for text in split_texts(file.text.splitlines(keepends=True)):
                run(Source(file.name, text))
        if typed:
            print(WELCOME)
            read_terminal(workspace, lambda text: run(Source("<shell>", text)), open_history(find_history()))
        else:
            with errors_shown():
                for text in split_texts(read_stdin()):
                    run(Source("<stdin>", text))
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    finally:
        try:
            workspace.close()
        except RunError as failure:
            show_findings(failure.diagnostics)


def run_text(workspace: Workspace, source: Source) -> int:
    """Runs a text, and prints what it comes to. Returns the exit code that fits.

    `SystemExit` ends the shell, which `\\q` asks for.
    """
    from penstock.runtime import RunError
    from penstock.shell import shell_commands

    workspace.tell_errors()
    try:
        shell_commands.run_text(workspace, source)
    except CompileError as refusal:
        show_findings(refusal.diagnostics)
        return REFUSED
    except RunError as failure:
        show_findings(failure.diagnostics)
        return FAILED
    except KeyboardInterrupt:
        print("stopped before the end", file=sys.stderr)
        return INTERRUPTED
    except shell_commands.LeaveShell:
        sys.exit(0)
    return 0


def read_stdin() -> Iterator[str]:
    """The lines of standard input, as they come. Raises CompileError with R090 if they are not UTF-8."""
    try:
        yield from io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8-sig", newline="\n")
    except UnicodeDecodeError as problem:
        reason = f"byte {problem.start} is not UTF-8"
        raise CompileError([R090.at(None, path="<stdin>", reason=reason)]) from problem


def find_history() -> Path:
    """The file with what was typed before."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "penstock" / "history"
