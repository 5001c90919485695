"""When Spark begins a batch of a query, and when the query ends."""

from __future__ import annotations

from enum import Enum, auto
from typing import Any

from pyspark.sql.streaming.readwriter import DataStreamWriter

from penstock.codegen.program import SparkQuery


class Until(Enum):
    """How long a query runs."""

    ALL_READ = auto()
    """To the end of what is there now, in micro-batches."""
    TOLD = auto()
    """Until it is stopped, with a micro-batch as soon as there are rows."""
    STOPPED = auto()
    """Until it is stopped, with its own interval from one batch to the next."""


def set_trigger(writer: DataStreamWriter, query: SparkQuery, until: Until) -> DataStreamWriter:
    """The writer with its trigger and its output mode."""
    match until:
        case Until.ALL_READ:
            return writer.outputMode(query.mode).trigger(availableNow=True)
        case Until.TOLD:
            return writer.outputMode(query.mode).trigger(processingTime="0 seconds")
    if query.real_time is not None:
        # Spark takes no other mode there. Without state it sends the same rows. A batch is told when it is committed:
        # what was counted does not come again, and a stop finds no half of a file in the checkpoint.
        writer = writer.outputMode("update").option("asyncProgressTrackingEnabled", "false")
        trigger: Any = writer.trigger  # its overloads leave this one out
        real_time: DataStreamWriter = trigger(realTime=f"{query.real_time} milliseconds")
        return real_time
    return writer.outputMode(query.mode).trigger(processingTime=f"{query.interval} milliseconds")
