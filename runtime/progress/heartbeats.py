"""Progress of running queries -> heartbeats in their checkpoints, for inputs that are silent.

These decisions depend on when rows arrived. A decision becomes part of a query when Spark reads the heartbeat. From
then on it is a row of a source, and a replayed batch has it again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from penstock.codegen.program import SparkQuery, WatermarkInput
from penstock.runtime.checkpoint.storage import Storage
from penstock.runtime.failure.failures import SPARK_ERRORS
from penstock.runtime.progress.idle import InputPace, plan_heartbeats, plan_stream_heartbeats
from penstock.runtime.progress.spark_listener import BatchProgress
from penstock.runtime.query.drain import EPOCH, write_heartbeat

_PAUSE = 5000
"""The milliseconds at least from one heartbeat of a query's intermediate streams to the next: each is a micro-batch."""


def now() -> int:
    """The processing time, in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class Observation:
    """What a query found when it looked for rows. Times are milliseconds since 1970."""

    when: int
    newest: Mapping[str, int | None] = field(default_factory=dict)
    """The newest event time by the view of the input, None without a row."""
    watermark: int | None = None
    """The watermark of the micro-batch, None if there was none."""
    holds: bool | None = None
    """Whether its operators hold rows after the micro-batch, None if there was none."""


@dataclass(slots=True)
class _IntermediateInput:
    """An intermediate stream, as one query reads it. Times are milliseconds since 1970."""

    reached: int | None = None
    """The watermark of the input, None before its first row."""
    known: int = 0
    """No row that the reader has yet to read is older."""
    coming: list[tuple[int, int]] = field(default_factory=list)
    """Pairs of a time and a watermark of the writer, which is known once the reader has looked after that time."""


@dataclass(slots=True)
class _Followed:
    """A running query."""

    place: str
    watermark_inputs: tuple[WatermarkInput, ...]
    intermediates: dict[str, _IntermediateInput]
    holds: bool = True
    passed: int = 0
    sent: list[tuple[int, str]] = field(default_factory=list)
    """The heartbeats that Spark may not have read yet: when each was written, and its path."""


class Heartbeats:
    """Tracks the inputs of queries whose results depend on each other, and writes their heartbeats."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._queries: dict[str, _Followed] = {}
        self._paces: dict[tuple[str, str], InputPace] = {}
        self._lock = threading.Lock()

    def add(self, query: SparkQuery, place: str, started: int) -> HeartbeatHandle:
        """Adds a query before it starts in the checkpoint folder `place`. The others wait for its first rows."""
        inputs = query.watermark_inputs if query.takes_heartbeats else ()
        intermediates = {each.name: _IntermediateInput() for each in inputs if each.lag is not None}
        self._queries[query.name] = _Followed(place, inputs, intermediates)
        self._paces |= {
            (query.name, each.name): InputPace(each.idle, started, started) for each in inputs if each.lag is None
        }
        return HeartbeatHandle(self, query.name)

    def observe(self, name: str, observation: Observation) -> None:
        """Records what a query has found, and writes the heartbeats that follow."""
        with self._lock:
            query = self._queries.get(name)
            if query is None:
                return
            for each in query.watermark_inputs:
                self._note(name, query, each, observation)
            if observation.holds is not None:
                query.holds = observation.holds
            if observation.watermark is not None:
                self._announce(name, observation.watermark)
            with suppress(*SPARK_ERRORS):  # a heartbeat that cannot be written is due again
                self._forget(query, observation.when)
                self._beat()

    def end(self, name: str) -> None:
        """Stops the heartbeats of a query. Nothing is written to its checkpoint from now on."""
        with self._lock:
            self._queries.pop(name, None)
            self._paces = {key: pace for key, pace in self._paces.items() if key[0] != name}

    def _note(self, name: str, query: _Followed, input_: WatermarkInput, observation: Observation) -> None:
        newest = observation.newest.get(input_.view)
        reached = None if newest is None else newest - input_.delay
        intermediate = query.intermediates.get(input_.name)
        if intermediate is None:
            self._paces[name, input_.name] = _advance(self._paces[name, input_.name], observation.when, reached)
            return
        if reached is not None:
            intermediate.reached = max(reached, intermediate.reached or 0)
        while intermediate.coming and intermediate.coming[0][0] < observation.when:
            intermediate.known = intermediate.coming.pop(0)[1] - (input_.lag or 0)

    def _announce(self, name: str, watermark: int) -> None:
        """A micro-batch is committed: a reader that looks from now on finds all that it wrote."""
        for reader in self._queries.values():
            if name in reader.intermediates:
                reader.intermediates[name].coming.append((now(), watermark))

    def _beat(self) -> None:
        for (name, input_), level in plan_heartbeats(self._paces).items():
            self._tell(name, input_, level)
            self._paces[name, input_] = replace(self._paces[name, input_], reached=level)
        for name, query in self._queries.items():
            if not query.intermediates or not self._is_awaited(name) or now() - query.passed < _PAUSE:
                continue
            sources = {each: pace.reached for (reader, each), pace in self._paces.items() if reader == name}
            intermediates = {each: intermediate.reached for each, intermediate in query.intermediates.items()}
            known = {each: intermediate.known for each, intermediate in query.intermediates.items()}
            for input_, level in plan_stream_heartbeats({**sources, **intermediates}, known).items():
                self._tell(name, input_, level)
                query.intermediates[input_].reached = level
                query.passed = now()

    def _is_awaited(self, name: str) -> bool:
        """Whether the query, or one that reads what it writes, holds rows that wait for the watermark."""
        readers = (reader for reader, each in self._queries.items() if name in each.intermediates)
        return self._queries[name].holds or any(map(self._is_awaited, readers))

    def _tell(self, name: str, input_: str, level: int) -> None:
        query = self._queries[name]
        delay = next(each.delay for each in query.watermark_inputs if each.name == input_)
        path = write_heartbeat(self._storage, query.place, input_, level + delay)
        query.sent.append((now(), path))

    def _forget(self, query: _Followed, when: int) -> None:
        """Deletes the heartbeats that Spark has read. They were written before it looked."""
        for written, path in query.sent:
            if written < when:
                self._storage.delete(path)
        query.sent = [each for each in query.sent if each[0] >= when]


