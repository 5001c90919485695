"""What a test writes for a value -> the value, as the column of the script has it."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from sqlglot import exp

from penstock.diagnostics import CompileError, Span
from penstock.diagnostics.codes.testing import T101, T102, T108
from penstock.evaluator import QueryFailure, Unsupported, Value, cast, evaluate_scalar
from penstock.parser.ast import Scalar, Text
from penstock.planner.plan import Column
from penstock.planner.types import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INTEGERS,
    STRING,
    TIME,
    TIMESTAMP,
    Array,
    Map,
    Struct,
    Type,
)
from penstock.planner.types import Decimal as DecimalType

START = datetime(2025, 1, 1)
"""The time from which '9:30' is counted, unless AT names another one."""
RELATIVE = re.compile(r"(-?)(?:(\d{1,4}):(?=[0-5]?\d:))?(\d{1,2}):([0-5]\d(?:\.\d{1,6}0*)?)", re.ASCII)
PLAIN = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6}0*)?(?:Z|[+-]\d{2}(?::?\d{2})?)?)?)?", re.ASCII
)
LONG_FRACTION = re.compile(r".*:\d{2}\.\d{6}\d*[1-9]\d*\D*.*", re.ASCII)
REAL = re.compile(r"[+-]?(?=\.?\d)\d*\.?\d*(?:e[+-]?\d+)?|[+-]?inf(?:inity)?|nan", re.ASCII | re.IGNORECASE)
FORMS = {
    "DATE": re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII),
    "TIME": re.compile(r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,6}0*)?)?", re.ASCII),
    "BOOLEAN": re.compile("true|false", re.IGNORECASE),
    "DOUBLE": REAL,
    "FLOAT": REAL,
}
"""How texts stand for values."""
NUMBER = re.compile(r"[+-]?(?=\.?\d)\d*\.?\d*(?:e[+-]?\d{1,3})?", re.ASCII | re.IGNORECASE)
TIME_HINT = "write '9:30' for 9 minutes and 30 seconds after the start, or '2025-01-01 10:00:00'"
LOST = "digits would be lost"


class WrongValueError(ValueError):
    """The type has no such value, for a reason that is told."""


def read_start(at: Text | None) -> datetime:
    """The time that AT names. Raises CompileError."""
    if at is None:
        return START
    try:
        return read_plain(at.text)
    except (ValueError, OverflowError):
        hint = "write it as '2025-01-01 10:00:00'"
        raise CompileError([T108.at(at.span, text=repr(at.text)).with_hint(hint)]) from None


def read_time(text: str, start: datetime) -> datetime | None:
    """A time, as '9:30', which is 9 minutes and 30 seconds after the start, or as '2025-01-01 10:00:00'."""
    found = RELATIVE.fullmatch(text.strip())
    try:
        if found is None:
            return read_plain(text)
        sign, hours, minutes, seconds = found.groups()
        length = timedelta(hours=int(hours or 0), minutes=int(minutes), microseconds=int(Decimal(seconds) * 1_000_000))
        return start - length if sign else start + length
    except (ValueError, OverflowError):
        return None


def read_plain(text: str) -> datetime:
    """A time such as '2025-01-01 10:00:00'. Raises ValueError or OverflowError."""
    if PLAIN.fullmatch(text.strip()) is None:
        raise ValueError(text)
    return plain_time(datetime.fromisoformat(text.strip()))


def plain_time(moment: datetime) -> datetime:
    """The time as UTC without a zone."""
    return moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)


def read_moment(text: Text, start: datetime) -> datetime:
    """The time in a statement. Raises CompileError."""
    moment = read_time(text.text, start)
    if moment is None:
        raise CompileError([T108.at(text.span, text=repr(text.text)).with_hint(TIME_HINT)])
    return moment


def read_scalar(scalar: Scalar, column: Column, start: datetime) -> Value:
    """The value of an expression without columns. Raises CompileError."""
    span: Span = scalar.meta["span"]
    if scalar.find(exp.Query) is not None:
        raise refused(span, column, "A value is an expression without queries.")
    named = scalar.find(exp.Column)
    if named is not None:
        raise refused(span, column, f"a text stands in quotes: '{named.name}'")
    try:
        value = evaluate_scalar(scalar, {}, {})
    except Unsupported as problem:
        raise CompileError([T101.at(span, reason=str(problem))]) from None
    except QueryFailure as problem:
        raise refused(span, column, str(problem)) from None
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError):
        raise refused(span, column, None) from None
    return convert_at(value, column, start, span)


def convert_at(value: Any, column: Column, start: datetime, span: Span, text: str | None = None) -> Value:
    """The value as the column has it. Raises CompileError at the place. `text`: how the value is shown."""
    try:
        return convert(value, column.type, start)
    except Unsupported as problem:
        raise CompileError([T101.at(span, reason=str(problem))]) from None
    except (QueryFailure, WrongValueError) as problem:
        raise refused(span, column, str(problem), text) from None
    except (TypeError, ValueError, AttributeError, ArithmeticError):
        raise refused(span, column, None, text) from None


def refused(span: Span, column: Column, detail: str | None, text: str | None = None) -> CompileError:
    found = T102.at(span, text=span.text if text is None else text, column=column.name, type=column.type)
    if column.type == TIMESTAMP:
        found = found.with_hint(TIME_HINT)
    return CompileError([found.because(detail) if detail else found])


def convert(value: Any, type_: Type, start: datetime) -> Value:
    """The value as the type has it. Nothing of a number is lost. Raises QueryFailure, Unsupported or ValueError."""
    match type_:
        case _ if value is None:
            return None
        case Array(element):
            return [convert(each, element, start) for each in read_json(value, list)]
        case Map(key, of):
            items = read_json(value, dict).items()
            return {convert(name, key, start): convert(each, of, start) for name, each in items}
        case Struct(fields):
            given = {str(name).lower(): each for name, each in read_json(value, dict).items()}
            if set(given) - {name.lower() for name, _ in fields}:
                raise ValueError("a field that is not there")
            if len(given) < len(read_json(value, dict)):
                raise WrongValueError("two fields have the same name")
            return {name: convert(given.get(name.lower()), of, start) for name, of in fields}
        case _ if type_ == TIMESTAMP and isinstance(value, str):
            moment = read_time(value, start)
            if moment is None:
                raise WrongValueError(LOST) if LONG_FRACTION.fullmatch(value) else ValueError(value)
            return moment
    if isinstance(value, list | dict) or (isinstance(value, bytes) and type_ != BINARY):
        raise ValueError("a value with parts, or bytes")
    is_number = type_ in INTEGERS or isinstance(type_, DecimalType) or type_ in (FLOAT, DOUBLE)
    if isinstance(value, bool) != (type_ == BOOLEAN) and type_ != STRING and not isinstance(value, str):
        raise ValueError("a truth value and another one")
    if isinstance(value, int | float | Decimal) and not is_number and type_ not in (BOOLEAN, STRING):
        raise ValueError("a number in the place of something else")
    if isinstance(value, str) and type_ != STRING:
        check_form(value.strip(), type_)
    if isinstance(value, float) and isinstance(type_, DecimalType):
        value = Decimal(repr(value))
    if isinstance(value, str) and (type_ in INTEGERS or isinstance(type_, DecimalType)):
        value = Decimal(value.strip())
    made = cast(value, type_)
    if is_lost(value, made, type_):
        raise WrongValueError(LOST)
    return made


def check_form(text: str, type_: Type) -> None:
    """Raises ValueError for a text that does not stand for a value of the type, though Python may take it for one."""
    is_exact = type_ in INTEGERS or isinstance(type_, DecimalType)
    form = NUMBER if is_exact else FORMS.get(str(type_))
    if form is not None and form.fullmatch(text) is None:
        raise WrongValueError(LOST) if LONG_FRACTION.fullmatch(text) else ValueError(text)


def is_lost(value: Value, made: Value, type_: Type) -> bool:
    """Whether the value that was made of another one has less digits, or no time of day."""
    if type_ in INTEGERS or isinstance(type_, DecimalType):
        return bool(Decimal(str(value)) != made)
    if isinstance(value, datetime) and type_ in (DATE, TIME):
        return type_ == TIME or value.time() != time()
    return False


def read_json(value: Any, kind: type) -> Any:
    """The parts of a value. A text, as a file of CSV has it, is read as JSON."""
    parts = json.loads(value, parse_float=Decimal) if isinstance(value, str) else value
    if not isinstance(parts, kind):
        raise ValueError("other parts")
    return parts
