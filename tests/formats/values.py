"""Random values of every type, and how Python writes and reads them in JSON and CSV, which know nothing of Penstock."""

from __future__ import annotations

import base64
import json
import math
import random
import re
import struct
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, localcontext
from itertools import zip_longest
from typing import Any

FLAT: dict[str, Callable[[random.Random], Any]] = {
    "BOOLEAN": lambda r: r.random() < 0.5,
    "TINYINT": lambda r: whole(r, 8),
    "SMALLINT": lambda r: whole(r, 16),
    "INT": lambda r: whole(r, 32),
    "BIGINT": lambda r: whole(r, 64),
    "FLOAT": lambda r: narrow(fraction(r, 30)),
    "DOUBLE": lambda r: fraction(r, 300),
    "DECIMAL(10, 2)": lambda r: decimal(r, 10, 2),
    "DECIMAL(38, 20)": lambda r: decimal(r, 38, 20),
    "DECIMAL(20, 0)": lambda r: decimal(r, 20, 0),
    "STRING": lambda r: text(r),
    "DATE": lambda r: moment(r).date(),
    "TIMESTAMP": lambda r: moment(r),
    "TIME": lambda r: moment(r).time(),
}
"""By type: a function that draws a value."""
NESTED: dict[str, Callable[[random.Random], Any]] = {
    "BINARY": lambda r: r.randbytes(r.randrange(5)),
    "ARRAY<DECIMAL(10, 2)>": lambda r: several(r, FLAT["DECIMAL(10, 2)"]),
    "ARRAY<STRUCT<d: DOUBLE, t: TIMESTAMP>>": lambda r: several(r, lambda r: {"d": fraction(r, 9), "t": moment(r)}),
    "MAP<STRING, BIGINT>": lambda r: {text(r): whole(r, 64) for _ in range(r.randrange(4))},
    "MAP<STRING, ARRAY<TIMESTAMP>>": lambda r: {text(r): r.choice([None, several(r, moment)]) for _ in range(3)},
    "ARRAY<TIME>": lambda r: several(r, lambda r: moment(r).time()),
    "MAP<INT, DATE>": lambda r: {whole(r, 32): moment(r).date() for _ in range(r.randrange(4))},
    "STRUCT<a: TINYINT, b: STRUCT<c: STRING>>": lambda r: {"a": whole(r, 8), "b": {"c": text(r)}},
}
_MARK = r"\\ue000"
_PARTS = [
    "a",
    '"',
    '""',
    ",",
    "\n",
    "\r",
    "\r\n",
    " ",
    "\t",
    "\\",
    "é",
    "😀",
    "'",
    "x y",
    "NULL",
    "\0",
    "\x0c",
    "#",
    "{}",
]


def whole(r: random.Random, bits: int) -> int:
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    return int(r.choice([low, high, 0, 1, -1, r.randint(low, high)]))


def fraction(r: random.Random, magnitude: int) -> float:
    special = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, 0.1]
    return r.choice([*special, r.random(), r.gauss(0, 10.0 ** r.randint(-magnitude, magnitude))])


def decimal(r: random.Random, precision: int, scale: int) -> Decimal:
    """Digits behind the point are at most `scale`, some of them zeros that others may leave out."""
    largest = 10**precision - 1
    digits = r.choice([0, 1, -largest, largest, r.randint(-largest, largest), r.randint(-9, 9)])
    with localcontext(prec=50):
        return Decimal(digits).scaleb(-scale)


def text(r: random.Random) -> str:
    return "".join(r.choice(_PARTS) for _ in range(r.randrange(7)))


def moment(r: random.Random) -> datetime:
    first, last = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)
    any_time = first + timedelta(microseconds=r.randrange((last - first) // timedelta(microseconds=1)))
    return r.choice([first, last, any_time, datetime(1970, 1, 1, tzinfo=UTC), any_time.replace(microsecond=0)])


def several(r: random.Random, one: Callable[[random.Random], Any]) -> list[Any]:
    return [r.choice([None, one(r), one(r)]) for _ in range(r.randrange(4))]


def json_text(value: Any) -> str:
    """The value as JSON, by Python's own module; a DECIMAL is a number with all of its digits."""
    marked = json.dumps(_plain(value))
    return re.sub(rf'"{_MARK}(.*?){_MARK}"', r"\1", marked)


def _plain(value: Any) -> Any:
    match value:
        case dict():
            return {key if isinstance(key, str) else str(key): _plain(each) for key, each in value.items()}
        case list():
            return [_plain(each) for each in value]
        case bytes():
            return base64.b64encode(value).decode()
        case Decimal():
            return f"\ue000{value}\ue000"
        case date() | time():
            return value.isoformat()
    return value


def csv_text(value: Any) -> str | None:
    """The value as the csv module is given it; None stands for a field without text."""
    return value.isoformat() if isinstance(value, date | time) else None if value is None else str(value)


def read_like(expected: Any, found: Any) -> Any:
    """What was read from JSON or CSV, as a value of the type that the expected one has."""
    if found is None or expected is None:
        return found
    match expected:
        case dict():
            return {key: read_like(expected[key], found.get(str(key))) for key in expected}
        case list():
            pairs = zip_longest(expected, found)
            return [read_like(wanted, each) for wanted, each in pairs]
        case bool():
            return {"true": True, "false": False}.get(str(found).lower())
        case int():
            return int(found)
        case float():
            return float(found)
        case Decimal():
            return Decimal(found)
        case datetime():
            return datetime.fromisoformat(found)
        case date():
            return date.fromisoformat(found)
        case time():
            return time.fromisoformat(found)
        case bytes():
            return base64.b64decode(found)
    return found


def narrow(number: float) -> float:
    """The nearest FLOAT."""
    try:
        return float(struct.unpack("f", struct.pack("f", number))[0])
    except OverflowError:
        return math.copysign(math.inf, number)


def is_float(number: float) -> bool:
    """Whether a FLOAT holds the number."""
    return narrow(number) == number


def same(left: Any, right: Any) -> bool:
    """Whether two values are the same: NaN is itself, -0.0 is not 0.0; numbers are compared by value."""
    match left, right:
        case dict(), dict():
            return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
        case list(), list():
            return len(left) == len(right) and all(map(same, left, right))
        case float(), float():
            if math.isnan(left) or math.isnan(right):
                return math.isnan(left) and math.isnan(right)
            # A FLOAT is written with fewer digits than the same number as DOUBLE.
            return struct.pack("d", left) == struct.pack("d", right) or (is_float(left) and narrow(right) == left)
    return type(left) is type(right) and bool(left == right)
