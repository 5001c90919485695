"""What Spark tells of its micro-batches -> the listeners of each run, in the order of the batches."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import TypeAlias

from penstock.runtime.progress.spark_listener import BatchProgress

Listener: TypeAlias = Callable[[BatchProgress], None]
IdleListener: TypeAlias = Callable[[str], None]

_FLUSH_SECONDS = 30.0  # not reached unless the JVM is gone


class RunFollower:
    """Follows all runs of a session. Spark tells of a batch after its end, from a thread of its own.

    It may tell before the run is known here: then the progress is kept until `follow`.
    """

    def __init__(self) -> None:
        self._listeners: dict[str, list[Listener]] = defaultdict(list)
        self._idle: dict[str, IdleListener] = {}
        self._early: dict[str, list[BatchProgress]] = defaultdict(list)
        self._ended: dict[str, threading.Event] = defaultdict(threading.Event)
        self._lock = threading.RLock()

    def follow(self, run: str, *listeners: Listener, idle: IdleListener | None = None) -> None:
        """Calls the listeners with every progress of a run, from its first batch on.

        `idle` is called in between, when Spark has looked for rows and found none.
        """
        with self._lock:
            if idle is not None:
                self._idle[run] = idle
            self._listeners[run].extend(listeners)
            for progress in self._early.pop(run, ()):
                _tell(listeners, progress)

    def settle(self, run: str) -> None:
        """Waits until all that Spark tells of an ended run has been told, then forgets it. May be called twice."""
        with self._lock:
            if run not in self._listeners:
                return
            ended = self._ended[run]
        ended.wait(_FLUSH_SECONDS)
        self.forget(run)

    def forget(self, run: str) -> None:
        """Drops what is known of a run."""
        with self._lock:
            self._listeners.pop(run, None)
            self._idle.pop(run, None)
            self._early.pop(run, None)
            self._ended.pop(run, None)

    def tell_progress(self, progress: BatchProgress) -> None:
        """A micro-batch has ended."""
        with self._lock:
            if progress.run_id in self._listeners:
                _tell(self._listeners[progress.run_id], progress)
            else:
                self._early[progress.run_id].append(progress)

    def tell_idle(self, run: str, timestamp: str) -> None:
        """Spark has looked for rows, and found none."""
        with self._lock:
            listener = self._idle.get(run)
            if listener is not None:
                listener(timestamp)

    def tell_end(self, run: str) -> None:
        """A run has ended."""
        with self._lock:
            self._ended[run].set()


def _tell(listeners: Iterable[Listener], progress: BatchProgress) -> None:
    for listener in listeners:
        listener(progress)
