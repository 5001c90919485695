"""Queries that run until they are stopped, as their users see them."""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import replace

from pyspark.sql.streaming.query import StreamingQuery

from penstock.codegen.program import SparkQuery
from penstock.diagnostics import show_text
from penstock.runtime.failure.errors import RunError
from penstock.runtime.failure.failures import jvm_may_be_gone
from penstock.runtime.progress.heartbeats import HeartbeatHandle
from penstock.runtime.progress.status import Status
from penstock.runtime.query.run import Run
from penstock.runtime.query.triggers import Trigger

_POLL_SECONDS = 0.1
_LOOK_SECONDS = 5.0
"""How often who awaits a query looks whether the rejected rows are still written."""


class QueryHandle:
    """A query that runs until it is stopped."""

    def __init__(self, run: Run, resources: ExitStack, heartbeat: HeartbeatHandle | None = None) -> None:
        self._run = run
        self._heartbeat = heartbeat
        self._resources = resources
        self._starter = ThreadPoolExecutor(1, "penstock-rejects")
        self._rejecting: dict[str, Future[StreamingQuery]] = {}
        self._stopped = False
        self._error: RunError | None = None
        self._is_told = False
        interrupted = run.mark_unsettled()
        self._started = run.start(Trigger.INTERVAL, progress=self._after_batch, heartbeat=heartbeat)
        for name, rejects in run.rejects.items():
            if interrupted or rejects.begun():
                self._reject(name)
        self._ending = run.inspection.watch(lambda error: run.fail(self._started, error))

    def __repr__(self) -> str:
        """The name, whether it runs, and what it has done."""
        status = self.status()
        state = "running" if status.running else "stopped" if status.error is None else f"failed, {status.error.code}"
        return show_text(f"<QueryHandle {self.name}: {state}, {status.rows:,} rows in, {status.out:,} out>")

    @property
    def name(self) -> str:
        return self._run.query.name

    @property
    def query(self) -> SparkQuery:
        """What Spark has been told to run."""
        return self._run.query

    @property
    def error(self) -> RunError | None:
        """Why the query has ended by itself; None while it runs, or if it was stopped."""
        if self._error is None and not self._stopped:
            try:
                self._look_at_rejects()
                if not self._is_active():
                    self._run.wait(self._started, 0)
            except RunError as error:
                self._error = error
        return self._error

    @property
    def is_running(self) -> bool:
        """Whether Spark still runs the query."""
        return self._is_active()

    @property
    def is_settled(self) -> bool:
        """Whether the query has been stopped, and an error of it told."""
        return self._stopped and (self._error is None or self._is_told)

    def take_error(self) -> RunError | None:
        """The error, unless somebody has taken it before or `await_done` has raised it."""
        error = None if self._is_told else self.error
        self._is_told |= error is not None
        return error

    def status(self) -> Status:
        """The query as of its last finished batch."""
        self._note_first_look()
        error = self.error
        finding = None if error is None else error.diagnostics[0]
        return replace(self._run.status(error is None and self._is_active()), error=finding)

    def await_done(self, timeout: float | None = None) -> bool:
        """Waits, at most `timeout` seconds, until the query has been stopped; False if it still runs.

        Raises:
            RunError: the query failed. Each call raises it again.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            left = _LOOK_SECONDS if deadline is None else min(_LOOK_SECONDS, deadline - time.monotonic())
            try:
                if self._error is not None:
                    raise self._error
                if self._run.wait(self._started, max(left, 0)):
                    return True
                self._look_at_rejects()
            except RunError as error:
                self._error, self._is_told = error, True
                with suppress(RunError):  # what comes of a failure is no news
                    self.stop()
                raise
            if deadline is not None and time.monotonic() >= deadline:
                return False

    def await_rows(self, n: int = 1, timeout: float | None = None) -> bool:
        """Waits, at most `timeout` seconds, until the query has written `n` rows since it was started here.

        False if it has not, or was stopped before. For a table, each version of a row counts.

        Raises:
            RunError: the query failed.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            if self.error is not None:
                self.await_done(0)
            if self._run.status(running=True).out >= n:
                return True
            left = _POLL_SECONDS if deadline is None else min(_POLL_SECONDS, deadline - time.monotonic())
            if left <= 0 or self._stopped or not self._is_active():
                return self._run.status(running=True).out >= n
            time.sleep(left)

    def stop(self) -> None:
        """Ends the query, and the queries of its rejected rows, and frees its checkpoint. May be called twice.

        Raises:
            RunError: the rejected rows could not be written, and `error` does not say so.
        """
        _ = self.error  # afterwards nobody knows
        self._stopped = True
        self._ending.set()
        if self._heartbeat is not None:
            self._heartbeat.end()
        with self._resources:  # freed last, whatever happens before
            self._run.stop(self._started)
            self._starter.shutdown()
            for name, rejecting in self._rejecting.items():
                try:
                    self._run.rejects[name].end(rejecting.result())
                except RunError:
                    if self._error is None:
                        raise
            self._run.release()

    def _is_active(self) -> bool:
        with jvm_may_be_gone():
            return bool(self._started.isActive)
        return False

    def _look_at_rejects(self) -> None:
        """Ends the query if its rejected rows cannot be written, and raises RunError."""
        for name, rejecting in self._rejecting.items():
            if not rejecting.done() or self._stopped:
                continue
            try:
                started = rejecting.result()
                with jvm_may_be_gone():
                    if not started.isActive:
                        self._run.rejects[name].wait(started, 0)
            except RunError as error:
                self._run.fail(self._started, error)
                raise

    def _note_first_look(self) -> None:
        # Spark tells nobody that a query has found no rows for a batch.
        if not self._run.account.has_looked:
            with jvm_may_be_gone():
                if self._started.status["message"].startswith("Waiting"):
                    self._run.account.look()

    def _after_batch(self, _: Status) -> None:
        # In Spark's listener thread, which must not wait for a query to start.
        for name in self._run.rejects:
            if self._run.account.counts[f"rejected:{name}"]:
                self._reject(name)

    def _reject(self, name: str) -> None:
        if name not in self._rejecting and not self._stopped:
            self._rejecting[name] = self._starter.submit(self._run.rejects[name].start, Trigger.INTERVAL)
