"""The scalar functions that the model knows: name -> what it computes, by Spark's documentation."""

from __future__ import annotations

import decimal
import json
import math
from collections.abc import Callable, Iterator
from datetime import date, datetime, time, timedelta

from penstock.diagnostics.codes.running import R020, R028
from penstock.evaluator.byte_functions import BYTES
from penstock.evaluator.library import LIBRARY, LIBRARY_NULL_AWARE, choose_known
from penstock.evaluator.moment_functions import MOMENTS
from penstock.evaluator.nested_functions import NESTED, NESTED_NULL_AWARE, make_map
from penstock.evaluator.number_functions import NUMBERS, NUMBERS_NULL_AWARE
from penstock.evaluator.text_functions import TEXTS, TEXTS_NULL_AWARE
from penstock.evaluator.typed_values import EPOCH, EXACT, QueryFailure, Unsupported, Value, as_text, cast
from penstock.planner.types import TIME


def _rounded(value: Value, places: int = 0) -> Value:
    return _rounded_to(value, places, decimal.ROUND_HALF_UP)


def _rounded_to_even(value: Value, places: int = 0) -> Value:
    return _rounded_to(value, places, decimal.ROUND_HALF_EVEN)


def _rounded_to(value: Value, places: int, mode: str) -> Value:
    with decimal.localcontext(decimal.Context(prec=400, rounding=mode)):
        if isinstance(value, float):
            if not math.isfinite(value):
                return value
            return float(decimal.Decimal(repr(value)).quantize(decimal.Decimal(1).scaleb(-places)))
        if isinstance(value, int):
            return int(decimal.Decimal(value).quantize(decimal.Decimal(1).scaleb(-min(places, 0))))
        places = min(places, -value.as_tuple().exponent)
        return value.quantize(decimal.Decimal(1).scaleb(-places))


def _positive_remainder(value: Value, divisor: Value) -> Value:
    if divisor == 0:
        raise QueryFailure(f"PMOD({value}, 0)", R020)
    with decimal.localcontext(EXACT):
        return value % divisor if divisor > 0 else math.fmod(value, divisor)


def _substring(text: str, start: int, length: int | None = None) -> str:
    first = start - 1 if start > 0 else max(start, -len(text) - (length or 0)) + len(text) if start < 0 else 0
    last = len(text) if length is None else first + max(length, 0)
    return text[max(first, 0) : max(last, 0)]


