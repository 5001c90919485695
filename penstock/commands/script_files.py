"""What the commands share that read scripts: files, findings and exit codes."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from penstock.commands.show_findings import show_findings
from penstock.diagnostics import CompileError, Source
from penstock.diagnostics.codes.running import R090

if TYPE_CHECKING:
    from penstock.compilation import Compilation

REFUSED, USAGE, FAILED, INTERRUPTED = 1, 2, 3, 130
"""The exit codes, beside 0."""
TESTS = "_test.sql"
"""How the names of files of tests end."""

FILES = click.argument("files", nargs=-1, required=True, metavar="FILE...")


def read_source(file: str) -> Source:
    """The script in a file; `-` is standard input. Raises CompileError with R090."""
    try:
        content = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return Source("<stdin>" if file == "-" else file, content.decode("utf-8-sig"))
    except OSError as problem:
        raise CompileError([R090.at(None, path=file, reason=explain_problem(problem))]) from problem
    except UnicodeDecodeError as problem:
        raise CompileError([R090.at(None, path=file, reason=f"byte {problem.start} is not UTF-8")]) from problem


def compile_files(files: Iterable[str]) -> Compilation:
    """The files as one script. Raises CompileError."""
    from penstock.compilation import compile_sources

    return compile_sources([read_source(file) for file in files])


def write_file(file: str, text: str, parameter: str) -> None:
    """Raises BadParameter, about the parameter of the command, if the file cannot be written."""
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as problem:
        reason = explain_problem(problem)
        raise click.BadParameter(f"{file} cannot be written: {reason}", param_hint=parameter) from problem


def explain_problem(problem: OSError) -> str:
    return (problem.strerror or "failed").lower()


@contextmanager
def errors_shown() -> Iterator[None]:
    """Ends the process with the exit code that fits when the body raises a CompileError."""
    try:
        yield
    except CompileError as refusal:
        show_findings(refusal.diagnostics)
        sys.exit(exit_code(refusal))


@contextmanager
def failures_shown() -> Iterator[None]:
    """Ends the process with the exit code that fits when the body raises a RunError, or is interrupted."""
    from penstock.runtime import RunError

    try:
        yield
    except RunError as failure:
        show_findings(failure.diagnostics)
        sys.exit(FAILED)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def exit_code(refusal: CompileError) -> int:
    return USAGE if refusal.diagnostics[0].code == R090.id else REFUSED
