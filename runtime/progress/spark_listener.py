"""What Spark tells of a micro-batch -> plain data. Spark tells it as one text, whose parts cost nothing to look at.

PySpark's own listener asks the JVM for each part by itself, which took 28 ms of CPU time for a micro-batch.
"""

from __future__ import annotations

from typing import Any, Protocol

import msgspec
from pyspark import SparkContext
from pyspark.sql.streaming.listener import StreamingQueryListener


class OperatorProgress(msgspec.Struct, frozen=True, rename="camel"):
    """What an operator keeps after a micro-batch."""

    num_rows_total: int
    memory_used_bytes: int


class BatchProgress(msgspec.Struct, frozen=True, rename="camel"):
    """A micro-batch of a run of a query, as far as Penstock looks at it. The names are Spark's.

    `timestamp`: when it began. `duration_ms`: the time of each of its parts. `event_time`: `watermark`, and the `min`
    and `max` of the rows, as far as there are any. `observed_metrics`: what views observe. Spark rounds rates to a
    tenth. One that is not finite is 0.
    """

    run_id: str
    timestamp: str
    state_operators: list[OperatorProgress]
    duration_ms: dict[str, int] = {}
    event_time: dict[str, str] = {}
    input_rows_per_second: float = 0.0
    processed_rows_per_second: float = 0.0
    observed_metrics: dict[str, dict[str, Any]] = {}


class Follower(Protocol):
    """Who wants to know. Runs are named as Spark names them; times are ISO 8601."""

    def tell_progress(self, progress: BatchProgress) -> None:
        """A micro-batch has ended."""

    def tell_idle(self, run: str, timestamp: str) -> None:
        """Spark has looked for rows, and found none."""

    def tell_end(self, run: str) -> None:
        """A run has ended."""


class SparkListener(StreamingQueryListener):
    """Passes on what Spark tells of its queries. Spark calls the methods, with events of Java and not of PySpark."""

    class Java:
        implements = ("org.apache.spark.sql.streaming.PythonStreamingQueryListener",)

    def __init__(self, follower: Follower) -> None:
        self._follower = follower
        self._wrapped: Any = None

    @property
    def _jlistener(self) -> Any:
        """The object of Java that PySpark adds and removes."""
        if self._wrapped is None:
            jvm: Any = SparkContext._jvm
            self._wrapped = jvm.org.apache.spark.sql.streaming.PythonStreamingQueryListenerWrapper(self)
        return self._wrapped

    def onQueryStarted(self, event: Any) -> None:
        """Nothing is known yet."""

    def onQueryProgress(self, event: Any) -> None:
        self._follower.tell_progress(msgspec.json.decode(event.progress().json(), type=BatchProgress))

    def onQueryIdle(self, event: Any) -> None:
        self._follower.tell_idle(event.runId().toString(), event.timestamp())

    def onQueryTerminated(self, event: Any) -> None:
        self._follower.tell_end(event.runId().toString())
