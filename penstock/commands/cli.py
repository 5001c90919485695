"""The command `penstock`. Exit codes: 0 done, 1 refused, 2 usage, 3 failed while running.

Commands import what they use when they are called: `penstock check` has to answer at once.
"""

from __future__ import annotations

from typing import Any

import click

from penstock.commands.check import check
from penstock.commands.compile_job import compile_
from penstock.commands.describe import describe
from penstock.commands.diff import diff
from penstock.commands.doctor import doctor
from penstock.commands.fmt import fmt
from penstock.commands.options import CONF, read_settings
from penstock.commands.package import package
from penstock.commands.peek import peek
from penstock.commands.run_script import run
from penstock.commands.script_files import compile_files, errors_shown, failures_shown
from penstock.commands.serve import serve
from penstock.commands.shell import shell
from penstock.commands.show_findings import show_findings
from penstock.commands.test import test
from penstock.commands.token import token
from penstock.commands.translate import translate
from penstock.commands.warm_up import warm_up
from penstock.commands.why import why
from penstock.diagnostics import Source
from penstock.diagnostics.terminal import output_guarded


class GuardedGroup(click.Group):
    """Commands whose output, usage errors included, steers no terminal."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Runs a command."""
        with output_guarded():
            return super().main(*args, **kwargs)


@click.group(cls=GuardedGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(package_name="penstock")
def main() -> None:
    """Streaming SQL for Spark: refuses what would need unbounded state, runs the rest.

    \b
    Examples:
      penstock describe data/orders      what is in these files? prints a declaration
      penstock check orders.sql          is it right? no Spark needed
      penstock explain STATE orders.sql  what will it keep, and how much of it?
      penstock test                      does it give the rows that its tests expect?
      penstock fmt orders.sql            lay it out as every script is laid out
      penstock translate --from flink f  what is it in Penstock's SQL, and what changes?
      penstock run --once orders.sql     process what is there, then end
      penstock peek orders.sql orders    the first rows of a stream as they are typed
      penstock query orders.sql "…"      what does a SELECT over tables give now?
      penstock shell orders.sql          all of this at a prompt, with one Spark
      penstock serve orders.sql          keep running, for psql, BI tools and browsers
      penstock token create --user ada   let somebody else use the server
      penstock why totals                what holds back the rows of a query of the server?
      penstock doctor --master URL       can this cluster run queries?
      penstock compile orders.sql -o job/  a PySpark job that does not need Penstock
      penstock package workers.tar.gz    what its workers need, to be sent to them
      penstock warm-up                   let Spark start faster on this machine

    Several FILEs are read as one script: later ones see what earlier ones declare. The file - is standard input.
    """


@main.command()
@click.argument("arguments", nargs=-1, required=True, metavar="[STAGE] FILE...")
@click.option("--mermaid", is_flag=True, help="PARTITIONS as a Mermaid flowchart.")
@click.option(
    "--checkpoint",
    type=click.Path(exists=True, file_okay=False),
    help="STATE with what the last run over this folder observed.",
)
def explain(arguments: tuple[str, ...], mermaid: bool, checkpoint: str | None) -> None:
    """Print a stage of the way from SQL to Spark, PLAN if none is named.

    \b
    AST         the statements as understood
    PLAN        the operators, their kinds and keys
    PARTITIONS  the streams of each join, their numbers of partitions, and why
    STATE       what each operator keeps, what bounds it, and an estimate of it
    PHYSICAL    how each operator with state runs, why, and in which Spark query
    SPARK       the Spark SQL that will run
    CODE        the calls of the job that penstock compile writes

    \b
    Examples:
      penstock explain orders.sql
      penstock explain STATE declarations.sql queries.sql
      penstock explain STATE --checkpoint state/ orders.sql
      penstock explain PARTITIONS --mermaid orders.sql

    Exit code 0: accepted, 1: refused, 2: a file cannot be read.
    """
    from penstock.parser.ast import Stage

    stage, files = Stage.PLAN, arguments
    if len(arguments) > 1 and arguments[0].upper() in Stage.__members__:
        stage, files = Stage[arguments[0].upper()], arguments[1:]
    if mermaid and stage is not Stage.PARTITIONS:
        raise click.UsageError("--mermaid needs PARTITIONS")
    if checkpoint is not None and stage is not Stage.STATE:
        raise click.UsageError("--checkpoint needs STATE")
    with errors_shown():
        compilation = compile_files(files)
        show_findings(compilation.diagnostics)

        from penstock.explain import draw_partitions
        from penstock.explain import explain as text_of

        if checkpoint is not None:
            from penstock.commands.last_run import read_last_run

            last_run = read_last_run(compilation.queries, checkpoint)
            if not any(last_run.kept):
                click.echo(f"no run over {checkpoint} has left a record of these queries", err=True)
            click.echo(text_of(compilation, Stage.STATE, last_run), nl=False)
            return
        click.echo(draw_partitions(compilation) if mermaid else text_of(compilation, stage), nl=False)


@main.command()
@click.argument("arguments", nargs=-1, required=True, metavar="[FILE]... SELECT")
@click.option("--format", "form", type=click.Choice(["text", "json", "csv"]), default="text", help="How to print rows.")
@click.option("--master", metavar="URL", help="Spark cluster; the default is this machine.")
@CONF
def query(arguments: tuple[str, ...], form: str, master: str | None, conf: tuple[str, ...]) -> None:
    """Print the answer to a SELECT over tables as they are now, also while their queries run.

    The FILEs declare the tables; none of their queries is started. A table that `penstock run` writes to files with
    the option operation has the rows of the last finished micro-batch.

    \b
    Examples:
      penstock query orders.sql "SELECT * FROM totals WHERE total > 100 ORDER BY total DESC LIMIT 10"
      penstock query --format json orders.sql "SELECT region, COUNT(*) AS n FROM totals GROUP BY region"

    json prints one object per line. Exit code 0: answered, 1: refused, 2: a file cannot be read, 3: failed while
    running, 130: Ctrl-C before the end.
    """
    settings = read_settings(conf)
    *files, select = arguments
    with errors_shown():
        from penstock.compilation import compile_read
        from penstock.stream_look import find_look

        source, catalog = Source("<query>", select), compile_files(files).catalog
        # Whoever sets Spark up may have its files elsewhere.
        found = None if master or settings else find_look(source, catalog)
        read = None if found else compile_read(source, catalog, memory=False)

    from penstock import runtime
    from penstock.commands.answers import show_answer
    from penstock.commands.peek import show_look

    with failures_shown():
        if found is not None:
            with errors_shown():
                show_look(found, form)
            return
        assert read is not None, "what is no look is a read"
        rows = None if master or settings else runtime.answer_locally(read.local)
        if rows is not None:
            show_answer(read.columns, rows, form)
            return
        short = runtime.is_short(read.inputs)
        with runtime.connect(master, settings=settings, short=short, program=read) as session:
            rows = session.read(read)
    show_answer(read.columns, rows, form)


main.add_command(check)
main.add_command(compile_)
main.add_command(describe)
main.add_command(diff)
main.add_command(doctor)
main.add_command(fmt)
main.add_command(package)
main.add_command(peek)
main.add_command(run)
main.add_command(serve)
main.add_command(shell)
main.add_command(test)
main.add_command(token)
main.add_command(translate)
main.add_command(warm_up)
main.add_command(why)