@dataclass(frozen=True, slots=True)
class HeartbeatHandle:
    """Handle through which a query's listener reports progress."""

    heartbeats: Heartbeats
    query: str

    def batch(self, progress: BatchProgress) -> None:
        """A micro-batch has ended."""
        newest = {view: metrics.get("newest") for view, metrics in progress.observed_metrics.items()}
        watermark = _milliseconds(progress.event_time["watermark"]) if "watermark" in progress.event_time else None
        holds = any(operator.num_rows_total for operator in progress.state_operators)
        self.heartbeats.observe(self.query, Observation(_milliseconds(progress.timestamp), newest, watermark, holds))

    def silence(self, timestamp: str) -> None:
        """Spark has looked for rows at this time, and found none."""
        self.heartbeats.observe(self.query, Observation(_milliseconds(timestamp)))

    def end(self) -> None:
        """The query is being stopped."""
        self.heartbeats.end(self.query)


def group_connected(queries: Iterable[SparkQuery]) -> list[list[SparkQuery]]:
    """The queries in groups. Queries that are connected by an intermediate stream are in the same group."""
    groups: list[tuple[set[str], list[SparkQuery]]] = []
    for query in queries:
        names = {query.name, *(source.name for source in query.inputs if source.is_intermediate)}
        near = [group for group in groups if group[0] & names]
        groups = [group for group in groups if not group[0] & names]
        groups.append((names.union(*(each[0] for each in near)), [*(q for each in near for q in each[1]), query]))
    return [group for _, group in groups]


def _advance(pace: InputPace, when: int, reached: int | None) -> InputPace:
    if reached is None:
        return replace(pace, looked=when)
    furthest = reached if pace.reached is None else max(reached, pace.reached)
    return replace(pace, looked=when, spoke=when, reached=furthest)


def _milliseconds(timestamp: str) -> int:
    return (datetime.fromisoformat(timestamp) - EPOCH) // timedelta(milliseconds=1)
