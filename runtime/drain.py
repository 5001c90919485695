"""A checkpoint -> the stream that ends a query: empty, until `drain` puts one row behind every event time into it.

The row moves the watermark past all rows that were read, so that every window closes and every outer row comes out.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from penstock.runtime.storage import Storage

_END = '{"time":"9999-01-01T00:00:00Z"}\n'


def end_stream(spark: SparkSession, storage: Storage, checkpoint: str) -> DataFrame:
    """A stream with the column `time`: no rows, or after `drain` one."""
    storage.folder(f"{checkpoint}/end")
    return spark.readStream.schema("time timestamp").json(f"{checkpoint}/end")


def drain(storage: Storage, checkpoint: str) -> None:
    """Declares the input of the checkpoint's query complete. For good: rows that come later are late."""
    if not drained(storage, checkpoint):
        storage.publish(f"{checkpoint}/end/end.json", _END)


def drained(storage: Storage, checkpoint: str) -> bool:
    """Whether the input of the checkpoint's query was declared complete."""
    return storage.is_file(f"{checkpoint}/end/end.json")
