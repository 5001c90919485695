"""What Spark tells of a micro-batch, as it writes it."""

from __future__ import annotations

import json
from typing import Any

from penstock.runtime.progress.spark_listener import BatchProgress, OperatorProgress, SparkListener

LEAST: dict[str, Any] = {
    "id": "7c1e5cf8-9f6c-4a4e-8a3b-2b7d3a8d2c11",
    "runId": "0f6b3a3e-6f0e-4f0e-9d9b-0a8c5b1d2e33",
    "name": None,
    "timestamp": "2026-01-01T00:00:00.000Z",
    "batchId": 0,
    "stateOperators": [],
    "sources": [],
    "sink": {"description": "s", "numOutputRows": -1},
}
FULL = LEAST | {
    "durationMs": {"addBatch": 5, "triggerExecution": 9},
    "eventTime": {"watermark": "1970-01-01T00:00:00.000Z"},
    "inputRowsPerSecond": 1.0e-1,
    "processedRowsPerSecond": 12345.7,
    "stateOperators": [{"operatorName": "o", "numRowsTotal": 3, "memoryUsedBytes": 1 << 40, "customMetrics": {}}],
    "observedMetrics": {"v": {"in:s": 2, "late:s": None, "seconds": 0.5, "batch_seconds": [0.1, 0.2]}},
}


class Told:
    """A follower, an event of Java and its progress."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.found: list[Any] = []

    def tell_progress(self, progress: BatchProgress) -> None:
        self.found.append(progress)

    def tell_idle(self, run: str, timestamp: str) -> None:
        self.found.append((run, timestamp))

    def tell_end(self, run: str) -> None:
        self.found.append(run)

    def progress(self) -> Told:
        return self

    def json(self) -> str:
        return self.text


def listen(progress: dict[str, Any]) -> BatchProgress:
    told = Told(json.dumps(progress))
    SparkListener(told).onQueryProgress(told)
    (found,) = told.found
    assert isinstance(found, BatchProgress)
    return found


def test_what_spark_leaves_out_is_empty_or_0() -> None:
    assert listen(LEAST) == BatchProgress(LEAST["runId"], LEAST["timestamp"], [])


def test_figures_and_observed_values_keep_their_types() -> None:
    found = listen(FULL)
    assert found.state_operators == [OperatorProgress(3, 1 << 40)]
    assert found.observed_metrics == {"v": {"in:s": 2, "late:s": None, "seconds": 0.5, "batch_seconds": [0.1, 0.2]}}
    assert (found.input_rows_per_second, found.processed_rows_per_second) == (0.1, 12345.7)
    assert found.duration_ms["triggerExecution"] == 9
    assert found.event_time == {"watermark": "1970-01-01T00:00:00.000Z"}
