"""Which column types of each database hold all values of an Arrow type."""

import re
from typing import Any

import pyarrow as pa
import sqlalchemy as sa

from penstock.kit.databases.spark_types import column_type

POSTGRES_HOLDS = {
    pa.bool_(): ("BOOLEAN",),
    pa.int8(): ("SMALLINT", "INTEGER", "BIGINT"),
    pa.int16(): ("SMALLINT", "INTEGER", "BIGINT"),
    pa.int32(): ("INTEGER", "BIGINT"),
    pa.int64(): ("BIGINT",),
    pa.float32(): ("REAL", "DOUBLE_PRECISION"),
    pa.float64(): ("DOUBLE_PRECISION",),
    pa.string(): ("TEXT", "VARCHAR"),
    pa.binary(): ("BYTEA",),
    pa.date32(): ("DATE",),
}
SQLITE_HOLDS: dict[pa.DataType, tuple[type[sa.types.TypeEngine[Any]], ...]] = {
    pa.bool_(): (sa.Integer, sa.Boolean),
    pa.int8(): (sa.Integer,),
    pa.int16(): (sa.Integer,),
    pa.int32(): (sa.Integer,),
    pa.int64(): (sa.Integer,),
    pa.float32(): (sa.Float,),
    pa.float64(): (sa.Float,),
    pa.string(): (sa.String,),
    pa.binary(): (sa.LargeBinary, sa.types.NullType),
    pa.date32(): (sa.String, sa.Date),
    pa.timestamp("us", "UTC"): (sa.String, sa.DateTime),
    pa.time64("ns"): (sa.String, sa.Time),
}


def postgres_holds(type_: pa.DataType, column: sa.types.TypeEngine[Any]) -> bool:
    """Whether a column of PostgreSQL keeps all values of an Arrow type as they are. Texts may be too long for it."""
    if isinstance(column, sa.Numeric) and pa.types.is_decimal(type_):
        if column.precision is None:
            return True
        scale = column.scale or 0
        return bool(scale >= type_.scale and column.precision - scale >= type_.precision - type_.scale)
    if isinstance(column, sa.TIMESTAMP) and pa.types.is_timestamp(type_):
        return bool(column.timezone) and getattr(column, "precision", None) in (None, 6)
    if isinstance(column, sa.TIME) and pa.types.is_time64(type_):
        return not column.timezone and getattr(column, "precision", None) in (None, 6)
    return type(column).__name__ in POSTGRES_HOLDS.get(type_, ())


def postgres_bounds(type_: pa.DataType, column: sa.types.TypeEngine[Any]) -> bool:
    """Whether a column of PostgreSQL has the values of an integer or decimal type, and no others but NaN."""
    if isinstance(column, sa.Numeric) and pa.types.is_decimal(type_):
        return (column.precision, column.scale or 0) == (type_.precision, type_.scale)
    names = {pa.int16(): "SMALLINT", pa.int32(): "INTEGER", pa.int64(): "BIGINT"}
    return type(column).__name__ == names.get(type_)


def sqlite_holds(type_: pa.DataType, column: sa.types.TypeEngine[Any]) -> bool:
    """Whether a column of SQLite has the affinity that keeps all values of an Arrow type as they are."""
    return isinstance(column, SQLITE_HOLDS.get(type_, ()))


def duckdb_holds(type_: pa.DataType, column: str) -> bool:
    """Whether a column of DuckDB, whose type is given as DuckDB writes it, keeps all values of an Arrow type."""
    if pa.types.is_signed_integer(type_):
        names = [column_type("duckdb", each) for each in (pa.int8(), pa.int16(), pa.int32(), pa.int64())]
        return column in names[names.index(column_type("duckdb", type_)) :]
    decimal = re.fullmatch(r"DECIMAL\((\d+),(\d+)\)", column)
    if decimal and pa.types.is_decimal(type_):
        precision, scale = int(decimal[1]), int(decimal[2])
        return bool(scale >= type_.scale and precision - scale >= type_.precision - type_.scale)
    plain = (text.replace('"', "").replace(" ", "").upper() for text in (column, column_type("duckdb", type_)))
    return len(set(plain)) == 1
