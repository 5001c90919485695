"""The rows of a micro-batch -> what they put and delete in a table, each key once."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.kit.databases.refused_records import record_of
from penstock.kit.databases.spark_types import number_keys

NO_KEY = "no primary key"


class RowPuts(Protocol):
    """What can be done to a table without reading it. In each call the keys are distinct."""

    null_key: Collection[str]
    """The columns of the key that may be NULL in puts and deletes. Others may not."""

    def upsert(self, rows: pa.Table) -> None:
        """Puts rows in the place of the rows of their keys."""

    def delete(self, keys: pa.Table) -> None:
        """Deletes rows."""

    def reject(self, rows: Sequence[tuple[str, str]]) -> None:
        """Sets rows aside: for each the reason, and the row as JSON."""


@dataclass(frozen=True)
class KeyedRows:
    """Rows that are ordered by key, and by their own order where the key is the same. Keys are numbered from 0."""

    rows: pa.Table
    key: Sequence[str]
    starts: "np.ndarray[Any, np.dtype[np.int64]]"
    """The place of the first row of each key."""

    @property
    def bounds(self) -> "np.ndarray[Any, np.dtype[np.int64]]":
        """The starts, and the number of rows."""
        return np.append(self.starts, self.rows.num_rows)

    @property
    def keys(self) -> pa.Table:
        """Each key once."""
        return self.take_first(self.key)

    def take_first(self, columns: Sequence[str]) -> pa.Table:
        """These columns of the first row of each key."""
        return self.rows.select(columns).take(pa.array(self.starts))

    def take_last(self, columns: Sequence[str]) -> pa.Table:
        """These columns of the last row of each key."""
        return self.rows.select(columns).take(pa.array(self.bounds[1:] - 1))

    def rounds(self) -> Iterator[pa.Table]:
        """The first row of each key, then the second one of each key that has two, and so on."""
        counts = np.diff(self.bounds)
        for number in range(int(counts.max(initial=0))):
            yield self.rows.take(pa.array(self.starts[counts > number] + number))

    def find(self, other: pa.Table) -> pa.Array:
        """For each key the place of its row in `other`, NULL where that has none."""
        if not other.num_rows:
            return pa.nulls(len(self.starts), pa.int64())
        keys, places = number_keys(self.keys, "number"), number_keys(other.select(self.key), "place")
        found = keys.join(places, keys=keys.column_names[:-1], join_type="left outer").sort_by("number")
        return found["place"].combine_chunks()

    def choose(self, wanted: pa.Array) -> "KeyedRows":
        """The keys for which `wanted` is true, and all their rows."""
        mask, counts = np.asarray(wanted), np.diff(self.bounds)
        kept = counts[mask]
        return KeyedRows(self.rows.filter(pa.array(np.repeat(mask, counts))), self.key, np.cumsum(kept) - kept)


def put_rows(
    changes: RowPuts,
    rows: pa.Table,
    key: Sequence[str],
    order: Sequence[str] = (),
    operation: str | None = None,
    *,
    complete: bool = False,
) -> None:
    """Puts the last row of each key; one whose `operation` is 'delete' deletes the row of its key.

    `order`: the columns by which rows of a key are in order. `complete`: all of them are put, one after the other.
    """
    keyed = group_rows(changes, rows, key, order, lambda lost: remove_column(lost, operation))
    for puts in keyed.rounds() if complete else [keyed.take_last(keyed.rows.column_names)]:
        if operation is not None:
            is_deleted = pc.equal(puts[operation], "delete")
            changes.delete(puts.filter(is_deleted).select(key))
            puts = remove_column(puts.filter(pc.invert(is_deleted)), operation)
        changes.upsert(puts)


def delete_rows(changes: RowPuts, rows: pa.Table, key: Sequence[str]) -> None:
    """Deletes the rows of these keys."""
    changes.delete(group_rows(changes, rows, key, ()).keys)


def reject_rows(changes: RowPuts, rows: pa.Table, reason: str) -> None:
    """Sets rows aside for a reason."""
    changes.reject([(reason, record_of(rows.slice(place, 1))) for place in range(rows.num_rows)])


def group_rows(
    changes: RowPuts,
    rows: pa.Table,
    key: Sequence[str],
    order: Sequence[str],
    show: Callable[[pa.Table], pa.Table] = lambda lost: lost,
) -> KeyedRows:
    """The rows by key, without the columns of their order. Rows with NULL in their key are rejected where the table
    does not take that.

    `show`: rejected rows -> what is noted of them.
    """
    for name in (each for each in key if each not in changes.null_key and rows[each].null_count):
        is_lost = pc.is_null(rows[name])
        reject_rows(changes, show(rows.filter(is_lost).drop_columns(order)), NO_KEY)
        rows = rows.filter(pc.invert(is_lost))
    # Rows of one time are ordered by all their columns, so that the last one does not depend on their arrival.
    beside = [each.name for each in rows.schema if order and not pa.types.is_nested(each.type)]
    by = [(name, "ascending") for name in dict.fromkeys((*key, *order, *beside))]
    places = pc.sort_indices(rows, sort_keys=by) if by else None
    rows = rows.drop_columns(order)
    rows = (rows if places is None else rows.take(places)).combine_chunks()
    begins = np.zeros(rows.num_rows, dtype=bool)
    begins[:1] = True
    for name in key:
        column = rows[name].combine_chunks()
        after, before = column[1:], column[:-1]
        differs = pc.not_equal(after, before)
        if pa.types.is_floating(column.type):  # NaN is one key
            differs = pc.and_not(differs, pc.and_(pc.is_nan(after), pc.is_nan(before)))
        # So is NULL.
        begins[1:] |= np.asarray(pc.coalesce(differs, pc.xor(pc.is_null(after), pc.is_null(before))))
    return KeyedRows(rows, key, np.flatnonzero(begins))


def list_order(rows: pa.Table, order: str | None) -> list[str]:
    """The columns by which rows of a key are in order: `order`, or its fields `<order>.<field>`."""
    if order is None or order in rows.column_names:
        return [] if order is None else [order]
    return [name for name in rows.column_names if name.startswith(f"{order}.")]


def remove_column(rows: pa.Table, name: str | None) -> pa.Table:
    """The rows without that column, if there is one."""
    return rows if name is None else rows.drop_columns([name])


def add_columns(rows: pa.Table, columns: Mapping[str, pa.ChunkedArray | pa.Array]) -> pa.Table:
    """The rows with more columns."""
    for name, column in columns.items():
        rows = rows.append_column(name, column)
    return rows
