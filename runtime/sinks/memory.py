"""connector = 'memory' -> rows kept in this process, for tests and for looking at small results."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from threading import Lock
from typing import Any, cast

import pyarrow as pa

from penstock.codegen.program import DELETE, SparkQuery

LIMIT = 10_000
"""How many rows of an append query are kept unless the sink says otherwise: the newest."""

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Kept:
    """What a memory sink of this name holds. `evicted`: how many older rows were more than it keeps."""

    name: str
    rows: list[Row]
    evicted: int


class MemorySink:
    """The result of one query. A batch that Spark runs again after a failure changes nothing. Batches are seen whole.

    `begun`: whether it had a batch; `evicted`: how many rows of an append query were more than are kept.
    """

    def __init__(self, query: SparkQuery) -> None:
        self._key = query.key
        self._upsert = query.mode == "update"
        self._operation = query.operation
        self._limit = int(dict(query.output.options).get("rows", LIMIT))
        self._rows: dict[str | int, Row] = {}
        self._next = 0
        self._newest_batch = -1
        self._lock = Lock()

    @property
    def begun(self) -> bool:
        return self._newest_batch >= 0

    @property
    def evicted(self) -> int:
        return 0 if self._upsert else self._next - len(self._rows)

    def put(self, batch: pa.Table, number: int) -> None:
        """Adds a batch; `number` counts from 0 and grows."""
        with self._lock:
            if number > self._newest_batch:
                self._newest_batch = number
                self._add(batch)

    def _add(self, batch: pa.Table) -> None:
        if self._upsert:
            for row in _dicts(batch):
                self._take(row)
            return
        skipped = max(0, batch.num_rows - self._limit)
        self._rows.update(enumerate(_dicts(batch.slice(skipped)), self._next + skipped))
        self._next += batch.num_rows
        self._rows = dict(islice(self._rows.items(), max(0, len(self._rows) - self._limit), None))

    def _take(self, row: Row) -> None:
        """Puts the row in the place of the one before, or takes that out."""
        operation = None if self._operation is None else row.pop(self._operation)
        # Written out, because a key may hold lists, which Python cannot hash.
        key = repr([row[name] for name in self._key])
        if operation == DELETE:
            self._rows.pop(key, None)
        else:
            self._rows[key] = row

    def rows(self) -> list[Row]:
        """The rows in the order in which they, or in an update query their keys, came first."""
        with self._lock:
            return list(self._rows.values())


def _dicts(batch: pa.Table) -> list[Row]:
    return cast("list[Row]", batch.to_pylist(maps_as_pydicts="strict"))
