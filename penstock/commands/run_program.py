"""A Program and options -> its run, as `penstock run` and jobs show it. It needs no click, which jobs do not have."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Event

from penstock.codegen.program import Program
from penstock.commands.run_report import progress_shown, show_kept, show_reports
from penstock.commands.show_findings import show_findings
from penstock.diagnostics import Diagnostic, hide_credentials, render
from penstock.runtime import RunError, RuntimeSession, Status, connect, explain_unseen, is_short

DONE, FAILED, INTERRUPTED = 0, 3, 130
POLL_SECONDS = 0.5


def run_program(
    program: Program,
    *,
    once: bool,
    checkpoint: str | None,
    reset: bool,
    master: str | None,
    drain: bool | None,
    settings: Mapping[str, str],
) -> int:
    """Runs the queries as the options of `penstock run` say. Returns the exit code."""
    reports = []
    try:
        short = once and is_short(each for query in program.queries for each in query.inputs)
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
        return FAILED
    except KeyboardInterrupt:
        print("stopped before the end" + ("; --checkpoint goes on from here" if checkpoint else ""), file=sys.stderr)
        return INTERRUPTED
    if not once:
        print("stopped", file=sys.stderr)
    show_kept(kept)
    if once:
        show_findings(dict.fromkeys(each for report in reports for each in report.warnings))
        show_reports(reports, resumes=checkpoint is not None)
    return DONE


@contextmanager
def _spark(
    master: str | None, checkpoint: str | None, settings: Mapping[str, str], program: Program, *, short: bool
) -> Iterator[tuple[RuntimeSession, Callable[[Status], None], Event]]:
    """Spark, what shows the progress, and an event that Ctrl-C and SIGTERM set from then on.

    Before, they raise KeyboardInterrupt. An exception in the middle of a call to the JVM would break the connection
    that stops the queries.
    """
    stopping = Event()
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        with (
            progress_shown() as progress,
            connect(master, checkpoint, settings, short=short, program=program) as session,
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
