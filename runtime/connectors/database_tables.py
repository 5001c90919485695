"""Tables of databases: each micro-batch changes a table in one transaction, which notes that as well."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession

from penstock.codegen.connector_options import PACKAGES
from penstock.codegen.connectors.database_calls import list_address, list_arguments, list_find_arguments, list_tries
from penstock.codegen.program import Input, RemoteView, SparkQuery
from penstock.kit.databases.address import make_address
from penstock.kit.databases.finder import FindPolicy, TableReader
from penstock.kit.databases.reads import ColumnCondition
from penstock.kit.databases.target_table import TargetTable
from penstock.kit.databases.writer import TableWriter, WritePolicy
from penstock.kit.spark_columns import schema_of
from penstock.kit.tables.table_batches import RowsToTable, TableBatches
from penstock.kit.tables.table_lookup import LookupRows, remote_view
from penstock.kit.tables.table_updates import UpdateSums
from penstock.rows import Row
from penstock.runtime.checkpoint.storage import Storage
from penstock.runtime.connectors.protocol import RuntimeConnector, RuntimeLookup, RuntimeSource
from penstock.runtime.connectors.table_sink import TableSink
from penstock.runtime.failure.table_failures import coded_reads


class DatabaseSink(TableSink):
    """The rows of one query in a table of a database."""

    def __init__(self, query: SparkQuery) -> None:
        given = list_arguments(query)
        target = TargetTable(make_address(given.address), **given.table)
        writer = TableWriter(target, query.name, WritePolicy(**given.policy), self.note_retry)
        sums = UpdateSums(**given.sums) if given.sums else None
        batches = TableBatches(writer, RowsToTable(**given.changes, sums=sums), target.name)
        super().__init__(query, target.name, writer, batches)


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
        return set(PACKAGES[self._view.connector])

    def frame(self, spark: SparkSession) -> DataFrame:
        """The rows of the view, which the workers complete. Raises RunError as `check` does."""
        rows = LookupRows(**self._arguments.rows)
        with coded_reads(self._table, self._view.span):
            view = self._view
            return remote_view(spark, view.name, view.source, self._table, self._policy, rows, view.schema)


class TableSource(RuntimeSource):
    """The rows of a table as they are now. The database chooses the rows that a read asks for, as far as it is sure."""

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


CONNECTOR = RuntimeConnector(sink=DatabaseSink, source=TableSource, lookup=TableLookups)
"""For every database: the library knows where they differ."""
