"""Spark's types as Arrow's, and the values that databases do not take."""

import re
from collections.abc import Callable, Collection, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.kit.databases.faults import TableError

ARROW_TYPES = {
    "BOOLEAN": pa.bool_(),
    "TINYINT": pa.int8(),
    "SMALLINT": pa.int16(),
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
    "STRING": pa.string(),
    "BINARY": pa.binary(),
    "DATE": pa.date32(),
    "TIMESTAMP": pa.timestamp("us", "UTC"),
    "TIME": pa.time64("ns"),
}


def arrow_type(text: str) -> pa.DataType:
    """The Arrow type of a Spark type, which is written as Spark SQL writes it.

    Raises TableError (types) for a type that no database takes, such as INTERVAL.
    """
    text = text.strip()
    name, _, inner = text.partition("<")
    parts = list(split_type(inner.removesuffix(">"))) if inner else []
    decimal = re.fullmatch(r"DECIMAL\((\d+), ?(\d+)\)", text, re.IGNORECASE)
    match name.strip().upper(), parts:
        case simple, [] if simple in ARROW_TYPES:
            return ARROW_TYPES[simple]
        case "ARRAY", [element]:
            return pa.list_(arrow_type(element))
        case "MAP", [key, value]:
            return pa.map_(arrow_type(key), arrow_type(value))
        case "STRUCT", [_, *_]:
            return pa.struct([struct_field(part) for part in parts])
    if decimal:
        return pa.decimal128(int(decimal[1]), int(decimal[2]))
    raise TableError("types", f"no database has a column for {text}")


def split_type(text: str) -> Iterator[str]:
    """The parts of a type between its angle brackets; commas inside of brackets and backquotes do not part them."""
    depth, begin, quoted = 0, 0, False
    for place, letter in enumerate(text):
        quoted ^= letter == "`"
        if not quoted:
            depth += (letter in "<(") - (letter in ">)")
        if letter == "," and not depth and not quoted:
            yield text[begin:place]
            begin = place + 1
    yield text[begin:]


def struct_field(text: str) -> pa.Field:
    """A field of a struct: its name, which may be in backquotes, and its type."""
    field = re.fullmatch(r"\s*(?:`((?:[^`]|``)+)`|([^`:\s]+))\s*:?\s*(.+)", text, re.DOTALL)
    if field is None:
        raise TableError("types", f"{text} is no field of a struct")
    return pa.field(field[1].replace("``", "`") if field[1] else field[2], arrow_type(field[3]))


def quote_identifier(name: str) -> str:
    """The name as all of the databases write it."""
    return '"' + name.replace('"', '""') + '"'


FIRST_DAY, LAST_DAY = -719162, 2932896
"""The years 1 to 9999, in days since 1970."""
DAY_US = 86_400_000_000


def find_unfit(
    key: Collection[str],
    rows: pa.Table,
    find_more: Callable[[str, pa.ChunkedArray], Iterator[tuple[pa.Array, str]]] | None = None,
) -> Iterator[tuple[pa.Array, str]]:
    """Which rows no database gets, as a mask, and why: it would refuse the values, or change them.

    `key`: the columns in which NULL is no value. `find_more`: finds more of them in a column of that name.
    """
    for field in rows.schema:
        values = rows[field.name]
        if field.name in key and values.null_count:
            yield pc.is_null(values), f"the key {field.name} is NULL"
        unit = 1 if pa.types.is_date32(field.type) else DAY_US if pa.types.is_timestamp(field.type) else None
        if unit is not None:
            numbers = values.cast(pa.int32() if unit == 1 else pa.int64())
            low, high = FIRST_DAY * unit, (LAST_DAY + 1) * unit - 1
            found = pc.min_max(numbers).as_py()
            if found["min"] is not None and (found["min"] < low or found["max"] > high):
                outside = pc.or_(pc.less(numbers, low), pc.greater(numbers, high))
                yield outside, f"{field.name} is outside of the years 1 to 9999"
        if find_more is not None:
            yield from find_more(field.name, values)


def number_keys(keys: pa.Table, number: str) -> pa.Table:
    """The keys as columns k0, k1 …, and a column with their places. Zero has one sign, as for Spark."""
    arrays = [pc.add(each, 0.0) if pa.types.is_floating(each.type) else each for each in keys.columns]
    columns = [f"k{place}" for place in range(keys.num_columns)]
    return pa.table([*arrays, pa.array(np.arange(keys.num_rows))], names=[*columns, number])
