"""Progress of running queries -> heartbeats in their checkpoints, for the inputs that have fallen silent.

All that is decided here depends on when rows came. It becomes part of a query when Spark reads the heartbeat: from then
on it is a row of a source, which is there again when a batch is replayed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from pyspark.sql.streaming.listener import QueryIdleEvent, QueryProgressEvent

from penstock.codegen.program import Paced, SparkQuery
from penstock.runtime.drain import EPOCH, tell
from penstock.runtime.failures import SPARK_ERRORS
from penstock.runtime.idle import Pace, heartbeats
from penstock.runtime.sources.stage import STAGE
from penstock.runtime.storage import Storage


def now() -> int:
    """The processing time, in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


@dataclass(slots=True)
class _Followed:
    """A running query, and its heartbeats that Spark may not have read yet: when each was written, and where."""

    place: str
    paced: tuple[Paced, ...]
    sent: list[tuple[int, str]] = field(default_factory=list)


class Pacemaker:
    """Knows how far the inputs of queries are whose results depend on each other, and tells those that are idle."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._queries: dict[str, _Followed] = {}
        self._paces: dict[tuple[str, str], Pace] = {}
        self._lock = threading.Lock()

    def add(self, query: SparkQuery, place: str, started: int) -> Pulse:
        """A query that is about to be started in the checkpoint folder `place`. The others wait for its first rows."""
        self._queries[query.name] = _Followed(place, query.paced)
        self._paces |= {(query.name, each.name): Pace(each.idle, started, started) for each in query.paced}
        return Pulse(self, query.name)

    def looked(self, name: str, when: int, newest: Mapping[str, int | None]) -> None:
        """Notes that the query looked for rows at `when`, and found rows up to `newest` in its views."""
        with self._lock:
            query = self._queries.get(name)
            if query is None:
                return
            for each in query.paced:
                self._paces[name, each.name] = _after(self._paces[name, each.name], each, when, newest.get(each.view))
            with suppress(*SPARK_ERRORS):  # a heartbeat that can not be written is due again
                self._forget(query, when)
                self._beat()

    def end(self, name: str) -> None:
        """The query is being stopped; nothing is written to its checkpoint from now on."""
        with self._lock:
            self._queries.pop(name, None)
            self._paces = {key: pace for key, pace in self._paces.items() if key[0] != name}

    def _beat(self) -> None:
        for (name, input_), reached in heartbeats(self._paces).items():
            query = self._queries[name]
            delay = next(each.delay for each in query.paced if each.name == input_)
            path = tell(self._storage, query.place, input_, reached + delay)
            query.sent.append((now(), path))
            self._paces[name, input_] = replace(self._paces[name, input_], reached=reached)

    def _forget(self, query: _Followed, when: int) -> None:
        """Deletes the heartbeats that Spark has read: those written before it looked."""
        for written, path in query.sent:
            if written < when:
                self._storage.delete(path)
        query.sent = [each for each in query.sent if each[0] >= when]


@dataclass(frozen=True, slots=True)
class Pulse:
    """What the listener of one query calls, and who stops it."""

    pacemaker: Pacemaker
    query: str

    def batch(self, event: QueryProgressEvent) -> None:
        """A micro-batch has ended."""
        observed = event.progress.observedMetrics
        newest = {view: row.asDict().get("newest") for view, row in observed.items()}
        self.pacemaker.looked(self.query, _milliseconds(event.progress.timestamp), newest)

    def silence(self, event: QueryIdleEvent) -> None:
        """Spark has looked for rows, and found none."""
        self.pacemaker.looked(self.query, _milliseconds(event.timestamp), {})

    def end(self) -> None:
        """The query is being stopped."""
        self.pacemaker.end(self.query)


def connected(queries: Iterable[SparkQuery]) -> list[list[SparkQuery]]:
    """The queries in groups: those that an intermediate stream leads from one to the other are in the same one."""
    groups: list[tuple[set[str], list[SparkQuery]]] = []
    for query in queries:
        names = {query.name, *(source.name for source in query.inputs if source.connector == STAGE)}
        near = [group for group in groups if group[0] & names]
        groups = [group for group in groups if not group[0] & names]
        groups.append((names.union(*(each[0] for each in near)), [*(q for each in near for q in each[1]), query]))
    return [group for _, group in groups]


def _after(pace: Pace, paced: Paced, when: int, newest: int | None) -> Pace:
    if newest is None:
        return replace(pace, looked=when)
    reached = newest - paced.delay
    furthest = reached if pace.reached is None else max(reached, pace.reached)
    return replace(pace, looked=when, spoke=when, reached=furthest)


def _milliseconds(timestamp: str) -> int:
    return (datetime.fromisoformat(timestamp) - EPOCH) // timedelta(milliseconds=1)
