"""Comparisons of columns that a place of rows can do by itself, as plain data."""

from __future__ import annotations

from datetime import date
from typing import TypeAlias

import msgspec

FilterValue: TypeAlias = int | str | date


class ColumnFilter(msgspec.Struct, frozen=True):
    """A comparison of a column: with any number of values for IN, with none for IS NULL and IS NOT NULL, else one."""

    column: str
    operator: str
    values: tuple[FilterValue, ...] = ()
