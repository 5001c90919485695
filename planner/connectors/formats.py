"""The formats of files: which values each can hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from penstock.diagnostics import CompileError, Span
from penstock.diagnostics.codes.connectors import C009, C018
from penstock.planner.plan import Column, Options
from penstock.planner.types import (
    BINARY,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    INTEGERS,
    INTERVAL,
    STRING,
    Array,
    Decimal,
    Map,
    Struct,
    Type,
)

_TEXT_KEYS = (STRING, BOOLEAN, *INTEGERS, FLOAT, DOUBLE)
"""Types that can be keys of a JSON object. Decimals can, too."""


def find_unsupported_column(format_: str, columns: Iterable[Column]) -> Column | None:
    """A column that files of the format cannot hold, None if they can hold all."""
    return next((each for each in columns if not _can_hold(format_, each.type)), None)


def _can_hold(format_: str, type_: Type) -> bool:
    """Whether each value of the type can be written to a file of the format, and is read as the same value."""
    match type_:
        case Array():
            return format_ != "csv" and _can_hold(format_, type_.element)
        case Map():
            is_json = format_ == "json"  # JSON's keys are strings, and Spark writes a time as a number there
            key_fits = type_.key in _TEXT_KEYS or isinstance(type_.key, Decimal)
            return format_ != "csv" and _can_hold(format_, type_.value) and (key_fits or not is_json)
        case Struct():
            return format_ != "csv" and all(_can_hold(format_, each) for _, each in type_.fields)
    return type_ != INTERVAL and not (format_ == "csv" and type_ == BINARY)


def check_format(options: Options, columns: Iterable[Column], span: Span) -> None:
    """Raises CompileError for a column that the files' format cannot hold."""
    format_ = str(dict(options).get("format"))
    column = find_unsupported_column(format_, columns)
    if column is not None:
        found = C009.at(span, "", format=format_, column=column.name, type=column.type)
        raise CompileError([found.with_hint(f"CAST({column.name} AS STRING), or another format")])


def check_null(options: Options, columns: Sequence[Column], span: Span) -> None:
    """Raises CompileError where NULL would be written as an empty line of CSV, which is no record."""
    given = dict(options)
    if given.get("format") == "csv" and len(columns) == 1 and columns[0].nullable and not given.get("null"):
        found = C018.at(span, "", column=columns[0].name)
        raise CompileError([found.with_hint("null = 'NULL', in the WITH list")])
