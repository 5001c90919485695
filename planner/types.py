"""The types of columns and expressions, and how Spark SQL writes them."""

from __future__ import annotations

from typing import Self, TypeAlias, assert_never

import msgspec


class _Constant(msgspec.Struct, frozen=True):
    def __deepcopy__(self, memo: object) -> Self:
        """Itself, as it never changes: expressions know their types, and are copied often."""
        return self


class Simple(_Constant, frozen=True):
    """A type without parameters; `name` is Spark's name for it. VOID is the type of a bare NULL."""

    name: str

    def __str__(self) -> str:
        return self.name


class Decimal(_Constant, frozen=True):
    """Exact numbers of up to `precision` digits, `scale` of them behind the point (1 <= precision <= 38)."""

    precision: int
    scale: int

    def __str__(self) -> str:
        return f"DECIMAL({self.precision}, {self.scale})"


class Array(_Constant, frozen=True):
    element: Type

    def __str__(self) -> str:
        return f"ARRAY<{self.element}>"


class Map(_Constant, frozen=True):
    key: Type
    value: Type

    def __str__(self) -> str:
        return f"MAP<{self.key}, {self.value}>"


class Struct(_Constant, frozen=True):
    fields: tuple[tuple[str, Type], ...]

    def __str__(self) -> str:
        return "STRUCT<" + ", ".join(f"`{name.replace('`', '``')}`: {type_}" for name, type_ in self.fields) + ">"


Type: TypeAlias = Simple | Decimal | Array | Map | Struct

BOOLEAN = Simple("BOOLEAN")
TINYINT = Simple("TINYINT")
SMALLINT = Simple("SMALLINT")
INT = Simple("INT")
BIGINT = Simple("BIGINT")
FLOAT = Simple("FLOAT")
DOUBLE = Simple("DOUBLE")
STRING = Simple("STRING")
BINARY = Simple("BINARY")
DATE = Simple("DATE")
TIMESTAMP = Simple("TIMESTAMP")
TIME = Simple("TIME")  # a time of the day, without a zone, to the microsecond
INTERVAL = Simple("INTERVAL")  # a day-time interval
VOID = Simple("VOID")

INTEGERS = (TINYINT, SMALLINT, INT, BIGINT)
"""The whole-number types, narrowest first."""
MEAN_SCALE = 28
"""The most decimals of a mean that is divided exactly. Spark's division of wide decimals gives no more."""
MOMENTS = (DATE, TIMESTAMP, TIME)
"""The types whose values text literals are read as."""


def is_ordered(type_: Type) -> bool:
    """Whether values of the type can be compared by <; the types that are not, have no = either, nor a hash."""
    match type_:
        case Map():
            return False
        case Array(element):
            return is_ordered(element)
        case Struct(fields):
            return all(is_ordered(field) for _, field in fields)
        case Simple() | Decimal():
            return True
        case _:
            assert_never(type_)


def is_exact(type_: Type) -> bool:
    """Whether values are equal only if they are the same, in Spark and in DuckDB, and both have the same order."""
    return isinstance(type_, Decimal) or type_ in (*INTEGERS, STRING, BOOLEAN, DATE, TIMESTAMP)
