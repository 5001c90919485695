"""Tables of databases: each micro-batch changes a table in one transaction, which notes that as well."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import DataFrame

from penstock.codegen import list_arguments
from penstock.codegen.ejected.databases.address import Address, SecretRef
from penstock.codegen.ejected.databases.faults import DivergedError, FencedError, TableError
from penstock.codegen.ejected.databases.table import TargetTable
from penstock.codegen.ejected.databases.writer import TableWriter, WritePolicy
from penstock.codegen.ejected.table_rows import MissingRowError
from penstock.codegen.ejected.table_sink import RowsToTable, TableBatches
from penstock.codegen.program import SparkQuery
from penstock.diagnostics.codes.running import R060, R061, R062, R063, R064
from penstock.runtime.connectors.protocol import RuntimeConnector, RuntimeSink
from penstock.runtime.errors import RunError
from penstock.runtime.spark_logs import read_required
from penstock.runtime.storage import Storage


class TableSink(RuntimeSink):
    """The rows of one query in a table of a database."""

    def __init__(self, query: SparkQuery) -> None:
        self._query = query
        given = list_arguments(query)
        secret = given.address.pop("password", None)
        password = None if secret is None else SecretRef(secret.kind, secret.name)
        table = TargetTable(Address(password=password, **given.address), **given.table)
        self._writer = TableWriter(table, query.name, WritePolicy(**given.policy))
        self._batches = TableBatches(self._writer, RowsToTable(**given.changes), table.name)
        self._storage: Storage | None = None
        self._place = ""

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


CONNECTOR = RuntimeConnector(sink=TableSink)
"""Of PostgreSQL, SQLite and DuckDB: the library knows where they differ."""
