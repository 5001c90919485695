"""The newest rows of a stream in PostgreSQL, for people who look at it."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.csv as arrow_csv
import sqlalchemy as sa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from penstock.codegen.connectors.database_calls import list_address, list_tries
from penstock.codegen.program import SparkQuery
from penstock.kit.databases.address import make_address
from penstock.kit.databases.attempts import TableConnection
from penstock.kit.databases.counters import TableCounters
from penstock.kit.databases.faults import TableError
from penstock.kit.databases.operations import list_names, raw_cursor
from penstock.kit.databases.postgres import POSTGRES
from penstock.kit.databases.postgres_operations import as_text
from penstock.kit.databases.spark_types import arrow_type
from penstock.kit.databases.target_table import TargetTable
from penstock.kit.databases.writer import WritePolicy
from penstock.kit.spark_columns import quote_name
from penstock.runtime.checkpoint.storage import Storage
from penstock.runtime.connectors.protocol import RuntimeConnector, RuntimeSink
from penstock.runtime.connectors.table_sink import coded_errors

NUMBER, QUERY, BATCH = "number", "query", "batch"
"""The number grows with the rows. The others say which micro-batch wrote a row. Columns of the stream are c0, c1, …"""


@dataclass(frozen=True, slots=True)
class TailColumn:
    """A column of the stream, and what the table calls it. Values that PostgreSQL has no type for are kept as JSON."""

    name: str
    kept_as: str
    type: str
    is_json: bool


class TailSink(RuntimeSink):
    """The newest rows of a stream. A micro-batch that comes again takes the place of its rows."""

    def __init__(self, query: SparkQuery) -> None:
        self._query = query
        self._limit = query.output.number("rows")
        self._columns = [find_column(place, *column) for place, column in enumerate(query.output.columns)]
        address = make_address(list_address(query.output, "postgres"))
        self._table = TargetTable(address, str(query.output.values["table"]), (), ())
        self._retrying: str | None = None
        self._changed: Callable[[], None] = lambda: None
        policy = WritePolicy(**list_tries(query.output))
        self._connection = TableConnection(self._table, policy, TableCounters(), self._note_retry)

    @property
    def retrying(self) -> str | None:
        return self._retrying

    def watch(self, changed: Callable[[], None]) -> None:
        self._changed = changed

    def check(self, storage: Storage, place: str | None, finished: int) -> None:
        """Makes the table if it is missing. Raises RunError if the database cannot be reached."""
        columns = [f"{each.kept_as} {each.type}" for each in self._columns]
        columns.append(f"{NUMBER} bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, {QUERY} text, {BATCH} bigint")
        text = f"CREATE TABLE IF NOT EXISTS {self._table.quoted_name} ({', '.join(columns)})"
        with coded_errors(self._query):
            self._connection.run(lambda connection: connection.exec_driver_sql(text.replace("%", "%%")))

    def write(self, batch: DataFrame, number: int) -> None:
        """Adds the rows of a micro-batch, and deletes rows beyond the number that the tail keeps. Raises RunError."""
        rows = self._collect(batch)
        with coded_errors(self._query):
            self._connection.run(lambda connection: self._replace(connection, rows, number))
        self._note(None)

    def close(self) -> None:
        self._connection.close()

    def _collect(self, batch: DataFrame) -> pa.Table:
        """The newest rows. All rows are computed, so that all are counted."""
        limit = self._limit

        def keep_newest(parts: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            kept: list[pa.RecordBatch] = []
            for part in parts:
                kept = [*kept, part]
                while len(kept) > 1 and sum(each.num_rows for each in kept[1:]) >= limit:
                    kept = kept[1:]
            yield from kept

        chosen = batch.select(*map(show_column, self._columns))
        rows = chosen.mapInArrow(keep_newest, chosen.schema).toArrow()
        return rows.slice(max(0, rows.num_rows - limit))

    def _replace(self, connection: sa.Connection, rows: pa.Table, number: int) -> None:
        table = self._table.quoted_name
        again = f"DELETE FROM {table.replace('%', '%%')} WHERE {QUERY} = %s AND {BATCH} >= %s"
        connection.exec_driver_sql(again, (self._query.name, number))  # begins the transaction
        cursor = raw_cursor(connection)
        names = list_names([*rows.column_names, QUERY, BATCH])
        count = rows.num_rows
        rows = rows.append_column(QUERY, pa.array([self._query.name] * count, pa.string()))
        rows = rows.append_column(BATCH, pa.array([number] * count, pa.int64()))
        sink = io.BytesIO()
        arrow_csv.write_csv(as_text(rows), sink, arrow_csv.WriteOptions(include_header=False))
        with cursor.copy(f"COPY {table} ({names}) FROM STDIN (FORMAT csv)") as copy:
            copy.write(sink.getvalue())
        newest = f"SELECT max({NUMBER}) FROM {table}"
        cursor.execute(f"DELETE FROM {table} WHERE {NUMBER} <= ({newest}) - {self._limit}")

    def _note_retry(self, reason: str) -> None:
        self._note(reason)

    def _note(self, reason: str | None) -> None:
        if reason != self._retrying:
            self._retrying = reason
            self._changed()


def find_column(place: int, name: str, type_: str) -> TailColumn:
    """The column of PostgreSQL that holds values of a Spark type."""
    try:
        return TailColumn(name, f"c{place}", POSTGRES.column_type(arrow_type(type_)), is_json=False)
    except TableError:  # for nested values and intervals
        return TailColumn(name, f"c{place}", "jsonb", is_json=True)


def show_column(column: TailColumn) -> Column:
    """The column as Spark gives it to PostgreSQL."""
    values = F.col(quote_name(column.name))
    return (F.to_json(values) if column.is_json else values).alias(column.kept_as)


CONNECTOR = RuntimeConnector(sink=TailSink)
