"""What the options of `datagen` say of the columns that it makes, and why they do not fit their types."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

FIELDS = "fields"
"""What the names of options of columns begin with, such as `fields.price.min`."""
_WHOLE = {"TINYINT": 7, "SMALLINT": 15, "INT": 31, "BIGINT": 63}
_FLOATS = {"FLOAT": float.fromhex("0x1.fffffep+127"), "DOUBLE": float.fromhex("0x1.fffffffffffffp+1023")}
_DIGITS = 18
"""A decimal has at most so many random digits, which a BIGINT holds."""
_SEQUENCE = frozenset({"kind", "start", "end", "null_rate"})
_NUMBER = frozenset({"kind", "min", "max", "null_rate"})
_TEXT = frozenset({"kind", "length", "null_rate"})
_RATES = 1_000_000
_MOST_DIGITS = 1_000_000
"""A random text has at most so many: each row has its own in the memory of Spark."""
MOST_DAYS = 365_000
"""Times are at most so many days before others: all formats write years of four digits."""
_DAY = 86_400_000
_WRITTEN = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
"""A number. Decimal takes spaces, _ and the digits of other scripts, too."""


class GeneratedColumn(NamedTuple):
    """A column. `low` and `high` are the least and the greatest value, both included.

    `high` is infinite for a sequence without an `end`. Random decimals count units of their last digit, which is the
    `scale`-th behind the point. `nulls`: how many of a million values are NULL. `max_past`: how far a time may be
    before its row is made, in milliseconds.
    """

    name: str
    type: str
    is_sequence: bool = False
    low: int | float = 0
    high: int | float = 0
    scale: int = 0
    length: int = 100
    nulls: int = 0
    max_past: int = 0


class NoGeneratorError(Exception):
    """No values of the type `type` of the column `name` are made."""

    def __init__(self, name: str, type_: str) -> None:
        super().__init__(name, type_)
        self.name, self.type = name, type_


class FieldOptionError(Exception):
    """An option of a column is wrong.

    `option`: its name. `expected`: what it takes, None if the column has no such option. `reason`: what more there is
    to say.
    """

    def __init__(self, option: str, expected: str | None, reason: str = "") -> None:
        super().__init__(option, expected, reason)
        self.option, self.expected, self.reason = option, expected, reason


def read_generated(columns: Sequence[tuple[str, str]], options: Mapping[str, object]) -> list[GeneratedColumn]:
    """The columns, whose names and types are given. `options`: all options of the stream.

    Raises:
        NoGeneratorError: no values of a type are made.
        FieldOptionError: an option of a column is wrong.
    """
    given: dict[str, dict[str, object]] = {name.lower(): {} for name, _ in columns}
    for option, value in options.items():
        head, _, rest = option.partition(".")
        if head != FIELDS:
            continue
        name, _, last = rest.rpartition(".")
        if name.lower() not in given:
            raise FieldOptionError(option, None, f"The columns are {', '.join(each for each, _ in columns)}.")
        given[name.lower()][last] = value
    return [_read_column(name, type_, given[name.lower()]) for name, type_ in columns]


class RowCount(NamedTuple):
    """How many rows a stream has.

    `rows`: after how many it ends by its options, None if it goes on. `most`: for how many the types of its sequences
    have numbers, None without a sequence. A stream that goes on has no more rows then.
    """

    rows: int | None
    most: int | None


def count_rows(columns: Sequence[GeneratedColumn], declared: int | None) -> RowCount:
    """The stream ends with the first sequence that has an `end`, or as is declared."""
    sequences = [each for each in columns if each.is_sequence]
    most = min((_find_sequence(each.type)[2] - int(each.low) + 1 for each in sequences), default=None)
    ends = [int(each.high) - int(each.low) + 1 for each in sequences if math.isfinite(each.high)]
    ends += [] if declared is None else [declared]
    return RowCount(min([*ends, *([] if most is None else [most])]) if ends else None, most)


def find_digits(type_: str) -> tuple[int, int] | None:
    """The digits of a decimal type, and how many of them are behind the point; None for another type."""
    found = re.fullmatch(r"DECIMAL\((\d+), (\d+)\)", type_)
    return None if found is None else (int(found[1]), int(found[2]))


def _read_column(name: str, type_: str, given: Mapping[str, object]) -> GeneratedColumn:
    is_number = type_ in _WHOLE or type_ in _FLOATS or find_digits(type_) is not None
    is_sequence = given.get("kind") == "sequence"
    if is_number or type_ == "STRING":
        allowed = _SEQUENCE if is_sequence else _NUMBER if is_number else _TEXT
    elif type_ in ("TIMESTAMP", "DATE", "BOOLEAN"):
        allowed = frozenset({"kind"} | ({"null_rate"} if type_ != "TIMESTAMP" else set()))
        allowed |= {"max_past"} if type_ != "BOOLEAN" else set()
        if is_sequence:
            raise FieldOptionError(f"{FIELDS}.{name}.kind", "'random'", f"There is no sequence of {type_} values.")
    else:
        raise NoGeneratorError(name, type_)
    for option in given:
        if option not in allowed:
            kind = "a sequence" if is_sequence else "random values"
            reason = f"{name} has {kind} of type {type_}, which take {', '.join(sorted(allowed))}."
            raise FieldOptionError(f"{FIELDS}.{name}.{option}", None, reason)
    column = GeneratedColumn(name, type_, is_sequence, nulls=_read_nulls(name, given))
    if is_sequence:
        low, high = _read_range(name, given, ("start", "end"), *_find_sequence(type_))
        return column._replace(low=low, high=high if "end" in given else math.inf)
    if type_ in _FLOATS:
        return _read_floats(column, given)
    digits = find_digits(type_)
    if digits is not None:
        return _read_decimals(column, given, *digits)
    if is_number:
        least, greatest = -(2 ** _WHOLE[type_]), 2 ** _WHOLE[type_] - 1
        low, high = _read_range(name, given, ("min", "max"), least, least, greatest)
        return column._replace(low=low, high=high)
    length, past = (int(str(given.get(option, default))) for option, default in (("length", 100), ("max_past", 0)))
    if length > _MOST_DIGITS:
        raise FieldOptionError(f"{FIELDS}.{name}.length", f"a number from 1 to {_MOST_DIGITS}")
    if past > MOST_DAYS * _DAY:
        raise FieldOptionError(f"{FIELDS}.{name}.max_past", f"a time of at most {MOST_DAYS} DAYS")
    return column._replace(length=length, max_past=past)


def _find_sequence(type_: str) -> tuple[int, int, int]:
    """Where a sequence begins unless that is set, and its least and greatest number."""
    digits = find_digits(type_)
    if digits is not None:
        most = 10 ** min(digits[0] - digits[1], _DIGITS) - 1
        return min(1, most), -most, most
    bits = _WHOLE.get(type_, {"FLOAT": 24, "DOUBLE": 53}.get(type_, 63))
    return 1, -(2**bits), 2**bits - 1


def _read_range(
    name: str,
    given: Mapping[str, object],
    options: tuple[str, str],
    first: int,
    least: int,
    greatest: int,
) -> tuple[int, int]:
    """The lower and the upper bound, which two options set. `first`: the lower one unless it is set."""
    bounds = []
    for option, default in zip(options, (first, greatest), strict=True):
        bound = default
        if option in given:
            value = Decimal(str(given[option]))
            if value != int(value) or not least <= value <= greatest:
                expected = f"a whole number from {least} to {greatest}"
                raise FieldOptionError(f"{FIELDS}.{name}.{option}", expected)
            bound = int(value)
        bounds.append(bound)
    low, high = bounds
    if low > high:
        raise FieldOptionError(f"{FIELDS}.{name}.{options[1]}", f"a number that is not below {options[0]}")
    return low, high


def _read_floats(column: GeneratedColumn, given: Mapping[str, object]) -> GeneratedColumn:
    low, high = (float(str(given.get(option, default))) for option, default in (("min", 0), ("max", 1)))
    for option, value in (("min", low), ("max", high)):
        if not math.isfinite(value) or abs(value) > _FLOATS[column.type]:
            raise FieldOptionError(f"{FIELDS}.{column.name}.{option}", f"a number that a {column.type} can hold")
    if low > high:
        raise FieldOptionError(
            f"{FIELDS}.{column.name}.max", "a number that is not below min", "Unless set, min is 0 and max is 1."
        )
    return column._replace(low=low, high=high)


def _read_decimals(column: GeneratedColumn, given: Mapping[str, object], precision: int, scale: int) -> GeneratedColumn:
    """A wide decimal has as many random digits behind the point as its greatest value leaves."""
    whole = min(precision - scale, _DIGITS)
    drawn = min(scale, _DIGITS - whole)
    most = Decimal(10) ** whole - Decimal(10) ** -drawn
    low, high = (Decimal(str(given.get(option, default))) for option, default in (("min", -most), ("max", most)))
    largest = max(abs(low), abs(high))
    if largest < Decimal(10) ** whole:
        drawn = min(scale, _DIGITS - (max(0, largest.adjusted() + 1) if largest else 0))
    for option, value in (("min", low), ("max", high)):
        if abs(value) >= Decimal(10) ** whole or value.scaleb(drawn) != int(value.scaleb(drawn)):
            expected = f"a number with at most {whole} digits before the point and {drawn} behind it"
            raise FieldOptionError(f"{FIELDS}.{column.name}.{option}", expected)
    if low > high:
        raise FieldOptionError(f"{FIELDS}.{column.name}.max", "a number that is not below min")
    return column._replace(low=int(low.scaleb(drawn)), high=int(high.scaleb(drawn)), scale=drawn)


def _read_nulls(name: str, given: Mapping[str, object]) -> int:
    rate = Decimal(str(given.get("null_rate", 0)))
    if not 0 <= rate <= 1:
        raise FieldOptionError(f"{FIELDS}.{name}.null_rate", "a number from 0 to 1")
    return int(rate * _RATES)


def is_number(text: str) -> bool:
    """Whether the text is a finite number of a length that one writes."""
    return len(text) <= 60 and bool(_WRITTEN.fullmatch(text)) and abs(Decimal(text).adjusted()) <= 400
