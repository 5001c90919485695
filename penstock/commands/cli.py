"""The command `penstock`. Exit codes: 0 done, 1 refused, 2 usage, 3 failed while running.

Commands import what they use when they are called: `penstock check` has to answer at once.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import Event
from typing import TYPE_CHECKING, Any

import click

from penstock.commands.check import check
from penstock.commands.doctor import doctor
from penstock.commands.fmt import fmt
from penstock.commands.options import CONF, read_settings
from penstock.commands.package import package
from penstock.commands.script_files import FILES, compile_files, errors_shown, show_findings, write_file
from penstock.commands.serve import serve
from penstock.commands.translate import translate
from penstock.commands.warm_up import warm_up
from penstock.commands.why import why
from penstock.diagnostics import Diagnostic, Source, hide_credentials, render
from penstock.diagnostics.terminal import exact, output_guarded

if TYPE_CHECKING:
    from penstock.codegen.program import Program
    from penstock.compilation import Compilation
    from penstock.runtime import RuntimeSession, Status

FAILED, INTERRUPTED = 3, 130
POLL_SECONDS = 0.5
MERGED = "windows of HOP are merged from partial aggregates; SET partial_aggregates = OFF prevents that"


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
      penstock check orders.sql          is it right? no Spark needed
      penstock explain STATE orders.sql  what will it keep, and how much of it?
      penstock fmt orders.sql            lay it out as every script is laid out
      penstock translate --from flink f  what is it in Penstock's SQL, and what changes?
      penstock run --once orders.sql     process what is there, then end
      penstock query orders.sql "…"      what does a SELECT over tables give now?
      penstock serve orders.sql          keep running, for psql, BI tools and browsers
      penstock why totals                what holds back the rows of a query of the server?
      penstock doctor --master URL       can this cluster run queries?
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
    SPARK       the Spark SQL that will run
    CODE        the same as a PySpark program

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
@FILES
@click.option("--once", is_flag=True, help="Read what is there, then end and account for every row.")
@click.option("--checkpoint", type=click.Path(file_okay=False), help="Folder for progress and state between runs.")
@click.option("--reset", is_flag=True, help="Begin anew: remove the checkpoints of the script's queries before.")
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
    master: str | None,
    drain: bool | None,
    conf: tuple[str, ...],
) -> None:
    """Start every query of the script, and keep them running until Ctrl-C or SIGTERM.

    \b
    Examples:
      penstock run --once orders.sql
      penstock run --checkpoint state/ orders.sql
      penstock run --once --checkpoint state/ --drain orders.sql
      penstock run --checkpoint state/ --reset orders.sql
      penstock run --master spark://host:7077 --checkpoint hdfs:///state orders.sql

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
        from penstock.runtime import RunError

        try:
            show_findings(compare_places(compilation).warnings)
        except RunError as failure:
            show_findings(failure.diagnostics)
            sys.exit(FAILED)

    from penstock.commands.run_report import show_kept, show_reports
    from penstock.runtime import has_large_batches, is_short

    reports = []
    try:
        inputs = [each for query in compilation.program.queries for each in query.inputs]
        short = once and is_short(inputs)
        program = compilation.program
        if once and checkpoint is None and has_large_batches(inputs):
            program = compilation.for_large_batches().program
            if program != compilation.program:
                click.echo(MERGED, err=True)
        with _spark(master, checkpoint, settings, program, short=short) as (session, progress, stopping):
            if reset:
                _remove_checkpoints(session, program)
            if once:
                drain = checkpoint is None if drain is None else drain
                reports = session.run_once(program, drain=drain, progress=progress, stopping=stopping)
            else:
                _run_on(session, program, progress, stopping)
            kept = session.kept()
    except RunError as failure:
        show_findings(failure.diagnostics)
        sys.exit(FAILED)
    except KeyboardInterrupt:
        click.echo("stopped before the end" + ("; --checkpoint goes on from here" if checkpoint else ""), err=True)
        sys.exit(INTERRUPTED)
    if not once:
        click.echo("stopped", err=True)
    show_kept(kept)
    if once:
        show_findings(dict.fromkeys(each for report in reports for each in report.warnings))
        show_reports(reports, resumes=checkpoint is not None)


