"""The formats of files: which values each can hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from penstock.diagnostics import CompileError, Span
from penstock.diagnostics.codes.connectors import C009, C018, C025
from penstock.planner.plan import Column, Options
from penstock.planner.types import (
    BINARY,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    INTEGERS,
    INTERVAL,
    STRING,
    TIME,
    Array,
    Decimal,
    Map,
    Struct,
    Type,
)

_AVRO_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")
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
        case Map() if format_ == "avro":
            return type_.key == STRING and _can_hold(format_, type_.value)
        case Map():
            is_json = format_ == "json"  # JSON's keys are strings, and Spark writes a time as a number there
            key_fits = type_.key in _TEXT_KEYS or isinstance(type_.key, Decimal)
            return format_ != "csv" and _can_hold(format_, type_.value) and (key_fits or not is_json)
        case Struct():
            return format_ != "csv" and all(_can_hold(format_, each) for _, each in type_.fields)
    if format_ == "avro" and type_ == TIME:
        return False
    return type_ != INTERVAL and not (format_ == "csv" and type_ == BINARY)


def check_format(options: Options, columns: Sequence[Column], span: Span) -> None:
    """Raises CompileError for a column that the files' format cannot hold."""
    format_ = str(dict(options).get("format"))
    column = find_unsupported_column(format_, columns)
    if column is not None:
        found = C009.at(span, "", format=format_, column=column.name, type=column.type)
        raise CompileError([found.with_hint(f"CAST({column.name} AS STRING), or another format")])
    if format_ == "avro":
        check_names(columns, span)


def check_names(columns: Iterable[Column], span: Span) -> None:
    """Raises CompileError for a column, or a field inside one, whose name Avro does not have."""
    for each in columns:
        for name in (each.name, *_list_fields(each.type)):
            if _AVRO_NAME.fullmatch(name) is None:
                fitting = re.sub(r"[^A-Za-z0-9_]|^(?=[0-9])", "_", name)
                raise CompileError([C025.at(span, "", name=name).with_hint(f"{fitting} is a name of Avro")])


def _list_fields(type_: Type) -> Iterator[str]:
    """The names of all fields inside values of a type."""
    match type_:
        case Array():
            yield from _list_fields(type_.element)
        case Map():
            yield from _list_fields(type_.value)
        case Struct():
            for name, inside in type_.fields:
                yield name
                yield from _list_fields(inside)


def check_null(options: Options, columns: Sequence[Column], span: Span) -> None:
    """Raises CompileError where NULL would be written as an empty line of CSV, which is no record."""
    given = dict(options)
    if given.get("format") == "csv" and len(columns) == 1 and columns[0].nullable and not given.get("null"):
        found = C018.at(span, "", column=columns[0].name)
        raise CompileError([found.with_hint("null = 'NULL', in the WITH list")])
