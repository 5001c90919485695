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

from penstock.codegen import list_address, list_tries
from penstock.codegen.ejected.databases.attempts import TableConnection
from penstock.codegen.ejected.databases.faults import TableError
from penstock.codegen.ejected.databases.operations import list_names, raw_cursor
from penstock.codegen.ejected.databases.postgres import as_text
from penstock.codegen.ejected.databases.spark_types import arrow_type, column_type, quote_identifier
from penstock.codegen.ejected.databases.table import TargetTable
from penstock.codegen.ejected.databases.writer import TableCounters, WritePolicy
from penstock.codegen.ejected.rows import quote_name
from penstock.codegen.program import SparkQuery
from penstock.runtime.connectors.databases import coded_errors, make_address
from penstock.runtime.connectors.protocol import RuntimeConnector, RuntimeSink
from penstock.runtime.storage import Storage

PLACE = ("_number", "_query", "_batch")
"""Columns beside those of the stream: a number that grows with the rows, and the query and micro-batch of the row."""


@dataclass(frozen=True, slots=True)
class TailColumn:
    """A column of the stream. Values that PostgreSQL has no type for are kept as JSON."""

    name: str
    type: str
    is_json: bool


class TailSink(RuntimeSink):
    """The newest rows of a stream. A micro-batch that comes again takes the place of its rows."""

    def __init__(self, query: SparkQuery) -> None:
        self._query = query
        self._limit = query.output.number("rows")
        self._columns = [find_column(name, type_) for name, type_ in query.output.columns]
        address = make_address(list_address(query.output) | {"dialect": "postgres"})
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
        kept = ", ".join(f"{quote_identifier(each.name)} {each.type}" for each in self._columns)
        number = f"{PLACE[0]} bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
        text = f"CREATE TABLE IF NOT EXISTS {self._table.quoted_name} "
        text += f"({kept}, {number}, {PLACE[1]} text, {PLACE[2]} bigint)"
        with coded_errors(self._query):
            self._connection.run(lambda connection: connection.exec_driver_sql(text.replace("%", "%%")))

    def write(self, batch: DataFrame, number: int) -> None:
        """Adds the rows of a micro-batch, and deletes those that are more than the tail keeps. Raises RunError."""
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
        again = f"DELETE FROM {table.replace('%', '%%')} WHERE _query = %s AND _batch >= %s"
        connection.exec_driver_sql(again, (self._query.name, number))  # begins the transaction
        cursor = raw_cursor(connection)
        names = list_names([*rows.column_names, *PLACE[1:]])
        count = rows.num_rows
        rows = rows.append_column(PLACE[1], pa.array([self._query.name] * count, pa.string()))
        rows = rows.append_column(PLACE[2], pa.array([number] * count, pa.int64()))
        sink = io.BytesIO()
        arrow_csv.write_csv(as_text(rows), sink, arrow_csv.WriteOptions(include_header=False))
        with cursor.copy(f"COPY {table} ({names}) FROM STDIN (FORMAT csv)") as copy:
            copy.write(sink.getvalue())
        newest = f"SELECT max({PLACE[0]}) FROM {table}"
        cursor.execute(f"DELETE FROM {table} WHERE {PLACE[0]} <= ({newest}) - {self._limit}")

    def _note_retry(self, reason: str) -> None:
        self._note(reason)

    def _note(self, reason: str | None) -> None:
        if reason != self._retrying:
            self._retrying = reason
            self._changed()


def find_column(name: str, type_: str) -> TailColumn:
    """The column of PostgreSQL that holds values of a Spark type."""
    try:
        return TailColumn(name, column_type("postgres", arrow_type(type_)), is_json=False)
    except TableError:  # of nested values and intervals
        return TailColumn(name, "jsonb", is_json=True)


def show_column(column: TailColumn) -> Column:
    """The column as Spark gives it to PostgreSQL."""
    values = F.col(quote_name(column.name))
    return F.to_json(values).alias(column.name) if column.is_json else values


CONNECTOR = RuntimeConnector(sink=TailSink)
