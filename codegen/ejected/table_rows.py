"""The rows of a micro-batch -> what they put, update and delete in a table, each key once."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.codegen.ejected.databases.records import record_of
from penstock.codegen.ejected.databases.spark_types import number_keys

NO_KEY = "no primary key"
NO_ROW = "the table has no row of this key"


class RowPuts(Protocol):
    """What can be done to a table without reading it. In each call the keys are distinct."""

    null_key: Collection[str]
    """The columns of the key that may be NULL in puts and deletes. Others may not."""

    def upsert(self, rows: pa.Table) -> None:
        """Puts rows in the place of those of their keys."""

    def delete(self, keys: pa.Table) -> None:
        """Deletes rows."""

    def reject(self, rows: Sequence[tuple[str, str]]) -> None:
        """Sets rows aside: for each the reason, and the row as JSON."""


class RowChanges(RowPuts, Protocol):
    """What can be done to a table whose rows can be read by their keys."""

    def fetch(self, keys: pa.Table, columns: Sequence[str]) -> pa.Table:
        """The key and these columns of the rows that are there."""

    def insert(self, rows: pa.Table) -> None:
        """Adds rows whose keys are not there."""

    def update(self, rows: pa.Table) -> pa.Table:
        """Sets these columns; returns the rows whose keys are not there."""


class MissingRowError(Exception):
    """An update found no row of its key."""


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
        keys, places = number_keys(self.keys, "number"), number_keys(other.select(self.key), "place")
        found = keys.join(places, keys=keys.column_names[:-1], join_type="left outer").sort_by("number")
        return found["place"].combine_chunks()

    def choose(self, wanted: pa.Array) -> pa.Table:
        """All rows of the keys of which `wanted` is true."""
        return self.rows.filter(pa.array(np.repeat(np.asarray(wanted), np.diff(self.bounds))))


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


def update_rows(
    changes: RowChanges,
    rows: pa.Table,
    *,
    key: Sequence[str],
    order: Sequence[str],
    assigned: Sequence[str],
    inserted: Sequence[str] | None,
    current: Sequence[str],
    fold: Callable[[pa.Table], pa.Table] | None,
    fails: bool,
) -> None:
    """Updates the row of each key by all rows of the key, in order.

    Where there is none, a row with the columns `inserted` is put and then updated; None of these: the rows of the key
    are rejected. Without `fold` the rows have the values as `set.<name>` and `else.<name>`. With it they are computed
    from a table with the number `_group`, the struct `_current`, NULL for a missing row, and the list `_updates`.

    Raises:
        MissingRowError: there is no row of a key, none is inserted, and that `fails`.
    """

    def show(some: pa.Table) -> pa.Table:
        return some if fold is not None else name_values(some, key, assigned, inserted or ())

    keyed = group_rows(changes, rows, key, order, show)
    keys = keyed.keys
    if fold is None:
        last = keyed.take_last([f"set.{name}" for name in assigned])
        values = {name: last[f"set.{name}"] for name in assigned}
        missing = keyed.find(changes.update(add_columns(keys, values)))
        is_missing = pc.is_valid(missing)
        if inserted is None:
            reject_missing(changes, keyed, is_missing, show, fails)
        else:
            first = keyed.take_first([f"else.{name}" for name in inserted])
            fresh = {name: first[f"else.{name}"] for name in inserted} | values
            changes.insert(add_columns(keys, fresh).filter(is_missing))
        return
    present = changes.fetch(keys, current)
    places = keyed.find(present)
    is_missing = pc.is_null(places)
    updates = collect_updates(keyed, present.select(current), places)
    if inserted is None:
        reject_missing(changes, keyed, is_missing, show, fails)
        is_found = pc.invert(is_missing)
        updates, keys, is_missing = updates.filter(is_found), keys.filter(is_found), is_missing.filter(is_found)
    if not updates.num_rows:
        return
    row = fold(updates).sort_by("_group")["_row"].combine_chunks()
    values = {name: pc.struct_field(row, [name]) for name in (*assigned, *(inserted or ()))}
    changes.update(add_columns(keys, {name: values[name] for name in assigned}).filter(pc.invert(is_missing)))
    if inserted is not None:
        changes.insert(add_columns(keys, values).filter(is_missing))


def collect_updates(keyed: KeyedRows, present: pa.Table, places: pa.Array) -> pa.Table:
    """What the fold reads. `places`: for each key the place of its row in `present`, NULL where there is none."""
    names = [name for name in keyed.rows.column_names if name not in keyed.key]
    updates = as_structs(keyed.rows.select(names))
    lists = pa.ListArray.from_arrays(pa.array(keyed.bounds, pa.int32()), updates)
    current = as_structs(present.take(places), mask=pc.is_null(places))
    return pa.table({"_group": pa.array(np.arange(len(keyed.starts))), "_current": current, "_updates": lists})


def as_structs(rows: pa.Table, mask: pa.Array | None = None) -> pa.StructArray:
    """The rows as structs, NULL where the mask is true. Without columns there is one, as Spark has no empty structs."""
    if not rows.column_names:
        rows = rows.append_column("_", pa.nulls(rows.num_rows, pa.bool_()))
    columns = [column.combine_chunks() for column in rows.columns]
    return pa.StructArray.from_arrays(columns, fields=list(rows.schema), mask=mask)


def name_values(rows: pa.Table, key: Sequence[str], assigned: Sequence[str], inserted: Sequence[str]) -> pa.Table:
    """The rows of an update without a fold, under the names of the table: each as the row that it would insert."""
    values = {name: rows[f"else.{name}"] for name in inserted} | {name: rows[f"set.{name}"] for name in assigned}
    return add_columns(rows.select(key), values)


def reject_missing(
    changes: RowChanges,
    keyed: KeyedRows,
    is_missing: pa.Array,
    show: Callable[[pa.Table], pa.Table],
    fails: bool,
) -> None:
    """Rejects the rows of missing keys. `show`: as in `group_rows`.

    Raises:
        MissingRowError: there are such rows, and that `fails`.
    """
    lost = keyed.choose(is_missing)
    if fails and lost.num_rows:
        raise MissingRowError(record_of(lost.select(keyed.key).slice(0, 1)))
    reject_rows(changes, show(lost), NO_ROW)


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
    by = [(name, "ascending") for name in (*key, *order)]
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
