"""The command `penstock diff`, and how rows are shown over which two versions of a script differ."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from penstock.commands.script_files import REFUSED, USAGE, compile_files, errors_shown
from penstock.diagnostics import show_text

if TYPE_CHECKING:
    from penstock.testing.find_difference import Found, Versions

LEAST = 20
"""Histories that are tried, however long they take."""


@click.command()
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option("--for", "seconds", type=click.FloatRange(0), default=5, metavar="SECONDS", help="How long to search.")
def diff(old: str, new: str, seconds: float) -> None:
    """Search for rows over which two versions of a script come to other results. Neither Spark nor Java is needed.

    Rows are drawn for the inputs of OLD. Relations are compared that both scripts write, with the same columns.

    \b
    Examples:
      penstock diff orders.sql orders-new.sql
      penstock diff old.sql new.sql --for 60

    Exit code 0: no difference was found, 1: one was found, or a script is refused, 2: a file cannot be read, or nothing
    can be compared.
    """
    from penstock.testing.find_difference import Versions

    with errors_shown():
        versions = Versions(compile_files([old]), compile_files([new]))
    if not versions.pairs:
        click.echo("nothing to compare: both scripts write no relation of the same name and columns", err=True)
        sys.exit(USAGE)
    begun, number = time.monotonic(), 0
    while number < LEAST or time.monotonic() - begun < seconds:
        found = versions.find(number)
        number += 1
        if found is not None:
            click.echo(f"{show_text(found.relation)} differs over these rows:")
            click.echo("\n".join(show_difference(found, versions)))
            sys.exit(REFUSED)
    for name, reason in versions.unknown.items():
        click.echo(show_text(f"{name} is not compared: {reason}"), err=True)
    compared = ", ".join(name for name in versions.pairs if name not in versions.unknown)
    if not compared:
        sys.exit(USAGE)
    click.echo(show_text(f"no difference over {number:,} histories: {compared}"))


def show_difference(found: Found, versions: Versions) -> Iterator[str]:
    """The rows as GIVEN, and what differs: rows that only one version gives."""
    from penstock.testing.find_difference import list_given

    yield from (f"  {show_text(each)}" for each in list_given(found, versions.inputs))
    yield from (f"  {line}" for line in found.table)
