"""Progress events of Spark -> the accounting of each query: what became of each row.

The views of a query observe counts named `<kind>:<input>`. `in` counts the rows that were read. Of these, `rejected`
were malformed or had an impossible time, `late` were behind the watermark, `filtered` failed a condition, and `used`
went on.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

from penstock.codegen.program import RemoteView, SparkQuery
from penstock.runtime.drain import EPOCH
from penstock.runtime.table_reports import LookupAccount, LookupReport, TableReport

Listener: TypeAlias = Callable[[QueryProgressEvent], None]
IdleListener: TypeAlias = Callable[[QueryIdleEvent], None]

_FLUSH_SECONDS = 30.0  # not reached unless the JVM is gone


@dataclass(frozen=True, slots=True)
class InputReport:
    """The rows of one input: `read == rejected + late + filtered + used`.

    `rejected_to`: where the rejected rows were written, a folder or the name of a memory sink; None if there were none.
    """

    name: str
    read: int
    rejected: int
    late: int
    filtered: int
    used: int
    rejected_to: str | None = None


@dataclass(frozen=True, slots=True)
class QueryReport:
    """A run of a query from its start to the end of its input.

    `out`: rows written. `state_rows`: rows that its operators hold for the next run, 0 if stateless. `drained`: the
    input was taken as complete, so that no window is left open. `watermark`: the last one, None without event time.
    """

    name: str
    inputs: tuple[InputReport, ...]
    out: int
    batches: int
    state_rows: int
    watermark: datetime | None
    drained: bool
    table: TableReport | None = None
    """Of a query that changes a table of a database."""
    lookups: tuple[LookupReport, ...] = ()
    """One for each table of a database that the query looks rows up in."""


@dataclass(frozen=True, slots=True)
class Status:
    """A query as it is now. Counts are those since it was started here; `batch_seconds` is that of the last batch."""

    name: str
    running: bool
    batches: int
    rows: int
    late: int
    rejected: int
    out: int
    state_rows: int
    watermark: datetime | None
    batch_seconds: float | None
    state_bytes: int = 0
    """What Spark says that the state takes in memory."""
    read_rate: float = 0.0
    """The rows per second that arrived before the last micro-batch."""
    written_rate: float = 0.0
    """The rows per second that the last micro-batch went through."""
    newest: Mapping[str, datetime] = field(default_factory=dict)
    """The newest event time by input, of inputs that other inputs wait for."""
    inputs: tuple[InputReport, ...] = ()
    retrying: str | None = None
    """Why the last attempt to write failed, while the query waits to try again."""
    table: TableReport | None = None
    """Of a query that changes a table of a database."""
    lookups: tuple[LookupReport, ...] = ()
    """One for each table of a database that the query looks rows up in."""


class Account:
    """The sums of one query over all its runs in this process."""

    def __init__(self, query: SparkQuery) -> None:
        self._query = query
        looked_up = {each.name: each.table for each in query.views if isinstance(each, RemoteView)}
        by_table = {table: LookupAccount(table) for table in looked_up.values()}
        self.lookups = {view: by_table[table] for view, table in looked_up.items()}
        self.counts: Counter[str] = Counter()
        self.batches = 0
        self.state_rows = 0
        self.watermark: datetime | None = None
        self.batch_seconds: float | None = None
        self.state_bytes = 0
        self.read_rate = self.written_rate = 0.0
        self.newest: dict[str, datetime] = {}

    def add(self, event: QueryProgressEvent) -> None:
        progress = event.progress
        self.batches += 1
        for view, metrics in progress.observedMetrics.items():
            if view in self.lookups:
                self.lookups[view].add(metrics.asDict())
            else:
                self.counts.update({name: count or 0 for name, count in metrics.asDict().items() if ":" in name})
        self.state_rows = sum(operator.numRowsTotal for operator in progress.stateOperators)
        if "watermark" in progress.eventTime:
            self.watermark = datetime.fromisoformat(progress.eventTime["watermark"]).astimezone(UTC)
        self.batch_seconds = progress.durationMs.get("triggerExecution", 0) / 1000
        self.state_bytes = sum(operator.memoryUsedBytes for operator in progress.stateOperators)
        self.read_rate, self.written_rate = progress.inputRowsPerSecond, progress.processedRowsPerSecond
        for source in self._query.watermark_inputs:
            row = progress.observedMetrics.get(source.view)
            newest = None if row is None else row.asDict().get("newest")
            if newest is not None:
                at = EPOCH + timedelta(milliseconds=newest)
                self.newest[source.name] = max(at, self.newest.get(source.name, at))

    def total(self, kind: str) -> int:
        return sum(count for name, count in self.counts.items() if name.startswith(f"{kind}:"))

    def report_lookups(self) -> tuple[LookupReport, ...]:
        """The lookups, one report for each table."""
        return tuple(each.report for each in dict.fromkeys(self.lookups.values()))

    def status(self, running: bool) -> Status:
        return Status(
            self._query.name,
            running,
            self.batches,
            self.total("in"),
            self.total("late"),
            self.total("rejected"),
            self.total("out"),
            self.state_rows,
            self.watermark,
            self.batch_seconds,
            self.state_bytes,
            self.read_rate,
            self.written_rate,
            dict(self.newest),
            self.inputs({}),
            lookups=self.report_lookups(),
        )

    def inputs(self, rejected_to: Mapping[str, str]) -> tuple[InputReport, ...]:
        """The sums by input; `rejected_to` has the place of an input's rejected rows."""
        return tuple(
            InputReport(
                name,
                read=self.counts[f"in:{name}"],
                rejected=self.counts[f"rejected:{name}"],
                late=self.counts[f"late:{name}"],
                filtered=self.counts[f"filtered:{name}"],
                used=self.counts[f"used:{name}"],
                rejected_to=rejected_to.get(name),
            )
            for name in dict.fromkeys(source.name for source in self._query.inputs)
        )

    def report(self, drained: bool, rejected_to: Mapping[str, str]) -> QueryReport:
        """The sums as a report; `rejected_to` is that of `inputs`."""
        return QueryReport(
            self._query.name,
            self.inputs(rejected_to),
            self.total("out"),
            self.batches,
            self.state_rows,
            self.watermark,
            drained,
            lookups=self.report_lookups(),
        )


