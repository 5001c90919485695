"""A Program and options -> its run, as `penstock run` and jobs show it. It needs no click, which jobs do not have."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Event

from penstock.codegen.program import Program
from penstock.commands.live_line import STARTING, LiveLine, progress_shown
from penstock.commands.run_report import make_report, show_kept, show_reports
from penstock.commands.show_findings import show_findings
from penstock.diagnostics import Diagnostic, hide_credentials, render
from penstock.runtime import RunError, RuntimeSession, Status, check_before_start, connect, explain_unseen, is_short

DONE, FAILED, INTERRUPTED = 0, 3, 130
POLL_SECONDS = 0.5


def run_program(
    program: Program,
    *,
    once: bool,
    checkpoint: str | None,
    reset: bool,
    overwrite: bool,
    master: str | None,
    drain: bool | None,
    settings: Mapping[str, str],
) -> int:
    """Runs the queries as the options of `penstock run` say. Returns the exit code."""
    reports = []
    statuses: Sequence[Status] = ()
    try:
        with _sigterm_interrupts():
            check_before_start(program, master, checkpoint, anew=reset, overwrite=overwrite)
            short = once and is_short(each for query in program.queries for each in query.inputs)
            with _spark(master, checkpoint, settings, program, short=short) as (session, line, stopping):
                if reset or overwrite:
                    _begin_anew(session, program, overwrite=overwrite)
                if once:
                    drain = checkpoint is None if drain is None else drain
                    try:
                        reports = session.run_once(program, drain=drain, progress=line, stopping=stopping)
                    except KeyboardInterrupt:
                        statuses = line.statuses
                        raise
                else:
                    reports = [make_report(each) for each in _run_on(session, program, line, stopping)]
                kept = session.kept()
    except RunError as failure:
        show_findings(failure.diagnostics)
        return FAILED
    except KeyboardInterrupt:
        print("stopped before the end" + ("; --checkpoint goes on from here" if checkpoint else ""), file=sys.stderr)
        if statuses:
            show_reports([make_report(each) for each in statuses], resumes=checkpoint is not None)
        return INTERRUPTED
    if not once:
        print("stopped", file=sys.stderr)
    show_kept(kept)
    if once:
        show_findings(dict.fromkeys(each for report in reports for each in report.warnings))
    show_reports(reports, resumes=checkpoint is not None)
    return DONE


@contextmanager
def _sigterm_interrupts() -> Iterator[None]:
    """SIGTERM raises KeyboardInterrupt, as Ctrl-C does, from the first check of a place on."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _spark(
    master: str | None, checkpoint: str | None, settings: Mapping[str, str], program: Program, *, short: bool
) -> Iterator[tuple[RuntimeSession, LiveLine, Event]]:
    """Spark, what shows the progress, and an event that Ctrl-C and SIGTERM set from then on.

    Before, they raise KeyboardInterrupt. An exception in the middle of a call to the JVM would break the connection
    that stops the queries.
    """
    stopping = Event()
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        with progress_shown() as line:
            line.say(STARTING)
            with connect(master, checkpoint, settings, short=short, program=program) as session:
                for each in before:
                    signal.signal(each, lambda *_: stopping.set())
                yield session, line, stopping
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _begin_anew(session: RuntimeSession, program: Program, *, overwrite: bool) -> None:
    removed = session.reset(program, overwrite=overwrite)
    told = [f"removed checkpoint {each}" for each in removed.checkpoints]
    told += [f"removed the rows in {each}" for each in removed.rows]
    told += [f"kept the rows in {each}" for each in removed.kept]
    for each in told:
        # Not by click, which would write into the line that shows the progress.
        print(hide_credentials(each), file=sys.stderr)


def _run_on(session: RuntimeSession, program: Program, line: LiveLine, stopping: Event) -> Sequence[Status]:
    """Until all queries have been stopped, or `stopping` is set. Returns how they ended.

    Raises RunError as soon as a query fails.
    """
    running = handles = session.start(program)
    print(f"running: {', '.join(handle.name for handle in running)}; Ctrl-C ends", file=sys.stderr)
    told: list[Diagnostic] = []
    while running and not stopping.is_set():
        try:
            running = [handle for handle in running if not handle.await_done(POLL_SECONDS)]
        except RunError:
            if stopping.is_set():  # what stops us has ended workers, too
                break
            raise
        for status in (handle.status() for handle in running):
            for warning in status.warnings:
                if warning not in told:
                    told.append(warning)
                    # Not by click, which would write into the line that shows the progress.
                    print(render(warning), file=sys.stderr)
            line(status)
    session.stop()
    statuses = [handle.status() for handle in handles]
    for warning in dict.fromkeys(each for status in statuses for each in explain_unseen(status.inputs)):
        print(render(warning), file=sys.stderr)
    return statuses
