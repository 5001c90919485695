"""Progress events of Spark -> the accounting of each query: what became of each row.

The views of a query observe counts named `<kind>:<input>`. `in` counts the rows that were read. Some of these were
malformed or had an impossible time (`rejected`), were behind the watermark (`late`), or failed a condition
(`filtered`). The others went on (`used`).
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from penstock.codegen.program import RemoteView, SparkQuery
from penstock.runtime.progress.field_account import FieldAccounts, explain_unseen
from penstock.runtime.progress.row_rates import RowRates
from penstock.runtime.progress.spark_listener import BatchProgress
from penstock.runtime.progress.status import BatchMark, InputReport, QueryReport, Status
from penstock.runtime.progress.table_reports import LookupAccount, LookupReport
from penstock.runtime.query.drain import END_OF_TIME, EPOCH

Listener: TypeAlias = Callable[[BatchProgress], None]
IdleListener: TypeAlias = Callable[[str], None]

_FLUSH_SECONDS = 30.0  # not reached unless the JVM is gone
_MARKS = 11  # enough to see what ten micro-batches have changed


class Account:
    """The sums of one query over all its runs in this process."""

    def __init__(self, query: SparkQuery) -> None:
        self._query = query
        looked_up = {each.name: each.table for each in query.views if isinstance(each, RemoteView)}
        by_table = {table: LookupAccount(table) for table in looked_up.values()}
        self.lookups = {view: by_table[table] for view, table in looked_up.items()}
        self._fields = FieldAccounts(query.inputs)
        self.counts: Counter[str] = Counter()
        self.batches = 0
        self.state_rows = 0
        self.watermark: datetime | None = None
        self.batch_seconds: float | None = None
        self.state_bytes = 0
        self._rates = RowRates()
        self.newest: dict[str, datetime] = {}
        self.oldest: datetime | None = None
        self.heard: dict[str, datetime] = {}
        self.started: datetime | None = None
        self.has_looked = False
        self._recent: deque[BatchMark] = deque(maxlen=_MARKS)

    def start(self) -> None:
        """The query is started, maybe once more."""
        self.started = self.started or datetime.now(UTC)

    def look(self) -> None:
        """The query has looked for rows."""
        self.has_looked = True

    def add(self, progress: BatchProgress) -> None:
        self.batches += 1
        self.has_looked = True
        began = datetime.fromisoformat(progress.timestamp).astimezone(UTC)
        self._fields.add(progress.observed_metrics)
        for view, metrics in progress.observed_metrics.items():
            if view in self.lookups:
                self.lookups[view].add(metrics)
                continue
            counts = {name: count or 0 for name, count in metrics.items() if ":" in name}
            self.counts.update(counts)
            read = [name for name, count in counts.items() if name.startswith("in:") and count]
            self.heard |= {name.removeprefix("in:"): began for name in read}
        self.state_rows = sum(operator.num_rows_total for operator in progress.state_operators)
        if "watermark" in progress.event_time:
            self.watermark = datetime.fromisoformat(progress.event_time["watermark"]).astimezone(UTC)
        self.batch_seconds = progress.duration_ms.get("triggerExecution", 0) / 1000
        self.state_bytes = sum(operator.memory_used_bytes for operator in progress.state_operators)
        self._rates.add(self.total("in"), self.total("out"))
        if "min" in progress.event_time:
            oldest = datetime.fromisoformat(progress.event_time["min"]).astimezone(UTC)
            if oldest < END_OF_TIME:
                self.oldest = min(oldest, self.oldest or oldest)
        self._recent.append(BatchMark(self.state_rows, self.total("out")))
        for name, at in self._find_newest(progress):
            self.newest[name] = max(at, self.newest.get(name, at))

    def _find_newest(self, progress: BatchProgress) -> Iterator[tuple[str, datetime]]:
        """The newest event times of a micro-batch by input."""
        inputs = self._query.watermark_inputs
        for each in inputs:
            newest = progress.observed_metrics.get(each.view, {}).get("newest")
            if newest is not None:
                yield each.name, EPOCH + timedelta(milliseconds=newest)
        if len(inputs) == 1 and not self._query.takes_heartbeats and "max" in progress.event_time:
            newest = datetime.fromisoformat(progress.event_time["max"]).astimezone(UTC)
            if newest < END_OF_TIME:
                yield inputs[0].name, newest

    def total(self, kind: str) -> int:
        return sum(count for name, count in self.counts.items() if name.startswith(f"{kind}:"))

    def report_lookups(self) -> tuple[LookupReport, ...]:
        """The lookups, one report for each table."""
        return tuple(each.report for each in dict.fromkeys(self.lookups.values()))

    def status(self, running: bool) -> Status:
        read_rate, written_rate = self._rates.find() if running else (0.0, 0.0)
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
            read_rate,
            written_rate,
            dict(self.newest),
            self.inputs({}),
            lookups=self.report_lookups(),
            started=self.started,
            has_looked=self.has_looked or not running,
            oldest=self.oldest,
            heard=dict(self.heard),
            recent=tuple(self._recent),
            warnings=tuple(self._fields.warnings),
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
                unseen=self._fields.find_unseen(name),
            )
            for name in dict.fromkeys(source.name for source in self._query.inputs)
        )

    def report(self, drained: bool, rejected_to: Mapping[str, str]) -> QueryReport:
        """The sums as a report. `rejected_to` is as in `inputs`."""
        inputs = self.inputs(rejected_to)
        return QueryReport(
            self._query.name,
            inputs,
            self.total("out"),
            self.batches,
            self.state_rows,
            self.watermark,
            drained,
            lookups=self.report_lookups(),
            warnings=tuple(explain_unseen(inputs)),
        )


class Ledger:
    """Follows all queries of a session. Spark tells of a batch after it, from a thread of its own."""

    def __init__(self) -> None:
        self._listeners: dict[str, list[Listener]] = defaultdict(list)
        self._idle: dict[str, IdleListener] = {}
        self._early: dict[str, list[BatchProgress]] = defaultdict(list)
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
            for progress in self._early.pop(run, ()):
                _tell(listeners, progress)

    def settle(self, run: str) -> None:
        """Waits until all that Spark tells of an ended run has been told, then forgets it. May be called twice."""
        with self._lock:
            if run not in self._listeners:
                return
            ended = self._ended[run]
        ended.wait(_FLUSH_SECONDS)
        self.forget(run)

    def forget(self, run: str) -> None:
        """Drops what is known of a run."""
        with self._lock:
            self._listeners.pop(run, None)
            self._idle.pop(run, None)
            self._early.pop(run, None)
            self._ended.pop(run, None)

    def tell_progress(self, progress: BatchProgress) -> None:
        """A micro-batch has ended."""
        with self._lock:
            if progress.run_id in self._listeners:
                _tell(self._listeners[progress.run_id], progress)
            else:
                self._early[progress.run_id].append(progress)

    def tell_idle(self, run: str, timestamp: str) -> None:
        """Spark has looked for rows, and found none."""
        with self._lock:
            listener = self._idle.get(run)
            if listener is not None:
                listener(timestamp)

    def tell_end(self, run: str) -> None:
        """A run has ended."""
        with self._lock:
            self._ended[run].set()


def _tell(listeners: Iterable[Listener], progress: BatchProgress) -> None:
    for listener in listeners:
        listener(progress)
