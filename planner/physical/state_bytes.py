"""Types -> the bytes that rows of them take in Spark's state: as Spark's rows, or packed in compressed Arrow tables.

The numbers were measured: on the heap as Spark reports them, of tables as the workers write them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from penstock.planner.functions.facts import Collecting, Retraction
from penstock.planner.plan import Aggregate, Node
from penstock.planner.scalars.find_type import find_type
from penstock.planner.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TINYINT,
    VOID,
    Array,
    Decimal,
    Map,
    Simple,
    Struct,
    Type,
)

TEXT_BYTES = 16
"""What a text or a binary value is taken to have."""
ELEMENTS = 4
"""What an array or a map is taken to have."""
ENTRY = 150
"""What an entry of Spark's map takes on the heap beside its bytes: two rows, two arrays, a node and its slot."""
SESSION_ENTRY = 470
"""Spark has the sessions of a key in a second map, with a set for each key."""
TABLE_ENTRY = 260
"""The entry of a packed table: its window, its bucket, its hash, and the list that it is in."""
_WORD = 8
_TABLE, _FIELD, _TEXT_FIELD = 200, 130, 180
"""What a packed table without rows takes, and what each of its fields adds."""
_COMPRESSED = 0.6
"""The part that is left of the values of a packed table."""
_NARROW = {BOOLEAN: 0.125, TINYINT: 1, SMALLINT: 2, INT: 4, FLOAT: 4, DATE: 4}
_LONG_DECIMAL = 18
"""Decimals of more digits do not fit a word."""
_COUNTS = (Retraction.COUNT, Retraction.COUNT_IF)


def row_bytes(types: Iterable[Type]) -> int:
    """A row of Spark: a bit for each NULL, a word for each field, and what does not fit a word behind them."""
    fields = list(types)
    return _WORD * (-(-len(fields) // 64) + len(fields)) + sum(map(_behind, fields))


def _behind(type_: Type) -> int:
    """What a value takes beside its word."""
    match type_:
        case Simple():
            return TEXT_BYTES if type_ in (STRING, BINARY) else 0
        case Decimal():
            return 2 * _WORD if type_.precision > _LONG_DECIMAL else 0
        case Array():
            return 2 * _WORD + ELEMENTS * (_WORD + _behind(type_.element))
        case Map():
            return _WORD + sum(_behind(Array(each)) for each in (type_.key, type_.value))
        case Struct():
            return row_bytes(each for _, each in type_.fields)
        case _:
            assert_never(type_)


def packed_bytes(types: Iterable[Type]) -> float:
    """What a row takes in a packed table."""
    return _COMPRESSED * sum(map(_column_bytes, types))


def _column_bytes(type_: Type) -> float:
    match type_:
        case Simple():
            return TEXT_BYTES + 4 if type_ in (STRING, BINARY) else _NARROW.get(type_, _WORD)
        case Decimal():
            return 2 * _WORD
        case Array():
            return 4 + ELEMENTS * _column_bytes(type_.element)
        case Map():
            return 4 + ELEMENTS * (_column_bytes(type_.key) + _column_bytes(type_.value))
        case Struct():
            return sum(_column_bytes(each) for _, each in type_.fields)
        case _:
            assert_never(type_)


def table_bytes(types: Iterable[Type]) -> int:
    """What a packed table without rows takes."""
    return _TABLE + sum(map(_field_bytes, types))


def _field_bytes(type_: Type) -> int:
    match type_:
        case Simple() | Decimal():
            return _TEXT_FIELD if type_ in (STRING, BINARY) else _FIELD
        case Array():
            return _FIELD + _field_bytes(type_.element)
        case Map():
            return 2 * _FIELD + _field_bytes(type_.key) + _field_bytes(type_.value)
        case Struct():
            return _FIELD + sum(_field_bytes(each) for _, each in type_.fields)
        case _:
            assert_never(type_)


def list_kept(aggregate: Aggregate, below: Node) -> list[Type]:
    """The fields that Spark keeps to compute the aggregate of a group. Fields that grow with the group are left out.

    `below` is the node that is aggregated.
    """
    if aggregate.entry.retraction in (Retraction.MIN_BY, Retraction.MAX_BY):
        by = find_type(aggregate.arguments[1], below) or VOID
        return [Struct((("by", by), ("value", aggregate.type)))]
    return [BIGINT] if aggregate.entry.retraction in _COUNTS else [aggregate.type, BIGINT]


def value_bytes(type_: Type) -> int:
    """What a value takes in a list of values of a group."""
    return _WORD + _behind(type_)


def is_collected(aggregate: Aggregate) -> bool:
    """Whether what is kept of a group grows with its rows."""
    return aggregate.distinct or aggregate.entry.collecting in (Collecting.LIST, Collecting.TEXT)
