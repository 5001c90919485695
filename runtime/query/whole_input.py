"""A running query -> all files that were there when it started, and the row that ends its input, in one start.

A query that Spark ends by itself would have to start once more for that row: it would be planned again, and read its
state from files.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from threading import Event
from typing import Any, TypeVar

from pyspark.sql.streaming.query import StreamingQuery

T = TypeVar("T")
_POLL_SECONDS = 1
_STARTING_SECONDS = 0.01


def read_to_end(started: StreamingQuery, end: str, drain: Callable[[], None], stopping: Event | None) -> None:
    """Lets the query read the files that are there now and no others; then calls `drain`, lets it read, and stops it.

    `end`: the folder of the stream that `drain` writes to. All other sources of the query read files. If the query ends
    before, or does not read `end`, `drain` is not called.

    Raises:
        KeyboardInterrupt: `stopping` was set. The query still runs.
        Py4JJavaError: the files could not be listed. The query still runs.
        StreamingQueryException: the query failed.
    """
    if _wait_for(lambda: _fix_files(started, end), stopping):
        _wait_for(started.processAllAvailable, stopping)
        if started.isActive:
            drain()
            _wait_for(started.processAllAvailable, stopping)
    started.stop()


def _fix_files(started: StreamingQuery, end: str) -> bool:
    """Has all sources except the source of `end` list their files now, and never again. False if none reads `end`."""
    execution: Any = started._jsq.streamingQuery()
    while not (sources := execution.uniqueSources()) or sources.isEmpty():
        if not started.isActive:
            return False
        time.sleep(_STARTING_SECONDS)
    streams = sources.keys().toSeq()
    others = []
    for stream in map(streams.apply, range(streams.size())):
        if stream.toString() not in (f"FileStreamSource[{end}]", f"FileStreamSource[file:{end}]"):
            others.append(stream)
    if len(others) == streams.size():
        return False
    for stream in others:
        stream.prepareForTriggerAvailableNow()
    return True


def _wait_for(work: Callable[[], T], stopping: Event | None) -> T:
    """The result of a call to Spark, which may take long. Raises KeyboardInterrupt if `stopping` is set before."""
    waiting = ThreadPoolExecutor(1, "penstock-reading")
    try:
        done = waiting.submit(work)
        # In slices, so that Ctrl-C is heard.
        while wait([done], _POLL_SECONDS).not_done:
            if stopping is not None and stopping.is_set():
                raise KeyboardInterrupt
        return done.result()
    finally:
        waiting.shutdown(wait=False)  # whoever is interrupted stops the query, which ends the wait
