"""Values of the model: how types limit them and how one type is cast to another, by Spark's ANSI rules.

NULL is None. TIMESTAMP is a naive datetime that means UTC, DATE a date, TIME a time, INTERVAL a timedelta. DECIMAL is a
Decimal, STRUCT and MAP are a dict, ARRAY is a list. Not modelled: floating-point numbers as text,
BINARY, casts of nested types, months and years as intervals.
"""

from __future__ import annotations

import decimal
import math
import re
import struct
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from penstock.diagnostics.codes.running import R021, R022
from penstock.diagnostics.diagnostic import Code
from penstock.planner.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    INTEGERS,
    INTERVAL,
    STRING,
    TIME,
    TIMESTAMP,
    VOID,
    Array,
    Decimal,
    Simple,
    Type,
)

Value = Any
Row = dict[str, Value]
Types = Mapping[str, Type]

EPOCH = datetime(1970, 1, 1)
WIDTHS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
TRUE_TEXTS = ("t", "true", "y", "yes", "1")
FALSE_TEXTS = ("f", "false", "n", "no", "0")

WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
NUMBER = re.compile(r"[+-]?(?=\.?\d)\d*\.?\d*(?:e[+-]?\d{1,4})?", re.ASCII | re.IGNORECASE)
REAL = re.compile(rf"{NUMBER.pattern}|[+-]?inf(?:inity)?|nan", re.ASCII | re.IGNORECASE)
REAL_LIKE = re.compile(r"[+-]?(?:0x.*|.*\d.*[df])", re.IGNORECASE)
DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
MOMENT = re.compile(
    rf"{DAY.pattern}(?:[ T]\d{{2}}:\d{{2}}:\d{{2}}(?:\.\d{{1,6}})?(?:Z|[+-]\d{{2}}:\d{{2}})?)?", re.ASCII
)
MOMENT_LIKE = re.compile(r".*\d.*")
"""How texts stand for values."""

# Room for every intermediate result of numbers of 38 digits, so that only `fit` ever rounds.
EXACT = decimal.Context(prec=120, rounding=decimal.ROUND_HALF_UP)


class Unsupported(Exception):
    """The model does not say what this means."""


class QueryFailure(Exception):
    """The row makes the whole query fail: overflow, division by zero, a malformed cast. `code` names the kind."""

    def __init__(self, reason: str, code: Code) -> None:
        super().__init__(reason)
        self.code = code


def milliseconds(length: int) -> timedelta:
    """The length of a plan's durations."""
    return timedelta(milliseconds=length)


def columns(node_types: Any) -> Types:
    """The types of a schema's columns by name."""
    return {column.name: column.type for column in node_types}


def type_of_value(value: Value) -> Type:
    """The type of a value that no expression has given one."""
    match value:
        case bool():
            return BOOLEAN
        case bytes():
            return BINARY
        case int():
            return BIGINT
        case float():
            return DOUBLE
        case decimal.Decimal():
            _, digits, exponent = value.as_tuple()
            scale = max(0, -int(exponent))
            return Decimal(max(len(digits), scale), scale)
        case datetime():
            return TIMESTAMP
        case date():
            return DATE
        case time():
            return TIME
        case timedelta():
            return INTERVAL
        case str():
            return STRING
        case None:
            return VOID
        case _:
            raise Unsupported(f"the type of {value!r}")


def fit(value: Value, type_: Type) -> Value:
    """The value as `type_` holds it: decimals rounded half up to the scale. What does not fit fails the query."""
    match value, type_:
        case int(), Simple(name) if name in WIDTHS and not isinstance(value, bool):
            bound = 1 << (WIDTHS[name] - 1)
            if not -bound <= value < bound:
                raise QueryFailure(f"{value} overflows {name}", R022)
            return value
        case ((int() | decimal.Decimal()), Decimal(precision, scale)):
            rounded = decimal.Decimal(value).quantize(decimal.Decimal(1).scaleb(-scale), context=EXACT)
            if rounded.copy_abs() >= decimal.Decimal(10) ** (precision - scale):
                raise QueryFailure(f"{value} overflows {type_}", R022)
            return rounded
        case float(), _ if math.isnan(value):
            return math.nan  # the one that is the same in keys
        case float(), Simple("FLOAT"):
            return as_single(value)
        case _:
            return value


def flip_sign(value: Value) -> Value:
    """The number with the other sign, and all its digits."""
    return EXACT.minus(value) if isinstance(value, decimal.Decimal) else -value


def as_single(value: float) -> float:
    """The nearest number that FLOAT holds."""
    try:
        (nearest,) = struct.unpack("f", struct.pack("f", value))
    except OverflowError:
        return math.copysign(math.inf, value)
    return float(nearest)


