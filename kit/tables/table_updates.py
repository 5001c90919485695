"""The rows of a micro-batch -> updates of a table, each key once."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.kit.databases.refused_records import record_of
from penstock.kit.tables.table_rows import KeyedRows, RowPuts, add_columns, group_rows, reject_rows

NO_ROW = "the table has no row of this key"
NULLS = pc.CountOptions(mode="only_null")


class RowChanges(RowPuts, Protocol):
    """What can be done to a table whose rows can be read by their keys."""

    def fetch(self, keys: pa.Table, columns: Sequence[str]) -> pa.Table:
        """The key and these columns of the rows that are there."""

    def insert(self, rows: pa.Table) -> None:
        """Adds rows whose keys are not there."""

    def update(self, rows: pa.Table) -> pa.Table:
        """Sets these columns; returns the rows whose keys are not there."""

    def add(self, rows: pa.Table, added: Collection[str]) -> tuple[pa.Table, pa.Table]:
        """Adds to the columns `added`, sets the others; returns the rows that are not there, and those refused."""

    def plan_sums(self, columns: Sequence[str]) -> pa.Schema | None:
        """The types of columns, None if the database cannot add to them as Spark does."""


class MissingRowError(Exception):
    """An update found no row of its key."""


@dataclass(frozen=True)
class UpdateSums:
    """How rows add to what the table has. The fields are described in `ColumnSums` of Penstock's plans."""

    added: Sequence[tuple[str, str]] = ()
    subtracted: Sequence[tuple[str, str]] = ()
    assigned: Sequence[tuple[str, str]] = ()
    inserted: Sequence[tuple[str, str]] = ()
    computed: Sequence[str] = ()

    @property
    def columns(self) -> list[str]:
        """The columns of the table that are added to."""
        return [name for name, _ in (*self.added, *self.subtracted)]


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
    sums: UpdateSums | None = None,
) -> None:
    """Updates the row of each key by all rows of the key, in order.

    Where there is none, a row with the columns `inserted` is put and then updated; None of these: the rows of the key
    are rejected. Without `fold` the rows have the values as `set.<name>` and `else.<name>`. With it they are computed
    from a table with the number `_group`, the struct `_current`, NULL for a missing row, and the list `_updates`.
    `sums`: how the database can do the same to rows that nobody has read, if it can.

    Raises:
        MissingRowError: there is no row of a key, none is inserted, and that `fails`.
    """

    def show(some: pa.Table) -> pa.Table:
        if fold is None:
            return name_values(some, key, assigned, inserted or ())
        return some if sums is None else some.drop_columns(sums.computed)

    keyed = group_rows(changes, rows, key, order, show)
    schema = None if sums is None else changes.plan_sums(sums.columns)
    if sums is not None and schema is not None:
        keyed = add_rows(changes, keyed, sums, schema, inserts=inserted is not None)
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
    lost = keyed.choose(is_missing).rows
    if fails and lost.num_rows:
        raise MissingRowError(record_of(lost.select(keyed.key).slice(0, 1)))
    reject_rows(changes, show(lost), NO_ROW)


def add_rows(changes: RowChanges, keyed: KeyedRows, sums: UpdateSums, schema: pa.Schema, *, inserts: bool) -> KeyedRows:
    """Lets the database add, and inserts rows that are not there; returns the rows of the keys that are left.

    A key is left where a value is NULL, a sum is too large, or addends have both signs. Only if all addends have one
    sign, a sum in between is too large no sooner than the last one.
    """
    totals, is_sure = sum_columns(keyed, sums, schema)
    last = keyed.take_last([column for _, column in sums.assigned])
    values = {name: last[column] for name, column in sums.assigned}
    missing, refused = changes.add(add_columns(keyed.keys, totals | values).filter(is_sure), [*totals])
    is_missing = pc.is_valid(keyed.find(missing))
    is_left = pc.or_(pc.invert(is_sure), pc.is_valid(keyed.find(refused)))
    if not inserts:
        return keyed.choose(pc.or_(is_left, is_missing))
    first = keyed.take_first([column for _, column in sums.inserted])
    fresh = {name: first[column] for name, column in sums.inserted} | values
    for name, total in totals.items():
        fresh[name] = fit_sum(pc.add(widen(fresh[name], total.type), widen(total, total.type)), total.type)
        is_left = pc.or_(is_left, pc.and_(is_missing, pc.is_null(fresh[name])))
    changes.insert(add_columns(keyed.keys, fresh).filter(pc.and_not(is_missing, is_left)))
    return keyed.choose(is_left)


def sum_columns(keyed: KeyedRows, sums: UpdateSums, schema: pa.Schema) -> tuple[dict[str, pa.Array], pa.Array]:
    """What the rows of each key add to each column, of the types of `schema`, and for which keys that is sure."""
    is_sure = pa.repeat(True, len(keyed.starts))
    totals: dict[str, pa.Array] = {}
    numbers = np.repeat(np.arange(len(keyed.starts)), np.diff(keyed.bounds))
    for name, column in (*sums.added, *sums.subtracted):
        values = keyed.rows[column]
        wide = values.cast(pa.int64()) if are_small(values) else widen(values, schema.field(name).type)
        addends = pa.table({"key": numbers, "n": wide})
        # Without threads the keys stay in order.
        grouped = addends.group_by("key", use_threads=False)
        found = grouped.aggregate([("n", "sum"), ("n", "min"), ("n", "max"), ("n", "count", NULLS)])
        total, least, most, nulls = (each.combine_chunks() for each in found.columns[1:])
        zero = pa.scalar(0).cast(total.type)
        goes_one_way = pc.or_(pc.greater_equal(least, zero), pc.less_equal(most, zero))
        total = fit_sum(total if (name, column) in sums.added else pc.negate(total), schema.field(name).type)
        is_known = pc.and_(pc.equal(nulls, 0), pc.is_valid(total))
        is_sure = pc.and_(is_sure, pc.and_(is_known, pc.fill_null(goes_one_way, False)))
        totals[name] = total
    return totals, is_sure


def are_small(numbers: pa.ChunkedArray) -> bool:
    """Whether all of them together are a BIGINT. Adding them as such takes a third of the time."""
    if not pa.types.is_integer(numbers.type):
        return False
    least, most = pc.min_max(numbers).as_py().values()
    return least is not None and max(-least, most) * len(numbers) < 1 << 62


def widen(numbers: pa.Array, type_: pa.DataType) -> pa.Array:
    """Numbers as a type in which no sum of a batch is too large, with the scale of the column's type."""
    return numbers.cast(pa.decimal256(60, type_.scale if pa.types.is_decimal(type_) else 0))


def fit_sum(sums: pa.Array, type_: pa.DataType) -> pa.Array:
    """The sums in the type, NULL where they are too large for it."""
    if pa.types.is_decimal(type_):
        most = Decimal(10**type_.precision - 1).scaleb(-type_.scale)
        least = -most
    else:
        most = Decimal((1 << (type_.bit_width - 1)) - 1)
        least = -most - 1
    limits = [pa.scalar(each).cast(sums.type) for each in (least, most)]
    fits = pc.and_(pc.greater_equal(sums, limits[0]), pc.less_equal(sums, limits[1]))
    return pc.if_else(fits, sums, pa.scalar(None, sums.type)).cast(type_)
