"""A table of a few rows per batch on standard output."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import DataFrame

from penstock.codegen.program import DELETE, INSERT, UPDATE, SparkQuery
from penstock.rows import list_rows
from penstock.runtime.connectors.protocol import RuntimeConnector, RuntimeSink
from penstock.runtime.progress.plain_console import output, show_rows

_MARKS = {INSERT: "+", UPDATE: "~", DELETE: "-"}


class ConsoleSink(RuntimeSink):
    """Prints the first rows of each batch that has any. In an update query `~` marks rows that replace earlier ones.

    Where rows can be deleted, `-` marks deleted rows, and `+` new ones.
    """

    def __init__(self, query: SparkQuery) -> None:
        self._name = query.output.name
        self._upsert = query.mode == "update"
        self._key = query.key
        self._operation = query.operation
        self._limit = query.output.number("rows")

    def write(self, batch: DataFrame, number: int) -> None:
        # One collect: a batch that is computed twice is counted twice.
        self.put(batch.toArrow(), number)

    def put(self, batch: pa.Table, number: int) -> None:
        """Prints a batch; `number` counts from 0."""
        if not batch.num_rows:
            return
        rows = "row" if batch.num_rows == 1 else "rows"
        heading = f"{self._name}, batch {number}: {batch.num_rows:,} {rows}"
        shown = batch.slice(0, self._limit)
        marks: list[str] | None = None
        if self._operation is not None:
            marks = [_MARKS[each] for each in shown.column(self._operation).to_pylist()]
            shown = shown.drop_columns([self._operation])
        elif self._upsert:
            marks = ["~"] * shown.num_rows
        show_rows(heading, list_rows(shown), batch.num_rows, marks)
        if marks and self._key:
            others = "" if self._operation is None else ", + is new, - ceases to exist"
            output().print(f"  ~ replaces the earlier row with the same {', '.join(self._key)}{others}")


CONNECTOR = RuntimeConnector(sink=ConsoleSink)
