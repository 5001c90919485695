"""When Spark begins a batch of a query, and when the query ends."""

from __future__ import annotations

from enum import Enum, auto
from typing import Any

from pyspark.sql.streaming.readwriter import DataStreamWriter

from penstock.codegen.program import SparkQuery


class Trigger(Enum):
    """When a query starts a micro-batch."""

    AVAILABLE_NOW = auto()
    """Until all that is there at its start is read. Then the query ends."""
    NO_INTERVAL = auto()
    """As soon as there are rows and the one before has ended, until the query is stopped."""
    INTERVAL = auto()
    """At the interval of the query, until it is stopped."""


def set_trigger(writer: DataStreamWriter, query: SparkQuery, trigger: Trigger) -> DataStreamWriter:
    """The writer with its trigger and its output mode."""
    match trigger:
        case Trigger.AVAILABLE_NOW:
            return writer.outputMode(query.mode).trigger(availableNow=True)
        case Trigger.NO_INTERVAL:
            return writer.outputMode(query.mode).trigger(processingTime="0 seconds")
    if query.real_time is not None:
        # Spark takes no other mode there. Without state it sends the same rows. A batch is told when it is committed:
        # what was counted does not come again, and a stop finds no half of a file in the checkpoint.
        writer = writer.outputMode("update").option("asyncProgressTrackingEnabled", "false")
        set_real_time: Any = writer.trigger  # its overloads leave this one out
        real_time: DataStreamWriter = set_real_time(realTime=f"{query.real_time} milliseconds")
        return real_time
    return writer.outputMode(query.mode).trigger(processingTime=f"{query.interval} milliseconds")
