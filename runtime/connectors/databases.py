"""Tables of databases: each micro-batch changes a table in one transaction, which notes that as well."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession

from penstock.codegen import list_address, list_arguments, list_find_arguments, list_tries
from penstock.codegen.ejected import table_lookup
from penstock.codegen.ejected.databases import (
    address,
    attempts,
    duckdb,
    faults,
    finder,
    operations,
    postgres,
    reads,
    secrets,
    spark_types,
    sqlite,
    table,
)
from penstock.codegen.ejected.databases.address import Address
from penstock.codegen.ejected.databases.faults import DivergedError, FencedError, TableError
from penstock.codegen.ejected.databases.finder import FindPolicy, TableReader
from penstock.codegen.ejected.databases.reads import ColumnCondition
from penstock.codegen.ejected.databases.secrets import SecretRef
from penstock.codegen.ejected.databases.table import TargetTable
from penstock.codegen.ejected.databases.writer import TableWriter, WritePolicy
from penstock.codegen.ejected.rows import schema_of
from penstock.codegen.ejected.table_lookup import LookupRows, remote_view
from penstock.codegen.ejected.table_rows import MissingRowError
from penstock.codegen.ejected.table_sink import RowsToTable, TableBatches
from penstock.codegen.program import Input, RemoteView, SparkQuery
from penstock.diagnostics.codes.running import R060, R061, R062, R063, R064
from penstock.diagnostics.source import Span
from penstock.rows import Row
from penstock.runtime.connectors.protocol import RuntimeConnector, RuntimeLookup, RuntimeSink, RuntimeSource
from penstock.runtime.errors import RunError
from penstock.runtime.failures import explain_unread
from penstock.runtime.spark_logs import read_required
from penstock.runtime.storage import Storage
from penstock.runtime.table_reports import TableReport, find_percentile_ms

TRAVELLING = (
    *(faults, secrets, spark_types, address, table, attempts, operations, postgres, sqlite, duckdb, reads, finder),
    table_lookup,
)
"""Modules that travel by value: the workers of a cluster have the drivers of databases, but not penstock."""


class StoppedError(Exception):
    """The query was stopped while it waited to try again."""


class TableSink(RuntimeSink):
    """The rows of one query in a table of a database."""

    def __init__(self, query: SparkQuery) -> None:
        self._query = query
        given = list_arguments(query)
        target = TargetTable(make_address(given.address), **given.table)
        self._writer = TableWriter(target, query.name, WritePolicy(**given.policy), self._note_retry)
        self._batches = TableBatches(self._writer, RowsToTable(**given.changes), target.name)
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
            str(self._query.output.values["table"]),
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

    def watch(self, changed: Callable[[], None]) -> None:
        self._changed = changed

    def stop(self) -> None:
        self._is_stopped = True

    def close(self) -> None:
        self._writer.close()

    def _note_retry(self, reason: str) -> None:
        if self._is_stopped:
            raise StoppedError(reason)
        self._set_retrying(reason)

    def _set_retrying(self, reason: str | None) -> None:
        if reason != self._retrying:
            self._retrying = reason
            self._changed()

    def check(self, storage: Storage, place: str | None, finished: int) -> None:
        """Raises RunError if the database cannot be reached, or the table is not as it is declared."""
        with coded_errors(self._query):
            self._writer.check()

    def open(self, storage: Storage, place: str) -> None:
        self._storage, self._place = storage, place

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


class TableLookups(RuntimeLookup):
    """The rows of a table that a view looks up."""

    def __init__(self, view: RemoteView) -> None:
        self._view = view
        self._arguments = list_find_arguments(view)
        self._policy = FindPolicy(**self._arguments.policy)
        self._table = TargetTable(make_address(self._arguments.address), **self._arguments.table)

    def check(self) -> None:
        """Raises RunError if the database cannot be reached, or the table is not as it is declared."""
        with coded_reads(self._table, self._view.span):
            TableReader(self._table, self._policy).check()

    @property
    def packages(self) -> set[str]:
        """The packages that workers need."""
        own = {"postgres": {"psycopg"}, "sqlite": set[str](), "duckdb": {"duckdb", "duckdb_engine"}}
        return {"sqlalchemy", "tenacity", *own[self._view.connector]}

    def frame(self, spark: SparkSession) -> DataFrame:
        """The rows of the view, which the workers complete. Raises RunError as `check` does."""
        for module in TRAVELLING:
            cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
        rows = LookupRows(**self._arguments.rows)
        with coded_reads(self._table, self._view.span):
            view = self._view
            return remote_view(spark, view.name, view.source, self._table, self._policy, rows, view.schema)


class TableSource(RuntimeSource):
    """The rows of a table as they are now. The database chooses those that a read asks for, as far as it is sure."""

    def __init__(self, source: Input) -> None:
        self._source = source
        values = source.values
        columns = tuple((name, type_, True) for name, type_ in source.columns)
        self._table = TargetTable(make_address(list_address(source)), str(values["table"]), columns, ())
        self._policy = FindPolicy(**list_tries(source))

    def snapshot(self, spark: SparkSession, storage: Storage, held: Sequence[Row]) -> DataFrame:
        names = [name for name, _ in self._source.columns]
        conditions = [ColumnCondition(each.column, each.operator, each.values) for each in self._source.filters]
        reader = TableReader(self._table, self._policy)
        try:
            with coded_reads(self._table, None):
                reader.check()
                rows = reader.select(names, conditions)
        finally:
            reader.close()
        return spark.createDataFrame(rows, schema_of(dict(self._source.columns)))


def make_address(arguments: dict[str, Any]) -> Address:
    """Where the database is. Its secret is named, and not read."""
    secret = arguments.get("password")
    password = None if secret is None else SecretRef(secret.kind, secret.name)
    return Address(**{**arguments, "password": password})


@contextmanager
def coded_reads(target: TargetTable, span: Span | None) -> Iterator[None]:
    """Raises RunError in place of the errors of the library that reads tables."""
    try:
        yield
    except TableError as error:
        raise RunError([explain_unread(target.name, str(error), error.hint, span)]) from None


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


CONNECTOR = RuntimeConnector(sink=TableSink, source=TableSource, lookup=TableLookups)
"""Of PostgreSQL, SQLite and DuckDB: the library knows where they differ."""
