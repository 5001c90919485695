"""Rows that are computed and dropped. A crash leaves nothing behind."""

from __future__ import annotations

from pyspark.sql import DataFrame

from penstock.codegen.program import SparkQuery
from penstock.runtime.connectors.protocol import RuntimeConnector, RuntimeSink


class BlackholeSink(RuntimeSink):
    """Has Spark compute all columns of each row, and writes nothing. The account of the query counts the rows."""

    def __init__(self, query: SparkQuery) -> None:
        pass

    def write(self, batch: DataFrame, number: int) -> None:
        batch.write.format("noop").mode("overwrite").save()


CONNECTOR = RuntimeConnector(sink=BlackholeSink)
