"""Texts and numbers of records -> values of the declared types, if they are written as every system writes them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from penstock.runtime.local_reads.plain_files import NotPlainError

_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,18}")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,37})(?:\.[0-9]{1,38})?")
_DOUBLE = re.compile(r"-?(?:0|[1-9][0-9]{0,20})(?:\.[0-9]{1,20})?(?:[eE][+-]?[0-9]{1,3})?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?(?:Z|\+00:00)")
_BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
_FIRST_YEAR = 1600  # before, calendars differ
_MARK = "\ue5f7"  # a text that begins with it means something to the reading by Spark


class Number(str):
    """The text of a number of JSON."""

    __slots__ = ()


def reader_of(type_: str) -> Callable[[str], Any]:
    """What makes a value of a text; it raises NotPlainError, or ValueError."""
    if type_ in _BITS:
        return lambda text: _read_whole(text, _BITS[type_])
    if type_.startswith("DECIMAL"):
        precision, scale = map(int, re.findall(r"\d+", type_))
        return lambda text: _read_decimal(text, precision, scale)
    return _READERS[type_]


def is_number(type_: str) -> bool:
    """Whether JSON writes values of the type as numbers."""
    return type_ in _BITS or type_ == "DOUBLE" or type_.startswith("DECIMAL")


def check_double(value: float) -> float:
    """The number; raises NotPlainError for what systems compare in ways of their own."""
    if not math.isfinite(value) or (value == 0 and math.copysign(1, value) < 0):
        raise NotPlainError
    return value


def check_text(text: str) -> str:
    """The text; raises NotPlainError for one that UTF-8 cannot write, or that has a meaning of its own."""
    if not text.isascii() and (text.startswith(_MARK) or any("\ud800" <= each <= "\udfff" for each in text)):
        raise NotPlainError
    return text


def check_day(day: date) -> date:
    """The day; raises NotPlainError for one before the calendar of today."""
    if day.year < _FIRST_YEAR:
        raise NotPlainError
    return day


def _read_whole(text: str, bits: int) -> int:
    value = int(_check(_WHOLE, text))
    if not -(1 << (bits - 1)) <= value < 1 << (bits - 1):
        raise NotPlainError
    return value


def _read_decimal(text: str, precision: int, scale: int) -> Decimal:
    whole, _, decimals = _check(_NUMBER, text).lstrip("-").partition(".")
    if len(decimals) > scale or len(whole) > precision - scale:
        raise NotPlainError
    return Decimal(text)


def _read_truth(text: str) -> bool:
    if text not in ("true", "false"):
        raise NotPlainError
    return text == "true"


def _read_time(text: str) -> datetime:
    time = datetime.fromisoformat(_check(_TIME, text)).astimezone(UTC).replace(tzinfo=None)
    check_day(time)
    return time


def _check(pattern: re.Pattern[str], text: str) -> str:
    if not pattern.fullmatch(text):
        raise NotPlainError
    return text


_READERS: dict[str, Callable[[str], Any]] = {
    "BOOLEAN": _read_truth,
    "DOUBLE": lambda text: check_double(float(_check(_DOUBLE, text))),
    "STRING": check_text,
    "DATE": lambda text: check_day(date.fromisoformat(_check(_DATE, text))),
    "TIMESTAMP": _read_time,
}
