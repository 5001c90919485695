"""Progress of micro-batches -> the account of each input of a query: what became of each row.

The views of a query observe counts named `<kind>:<input>`. `in` counts the rows that were read. Some of these were
malformed or had an impossible time (`rejected`), were behind the watermark (`late`), or failed a condition
(`filtered`). The others went on (`used`).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta

from penstock.codegen.program import RemoteView, SparkQuery
from penstock.runtime.progress.row_rates import RowRates
from penstock.runtime.progress.seen_fields import SeenFields, explain_unseen
from penstock.runtime.progress.spark_listener import BatchProgress
from penstock.runtime.progress.status import BatchMark, InputAccount, QueryReport, Status
from penstock.runtime.progress.table_reports import LookupCounters, LookupReport
from penstock.runtime.query.drain import END_OF_TIME, EPOCH

_MARKS = 11  # enough to see what ten micro-batches have changed


class QueryAccount:
    """The accounts of the inputs of one query over all its runs in this process, and what else is counted of it."""

    def __init__(self, query: SparkQuery) -> None:
        self._query = query
        looked_up = {each.name: each.table for each in query.views if isinstance(each, RemoteView)}
        by_table = {table: LookupCounters(table) for table in looked_up.values()}
        self.lookups = {view: by_table[table] for view, table in looked_up.items()}
        self._fields = SeenFields(query.inputs)
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

    def inputs(self, rejected_to: Mapping[str, str]) -> tuple[InputAccount, ...]:
        """The account of each input. `rejected_to` has the place of an input's rejected rows."""
        return tuple(
            InputAccount(
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
        """The accounts as a report for people. `rejected_to` is as in `inputs`."""
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
