"""The command `penstock translate`."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING

import click

from penstock.diagnostics.terminal import exact
from penstock.script_files import REFUSED, errors_shown, read_source

if TYPE_CHECKING:
    from penstock.translate.model import TranslatedStatement

SYSTEMS = ("flink", "ksqldb", "spark")


@click.command()
@click.argument("file")
@click.option("--from", "system", type=click.Choice(SYSTEMS), required=True, help="Whose SQL the file has.")
def translate(file: str, system: str) -> None:
    """Print a script of another system as a script of Penstock, and report what becomes of each statement.

    A statement has the same meaning, or is changed and the report says how, or is refused with the reason. Refused
    statements are comments in the result. The report goes to standard error. The file - is standard input.

    \b
    Examples:
      penstock translate --from flink job.sql > orders.sql
      cat queries.sql | penstock translate --from ksqldb -

    Exit code 0: all is translated, 1: a statement is refused, 2: the file cannot be read.
    """
    with errors_shown():
        source = read_source(file)

    from penstock.translate import System, Verdict
    from penstock.translate import translate as translate_script

    counts: Counter[Verdict] = Counter()
    output = exact(sys.stdout)
    for before, statement in translate_script(source, System(system)):
        output.write(before)
        if statement is None:
            continue
        output.write(write_statement(statement))
        counts[statement.verdict] += 1
        click.echo(f"{source.name}:{statement.line}: {statement.verdict.value}: {statement.title}", err=True)
        for note in statement.notes:
            click.echo("  - " + note.replace("\n", "\n    "), err=True)
    told = ", ".join(f"{counts[verdict]} {verdict.value}" for verdict in Verdict)
    click.echo(f"statements: {told}", err=True)
    sys.exit(REFUSED if counts[Verdict.REFUSED] else 0)


def write_statement(statement: TranslatedStatement) -> str:
    """The statement as it stands in the result: with a semicolon, or as a comment."""
    from penstock.translate import Verdict

    if statement.verdict is Verdict.REFUSED:
        reason = " ".join(statement.notes[0].split())
        lines = [f"refused: {reason}", *statement.sql.splitlines()]
        return "\n".join(f"-- {line}".rstrip() for line in lines)
    return f"{statement.sql};" if statement.sql else f"-- left out: {statement.title}"
