"""A checkpoint -> the watermark in force and the micro-batch's number: a one-row Python data source.

Spark has no expression for either. But each task knows the number of its micro-batch, and Spark has written the
watermark to the checkpoint before (`watermark.py`).
"""

from collections.abc import Iterator
from datetime import datetime

from pyspark import TaskContext
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from penstock.codegen.ejected.watermark import watermark_of


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
    """The format `penstock_clock`, read anew in each micro-batch; its option `checkpoint` is the query's folder."""

    @classmethod
    def name(cls) -> str:
        return "penstock_clock"

    def schema(self) -> str:
        return "watermark timestamp, batch bigint"

    def reader(self, schema: StructType) -> ClockReader:
        return ClockReader(self.options["checkpoint"])
