"""A checkpoint -> the watermark in force and the micro-batch's number: a one-row Python data source.

Spark has no expression for either. But each task knows the number of its micro-batch, and Spark has written the
watermark to the checkpoint before (`codegen/watermark.py`). This module is pickled by value, because the workers of a
cluster have pyspark but not penstock.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import datetime

from pyspark import TaskContext, cloudpickle
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from penstock.codegen import watermark_of


class ClockReader(DataSourceReader):
    """Yields the one row (watermark, batch)."""

    def __init__(self, checkpoint: str) -> None:
        self._checkpoint = checkpoint

    def read(self, partition: InputPartition) -> Iterator[tuple[datetime, int]]:
        task = TaskContext.get()
        assert task is not None
        batch, query = map(task.getLocalProperty, ("streaming.sql.batchId", "sql.streaming.queryId"))
        yield watermark_of(self._checkpoint, batch, query), int(batch or 0)


class Clock(DataSource):
    """The format `penstock_clock`; its option `checkpoint` is the folder of the query that reads it."""

    @classmethod
    def name(cls) -> str:
        return "penstock_clock"

    def schema(self) -> str:
        return "watermark timestamp, batch bigint"

    def reader(self, schema: StructType) -> ClockReader:
        return ClockReader(self.options["checkpoint"])


def clock(spark: SparkSession, checkpoint: str) -> DataFrame:
    """One row, whose `watermark` is that of the micro-batch in which it is read, and `batch` the number of this."""
    for module in (__name__, watermark_of.__module__):
        cloudpickle.register_pickle_by_value(sys.modules[module])  # type: ignore[no-untyped-call]
    spark.dataSource.register(Clock)
    return spark.read.format(Clock.name()).option("checkpoint", checkpoint).load()