def _truncated(unit: str, time: datetime) -> datetime:
    match unit.upper():
        case "YEAR":
            return datetime(time.year, 1, 1)
        case "QUARTER":
            return datetime(time.year, (time.month - 1) // 3 * 3 + 1, 1)
        case "MONTH":
            return datetime(time.year, time.month, 1)
        case "WEEK":
            return datetime(time.year, time.month, time.day) - timedelta(days=time.weekday())
        case "DAY":
            return datetime(time.year, time.month, time.day)
        case "HOUR":
            return time.replace(minute=0, second=0, microsecond=0)
        case "MINUTE":
            return time.replace(second=0, microsecond=0)
        case "SECOND":
            return time.replace(microsecond=0)
        case _:
            raise Unsupported(f"DATE_TRUNC to {unit}")


def _micros(clock: time) -> int:
    return (datetime.combine(EPOCH, clock) - EPOCH) // timedelta(microseconds=1)


def _clock(micros: int) -> time:
    if not 0 <= micros < 86_400_000_000:
        raise QueryFailure(f"{micros} microseconds are no time of the day", R028)
    return (EPOCH + timedelta(microseconds=micros)).time()


def _made_clock(hour: int, minute: int, second: Value) -> time:
    micros = int(decimal.Decimal(second) * 1_000_000)
    if not (0 <= hour < 24 and 0 <= minute < 60 and 0 <= micros < 60_000_000):
        raise QueryFailure(f"{hour}:{minute}:{second} is no time of the day", R028)
    return _clock((hour * 60 + minute) * 60_000_000 + micros)


_CLOCK_UNITS = {"MICROSECOND": 1, "MILLISECOND": 1_000, "SECOND": 1_000_000, "MINUTE": 60_000_000}
_CLOCK_UNITS |= {"HOUR": 3_600_000_000}


def _clock_difference(unit: str, start: time, end: time) -> int:
    return int((_micros(end) - _micros(start)) / _CLOCK_UNITS[unit.upper()])


def _tried_clock(text: str) -> time | None:
    try:
        parsed: time = cast(text, TIME)
    except QueryFailure:
        return None
    return parsed


def _truncated_clock(unit: str, clock: time) -> time:
    length = _CLOCK_UNITS[unit.upper()]
    return _clock(_micros(clock) // length * length)


def _json(value: Value) -> str:
    match value:
        case list():
            return f"[{','.join(map(_json, value))}]"
        case None | bool() | int() | str():
            return json.dumps(value, ensure_ascii=False)
        case decimal.Decimal():
            return f"{value:f}"
        case time() | date() if not isinstance(value, datetime):
            return f'"{as_text(value)}"'
        case _:
            raise Unsupported(f"{value!r} as JSON")


def _left_padded(text: str, length: int, pad: str = " ") -> str:
    missing = length - len(text)
    return text[:length] if missing <= 0 or not pad else (pad * missing)[:missing] + text


def _right_padded(text: str, length: int, pad: str = " ") -> str:
    missing = length - len(text)
    return text[:length] if missing <= 0 or not pad else text + (pad * missing)[:missing]


FUNCTIONS: dict[str, Callable[..., Value]] = {
    **LIBRARY,
    **NUMBERS,
    **TEXTS,
    **MOMENTS,
    **NESTED,
    **BYTES,
    "ABS": lambda x: x.copy_abs() if isinstance(x, decimal.Decimal) else abs(x),
    "CEIL": math.ceil,
    "CEILING": math.ceil,
    "FLOOR": math.floor,
    "ROUND": _rounded,
    "BROUND": _rounded_to_even,
    "SIGN": LIBRARY["SIGNUM"],
    "POWER": LIBRARY["POW"],
    "PMOD": _positive_remainder,
    "UPPER": str.upper,
    "LOWER": str.lower,
    "LENGTH": len,
    "CHAR_LENGTH": len,
    "TRIM": lambda text: text.strip(" "),
    "BTRIM": lambda text, characters=" ": text.strip(characters),
    "TO_JSON": _json,
    "LTRIM": lambda text: text.lstrip(" "),
    "RTRIM": lambda text: text.rstrip(" "),
    "SUBSTRING": _substring,
    "SUBSTR": _substring,
    "LEFT": lambda text, n: text[: max(n, 0)],
    "CONCAT": lambda *texts: "".join(texts),
    "REPLACE": lambda text, old, new="": text.replace(old, new) if old else text,
    "REVERSE": lambda text: text[::-1],
    "REPEAT": lambda text, n: text * n,
    "STARTSWITH": str.startswith,
    "ENDSWITH": str.endswith,
    "CONTAINS": lambda text, part: part in text,
    "INSTR": lambda text, part: text.find(part) + 1,
    "LPAD": _left_padded,
    "RPAD": _right_padded,
    "YEAR": lambda time: time.year,
    "MONTH": lambda time: time.month,
    "DAY": lambda time: time.day,
    "DAYOFMONTH": lambda time: time.day,
    "DAYOFWEEK": lambda time: time.isoweekday() % 7 + 1,
    "HOUR": lambda time: time.hour,
    "MINUTE": lambda time: time.minute,
    "SECOND": lambda time: time.second,
    "DATE_TRUNC": _truncated,
    "MAKE_TIME": _made_clock,
    "TO_TIME": lambda text: cast(text, TIME),
    "TRY_TO_TIME": _tried_clock,
    "TIME_TRUNC": _truncated_clock,
    "TIME_DIFF": _clock_difference,
    "TIME_FROM_SECONDS": lambda count: _clock(count * 1_000_000),
    "TIME_FROM_MILLIS": lambda count: _clock(count * 1_000),
    "TIME_FROM_MICROS": _clock,
    "TIME_TO_SECONDS": lambda clock: decimal.Decimal(_micros(clock)).scaleb(-6),
    "TIME_TO_MILLIS": lambda clock: _micros(clock) // 1_000,
    "TIME_TO_MICROS": _micros,
    "DATEDIFF": lambda end, start: (end - start).days,
    "UNIX_MICROS": lambda time: (time - EPOCH) // timedelta(microseconds=1),
    "UNIX_MILLIS": lambda time: (time - EPOCH) // timedelta(milliseconds=1),
    "TIMESTAMP_MILLIS": lambda millis: EPOCH + timedelta(milliseconds=millis),
    "TIMESTAMP_MICROS": lambda micros: EPOCH + timedelta(microseconds=micros),
    "UNIX_SECONDS": lambda time: (time - EPOCH) // timedelta(seconds=1),
    "ARRAY_DISTINCT": lambda values: list(dict.fromkeys(values)),
    "ARRAY_JOIN": lambda values, separator: separator.join(values),
    "SLICE": lambda values, start, count: values[start - 1 : start - 1 + count],
}
"""Functions of arguments that are not NULL; one NULL argument makes the result NULL."""


def _first_known(values: Iterator[Value]) -> Value:
    return next((value for value in values if value is not None), None)


def _null_if(values: Iterator[Value]) -> Value:
    value, other = values
    return None if value == other else value


def _joined(values: Iterator[Value]) -> Value:
    separator = next(values)
    return None if separator is None else separator.join(value for value in values if value is not None)


NULL_AWARE: dict[str, Callable[[Iterator[Value]], Value]] = {
    **LIBRARY_NULL_AWARE,
    **NUMBERS_NULL_AWARE,
    **TEXTS_NULL_AWARE,
    **NESTED_NULL_AWARE,
    "COALESCE": _first_known,
    "NVL": _first_known,
    "IFNULL": _first_known,
    "NULLIF": _null_if,
    "GREATEST": choose_known(max),
    "LEAST": choose_known(min),
    "CONCAT_WS": _joined,
    "ARRAY": list,
    "MAP": lambda values: make_map(zip(values, values, strict=True)),
    "NAMED_STRUCT": lambda values: dict(zip(values, values, strict=True)),
    "ISNULL": lambda values: next(values) is None,
    "ISNOTNULL": lambda values: next(values) is not None,
}
"""Functions of an iterator over the arguments, which are computed when asked for. They decide what NULL means."""

FIRST_TYPED = ("ABS", "COALESCE", "NVL", "IFNULL", "NULLIF", "GREATEST", "LEAST")
"""Functions whose result has the type of their first argument."""
