"""The command `penstock run`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from penstock.commands.options import CONF, read_settings
from penstock.commands.script_files import FILES, compile_files, errors_shown, failures_shown
from penstock.commands.show_findings import show_findings

if TYPE_CHECKING:
    from penstock.compilation import Compilation

MERGED = "windows of HOP are merged from partial aggregates; SET partial_aggregates = OFF prevents that"


@click.command()
@FILES
@click.option("--once", is_flag=True, help="Read what is there, then end and account for every row.")
@click.option("--checkpoint", type=click.Path(file_okay=False), help="Folder for progress and state between runs.")
@click.option("--reset", is_flag=True, help="Begin anew: remove the checkpoints of the script's queries before.")
@click.option(
    "--overwrite", is_flag=True, help="Begin anew: remove the checkpoints, and the files that the queries have written."
)
@click.option("--master", metavar="URL", help="Spark cluster; the default is this machine.")
@click.option(
    "--drain/--no-drain",
    default=None,
    help="Take the input as complete: close all windows at its end. On for --once without --checkpoint.",
)
@CONF
def run(
    files: tuple[str, ...],
    once: bool,
    checkpoint: str | None,
    reset: bool,
    overwrite: bool,
    master: str | None,
    drain: bool | None,
    conf: tuple[str, ...],
) -> None:
    """Start every query of the script, and keep them running until Ctrl-C or SIGTERM.

    \b
    Examples:
      penstock run --once orders.sql
      penstock run --once --overwrite orders.sql
      penstock run --checkpoint state/ orders.sql
      penstock run --once --checkpoint state/ --drain orders.sql
      penstock run --checkpoint state/ --reset orders.sql
      penstock run --master spark://host:7077 --checkpoint hdfs:///state orders.sql

    --overwrite removes only files that the log of an output folder lists, if Penstock has begun that log. Inputs,
    other files, topics and tables of databases stay as they are.

    Exit code 0: done, or stopped without --once. 1: refused. 2: a file cannot be read. 3: failed while running.
    130: Ctrl-C or SIGTERM before the end of --once, or before the queries run.
    """
    settings = read_settings(conf)
    if drain is not None and not once:
        raise click.UsageError("--drain and --no-drain need --once")
    if reset and checkpoint is None:
        raise click.UsageError("--reset needs --checkpoint")
    with errors_shown():
        compilation = compile_files(files)
        show_findings(compilation.diagnostics)

        from penstock.explain import answer_text

        for answer in compilation.answers:
            click.echo(answer_text(answer, _read_rates(compilation, checkpoint)), nl=False)
        if not compilation.queries:
            click.echo("nothing to run: no statement starts a query", err=True)
            return

        from penstock.partition_check import compare_places

        with failures_shown():
            show_findings(compare_places(compilation).warnings)

    from penstock.commands.run_program import run_program
    from penstock.runtime import has_large_batches

    program = compilation.program
    inputs = [each for query in program.queries for each in query.inputs]
    if once and checkpoint is None and has_large_batches(inputs):
        program = compilation.for_large_batches().program
        if program != compilation.program:
            click.echo(MERGED, err=True)
    code = run_program(
        program,
        once=once,
        checkpoint=checkpoint,
        reset=reset,
        overwrite=overwrite,
        master=master,
        drain=drain,
        settings=settings,
    )
    if code:
        sys.exit(code)


def _read_rates(compilation: Compilation, checkpoint: str | None) -> Mapping[str, float]:
    """The rates that the last run observed, if its checkpoints are on this machine. No run fails without them."""
    if checkpoint is None:
        return {}
    from penstock.commands.last_run import read_last_run

    with suppress(click.UsageError):
        return read_last_run(compilation.queries, checkpoint).rates
    return {}
