"""The command `penstock translate`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import click

from penstock.commands.script_files import REFUSED, errors_shown, read_source
from penstock.diagnostics.terminal import exact

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
    for text, statement in write_script(translate_script(source, System(system))):
        output.write(text)
        if statement is None:
            continue
        counts[statement.verdict] += 1
        click.echo(f"{source.name}:{statement.line}: {statement.verdict.value}: {statement.title}", err=True)
        for note in statement.notes:
            click.echo("  - " + note.replace("\n", "\n    "), err=True)
    told = ", ".join(f"{counts[verdict]} {verdict.value}" for verdict in Verdict)
    click.echo(f"statements: {told}", err=True)
    sys.exit(REFUSED if counts[Verdict.REFUSED] else 0)


def write_script(
    translated: Iterable[tuple[str, TranslatedStatement | None]],
) -> Iterator[tuple[str, TranslatedStatement | None]]:
    """The pieces of the result, each with the statement that is in it. A comment takes no statement behind it along.

    The result ends with its last line, as every file does.
    """
    is_comment, written = False, ""
    for before, statement in translated:
        is_joined = is_comment and not before.lstrip(" \t\r").startswith("\n")
        text = f"\n{before}" if is_joined and (before or statement) else before
        text += write_statement(statement) if statement else ""
        written = text or written
        yield text, statement
        is_comment = statement is not None and is_left_as_comment(statement)
    if written and not written.endswith("\n"):
        yield "\n", None


def is_left_as_comment(statement: TranslatedStatement) -> bool:
    """Whether the statement is refused or left out."""
    from penstock.translate import Verdict

    return statement.verdict is Verdict.REFUSED or not statement.sql


def write_statement(statement: TranslatedStatement) -> str:
    """The statement as it stands in the result: with a semicolon, or as a comment."""
    from penstock.translate import Verdict, comment_out

    if statement.verdict is Verdict.REFUSED:
        reason = " ".join(statement.notes[0].split())
        return comment_out(statement.sql, f"refused: {reason}\n")
    return f"{statement.sql};" if statement.sql else comment_out(statement.text, "left out: ")
