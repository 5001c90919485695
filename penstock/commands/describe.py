"""The command `penstock describe`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from penstock.commands.script_files import errors_shown, failures_shown
from penstock.diagnostics import show_json
from penstock.diagnostics.terminal import exact

if TYPE_CHECKING:
    from penstock.describe.declare import DescribedPlace
    from penstock.describe.found_place import WrittenOption


@click.command()
@click.argument("places", nargs=-1, required=True, metavar="PLACE")
@click.option("--name", help="What the stream or table is called; the default is taken from the place.")
@click.option("--format", "form", type=click.Choice(["sql", "json", "table"]), default="sql", help="How to print it.")
@click.option("--rows", type=click.IntRange(min=0), default=5, show_default=True, help="How many rows to show.")
@click.option(
    "--connect",
    metavar="ADDRESS",
    help="Where the topic or table is: host:port of brokers, postgresql://user@host/database, or a file of a database.",
)
@click.option("--password-env", metavar="NAME", help="The variable of the environment with the password.")
@click.option("--records", type=click.Choice(["json", "csv", "parquet"]), help="What the records are, if unclear.")
def describe(
    places: tuple[str, ...],
    name: str | None,
    form: str,
    rows: int,
    connect: str | None,
    password_env: str | None,
    records: str | None,
) -> None:
    """Print a declaration of files, of a topic or of a table: types, event time, delay, and the first rows.

    PLACE is a folder, a file or a pattern in quotes; with --connect it is the name of a topic or table. No Spark is
    started. Comments say what was read, what may be the key, and which fields differ from file to file.

    \b
    Examples:
      penstock describe data/orders > orders.sql
      penstock describe 'data/events/*.json'
      penstock describe --format table data/flights.csv
      penstock describe --connect localhost:9092 orders
      penstock describe --connect postgresql://ada@db/shop --password-env SHOP_PASSWORD customers
      penstock describe --connect shop.duckdb customers

    Exit code 0: printed, 1: nothing can be described there, 2: usage, 3: a file cannot be read, or nobody answers.
    130: Ctrl-C before the end.
    """
    from penstock.describe.found_place import WrittenOption
    from penstock.parser import string_text

    if connect is None and password_env is not None:
        raise click.UsageError("--password-env goes with --connect")
    password = None if password_env is None else WrittenOption(f"ENV({string_text(password_env)})")
    with errors_shown(), failures_shown(), _progress_shown() as progress:
        declaration = _find(places, name, connect, password, records, rows, progress)
    match form:
        case "json":
            click.echo(show_json(json.dumps(_report(declaration), indent=2, ensure_ascii=False)))
        case "table":
            _show_table(declaration)
        case _:
            exact(sys.stdout).write(declaration.script)


def _find(
    places: tuple[str, ...],
    name: str | None,
    connect: str | None,
    password: WrittenOption | None,
    records: str | None,
    rows: int,
    progress: Callable[[str], None],
) -> DescribedPlace:
    """Raises CompileError, RunError."""
    from penstock.describe.declare import declare
    from penstock.describe.files import describe_files

    if connect is None:
        path = _join_places(places)
        return declare(describe_files(path, name, records, progress), rows)
    if len(places) > 1:
        raise click.UsageError("--connect takes the name of one topic or table")
    from penstock.describe.connected import describe_connected

    return describe_connected(connect, places[0], name, password, records, rows)


def _join_places(places: tuple[str, ...]) -> str:
    """The path that stands for all of the places: a shell has made several of a pattern without quotes."""
    if len(places) == 1:
        return places[0]
    import os

    folders = {os.path.dirname(each) for each in places}
    endings = {os.path.splitext(each)[1] for each in places}
    if len(folders) == len(endings) == 1:
        (folder,), (ending,) = folders, endings
        there = {
            each for each in os.listdir(folder or ".") if each.endswith(ending) and not each.startswith((".", "_"))
        }
        if there == {os.path.basename(each) for each in places}:
            return os.path.join(folder, f"*{ending}")
    raise click.UsageError("one PLACE is described at a time; put a pattern in quotes, as 'data/*.json'")


@contextmanager
def _progress_shown() -> Iterator[Callable[[str], None]]:
    """Gives the function that says how far it is. It shows something on a terminal alone."""
    from rich.live import Live
    from rich.spinner import Spinner
    from rich.text import Text

    from penstock.diagnostics import show_text
    from penstock.runtime import PlainConsole

    console = PlainConsole(sys.stderr)
    if not console.is_terminal:
        yield lambda _: None
        return
    line = Spinner("dots", "reading")
    with Live(line, console=console, transient=True, redirect_stdout=False, redirect_stderr=False):
        yield lambda text: line.update(text=Text(show_text(text)))


def _report(declaration: DescribedPlace) -> dict[str, Any]:
    """The declaration for programs."""
    from penstock.describe.declare import list_columns
    from penstock.describe.keys import find_key

    found, time = declaration.found, declaration.time
    told = None
    if time is not None:
        told = {
            "column": time.name,
            "computed": time.sql,
            "delay_seconds": time.delay.total_seconds(),
            "disorder_seconds": time.track.disorder.total_seconds(),
            "disorder_in_file_seconds": time.track.disorder_in_file.total_seconds(),
        }
    return {
        "name": found.name,
        "kind": found.kind.lower(),
        "script": declaration.script,
        "read": found.read,
        "columns": list_columns(found),
        "key": list(found.key),
        "key_note": find_key(found),
        "event_time": told,
        "differences": found.differences,
        "notes": found.notes,
        "rejected": [{"reason": reason, "record": record} for reason, record in declaration.rejected],
        "rows": [dict(zip(declaration.names, row, strict=True)) for row in declaration.rows],
    }


def _show_table(declaration: DescribedPlace) -> None:
    """The columns and the first rows as tables for people."""
    from penstock.describe.find_event_time import tell_disorder
    from penstock.describe.keys import find_key
    from penstock.describe.script_text import interval_text
    from penstock.describe.type_text import type_text
    from penstock.runtime import show_rows

    found, time = declaration.found, declaration.time
    columns = [
        {"column": each.name, "type": type_text(each.type), "example": each.example, "note": "; ".join(each.notes)}
        for each in found.columns
    ]
    show_rows(f"{found.name}: {found.read}" if found.read else found.name, columns, len(columns))
    if time is not None:
        computed = "" if time.sql is None else f" ({time.sql})"
        click.echo(f"event time: {time.name}{computed}, delay {interval_text(time.delay)}: {tell_disorder(time)}")
    for each in filter(None, (find_key(found), *found.differences, *found.notes)):
        click.echo(each)
    if declaration.rows:
        rows = [dict(zip(declaration.names, row, strict=True)) for row in declaration.rows]
        show_rows("first rows", rows, len(rows))
