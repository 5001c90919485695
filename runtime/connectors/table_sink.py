"""Tables that others own, too, as sinks: each micro-batch changes one in one transaction, which notes that as well."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from pyspark.sql import DataFrame

from penstock.codegen.program import SparkQuery
from penstock.diagnostics.codes.running import R060, R061, R062, R063, R064
from penstock.kit.databases.counters import TableCounters
from penstock.kit.databases.faults import DivergedError, FencedError, TableError
from penstock.kit.tables.table_batches import TableBatches
from penstock.kit.tables.table_updates import MissingRowError
from penstock.runtime.checkpoint.spark_logs import read_required
from penstock.runtime.checkpoint.storage import Storage
from penstock.runtime.connectors.protocol import RuntimeSink
from penstock.runtime.failure.errors import RunError
from penstock.runtime.progress.table_reports import TableReport, find_percentile_ms


class StoppedError(Exception):
    """The query was stopped while it waited to try again."""


class ReportingWriter(Protocol):
    """A writer of a table, as far as the runtime needs it beside `TableBatches`."""

    counters: TableCounters

    def check(self) -> None:
        """Raises TableError."""

    def close(self) -> None:
        """Closes what is open."""


class TableSink(RuntimeSink):
    """The rows of one query in a table that others own, too.

    `name`: the name of the table, as reports show it. The writer calls `note_retry` before each pause.
    """

    def __init__(self, query: SparkQuery, name: str, writer: ReportingWriter, batches: TableBatches[Any]) -> None:
        self._query, self._name, self._writer, self._batches = query, name, writer, batches
        self._storage: Storage | None = None
        self._place = ""
        self._retrying: str | None = None
        self._changed: Callable[[], None] = lambda: None
        self._is_stopped = False

    @property
    def retrying(self) -> str | None:
        return self._retrying

    @property
    def report(self) -> TableReport:
        counters = self._writer.counters
        seconds = list(counters.batch_seconds)
        return TableReport(
            self._name,
            counters.puts,
            counters.updates,
            counters.deletes,
            counters.rejected,
            counters.batches,
            counters.retries,
            counters.failures,
            counters.seconds_retrying,
            find_percentile_ms(seconds, 50),
            find_percentile_ms(seconds, 99),
        )

    @property
    def kept_rows(self) -> str:
        return f"the table {self._name}"

    def watch(self, changed: Callable[[], None]) -> None:
        self._changed = changed

    def stop(self) -> None:
        self._is_stopped = True

    def close(self) -> None:
        self._writer.close()

    def note_retry(self, reason: str) -> None:
        """Takes note of what has failed. Raises StoppedError after `stop`."""
        if self._is_stopped:
            raise StoppedError(reason)
        self._set_retrying(reason)

    def _set_retrying(self, reason: str | None) -> None:
        if reason != self._retrying:
            self._retrying = reason
            self._changed()

    def check(self, storage: Storage, place: str | None, finished: int) -> None:
        """Raises RunError if the table cannot be reached, or is not as it is declared."""
        with coded_errors(self._query):
            self._writer.check()

    def open(self, storage: Storage, place: str) -> None:
        self._storage, self._place = storage, place

    def arrange(self, rows: DataFrame) -> DataFrame:
        return self._batches.arrange(rows)

    def write(self, batch: DataFrame, number: int) -> None:
        """Changes the table by the rows of a micro-batch.

        Raises:
            RunError: the table cannot be changed, another process writes it, or the checkpoint is not the one that
                wrote it last.
        """
        assert self._storage is not None, "a sink is opened before it is written"
        metadata = read_required(self._storage, f"{self._place}/metadata")
        offsets = read_required(self._storage, f"{self._place}/offsets/{number}")
        with coded_errors(self._query):
            self._batches.write(batch, number, metadata, offsets)
        self._set_retrying(None)


@contextmanager
def coded_errors(query: SparkQuery) -> Iterator[None]:
    """Raises RunError in place of the errors of the library that writes tables."""
    try:
        yield
    except TableError as error:
        code = R061 if error.kind in ("missing_table", "columns", "types", "key") else R060
        found = code.at(query.span, "", query=query.name, reason=str(error))
        raise RunError([found.with_hint(error.hint)]) from None
    except FencedError as error:
        raise RunError([R062.at(query.span, "", query=query.name, reason=str(error))]) from None
    except DivergedError as error:
        found = R063.at(query.span, "", query=query.name, reason=str(error))
        raise RunError([found.with_hint("restore the newest checkpoint, or begin anew with --reset")]) from None
    except MissingRowError as error:
        found = R064.at(query.span, "", query=query.name, key=str(error))
        raise RunError([found.with_hint("UPDATE … ELSE INSERT (…) VALUES (…), or on_missing = 'reject'")]) from None
