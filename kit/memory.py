"""Rows in the memory of the process."""

from collections.abc import Iterable, Sequence
from itertools import islice
from threading import Lock
from typing import Any


class RowsInMemory:
    """The result of one query. A batch that Spark runs again after a failure changes nothing. Batches are seen whole.

    With a `key`, a row takes the place of the one before, or takes that out if its column `operation` says so. Without
    one the newest `limit` rows are kept.
    """

    def __init__(self, limit: int, key: Sequence[str] | None, operation: str | None) -> None:
        self.limit = limit
        self._key = key
        self._operation = operation
        self._rows: dict[str | int, dict[str, Any]] = {}
        self._next = 0
        self._newest_batch = -1
        self._lock = Lock()

    @property
    def begun(self) -> bool:
        """Whether it had a batch."""
        return self._newest_batch >= 0

    @property
    def evicted(self) -> int:
        """How many rows were more than are kept."""
        return 0 if self._key is not None else self._next - len(self._rows)

    def put(self, rows: Iterable[dict[str, Any]], number: int, skipped: int = 0) -> None:
        """Adds a batch; `number` counts from 0 and grows. `skipped`: how many rows of it come before these."""
        with self._lock:
            if number <= self._newest_batch:
                return
            self._newest_batch = number
            if self._key is not None:
                for row in rows:
                    self._take(row, self._key)
                return
            added: dict[str | int, dict[str, Any]] = dict(enumerate(rows, self._next + skipped))
            self._next += skipped + len(added)
            self._rows |= added
            self._rows = dict(islice(self._rows.items(), max(0, len(self._rows) - self.limit), None))

    def _take(self, row: dict[str, Any], columns: Sequence[str]) -> None:
        operation = None if self._operation is None else row.pop(self._operation)
        # Written out, because a key may hold lists, which Python cannot hash.
        key = repr([row[name] for name in columns])
        if operation == "delete":
            self._rows.pop(key, None)
        else:
            self._rows[key] = row

    def rows(self) -> list[dict[str, Any]]:
        """The rows in the order in which they, or in an update query their keys, came first."""
        with self._lock:
            return list(self._rows.values())