class Ledger(StreamingQueryListener):
    """Listens to all queries of a session. Spark tells of a batch after it, from a thread of its own."""

    def __init__(self) -> None:
        self._listeners: dict[str, list[Listener]] = defaultdict(list)
        self._idle: dict[str, IdleListener] = {}
        self._early: dict[str, list[QueryProgressEvent]] = defaultdict(list)
        self._ended: dict[str, threading.Event] = defaultdict(threading.Event)
        self._lock = threading.RLock()

    def follow(self, run: str, *listeners: Listener, idle: IdleListener | None = None) -> None:
        """Calls the listeners with every progress of a run, from its first batch on.

        `idle` is called in between, when Spark has looked for rows and found none.
        """
        with self._lock:
            if idle is not None:
                self._idle[run] = idle
            self._listeners[run].extend(listeners)
            for event in self._early.pop(run, ()):
                _tell(listeners, event)

    def settle(self, run: str) -> None:
        """Waits until all that Spark has to tell of an ended run has been told, then forgets it."""
        with self._lock:
            ended = self._ended[run]
        ended.wait(_FLUSH_SECONDS)
        with self._lock:
            self._listeners.pop(run, None)
            self._idle.pop(run, None)
            self._early.pop(run, None)
            self._ended.pop(run, None)

    def onQueryStarted(self, event: QueryStartedEvent) -> None:
        """Nothing is known yet."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:
        run = str(event.progress.runId)
        with self._lock:
            if run in self._listeners:
                _tell(self._listeners[run], event)
            else:
                self._early[run].append(event)

    def onQueryIdle(self, event: QueryIdleEvent) -> None:
        with self._lock:
            listener = self._idle.get(str(event.runId))
            if listener is not None:
                listener(event)

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:
        with self._lock:
            self._ended[str(event.runId)].set()


def _tell(listeners: Iterable[Listener], event: QueryProgressEvent) -> None:
    for listener in listeners:
        listener(event)
