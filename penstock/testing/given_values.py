"""What a test writes for a value -> the value, as the column of the script has it."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from sqlglot import exp

from penstock.diagnostics import CompileError, Span
from penstock.diagnostics.codes.testing import T101, T102, T108
from penstock.evaluator import QueryFailure, Unsupported, Value, cast, evaluate_scalar
from penstock.parser.ast import Scalar, Text
from penstock.planner.plan import Column
from penstock.planner.types import INTEGERS, TIMESTAMP, Array, Map, Struct, Type
from penstock.planner.types import Decimal as DecimalType

START = datetime(2025, 1, 1)
"""The time from which '9:30' is counted, unless AT names another one."""
RELATIVE = re.compile(r"(-?)(?:(\d{1,4}):)?(\d{1,2}):(\d{2}(?:\.\d{1,6})?)", re.ASCII)


def read_start(at: Text | None) -> datetime:
    """The time that AT names. Raises CompileError."""
    if at is None:
        return START
    try:
        return plain_time(datetime.fromisoformat(at.text.strip()))
    except (ValueError, OverflowError):
        hint = "write it as '2025-01-01 10:00:00'"
        raise CompileError([T108.at(at.span, text=repr(at.text)).with_hint(hint)]) from None


def read_time(text: str, start: datetime) -> datetime | None:
    """A time, as '9:30', which is 9 minutes and 30 seconds after the start, or as '2025-01-01 10:00:00'."""
    found = RELATIVE.fullmatch(text.strip())
    if found is not None:
        sign, hours, minutes, seconds = found.groups()
        length = timedelta(hours=int(hours or 0), minutes=int(minutes), microseconds=int(Decimal(seconds) * 1_000_000))
        return start - length if sign else start + length
    try:
        return plain_time(datetime.fromisoformat(text.strip()))
    except (ValueError, OverflowError):
        return None


def plain_time(time: datetime) -> datetime:
    """The time as UTC without a zone."""
    return time if time.tzinfo is None else time.astimezone(UTC).replace(tzinfo=None)


def read_moment(text: Text, start: datetime) -> datetime:
    """The time in a statement. Raises CompileError."""
    time = read_time(text.text, start)
    if time is None:
        hint = "write '9:30' for 9 minutes and 30 seconds after the start, or '2025-01-01 10:00:00'"
        raise CompileError([T108.at(text.span, text=repr(text.text)).with_hint(hint)])
    return time


def read_scalar(scalar: Scalar, column: Column, start: datetime) -> Value:
    """The value of an expression without columns. Raises CompileError."""
    span: Span = scalar.meta["span"]
    named = scalar.find(exp.Column)
    if named is not None:
        raise refused(span, column, f"a text stands in quotes: '{named.name}'")
    try:
        value = evaluate_scalar(scalar, {}, {})
    except Unsupported as problem:
        raise CompileError([T101.at(span, reason=str(problem))]) from None
    except QueryFailure as problem:
        raise refused(span, column, str(problem)) from None
    return convert_at(value, column, start, span)


def convert_at(value: Any, column: Column, start: datetime, span: Span, text: str | None = None) -> Value:
    """The value as the column has it. Raises CompileError at the place. `text`: how the value is shown."""
    try:
        return convert(value, column.type, start)
    except Unsupported as problem:
        raise CompileError([T101.at(span, reason=str(problem))]) from None
    except QueryFailure as problem:
        raise refused(span, column, str(problem), text) from None
    except (TypeError, ValueError, AttributeError):
        raise refused(span, column, None, text) from None


def refused(span: Span, column: Column, detail: str | None, text: str | None = None) -> CompileError:
    found = T102.at(span, text=span.text if text is None else text, column=column.name, type=column.type)
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
            return {name: convert(given.get(name.lower()), of, start) for name, of in fields}
        case _ if type_ == TIMESTAMP and isinstance(value, str):
            time = read_time(value, start)
            if time is None:
                raise ValueError(value)
            return time
    if isinstance(value, list | dict):
        raise ValueError("a value with parts")
    made = cast(value, type_)
    is_number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    if is_number and (type_ in INTEGERS or isinstance(type_, DecimalType)) and Decimal(str(value)) != made:
        raise ValueError("digits would be lost")
    return made


def read_json(value: Any, kind: type) -> Any:
    """The parts of a value. A text, as a file of CSV has it, is read as JSON."""
    parts = json.loads(value) if isinstance(value, str) else value
    if not isinstance(parts, kind):
        raise ValueError("other parts")
    return parts
