"""Programs -> running queries: a Spark session, and what all its queries share."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from threading import Event
from types import TracebackType
from typing import Any

from pyspark import SparkContext
from pyspark.sql import SparkSession

from penstock.codegen.program import AnyView, Program, Read, SparkQuery
from penstock.diagnostics import hide_credentials
from penstock.diagnostics.codes.running import R002, R030, R034, R045, R048, R065, R086
from penstock.rows import Rows
from penstock.runtime.checkpoint.check_places import check_places, qualify_paths
from penstock.runtime.checkpoint.checkpoint import checkpoint
from penstock.runtime.checkpoint.reset import RemovedOutput, reset
from penstock.runtime.checkpoint.sink_log import rows_folder
from penstock.runtime.checkpoint.storage import Storage, is_local, is_local_master
from penstock.runtime.checkpoint.sweep import sweep
from penstock.runtime.checkpoint.writable import check_writable
from penstock.runtime.connectors import HoldingSink, RuntimeSink, sink_of
from penstock.runtime.connectors.intermediate import place_intermediates
from penstock.runtime.connectors.memory import Kept
from penstock.runtime.failure.errors import RunError
from penstock.runtime.failure.failures import SPARK_ERRORS, spark_errors_told
from penstock.runtime.progress.heartbeats import HeartbeatHandle, Heartbeats, group_connected, now
from penstock.runtime.progress.list_reasons import find_chain, list_reasons
from penstock.runtime.progress.run_follower import RunFollower
from penstock.runtime.progress.status import QueryReport, Status
from penstock.runtime.query.query_handle import QueryHandle
from penstock.runtime.query.query_sessions import QuerySessions, apply_settings, drop_foreign_settings
from penstock.runtime.query.reading import read
from penstock.runtime.query.rejects import rejects_query, settle_inputs
from penstock.runtime.query.run import Progress, Run
from penstock.runtime.query.side_by_side import list_waits, run_side_by_side
from penstock.runtime.query.task_slots import TaskSlots
from penstock.runtime.spark.examine_spark import examine
from penstock.runtime.spark.jars import add_jars, check_real_time, list_users
from penstock.runtime.spark.jvm import has_ended, is_submitted, join_spark, start_spark, stop_spark
from penstock.runtime.spark.shipping import ship_kit
from penstock.runtime.spark.spark_settings import check_settings
from penstock.runtime.spark.spark_version import check_same_spark, installed_spark
from penstock.runtime.spark.workers import check_shared, check_workers, list_needed_packages


def connect(
    master: str | None = None,
    checkpoint: str | None = None,
    settings: Mapping[str, str] | None = None,
    spark: object | None = None,
    *,
    short: bool = False,
    program: Program | Read | None = None,
) -> RuntimeSession:
    """Starts Spark, or uses the one that runs in this process.

    Args:
        master: a cluster, None for this machine.
        checkpoint: the folder that queries resume from, None to begin anew each time.
        settings: settings of Spark, for a Spark that is started.
        spark: a SparkSession whose Spark is used. Its settings and views stay as they are.
        short: whether a Spark that is started has little to do, as `is_short` tells.
        program: what it is started for. Archives that this needs are there from the beginning.

    Raises:
        RunError: Penstock does not run on this Spark, or there is no JDK. A setting is refused, or the folder
            cannot be written. Spark does not come up, or the one that runs has ended.
    """
    if spark is not None and not isinstance(spark, SparkSession):
        raise RunError([R002.at(None, reason="the session is none of classic Spark; Spark Connect is not supported")])
    if (master or "").startswith("sc:"):
        refusal = R002.at(None, reason=f"{hide_credentials(master or '')} is of Spark Connect, which is not supported")
        raise RunError([refusal.with_hint("--master spark://host:7077, yarn, or k8s://https://host:443")])
    if spark is None and SparkContext._active_spark_context is None:
        if "SPARK_REMOTE" in os.environ:
            refusal = R002.at(None, reason="SPARK_REMOTE is of Spark Connect, which is not supported")
            raise RunError([refusal.with_hint("unset SPARK_REMOTE")])
        if is_submitted():
            joined = join_spark(master, settings or {}).newSession()
            drop_foreign_settings(joined)
            return RuntimeSession(joined, checkpoint, stop_spark=True)
        if is_local_master(master):
            check_writable(program if isinstance(program, Program) else None, checkpoint)
        users = list_users(program, checkpoint)
        started = start_spark(master or "local[*]", settings, short=short, users=users)
        # Everybody in this process can get the first session, and change its settings.
        return RuntimeSession(started.newSession(), checkpoint, stop_spark=True)
    check_settings(settings or {})
    if settings:
        raise RunError(R048.at(None, name=name, reason="this process has a Spark already") for name in settings)
    with spark_errors_told("Penstock"):
        found = spark or SparkSession(SparkContext.getOrCreate())
        if checkpoint is not None and is_local(found):
            check_writable(None, checkpoint)
        session = found.newSession()
        drop_foreign_settings(session)
        return RuntimeSession(session, checkpoint)


class RuntimeSession:
    """A connection to Spark. Use it in a `with` statement, or close it."""

    def __init__(self, spark: SparkSession, checkpoint: str | None = None, *, stop_spark: bool = False) -> None:
        check_same_spark(spark)
        ship_kit()
        add_jars(spark, list_users(None, checkpoint))
        self._spark = spark
        self._folder = None if checkpoint is None else Storage(spark).qualify(checkpoint)
        self._stop_spark = stop_spark
        self._follower = RunFollower()
        self._sessions = QuerySessions(spark, self._follower)
        self._slots = TaskSlots(spark)
        self._handles: list[QueryHandle] = []
        self._checked_packages: set[str] = set()
        self._is_shared = False
        self._memory: dict[tuple[str, str], tuple[tuple[str, tuple[AnyView, ...]], HoldingSink]] = {}

    @property
    def master(self) -> str:
        """Where Spark runs, as `local[*]`."""
        return str(self._spark.sparkContext.master)

    @property
    def keeps_checkpoints(self) -> bool:
        """Whether queries go on from a checkpoint the next time."""
        return self._folder is not None

    @property
    def handles(self) -> list[QueryHandle]:
        """The queries that were started and not stopped, or that have failed and nobody knows it."""
        return [each for each in self._handles if not each.is_settled]

    @property
    def has_ended(self) -> bool:
        """Whether Spark is gone."""
        return has_ended(self._spark)

    def examine(self) -> Iterator[str]:
        """Tries what queries need of the cluster, and says of each step what was found.

        Raises:
            RunError: at the first step that fails, with what to do.
        """
        with spark_errors_told("Penstock"):
            yield from examine(self._spark, self._folder)

    def start(self, program: Program) -> list[QueryHandle]:
        """Starts all queries of a program, to run until they are stopped.

        Raises:
            RunError: an input, a checkpoint or an output is not as it must be, or Spark refuses a query.
        """
        with ExitStack() as resources, spark_errors_told("Penstock"):
            self._apply(program)
            opened = []
            places: dict[str, str] = {}
            for query in program.queries:
                own = resources.enter_context(ExitStack())
                opened.append((self._open(query, own, places, once=False), own))
            self._sweep(program, places)
            for run, own in opened:
                own.callback(self._slots.free, run.query)
                run.inspection.require(partial(self._slots.take, run.query))
            heartbeats = self._start_heartbeats(program, places)
            handles = []
            for run, own in opened:
                handles.append(QueryHandle(run, own, heartbeats.get(run.query.name)))
                resources.callback(handles[-1].stop)
            resources.pop_all()
        self._handles = [each for each in self._handles if not each.is_settled] + handles
        return handles

    def run_once(
        self, program: Program, *, drain: bool, progress: Progress | None = None, stopping: Event | None = None
    ) -> list[QueryReport]:
        """Runs the queries of a program over all input that is there now. Two that do not meet run side by side.

        `drain` takes the input as complete: windows are closed and rows without a match come out. `progress` is called
        after each batch, from other threads. When `stopping` is set, the queries that run are stopped.

        Raises:
            RunError: as for `start`; or a query failed. The one beside it was stopped, and no other was started.
            KeyboardInterrupt: it was stopped before the end.
        """
        with ExitStack() as resources, spark_errors_told("Penstock"):
            readers = self._apply(program)
            places: dict[str, str] = {}
            runs = [self._open(query, resources, places, once=True, draining=drain) for query in program.queries]
            is_last = self._folder is None

            def run_to_end(number: int, halt: Event) -> QueryReport:
                return runs[number].to_end(draining=drain, is_last=is_last, progress=progress, stopping=halt)

            reports = run_side_by_side(list_waits(program.queries, readers), run_to_end, stopping)
            self._sweep(program, places)
            statuses = {run.query.name: run.status(running=False) for run in runs}
            return [_explain_silence(report, program, statuses) for report in reports]

    def reset(self, program: Program, *, overwrite: bool = False) -> RemovedOutput:
        """Removes the checkpoints of a program's queries, all or none, so that they begin anew.

        `overwrite`: the files that these queries have written, too, and nothing that others have written.

        Raises:
            RunError: a folder is no checkpoint, or in use; an input is missing. An output holds rows already; with
                `overwrite` another program has written them, or a query that runs writes there.
        """
        if self._folder is None and not overwrite:
            return RemovedOutput(())
        with spark_errors_told("Penstock"):
            self._apply(program)
            if overwrite:
                self._check_unwritten(program)
            removed = reset(self._spark, program, self._folder, overwrite=overwrite)
        self._memory = {key: kept for key, kept in self._memory.items() if kept[0][0] not in removed.checkpoints}
        return removed

    def _check_unwritten(self, program: Program) -> None:
        """Raises RunError if a query of this session writes a folder that the program writes. Ended ones are freed."""
        storage = Storage(self._spark)
        written = {qualify_paths(storage, query).output.folder for query in program.queries} - {None}
        for handle in self._handles:
            folder = handle.query.output.folder
            if folder not in written:
                continue
            if handle.is_running:
                refusal = R086.at(None, path=str(folder)).because(f"{handle.name} of this session writes there")
                raise RunError([refusal.with_hint("stop that query first")])
            handle.stop()

    def rows(self, name: str) -> list[dict[str, Any]]:
        """The rows in the memory sink `name`. Rows of several queries follow one after the other. Times are in UTC.

        Raises:
            RunError: no query of this session wrote to such a sink.
        """
        sinks = [sink for (output, _), (_, sink) in self._memory.items() if output == name]
        if not sinks:
            raise RunError([R030.at(None, name=name)])
        return [row for sink in sinks for row in sink.rows()]

    def read(self, query: Read) -> Rows:
        """The rows of a query over what is there now. Times are in UTC.

        Raises:
            RunError: an input is not there, or not whole; or Spark fails.
        """
        newer = dict(query.newer).get(installed_spark())
        if newer:
            raise RunError(newer)
        add_jars(self._spark, list_users(query))
        held = {each.name: self._whole(each.name) for each in query.inputs if not each.holds_rows}
        return read(self._spark, query, held)

    def _whole(self, name: str) -> list[dict[str, Any]]:
        rows = self.rows(name)
        evicted = sum(sink.evicted for (output, _), (_, sink) in self._memory.items() if output == name)
        if evicted:
            finding = R034.at(None, name=name, kept=f"{len(rows):,}", count=f"{len(rows) + evicted:,}")
            raise RunError([finding.with_hint("give it the option rows = n, or connector = 'files'")])
        return rows

    def kept(self) -> list[Kept]:
        """What the memory sinks of this session hold, one entry per name that had a batch, if only one without rows."""
        evicted: Counter[str] = Counter()
        for (name, _), (_, sink) in self._memory.items():
            if sink.begun:
                evicted[name] += sink.evicted
        return [Kept(name, self.rows(name), older) for name, older in evicted.items()]

    def take_errors(self) -> list[RunError]:
        """Why queries have ended by themselves. Each error is given once, unless `await_done` has raised it."""
        return [error for handle in self._handles if (error := handle.take_error()) is not None]

    def stop(self) -> None:
        """Stops all queries."""
        with suppress(*SPARK_ERRORS):  # a JVM that is gone has stopped them
            for handle in self._handles:
                handle.stop()

    def close(self) -> None:
        """Stops all queries, and Spark if it was started for this session."""
        with suppress(*SPARK_ERRORS):  # a JVM that is gone has stopped all of this
            try:
                for handle in self._handles:
                    handle.stop()
            finally:
                self._sessions.close()
                if self._stop_spark:
                    stop_spark(self._spark)

    def __enter__(self) -> RuntimeSession:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _apply(self, program: Program) -> Mapping[str, Collection[str]]:
        """Prepares Spark for the queries of a program. Returns for each query the queries that read what it writes."""
        if self._folder is None and not is_local(self._spark):
            finding = R045.at(None, master=self._spark.sparkContext.master)
            raise RunError([finding.with_hint("--checkpoint hdfs:///state, or another folder that all workers see")])
        for query in program.queries:
            if self._folder is None and query.change is not None and query.change.current:
                raise RunError([R065.at(query.span, "", query=query.name).with_hint("--checkpoint FOLDER")])
        if self._folder is not None and not is_local(self._spark) and not self._is_shared:
            storage = Storage(self._spark)
            if storage.is_on_disk(self._folder):
                check_shared(self._spark, storage, self._folder)
            self._is_shared = True
        newer = dict(program.newer).get(installed_spark())
        if newer:
            raise RunError(newer)
        if is_local(self._spark):
            check_writable(program, self._folder)
        add_jars(self._spark, list_users(program))
        check_real_time(self._spark, program)
        readers = check_places(Storage(self._spark), program, self._folder)
        needed = list_needed_packages(program) - self._checked_packages
        if needed and not is_local(self._spark):
            check_workers(self._spark, needed)
            self._checked_packages |= needed
        apply_settings(self._spark, dict(program.settings))
        return readers

    def _start_heartbeats(self, program: Program, places: Mapping[str, str]) -> dict[str, HeartbeatHandle]:
        """A handle for each query with a watermark whose inputs, or whose readers' inputs, may need heartbeats."""
        handles: dict[str, HeartbeatHandle] = {}
        for group in group_connected(program.queries):
            heartbeats = Heartbeats(Storage(self._spark))
            if any(query.takes_heartbeats for query in group):
                timed = (query for query in group if query.timed)
                handles |= {query.name: heartbeats.add(query, places[query.name], now()) for query in timed}
        return handles

    def _sweep(self, program: Program, places: Mapping[str, str]) -> None:
        """Deletes what is done with of the intermediate streams."""
        readers: dict[str, list[str]] = {}
        for query in program.queries:
            for source in query.inputs:
                if source.is_intermediate:
                    readers.setdefault(source.name, []).append(places[query.name])
        for stream, folders in readers.items():
            sweep(Storage(self._spark), rows_folder(places[stream]), folders)

    def _open(
        self, query: SparkQuery, resources: ExitStack, places: dict[str, str], *, once: bool, draining: bool = False
    ) -> Run:
        """The query in its checkpoint folder, which is noted in `places` for the queries that read what it writes."""
        with spark_errors_told(query.name):
            runs: list[Run] = []

            def lose(loss: RunError) -> None:
                for each in runs:
                    each.lose(loss)

            place = resources.enter_context(checkpoint(self._spark, query, self._folder, lose))
            places[query.name] = place
            storage = Storage(self._spark)
            query = qualify_paths(storage, query)
            query = settle_inputs(query, storage, place)
            rejects = {each.name: rejects_query(query, each, self._folder) for each in query.rejects}
            query = place_intermediates(query, storage, places)
            run = Run(self._sessions, self._follower, query, place, rejects, self._sink)
            runs.append(run)
            run.check(once=once, draining=draining)
            run.inspection.inspect()
            return run

    def _sink(self, query: SparkQuery, place: str) -> RuntimeSink:
        sink = sink_of(query)
        if not isinstance(sink, HoldingSink):
            return sink
        key = query.output.name, query.name
        made_for = place, query.views
        before, known = self._memory.get(key, (None, sink))
        # Another checkpoint means a new start, as does a change of the query; else a batch that comes again is known.
        self._memory[key] = made_for, known if before == made_for else sink
        return self._memory[key][1]


def _explain_silence(report: QueryReport, program: Program, statuses: Mapping[str, Status]) -> QueryReport:
    """The report. If the query wrote nothing, it has the reasons. What others of the script read is no output."""
    query = next(each for each in program.queries if each.name == report.name)
    if report.out or query.output.is_intermediate:
        return report
    parts = [(each, statuses[each.name]) for each in find_chain(query, program.queries)]
    return replace(report, reasons=list_reasons(parts, datetime.now(UTC)))
