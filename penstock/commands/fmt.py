"""The command `penstock fmt`."""

from __future__ import annotations

import sys

import click

from penstock.commands.script_files import FILES, REFUSED, TESTS, exit_code, read_source, write_file
from penstock.commands.show_findings import show_findings
from penstock.diagnostics import CompileError
from penstock.diagnostics.terminal import exact


@click.command()
@FILES
@click.option("--check", is_flag=True, help="Write nothing; list the files that would change.")
def fmt(files: tuple[str, ...], check: bool) -> None:
    """Lay scripts out: clauses on lines of their own, lists indented, keywords in capitals, comments at their places.

    A file is written only if the result has the same statements. Names of files of tests end in _test.sql. The file -
    is standard input; its result goes to standard output.

    \b
    Examples:
      penstock fmt declarations.sql queries.sql
      penstock fmt --check *.sql
      penstock fmt - < orders.sql

    Exit code 0: done, or nothing to do, 1: refused, or --check found files, 2: a file cannot be read or written.
    """
    status = 0
    for file in files:
        try:
            status = max(status, _format_file(file, check))
        except CompileError as refusal:
            show_findings(refusal.diagnostics)
            status = max(status, exit_code(refusal))
    sys.exit(status)


def _format_file(file: str, check: bool) -> int:
    """The exit code. Raises CompileError."""
    from penstock.parser import LayoutError, format_script, format_tests

    source = read_source(file)
    try:
        text = format_tests(source) if file.endswith(TESTS) else format_script(source)
    except LayoutError:
        click.echo(f"not formatted: {source.name}: its layout would change its meaning, a defect of Penstock", err=True)
        return REFUSED
    is_changed = text != source.text
    if check:
        if is_changed:
            click.echo(source.name)
        return REFUSED if is_changed else 0
    if file == "-":
        exact(sys.stdout).write(text)
    elif is_changed:
        write_file(file, text, "FILE")
        click.echo(f"formatted: {file}")
    return 0
