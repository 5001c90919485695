"""When Spark begins a batch of a query."""

from __future__ import annotations

from typing import Any

from pyspark.sql.streaming.readwriter import DataStreamWriter

from penstock.codegen.program import SparkQuery


def set_trigger(writer: DataStreamWriter, query: SparkQuery, *, once: bool) -> DataStreamWriter:
    """The writer with its trigger and its output mode. `once`: to the end of what is there now, in micro-batches."""
    if once:
        return writer.outputMode(query.mode).trigger(availableNow=True)
    if query.real_time is not None:
        # Spark takes no other mode there. Without state it sends the same rows. A batch is told when it is committed:
        # what was counted does not come again, and a stop finds no half of a file in the checkpoint.
        writer = writer.outputMode("update").option("asyncProgressTrackingEnabled", "false")
        trigger: Any = writer.trigger  # its overloads leave this one out
        real_time: DataStreamWriter = trigger(realTime=f"{query.real_time} milliseconds")
        return real_time
    return writer.outputMode(query.mode).trigger(processingTime=f"{query.interval} milliseconds")
