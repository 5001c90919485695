"""A SparkQuery and a checkpoint -> Spark running it, and the reports of what it did."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from threading import Event
from typing import TypeAlias

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from penstock.codegen.folders import folder_name
from penstock.codegen.program import RemoteView, SparkQuery, View
from penstock.diagnostics.codes.running import R013
from penstock.kit.clock_view import clock_rows
from penstock.kit.spark_columns import quote_name
from penstock.runtime.checkpoint.file_managers import choose_file_manager
from penstock.runtime.checkpoint.preflight import check_checkpoint, check_real_time_state
from penstock.runtime.checkpoint.storage import Storage, absolute
from penstock.runtime.connectors import RuntimeSink, lookup_of, source_of
from penstock.runtime.failure.errors import BEGIN_ANEW, RunError, check_all
from penstock.runtime.failure.failures import SPARK_ERRORS, explain, find_unread, jvm_may_be_gone, was_interrupted
from penstock.runtime.failure.storage_failures import explain_storage
from penstock.runtime.progress.heartbeats import HeartbeatHandle
from penstock.runtime.progress.query_account import QueryAccount
from penstock.runtime.progress.run_follower import Listener, RunFollower
from penstock.runtime.progress.run_recorder import RunRecorder
from penstock.runtime.progress.status import QueryReport, Status
from penstock.runtime.query.active_session import activate
from penstock.runtime.query.drain import drain, end_stream, is_drained
from penstock.runtime.query.inspection import Inspection
from penstock.runtime.query.query_sessions import QuerySessions, configure
from penstock.runtime.query.source_names import SourceNames
from penstock.runtime.query.triggers import Trigger, set_trigger
from penstock.runtime.query.whole_input import read_to_end
from penstock.runtime.query.worker_frames import compute_frame, observe_view

Progress: TypeAlias = Callable[[Status], None]

_POLL_SECONDS = 1
_SILENCE = 1000  # milliseconds after which Spark tells that it has looked and found nothing


class _Batches:
    """What Spark calls with each micro-batch, until its query has ended.

    Spark holds this, this holds the run, and who waits for the run holds the query of Spark. The collector of neither
    Python nor Java sees the whole circle, so the plan of each query would stay in memory.
    """

    def __init__(self, put: Callable[[DataFrame, int], None]) -> None:
        self._put: Callable[[DataFrame, int], None] | None = put

    def __call__(self, batch: DataFrame, number: int) -> None:
        if self._put is None:
            raise RuntimeError("a micro-batch comes after the end of its query")
        self._put(batch, number)

    def end(self) -> None:
        """Forgets the run."""
        self._put = None


class Run:
    """A query in its checkpoint folder, and in a session of its own. It may be started several times, one by one."""

    def __init__(
        self,
        sessions: QuerySessions,
        follower: RunFollower,
        query: SparkQuery,
        place: str,
        rejects: Mapping[str, SparkQuery],
        sink_of: Callable[[SparkQuery, str], RuntimeSink],
    ) -> None:
        self.query = query
        self.account = QueryAccount(query)
        self._sessions = sessions
        self._opened: SparkSession | None = None
        self._storage = Storage(sessions.root)
        self._follower = follower
        self._place = place
        self._sink = sink_of(query, place)
        self._failure: BaseException | None = None
        self._started: StreamingQuery | None = None
        self._batches = _Batches(self._put_batch)
        self.inspection = Inspection(query.inputs)
        self._retrying_since: datetime | None = None
        self._recorder = RunRecorder(self._storage, place, self.account)
        self.rejects = {
            name: Run(sessions, follower, part, rejects_place(place, name), {}, sink_of)
            for name, part in rejects.items()
        }

    @property
    def _spark(self) -> SparkSession:
        if self._opened is None:
            self._opened = self._sessions.open()
        return self._opened

    def check(self, *, once: bool, draining: bool) -> None:
        """Raises RunError if an input is missing, a file damaged, or another run's state or output in the way."""
        finished = check_checkpoint(self._storage, self._place)
        if not once:
            check_real_time_state(self._storage, self.query, self._place)
        self.inspection.check(self._storage, self._place)
        for each in self.query.views:
            if isinstance(each, RemoteView):
                lookup_of(each).check()
        if not draining and is_drained(self._storage, self._place):
            hint = f"all windows of this checkpoint are closed; {BEGIN_ANEW}"
            raise RunError([R013.at(None, path=self._place).with_hint(hint)])
        own = partial(self._sink.check, self._storage, self._place, finished)
        check_all([own, *(partial(run.check, once=once, draining=draining) for run in self.rejects.values())])

    def lose(self, loss: RunError) -> None:
        """Stops the query, and the queries of what it rejects, because another process may write its checkpoint now."""
        for run in (self, *self.rejects.values()):
            run._failure = loss
            run._recorder.close()
            if run._started is not None:
                run.fail(run._started, loss)

    def fail(self, started: StreamingQuery, error: RunError) -> None:
        """Stops the query for a failure that Spark does not know of, which `wait` raises."""
        self._failure = error
        self._sink.stop()
        with jvm_may_be_gone():
            started.stop()

    def start(
        self, trigger: Trigger, *, progress: Progress | None = None, heartbeat: HeartbeatHandle | None = None
    ) -> StreamingQuery:
        """Starts the query in Spark. `heartbeat` is told of batches and of silence.

        Raises:
            RunError: Spark refuses the query, or a log of its inputs is damaged.
        """
        self.account.start()
        try:
            with activate(self._spark):
                if heartbeat is not None:
                    self._spark.conf.set("spark.sql.streaming.noDataProgressEventInterval", _SILENCE)
                names = SourceNames(self._storage, self._place, self.query)
                rows = names.settle(self._result(names))
                self._batches = _Batches(self._put_batch)
                self._sink.open(self._storage, self._place)
                arranged = self._sink.arrange(rows)
                writer = self._sink.writer(rows) or arranged.writeStream.foreachBatch(self._batches)
                writer = set_trigger(writer, self.query, trigger).option("checkpointLocation", self._place)
                configure(self._spark, self.query)
                choose_file_manager(self._spark, self._storage, [self._place, self.query.output.folder])
                if self._failure is not None:  # its lock is lost
                    raise self._fail(self._failure)
                with names.told(self._spark):
                    started = self._started = writer.start()
        except SPARK_ERRORS as error:
            raise self._fail(error) from None
        listeners: list[Listener] = [self.account.add, self._recorder.follow]
        if progress is not None:
            listeners.append(lambda _: progress(self.status(started.isActive)))
            self._sink.watch(lambda: self._note_retry(progress))
        if heartbeat is not None:
            listeners.append(heartbeat.batch)
        self._follower.follow(str(started.runId), *listeners, idle=None if heartbeat is None else heartbeat.silence)
        return started

    def wait(
        self, started: StreamingQuery, timeout: float | None = None, stopping: Event | None = None, ends: bool = False
    ) -> bool:
        """Waits until the query has ended and all is counted; False if that takes more than `timeout` seconds.
        With `ends`, the files that are there now are its complete input, which is ended.

        Raises:
            RunError: the query failed.
            KeyboardInterrupt: it is to be stopped before its end.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        try:
            if ends:
                end = self._storage.qualify(f"{self._place}/end")
                read_to_end(started, end, lambda: drain(self._storage, self._place), stopping)
            while not started.awaitTermination(_POLL_SECONDS):
                if stopping is not None and stopping.is_set():
                    raise KeyboardInterrupt
                if deadline is not None and time.monotonic() > deadline:
                    return False
        except SPARK_ERRORS as error:
            is_stopped = was_interrupted(error)
            if ends and not is_stopped:  # it may still run
                self.fail(started, self._fail(self._failure or error))
            if stopping is not None and stopping.is_set():  # what stops us has ended workers, too
                raise KeyboardInterrupt from None
            if not is_stopped:
                self._batches.end()
                raise self._fail(self._failure or error) from None
        self._batches.end()
        self._follower.settle(str(started.runId))
        if self._failure is not None:
            raise self._fail(self._failure)
        return True

    def to_end(
        self,
        *,
        draining: bool,
        is_last: bool = False,
        progress: Progress | None = None,
        stopping: Event | None = None,
    ) -> QueryReport:
        """Reads all that is there now, and with `draining` takes it as complete.

        `is_last`: whether its checkpoint is of no use after this.

        Raises:
            RunError: Spark refuses the query, or it failed.
            KeyboardInterrupt: `stopping` was set before its end.
        """
        try:
            interrupted = self.mark_unsettled()
            ends = draining and self.query.timed
            # The end may come with the rows if nothing is read after them, whatever happens.
            if ends and is_last and not any(each.is_limited for each in self.query.inputs):
                drain(self._storage, self._place)
            ends_later = ends and not is_drained(self._storage, self._place)
            ends_later = ends_later and all(source_of(each).reads_files for each in self.query.inputs)
            self._once(progress, stopping, ends=ends_later)
            if ends_later and not is_drained(self._storage, self._place):  # Spark did not read the end
                self._once(progress, stopping)
            if ends and not is_drained(self._storage, self._place):
                drain(self._storage, self._place)
                self._once(progress, stopping)
            for name, rejects in self.rejects.items():
                if interrupted or self.account.counts[f"rejected:{name}"] or rejects.begun():
                    rejects._once(None, stopping)
            self._recorder.write()
            self._storage.delete(f"{self._place}/unsettled")
            places = {name: rejects.query.output.name for name, rejects in self.rejects.items() if rejects.begun()}
            report = self.account.report(draining and self.query.timed, places)
            return replace(report, table=self._sink.report, warnings=(*self.inspection.warnings, *report.warnings))
        except SPARK_ERRORS as error:
            raise self._fail(error) from None
        finally:
            self._sink.close()
            self.release()

    def status(self, running: bool) -> Status:
        """The query as of its last finished batch."""
        status = self.account.status(running)
        retrying = self._sink.retrying
        since = None if retrying is None else self._retrying_since
        warnings = (*self.inspection.warnings, *status.warnings)
        return replace(status, retrying=retrying, retrying_since=since, table=self._sink.report, warnings=warnings)

    def stop(self, started: StreamingQuery) -> None:
        """Stops the query in Spark, without waiting for a database that is away."""
        self._sink.stop()
        self.end(started)
        self._recorder.write()
        self._sink.close()

    def end(self, started: StreamingQuery) -> None:
        """Stops the query in Spark, and counts what it has done."""
        with jvm_may_be_gone():
            started.stop()
            self._batches.end()
            self._follower.settle(str(started.runId))

    def release(self) -> None:
        """Gives back its sessions of Spark when all has ended. A later start opens others."""
        for each in self.rejects.values():
            each._sink.close()
        with jvm_may_be_gone():
            for each in (self, *self.rejects.values()):
                if each._opened is not None:
                    self._sessions.release(each._opened)
                    each._opened = None
                if each._started is not None:
                    self._follower.forget(str(each._started.runId))

    def mark_unsettled(self) -> bool:
        """Notes that rejected rows may be counted and not yet written; True if an earlier run has left it so."""
        try:
            return not self._storage.create(f"{self._place}/unsettled", "")
        except SPARK_ERRORS as error:
            raise self._fail(error) from None

    def begun(self) -> bool:
        """Whether the checkpoint holds a batch."""
        return self._storage.newest(f"{self._place}/offsets") >= 0

    def _once(self, progress: Progress | None, stopping: Event | None, *, ends: bool = False) -> None:
        if stopping is not None and stopping.is_set():
            raise KeyboardInterrupt
        started = self.start(Trigger.NO_INTERVAL if ends else Trigger.AVAILABLE_NOW, progress=progress)
        try:
            self.wait(started, stopping=stopping, ends=ends)
        except KeyboardInterrupt:
            self._sink.stop()
            with suppress(*SPARK_ERRORS):  # a JVM that is gone has stopped it
                started.stop()
                self._batches.end()
            raise

    def _fail(self, error: BaseException) -> RunError:
        if isinstance(error, RunError):
            return error
        writes = [] if (folder := self.query.output.folder) is None else [absolute(folder)]
        with suppress(*SPARK_ERRORS):  # where the JVM is gone, nothing more is known
            unread = find_unread(error)
            if unread is not None and unread.view in self.account.lookups:
                self.account.lookups[unread.view].fail(unread.retries, unread.seconds_retrying)
            if (finding := explain_storage(error, self.query.name, self._spark, self._place, writes)) is not None:
                return RunError([finding])
        return RunError([explain(error, self.query.name, self.query.printed, self.query.span)])

    def _note_retry(self, progress: Progress) -> None:
        waits = self._sink.retrying is not None
        self._retrying_since = (self._retrying_since or datetime.now(UTC)) if waits else None
        progress(self.status(running=True))

    def _put_batch(self, batch: DataFrame, number: int) -> None:
        try:
            self._sink.write(batch, number)
        except BaseException as error:
            self._failure = error  # Spark passes on no more than its text
            raise

    def _result(self, names: SourceNames) -> DataFrame:
        query = self.query
        for source in query.inputs:
            _register(names.name(source_of(source).stream(self._spark), source.view), source.view)
        if query.timed or query.numbered:
            _register(clock_rows(self._spark, self._place), f"{query.name}_clock")
        if query.timed:
            end = f"{query.name}_end"
            _register(names.name(end_stream(self._spark, self._storage, self._place), end), end)
        for each in query.views:
            if isinstance(each, View):
                _register(observe_view(self._spark, each), each.name)
            else:
                _register(compute_frame(self._spark, each), each.name)
        out = F.count(F.lit(1)).alias(f"out:{query.name}")
        return self._spark.table(quote_name(query.result)).observe(f"{query.name} out", out)


def rejects_place(place: str, name: str) -> str:
    """The checkpoint folder of the query that writes what one in `place` sets aside of an input."""
    return f"{place}/rejected/{folder_name(name)}"


def _register(rows: DataFrame, view: str) -> None:
    rows.createOrReplaceTempView(quote_name(view))
