"""Rows behind another one, as stretches of an index. PostgreSQL orders NULL behind all values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from psycopg import sql

from penstock.server.parameterized import ParameterizedName
from penstock.values import to_csv

_NULL = r"\N"
_LOOKS_NULL = re.compile(r"\\+N")


@dataclass(frozen=True, slots=True)
class Stretch:
    """Rows that lie beside each other in the index. `parameters`: the values of the condition."""

    condition: sql.Composable
    parameters: tuple[str | None, ...]


def list_behind(order: Sequence[tuple[str, bool]], nullable: AbstractSet[str], after: Sequence[str]) -> list[Stretch]:
    """The stretches of the rows behind another one. `order`: columns, each with whether it descends.

    `after`: the values of these columns in that row. `nullable`: columns that may be NULL.
    """
    values = [read_key(each) for each in after]
    directions = {descends for _, descends in order}
    if len(directions) == 1 and nullable.isdisjoint(column for column, _ in order):
        names, marks = (
            sql.SQL(", ").join(each)
            for each in ([ParameterizedName(column) for column, _ in order], [sql.Placeholder()] * len(order))
        )
        text = sql.SQL("({}) < ({})" if directions == {True} else "({}) > ({})")
        return [Stretch(text.format(names, marks), tuple(values))]
    same: list[Stretch] = []
    found: list[Stretch] = []
    for (column, descends), value in zip(order, values, strict=True):
        for each in _list_behind_value(column, value, is_nullable=column in nullable, descending=descends):
            found.append(_join([*same, each]))
        text = sql.SQL("{} IS NULL" if value is None else "{} = %s")
        same.append(Stretch(text.format(ParameterizedName(column)), () if value is None else (value,)))
    return found or [Stretch(sql.SQL("false"), ())]


def _list_behind_value(column: str, value: str | None, *, is_nullable: bool, descending: bool) -> Iterator[Stretch]:
    """The rows behind a value of one column."""
    name = ParameterizedName(column)
    if value is not None:
        yield Stretch(sql.SQL("{} < %s" if descending else "{} > %s").format(name), (value,))
    if is_nullable and value is not None and not descending:
        yield Stretch(sql.SQL("{} IS NULL").format(name), ())
    if value is None and descending:
        yield Stretch(sql.SQL("{} IS NOT NULL").format(name), ())


def _join(parts: Sequence[Stretch]) -> Stretch:
    conditions = sql.SQL(" AND ").join(each.condition for each in parts)
    return Stretch(conditions, tuple(value for each in parts for value in each.parameters))


def write_key(value: Any) -> str:
    r"""A value as a text that PostgreSQL reads as the same. `\N` is NULL; what looks so has one more backslash."""
    if value is None:
        return _NULL
    text = "\\x" + value.hex() if isinstance(value, bytes) else str(to_csv(value))
    return f"\\{text}" if _LOOKS_NULL.fullmatch(text) else text


def read_key(text: str) -> str | None:
    """The inverse, for PostgreSQL."""
    if text == _NULL:
        return None
    return text[1:] if _LOOKS_NULL.fullmatch(text) else text
