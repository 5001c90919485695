"""Progress of running queries -> heartbeats in their checkpoints, for the inputs that say nothing.

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
from penstock.runtime.idle import Pace, heartbeats, passed_on
from penstock.runtime.storage import Storage

_PAUSE = 5000
"""The milliseconds at least from one heartbeat of a query's intermediate streams to the next: each is a micro-batch."""


def now() -> int:
    """The processing time, in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class Look:
    """A query has looked for rows, at a time in milliseconds since 1970.

    `newest`: by the views of its inputs, the newest event time found, None without a row. `watermark`: that of the
    micro-batch, and `holds`: whether its operators hold rows after it; both None if there was no micro-batch.
    """

    when: int
    newest: Mapping[str, int | None] = field(default_factory=dict)
    watermark: int | None = None
    holds: bool | None = None


@dataclass(slots=True)
class _Stage:
    """An intermediate stream, as one query reads it.

    `known`: no row that the reader has not read is older. `coming`: what will be known when it has looked once more
    after a time.
    """

    reached: int | None = None
    known: int = 0
    coming: list[tuple[int, int]] = field(default_factory=list)


@dataclass(slots=True)
class _Followed:
    """A running query. `sent`: its heartbeats that Spark may not have read yet; when each was written, and where."""

    place: str
    paced: tuple[Paced, ...]
    stages: dict[str, _Stage]
    holds: bool = True
    passed: int = 0
    sent: list[tuple[int, str]] = field(default_factory=list)


class Pacemaker:
    """Knows how far the inputs of queries are whose results depend on each other, and tells those that need it."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._queries: dict[str, _Followed] = {}
        self._paces: dict[tuple[str, str], Pace] = {}
        self._lock = threading.Lock()

    def add(self, query: SparkQuery, place: str, started: int) -> Pulse:
        """A query that is about to be started in the checkpoint folder `place`. The others wait for its first rows."""
        stages = {each.name: _Stage() for each in query.paced if each.behind is not None}
        self._queries[query.name] = _Followed(place, query.paced, stages)
        self._paces |= {
            (query.name, each.name): Pace(each.idle, started, started) for each in query.paced if each.behind is None
        }
        return Pulse(self, query.name)

    def looked(self, name: str, look: Look) -> None:
        """Notes what a query has found, and writes the heartbeats that follow from it."""
        with self._lock:
            query = self._queries.get(name)
            if query is None:
                return
            for each in query.paced:
                self._note(name, query, each, look)
            if look.holds is not None:
                query.holds = look.holds
            if look.watermark is not None:
                self._announce(name, look.watermark)
            with suppress(*SPARK_ERRORS):  # a heartbeat that cannot be written is due again
                self._forget(query, look.when)
                self._beat()

    def end(self, name: str) -> None:
        """The query is being stopped; nothing is written to its checkpoint from now on."""
        with self._lock:
            self._queries.pop(name, None)
            self._paces = {key: pace for key, pace in self._paces.items() if key[0] != name}

    def _note(self, name: str, query: _Followed, paced: Paced, look: Look) -> None:
        newest = look.newest.get(paced.view)
        reached = None if newest is None else newest - paced.delay
        stage = query.stages.get(paced.name)
        if stage is None:
            self._paces[name, paced.name] = _after(self._paces[name, paced.name], look.when, reached)
            return
        if reached is not None:
            stage.reached = max(reached, stage.reached or 0)
        while stage.coming and stage.coming[0][0] < look.when:
            stage.known = stage.coming.pop(0)[1] - (paced.behind or 0)

    def _announce(self, name: str, watermark: int) -> None:
        """A micro-batch is committed: those who look from now on find all that it wrote."""
        for reader in self._queries.values():
            if name in reader.stages:
                reader.stages[name].coming.append((now(), watermark))

    def _beat(self) -> None:
        for (name, input_), level in heartbeats(self._paces).items():
            self._tell(name, input_, level)
            self._paces[name, input_] = replace(self._paces[name, input_], reached=level)
        for name, query in self._queries.items():
            if not query.stages or not self._is_awaited(name) or now() - query.passed < _PAUSE:
                continue
            sources = {each: pace.reached for (reader, each), pace in self._paces.items() if reader == name}
            stages = {each: stage.reached for each, stage in query.stages.items()}
            known = {each: stage.known for each, stage in query.stages.items()}
            for input_, level in passed_on({**sources, **stages}, known).items():
                self._tell(name, input_, level)
                query.stages[input_].reached = level
                query.passed = now()

    def _is_awaited(self, name: str) -> bool:
        """Whether the query, or one that reads what it writes, holds rows that wait for the watermark."""
        readers = (reader for reader, each in self._queries.items() if name in each.stages)
        return self._queries[name].holds or any(map(self._is_awaited, readers))

    def _tell(self, name: str, input_: str, level: int) -> None:
        query = self._queries[name]
        delay = next(each.delay for each in query.paced if each.name == input_)
        path = tell(self._storage, query.place, input_, level + delay)
        query.sent.append((now(), path))

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
        progress = event.progress
        newest = {view: row.asDict().get("newest") for view, row in progress.observedMetrics.items()}
        watermark = _milliseconds(progress.eventTime["watermark"]) if "watermark" in progress.eventTime else None
        holds = any(operator.numRowsTotal for operator in progress.stateOperators)
        self.pacemaker.looked(self.query, Look(_milliseconds(progress.timestamp), newest, watermark, holds))

    def silence(self, event: QueryIdleEvent) -> None:
        """Spark has looked for rows, and found none."""
        self.pacemaker.looked(self.query, Look(_milliseconds(event.timestamp)))

    def end(self) -> None:
        """The query is being stopped."""
        self.pacemaker.end(self.query)


def connected(queries: Iterable[SparkQuery]) -> list[list[SparkQuery]]:
    """The queries in groups: those that an intermediate stream leads from one to the other are in the same one."""
    groups: list[tuple[set[str], list[SparkQuery]]] = []
    for query in queries:
        names = {query.name, *(source.name for source in query.inputs if source.is_intermediate)}
        near = [group for group in groups if group[0] & names]
        groups = [group for group in groups if not group[0] & names]
        groups.append((names.union(*(each[0] for each in near)), [*(q for each in near for q in each[1]), query]))
    return [group for _, group in groups]


def _after(pace: Pace, when: int, reached: int | None) -> Pace:
    if reached is None:
        return replace(pace, looked=when)
    furthest = reached if pace.reached is None else max(reached, pace.reached)
    return replace(pace, looked=when, spoke=when, reached=furthest)


def _milliseconds(timestamp: str) -> int:
    return (datetime.fromisoformat(timestamp) - EPOCH) // timedelta(milliseconds=1)
