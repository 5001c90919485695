"""A checkpoint -> its end stream, which moves the watermarks of the inputs of a query. Spark reads it like any other.

It is mostly empty. `drain` writes a row with a time after every event time. It moves the watermark past all rows that
were read, so every window closes and every unmatched outer row is sent. `write_heartbeat` writes a heartbeat for one
input.
"""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta

from pyspark.sql import DataFrame, SparkSession

from penstock.runtime.checkpoint.storage import Storage

_END = '{"time":"9999-01-01T00:00:00Z"}\n'
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
END_OF_TIME = datetime(9000, 1, 1, tzinfo=UTC)
"""After every event time of a row, and before the time that drains a query."""


def end_stream(spark: SparkSession, storage: Storage, checkpoint: str) -> DataFrame:
    """A stream with the columns `time` and `input`, which is NULL in the row that `drain` writes: it is for all."""
    storage.folder(f"{checkpoint}/end")
    return spark.readStream.schema("time timestamp, input string").json(f"{checkpoint}/end")


def drain(storage: Storage, checkpoint: str) -> None:
    """Declares the input of the checkpoint's query complete. For good: rows that come later are late."""
    if not is_drained(storage, checkpoint):
        storage.publish(f"{checkpoint}/end/end.json", _END)


def is_drained(storage: Storage, checkpoint: str) -> bool:
    """Whether the input of the checkpoint's query was declared complete."""
    return storage.is_file(f"{checkpoint}/end/end.json")


def write_heartbeat(storage: Storage, checkpoint: str, input_: str, newest: int) -> str:
    """Takes an input to have had a row of the event time `newest`, in milliseconds. Returns the path of the file."""
    path = f"{checkpoint}/end/{time.time_ns()}.json"
    row = {"time": (EPOCH + timedelta(milliseconds=newest)).isoformat(), "input": input_}
    storage.publish(path, json.dumps(row) + "\n")
    return path