def _read_rates(compilation: Compilation, checkpoint: str | None) -> Mapping[str, float]:
    """The rates that the last run observed, if its checkpoints are on this machine. No run fails without them."""
    if checkpoint is None:
        return {}
    from penstock.commands.last_run import read_last_run

    with suppress(click.UsageError):
        return read_last_run(compilation.queries, checkpoint).rates
    return {}


@contextmanager
def _spark(
    master: str | None, checkpoint: str | None, settings: dict[str, str], program: Program, *, short: bool
) -> Iterator[tuple[RuntimeSession, Callable[[Status], None], Event]]:
    """Spark, what shows the progress, and an event that Ctrl-C and SIGTERM set from then on.

    Before, they raise KeyboardInterrupt. An exception in the middle of a call to the JVM would break the connection
    that stops the queries.
    """
    from penstock import runtime
    from penstock.commands.run_report import progress_shown

    stopping = Event()
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        with (
            progress_shown() as progress,
            runtime.connect(master, checkpoint, settings, short=short, program=program) as session,
        ):
            for each in before:
                signal.signal(each, lambda *_: stopping.set())
            yield session, progress, stopping
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _remove_checkpoints(session: RuntimeSession, program: Program) -> None:
    for folder in session.reset(program):
        # Not by click, which would write into the line that shows the progress.
        print(f"removed checkpoint {hide_credentials(folder)}", file=sys.stderr)


def _run_on(session: RuntimeSession, program: Program, progress: Callable[[Status], None], stopping: Event) -> None:
    """Until all queries have been stopped, or `stopping` is set. Raises RunError as soon as a query fails."""
    from penstock.runtime import RunError, explain_unseen

    running = handles = session.start(program)
    print(f"running: {', '.join(handle.name for handle in running)}; Ctrl-C ends", file=sys.stderr)
    shown: dict[str, tuple[int, str | None]] = {handle.name: (0, None) for handle in running}
    told: list[Diagnostic] = []
    while running and not stopping.is_set():
        try:
            running = [handle for handle in running if not handle.await_done(POLL_SECONDS)]
        except RunError:
            if stopping.is_set():  # what stops us has ended workers, too
                return
            raise
        for status in (handle.status() for handle in running):
            for warning in status.warnings:
                if warning not in told:
                    told.append(warning)
                    # Not by click, which would write into the line that shows the progress.
                    print(render(warning), file=sys.stderr)
            if shown[status.name] != (status.batches, status.retrying):
                shown[status.name] = status.batches, status.retrying
                progress(status)
    unseen = dict.fromkeys(each for handle in handles for each in explain_unseen(handle.status().inputs))
    for warning in unseen:
        print(render(warning), file=sys.stderr)


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

        read = compile_read(Source("<query>", select), compile_files(files).catalog, memory=False)

    from penstock import runtime
    from penstock.commands.answers import show_answer

    try:
        # Whoever sets Spark up may have its files elsewhere.
        rows = None if master or settings else runtime.answer_locally(read.local)
        if rows is not None:
            show_answer(read.columns, rows, form)
            return
        short = runtime.is_short(read.inputs)
        with runtime.connect(master, settings=settings, short=short, program=read) as session:
            rows = session.read(read)
    except runtime.RunError as failure:
        show_findings(failure.diagnostics)
        sys.exit(FAILED)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    show_answer(read.columns, rows, form)


@main.command("compile")
@FILES
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="File to write; the default is standard output.")
def compile_(files: tuple[str, ...], output: str | None) -> None:
    """Eject: write the script as a plain PySpark program that does not need Penstock.

    \b
    Examples:
      penstock compile orders.sql -o job.py
      penstock compile orders.sql | less

    Exit code 0: written, 1: refused, 2: a file cannot be read.
    """
    with errors_shown():
        compilation = compile_files(files)
        show_findings(compilation.diagnostics)

        from penstock.codegen import eject

        code = eject(compilation.program)
    if output is None:
        exact(sys.stdout).write(code)
        return
    write_file(output, code, "-o")


main.add_command(check)
main.add_command(doctor)
main.add_command(fmt)
main.add_command(package)
main.add_command(serve)
main.add_command(translate)
main.add_command(warm_up)
main.add_command(why)
