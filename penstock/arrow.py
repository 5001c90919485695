"""Columns of PostgreSQL -> columns of Arrow."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from penstock.values import to_json

_PLAIN = {
    "boolean": pa.bool_(),
    "smallint": pa.int16(),
    "integer": pa.int32(),
    "bigint": pa.int64(),
    "real": pa.float32(),
    "double precision": pa.float64(),
    "date": pa.date32(),
    "timestamp with time zone": pa.timestamp("us", tz="UTC"),
    "timestamp without time zone": pa.timestamp("us"),
    "time without time zone": pa.time64("us"),
    "bytea": pa.binary(),
}
_DECIMAL = re.compile(r"numeric\((\d+),(\d+)\)")
_MAX_DIGITS = 38
_TRUTH = {"t": "true", "f": "false"}


def arrow_type(name: str) -> pa.DataType:
    """The type of Arrow for a type of PostgreSQL. It is text where Arrow has none, and for `numeric` without digits."""
    if name.endswith("[]"):
        return pa.list_(arrow_type(name.removesuffix("[]")))
    digits = _DECIMAL.fullmatch(name)
    if digits and int(digits[1]) <= _MAX_DIGITS:
        return pa.decimal128(int(digits[1]), int(digits[2]))
    return _PLAIN.get(name, pa.string())


def make_table(columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[Any]]) -> pa.Table:
    """Rows of Python values as a table. `columns`: names and types of PostgreSQL.

    Raises:
        pyarrow.ArrowInvalid: a value does not fit the type of its column, as NaN in a decimal.
    """
    types = [arrow_type(type_) for _, type_ in columns]
    values = zip(*rows, strict=True) if rows else [()] * len(columns)
    arrays = [make_column(column, type_) for column, type_ in zip(values, types, strict=True)]
    fields = [pa.field(name, type_) for (name, _), type_ in zip(columns, types, strict=True)]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def make_column(values: Iterable[Any], type_: pa.DataType) -> pa.Array:
    """The values as a column. In a column of texts, other values are written as JSON."""
    if pa.types.is_string(type_):
        values = [value if value is None or isinstance(value, str) else _to_text(value) for value in values]
    return pa.array(values, type_)


def read_table(columns: Sequence[str], types: Sequence[str], rows: Sequence[Sequence[str | None]]) -> pa.Table:
    """Rows of texts, as statements answer them, as a table. Without types all columns are texts.

    A column stays text if Arrow cannot hold one of its values, such as a time `infinity`.
    """
    texts = zip(*rows, strict=True) if rows else [()] * len(columns)
    arrays = [pa.array(column, pa.string()) for column in texts]
    for place, name in enumerate(types):
        arrays[place] = _read_column(arrays[place], arrow_type(name))
    return pa.Table.from_arrays(arrays, names=list(columns))


def _read_column(texts: pa.Array, type_: pa.DataType) -> pa.Array:
    if pa.types.is_nested(type_) or pa.types.is_binary(type_):
        return texts  # PostgreSQL writes them in ways of its own
    if pa.types.is_boolean(type_):
        texts = pa.array([_TRUTH.get(text, text) for text in texts.to_pylist()], pa.string())
    try:
        return texts.cast(type_)
    except pa.ArrowInvalid:
        return texts


def _to_text(value: Any) -> str:
    simple = to_json(value)
    return simple if isinstance(simple, str) else json.dumps(simple, ensure_ascii=False)
