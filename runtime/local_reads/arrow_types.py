"""Spark's names of types -> types of Arrow."""

from __future__ import annotations

import re

import pyarrow as pa

_TYPES = {
    "TINYINT": pa.int8(),
    "SMALLINT": pa.int16(),
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "BOOLEAN": pa.bool_(),
    "DOUBLE": pa.float64(),
    "STRING": pa.string(),
    "DATE": pa.date32(),
    "TIMESTAMP": pa.timestamp("us", tz="UTC"),
}


def arrow_type(name: str) -> pa.DataType:
    """The type as Spark gives it to Arrow."""
    digits = re.fullmatch(r"DECIMAL\((\d+), (\d+)\)", name)
    return pa.decimal128(int(digits[1]), int(digits[2])) if digits else _TYPES[name]


def naive_type(name: str) -> pa.DataType:
    """The type of a column that DuckDB is given: its times have no zone."""
    type_ = arrow_type(name)
    return pa.timestamp("us") if pa.types.is_timestamp(type_) else type_
