"""Rows of Arrow as tuples for a driver, and tuples of a driver as Arrow. Times are texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from penstock.kit.databases.faults import TableError

if TYPE_CHECKING:
    from penstock.kit.databases.target_table import TargetTable


def write_tuples(rows: pa.Table, zone: str) -> Iterable[tuple[Any, ...]]:
    """Rows as a driver takes them: times as text in UTC, with the `zone` behind them."""
    columns = []
    for field in rows.schema:
        values = rows[field.name]
        if pa.types.is_timestamp(field.type):
            values = pc.strftime(values, f"%Y-%m-%dT%H:%M:%S{zone}")
        elif pa.types.is_date32(field.type):
            values = values.cast(pa.string())
        elif pa.types.is_time64(field.type):
            values = values.cast(pa.time64("us")).cast(pa.string())
        elif pa.types.is_boolean(field.type):
            values = values.cast(pa.int8())
        columns.append(values.to_pylist())
    return zip(*columns, strict=True)


def read_tuples(rows: Sequence[Sequence[Any]], table: TargetTable, names: Sequence[str]) -> pa.Table:
    """Rows of a driver as Arrow has them.

    Raises TableError (types): a value is none of the declared type.
    """
    schema = table.arrow_schema(names)
    arrays = [read_values([row[place] for row in rows], field, table) for place, field in enumerate(schema)]
    return pa.Table.from_arrays(arrays, schema=schema)


def read_values(values: Sequence[Any], field: pa.Field, table: TargetTable) -> pa.Array:
    """Values of a column as Arrow; SQLite has values of any type there.

    Raises TableError (types): a value is none of the declared type.
    """
    try:
        if pa.types.is_boolean(field.type):
            return (
                pa.array(values, pa.int8()).cast(pa.bool_())
                if set(values) <= {0, 1, None}
                else pa.array(["?"], pa.bool_())
            )
        if pa.types.is_timestamp(field.type) or pa.types.is_date32(field.type):
            return pa.array(values, pa.string()).cast(field.type)
        if pa.types.is_time64(field.type):
            begin = pa.scalar("1970-01-01T")
            texts = pc.binary_join_element_wise(begin, pa.array(values, pa.string()), "")
            return texts.cast(pa.timestamp("us")).cast(pa.time64("us")).cast(field.type)
        return pa.array(values, field.type)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
        message = f"column {field.name} of {table.place} has a value that its declaration does not allow: {error}"
        raise TableError("types", message) from None


def limit_row(rows: pa.Table) -> int:
    """A number of bytes that no row has more of. Rows that are over a limit by it are tried one by one."""
    average = int(rows.nbytes) // max(int(rows.num_rows), 1)
    return max(average, sum(map(find_longest, rows.columns)))


def find_longest(column: pa.ChunkedArray) -> int:
    """The bytes of the longest text or binary value of a column."""
    if not (pa.types.is_string(column.type) or pa.types.is_binary(column.type)):
        return 0
    return int(pc.max(pc.binary_length(column)).as_py() or 0)
