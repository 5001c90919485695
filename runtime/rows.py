"""Arrow tables -> rows as programs and people get them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

Row = dict[str, Any]


def list_rows(table: pa.Table) -> list[Row]:
    """The rows of a table. Maps become dicts; keys that are arrays or structs become tuples, which can be hashed."""
    columns = [_list_values(column) for column in table.columns]
    return [dict(zip(table.column_names, values, strict=True)) for values in zip(*columns, strict=True)]


def _list_values(column: pa.ChunkedArray) -> list[Any]:
    if _has_plain_keys(column.type):
        return list(column.to_pylist(maps_as_pydicts="strict"))
    return [_convert(value, column.type) for value in column.to_pylist()]


def _has_plain_keys(type_: pa.DataType) -> bool:
    """Whether no map in the type has keys that are arrays or structs."""
    if pa.types.is_map(type_):
        return not pa.types.is_nested(type_.key_type) and _has_plain_keys(type_.item_type)
    return all(_has_plain_keys(type_.field(place).type) for place in range(type_.num_fields))


def _convert(value: Any, type_: pa.DataType) -> Any:
    """A value as Arrow gives it, in which maps are lists of pairs."""
    if value is None:
        return None
    if pa.types.is_map(type_):
        return {_freeze(key): _convert(item, type_.item_type) for key, item in value}
    if pa.types.is_struct(type_):
        return {field.name: _convert(value[field.name], field.type) for field in type_}
    if pa.types.is_nested(type_):
        return [_convert(each, type_.value_type) for each in value]
    return value


def _freeze(key: Any) -> Any:
    match key:
        case dict():
            return tuple(map(_freeze, key.values()))
        case list():
            return tuple(map(_freeze, key))
    return key
