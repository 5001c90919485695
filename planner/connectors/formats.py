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


def find_unheld(format_: str, columns: Iterable[Column]) -> Column | None:
    """A column that files of the format cannot hold, None if they can hold all."""
    return next((each for each in columns if not _holds(format_, each.type)), None)


def _holds(format_: str, type_: Type) -> bool:
    """Whether each value of the type can be written to a file of the format, and is read as the same value."""
    match type_:
        case Array():
            return format_ != "csv" and _holds(format_, type_.element)
        case Map():
            is_text = format_ == "json"  # the keys of an object are texts, and Spark writes times as numbers there
            key_holds = type_.key in _TEXT_KEYS or isinstance(type_.key, Decimal)
            return format_ != "csv" and _holds(format_, type_.value) and (key_holds or not is_text)
        case Struct():
            return format_ != "csv" and all(_holds(format_, each) for _, each in type_.fields)
    return type_ != INTERVAL and not (format_ == "csv" and type_ == BINARY)


def check_format(options: Options, columns: Iterable[Column], span: Span) -> None:
    """Raises CompileError for a column that the files' format cannot hold."""
    format_ = str(dict(options).get("format"))
    column = find_unheld(format_, columns)
    if column is not None:
        found = C009.at(span, "", format=format_, column=column.name, type=column.type)
        raise CompileError([found.with_hint(f"CAST({column.name} AS STRING), or another format")])


def check_null(options: Options, columns: Sequence[Column], span: Span) -> None:
    """Raises CompileError where NULL would be an empty line of a CSV file, which is no record."""
    given = dict(options)
    if given.get("format") == "csv" and len(columns) == 1 and columns[0].nullable and not given.get("null"):
        found = C018.at(span, "", column=columns[0].name)
        raise CompileError([found.with_hint("null = 'NULL', in the WITH list")])