def cast(value: Value, to: Type) -> Value:
    """CAST(value AS to). Raises QueryFailure where ANSI SQL does."""
    match value, to:
        case None, _:
            return None
        case str(), Simple("BINARY"):
            return value.encode()
        case str(), _:
            return _parse(value.strip(), to) if to != STRING else value
        case bytes(), Simple("BINARY"):
            return value
        case _, Simple("STRING"):
            return as_text(value)
        case bool(), (Simple() | Decimal()) if to in (*INTEGERS, FLOAT, DOUBLE) or isinstance(to, Decimal):
            return cast(int(value), to)
        case ((int() | float() | decimal.Decimal()), Simple("BOOLEAN")):
            return value != 0
        case ((int() | float() | decimal.Decimal()), Simple()) if to in INTEGERS:
            return fit(int(value), to)
        case ((int() | float() | decimal.Decimal()), Simple("DOUBLE")):
            return float(value)
        case float(), Simple("FLOAT"):
            return fit(value, to)
        case ((int() | decimal.Decimal()), Simple("FLOAT")):
            return _parse_single(f"{value:f}" if isinstance(value, decimal.Decimal) else str(value))
        case float(), Decimal():
            return fit(decimal.Decimal(repr(value)), to)
        case ((int() | decimal.Decimal()), Decimal()):
            return fit(value, to)
        case datetime(), Simple("TIMESTAMP"):
            return value
        case datetime(), Simple("DATE"):
            return value.date()
        case datetime(), Simple("TIME"):
            return value.time()
        case time(), Simple("TIME"):
            return value
        case date(), Simple("TIMESTAMP"):
            return datetime(value.year, value.month, value.day)
        case date(), Simple("DATE"):
            return value
        case timedelta(), Simple("INTERVAL"):
            return value
        case list(), Array(element):
            return [cast(each, element) for each in value]
        case _:
            raise Unsupported(f"CAST({value!r} AS {to})")


def _parse(text: str, to: Type) -> Value:
    try:
        match to:
            case Simple("BOOLEAN"):
                return {**dict.fromkeys(TRUE_TEXTS, True), **dict.fromkeys(FALSE_TEXTS, False)}[text.lower()]
            case Simple("DOUBLE" | "FLOAT"):
                check_text(text, REAL, REAL_LIKE, to)
                return fit(float(text), to) if to == DOUBLE else _parse_single(text)
            case Simple("DATE"):
                check_text(text, DAY, MOMENT_LIKE, to)
                return date.fromisoformat(text)
            case Simple("TIMESTAMP"):
                check_text(text, MOMENT, MOMENT_LIKE, to)
                parsed = datetime.fromisoformat(text)
                return parsed if parsed.tzinfo is None else parsed.astimezone(UTC).replace(tzinfo=None)
            case Simple("TIME"):
                return _parse_clock(text)
            case Simple() if to in INTEGERS:
                check_text(text, WHOLE, None, to)
                return fit(int(text), to)
            case Decimal():
                check_text(text, NUMBER, None, to)
                return fit(decimal.Decimal(text), to)
    except (ValueError, KeyError, decimal.InvalidOperation) as error:
        raise QueryFailure(f"{text!r} is no {to}", R021) from error
    raise Unsupported(f"text as {to}")


def check_text(text: str, form: re.Pattern[str], maybe: re.Pattern[str] | None, to: Type) -> None:
    """Raises ValueError for a text that is no value of a type. `maybe`: Spark takes some of these texts."""
    if form.fullmatch(text) is None:
        if maybe is not None and maybe.fullmatch(text):
            raise Unsupported(f"{text!r} as {to}")
        raise ValueError(text)


def _parse_single(text: str) -> float:
    """The FLOAT of a text. More digits could be rounded twice."""
    if sum(char.isdigit() for char in text) > 15:
        raise Unsupported("a FLOAT of more than 15 digits")
    return as_single(float(text))


def _parse_clock(text: str) -> time:
    found = re.fullmatch(r"(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{0,6}))?)?", text, re.ASCII)
    if found is None:
        raise ValueError(text)
    hour, minute, second, fraction = found.groups()
    return time(int(hour), int(minute), int(second or 0), int((fraction or "").ljust(6, "0")))


def as_text(value: Value) -> str:
    """CAST(value AS STRING)."""
    match value:
        case bool():
            return "true" if value else "false"
        case bytes():
            try:
                return value.decode()
            except UnicodeDecodeError:
                raise Unsupported("bytes as text that are not UTF-8") from None
        case int():
            return str(value)
        case decimal.Decimal():
            return f"{value:f}"
        case datetime():
            return value.isoformat(sep=" ", timespec="microseconds").rstrip("0").rstrip(".")
        case date():
            return value.isoformat()
        case time():
            return value.isoformat(timespec="microseconds").rstrip("0").rstrip(".") if value.microsecond else f"{value}"
        case _:
            raise Unsupported(f"{value!r} as text")


def integer_literal(number: int) -> Type:
    """The narrowest of INT, BIGINT and DECIMAL that holds a number written without a point."""
    for type_ in (INT, BIGINT):
        if -(1 << (WIDTHS[type_.name] - 1)) <= number < 1 << (WIDTHS[type_.name] - 1):
            return type_
    return Decimal(len(str(abs(number))), 0)
