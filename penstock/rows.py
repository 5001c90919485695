"""Arrow tables -> rows as programs and people get them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import cached_property
from html import escape
from importlib import import_module
from typing import Any, overload

import pyarrow as pa

from penstock.diagnostics import PackageNeededError
from penstock.diagnostics.codes.running import R087
from penstock.diagnostics.terminal import align_texts, show_text

Row = dict[str, Any]

_SHOWN = 20  # rows in a notebook or at a prompt


class Rows(Sequence[Row]):
    """The rows of an answer: a sequence of dicts over an Arrow table. Times are in UTC."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._table.column_names)

    def to_arrow(self) -> pa.Table:
        """The rows as a table of pyarrow."""
        return self._table

    def to_pandas(self) -> Any:
        """The rows as a data frame of pandas."""
        return self._table.to_pandas()

    def to_polars(self) -> Any:
        """The rows as a data frame of Polars. Raises PackageNeededError without the extra `polars`."""
        try:
            polars = import_module("polars")
        except ModuleNotFoundError:
            missing = R087.at(None, call="to_polars", package="polars")
            raise PackageNeededError([missing.with_hint("pip install 'penstock[polars]'")]) from None
        return polars.from_arrow(self._table)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The rows for any library that knows Arrow's stream of C: Polars, DuckDB, pandas and others."""
        return self._table.__arrow_c_stream__(requested_schema)

    @cached_property
    def _rows(self) -> list[Row]:
        return list_rows(self._table)

    def __len__(self) -> int:
        return int(self._table.num_rows)

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> list[Row]: ...
    def __getitem__(self, place: int | slice) -> Row | list[Row]:
        return self._rows[place]

    def __eq__(self, other: object) -> bool:
        """Whether the dicts are equal, also the dicts of a list."""
        if isinstance(other, Rows | list):
            return self._rows == list(other)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """The first rows as a table of text."""
        return "\n".join([*align_texts([[*map(show_text, self.columns)], *self._show()]), self._count()])

    def _repr_html_(self) -> str:
        """The first rows as a table of HTML. Texts of users stay texts."""
        head = "".join(f'<th scope="col">{escape(show_text(name))}</th>' for name in self.columns)
        lines = ("".join(f"<td>{escape(cell)}</td>" for cell in cells) for cells in self._show())
        body = "".join(f"<tr>{line}</tr>" for line in lines)
        caption = f"<caption>{self._count()}</caption>"
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def _show(self) -> list[list[str]]:
        return [[_cell(value) for value in row.values()] for row in list_rows(self._table.slice(0, _SHOWN))]

    def _count(self) -> str:
        rows = f"{len(self):,} row{'' if len(self) == 1 else 's'}"
        return f"{rows}, the first {_SHOWN} shown" if len(self) > _SHOWN else rows


def list_rows(table: pa.Table) -> list[Row]:
    """The rows of a table. Maps become dicts; keys that are arrays or structs become tuples, which can be hashed."""
    columns = [_list_values(column) for column in table.columns]
    return [dict(zip(table.column_names, values, strict=True)) for values in zip(*columns, strict=True)]


def _cell(value: Any) -> str:
    if isinstance(value, datetime):
        value = value.replace(tzinfo=None)
    return "NULL" if value is None else show_text(str(value))


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
