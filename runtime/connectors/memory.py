"""Rows kept in this process, for tests and for looking at small results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from penstock.codegen.program import Input, QueryOutput, SparkQuery
from penstock.kit.memory import RowsInMemory
from penstock.kit.spark_columns import schema_of
from penstock.rows import Row, list_rows
from penstock.runtime.checkpoint.storage import Storage
from penstock.runtime.connectors.protocol import HoldingSink, RuntimeConnector, RuntimeSource


@dataclass(frozen=True, slots=True)
class Kept:
    """What a memory sink of this name holds. `evicted`: how many older rows were more than it keeps."""

    name: str
    rows: list[Row]
    evicted: int


class MemorySource(RuntimeSource):
    """The rows that sinks of this process hold. An ordered input also has `_place`, which grows from row to row."""

    def __init__(self, source: Input) -> None:
        self._source = source

    def snapshot(self, spark: SparkSession, storage: Storage, held: Sequence[Row]) -> DataFrame:
        columns = dict(self._source.columns)
        values = [tuple(row[name] for name in columns) for row in held]
        if self._source.ordered:
            columns["_place"] = "BIGINT"
            values = [(*row, place) for place, row in enumerate(values)]
        return spark.createDataFrame(values, schema_of(columns))


class MemorySink(HoldingSink):
    """The result of one query. Batches are seen whole."""

    def __init__(self, query: SparkQuery) -> None:
        self._key = query.key if query.mode == "update" else None
        self._rows = RowsInMemory(query.output.number("rows"), self._key, query.operation)

    @property
    def begun(self) -> bool:
        return self._rows.begun

    @property
    def evicted(self) -> int:
        return self._rows.evicted

    def rows(self) -> list[Row]:
        """The rows in the order in which they, or in an update query their keys, came first."""
        return self._rows.rows()

    def write(self, batch: DataFrame, number: int) -> None:
        # One collect: a batch that is computed twice is counted twice.
        self.put(batch.toArrow(), number)

    def put(self, batch: pa.Table, number: int) -> None:
        """Adds a batch; `number` counts from 0 and grows."""
        skipped = max(0, batch.num_rows - self._rows.limit) if self._key is None else 0
        self._rows.put(list_rows(batch.slice(skipped)), number, skipped)


def memory_output(name: str, columns: tuple[tuple[str, str], ...]) -> QueryOutput:
    """A memory sink as an output."""
    return QueryOutput(name, "memory", (), columns)


CONNECTOR = RuntimeConnector(MemorySource, MemorySink)
