"""A table in memory, which rows change by their keys."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import pyarrow as pa

KEY = ("a", "b")
ROW = pa.schema([("a", pa.int64()), ("b", pa.string()), ("n", pa.int64())])
OVERFLOW = object()


class Rows:
    """A table in memory that does what RowChanges asks for."""

    null_key: Collection[str] = ()
    adds = True

    def __init__(self, *rows: tuple[int, str, int]) -> None:
        self.rows = {(a, b): {"a": a, "b": b, "n": n} for a, b, n in rows}
        self.rejected: list[tuple[str, str]] = []
        self.puts = self.added = 0

    def fetch(self, keys: pa.Table, columns: Sequence[str]) -> pa.Table:
        found = [self.rows[key(row)] for row in reversed(keys.to_pylist()) if key(row) in self.rows]
        return pa.Table.from_pylist(found, schema=ROW).select([*KEY, *columns])

    def upsert(self, rows: pa.Table) -> None:
        for row in distinct(rows):
            self.rows[key(row)] = {**self.rows.get(key(row), {}), **row}
            self.puts += 1

    def insert(self, rows: pa.Table) -> None:
        assert not any(key(row) in self.rows for row in distinct(rows))
        self.upsert(rows)

    def update(self, rows: pa.Table) -> pa.Table:
        missing = [place for place, row in enumerate(distinct(rows)) if key(row) not in self.rows]
        for place, row in enumerate(rows.to_pylist()):
            if place not in missing:
                self.rows[key(row)].update(row)
        return rows.take(pa.array(missing, pa.int64()))

    def add(self, rows: pa.Table, added: Collection[str]) -> tuple[pa.Table, pa.Table]:
        missing, refused = [], []
        for place, row in enumerate(distinct(rows)):
            present = self.rows.get(key(row))
            sums = {} if present is None else {name: add_numbers(present[name], row[name]) for name in added}
            if present is None:
                missing.append(place)
            elif OVERFLOW in sums.values():
                refused.append(place)
            else:
                present.update({**row, **sums})
                self.added += 1
        return rows.take(pa.array(missing, pa.int64())), rows.take(pa.array(refused, pa.int64()))

    def plan_sums(self, columns: Sequence[str]) -> pa.Schema | None:
        return pa.schema([ROW.field(name) for name in columns]) if self.adds else None

    def delete(self, keys: pa.Table) -> None:
        for row in distinct(keys):
            self.rows.pop(key(row), None)

    def reject(self, rows: Sequence[tuple[str, str]]) -> None:
        self.rejected += rows


def add_numbers(left: Any, right: Any) -> Any:
    """The sum of two BIGINTs."""
    if left is None or right is None:
        return None
    return left + right if -(2**63) <= left + right < 2**63 else OVERFLOW


def key(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in KEY)


def distinct(rows: pa.Table) -> list[dict[str, Any]]:
    """The rows, each of another key without NULL."""
    found: list[dict[str, Any]] = rows.to_pylist()
    keys = [key(row) for row in found]
    assert len(set(keys)) == len(keys)
    assert all(None not in each for each in keys)
    return found
