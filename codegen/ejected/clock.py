"""A checkpoint -> the watermark in force and the micro-batch's number, as a view of one row.

Spark has no expression for either. But each task knows the number of its micro-batch, and Spark has written the
watermark to the checkpoint before (`watermark.py`).
"""

from collections.abc import Iterable, Iterator
from typing import Any

from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession

from penstock.codegen.ejected.watermark import watermark_of


def clock_rows(spark: SparkSession, checkpoint: str) -> DataFrame:
    """One row, whose `watermark` is that of the micro-batch in which it is read, and `batch` the number of this."""

    def tell(rows: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for _ in rows:
            task = TaskContext.get()
            assert task is not None
            batch, query = map(task.getLocalProperty, ("streaming.sql.batchId", "sql.streaming.queryId"))
            watermark = pa.array([watermark_of(checkpoint, batch, query)], pa.timestamp("us", "UTC"))
            yield pa.RecordBatch.from_arrays([watermark, pa.array([int(batch or 0)])], ["watermark", "batch"])

    # Not a data source of Python: Spark starts two processes more to be told about one.
    return spark.range(0, 1, numPartitions=1).mapInArrow(tell, "watermark timestamp, batch bigint")
