"""Functions of numbers and bits. Their arguments are not NULL, unless a table says something else."""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable, Iterator, Sequence

from penstock.diagnostics.codes.running import R027
from penstock.evaluator.typed_values import WIDTHS, QueryFailure, Unsupported, Value, fit, flip_sign
from penstock.planner.types import Type

LONG = (1 << 64) - 1
"""The bits of a BIGINT."""
DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _inside(function: Callable[[float], float], holds: Callable[[float], bool]) -> Callable[[Value], float]:
    """The function, and NaN outside its range."""
    return lambda value: function(float(value)) if holds(float(value)) else math.nan


def _factorial(number: int) -> int | None:
    return math.factorial(number) if 0 <= number <= 20 else None


def _logarithm(*values: Value) -> float | None:
    base, value = (None, *values) if len(values) == 1 else values
    if value <= 0 or (base is not None and base <= 0):
        return None
    return math.log(value) if base is None else math.log(value) / math.log(base)


def _width_bucket(value: float, first: float, last: float, count: int) -> int | None:
    if count <= 0 or first == last or not all(map(math.isfinite, (first, last))) or math.isnan(value):
        return None
    if (value < first) if first < last else (value > first):
        return 0
    if (value >= last) if first < last else (value <= last):
        return count + 1
    return int(count * (value - first) / (last - first)) + 1


def _converted(text: str, base: int, to: int) -> str:
    """CONV of numbers that are not negative."""
    digits = text.upper()
    known = DIGITS[:base] if 2 <= base <= 36 else ""
    if not digits or not 2 <= to <= 36 or any(char not in known for char in digits):
        raise Unsupported(f"CONV({text!r}, {base}, {to})")
    number = int(digits, base)
    if number >= 1 << 63:
        raise Unsupported("CONV of a number of more than 63 bits")
    result = ""
    while number or not result:
        number, digit = divmod(number, to)
        result = DIGITS[digit] + result
    return result


def _with_thousands(number: Value, places: int) -> str | None:
    if isinstance(number, float):
        raise Unsupported("FORMAT_NUMBER of DOUBLE")
    if places < 0:
        return None
    with decimal.localcontext(decimal.Context(prec=400, rounding=decimal.ROUND_HALF_EVEN)):
        return f"{decimal.Decimal(number).quantize(decimal.Decimal(1).scaleb(-places)):,f}"


def _one_bit(types: Sequence[Type], number: int, place: int) -> int:
    if not 0 <= place < width_of(types[0]):
        raise QueryFailure(f"there is no bit {place}", R027)
    return number >> place & 1


def _moved_left(types: Sequence[Type], number: int, count: int) -> int:
    width = width_of(types[0])
    return as_signed(number << count % width, width)


def _moved_right(types: Sequence[Type], number: int, count: int) -> int:
    return number >> count % width_of(types[0])


def _moved_unsigned(types: Sequence[Type], number: int, count: int) -> int:
    width = width_of(types[0])
    return as_signed((number & (1 << width) - 1) >> count % width, width)


def as_signed(number: int, width: int) -> int:
    """The number that the lowest bits stand for."""
    number &= (1 << width) - 1
    return number - (1 << width) if number >> width - 1 else number


def width_of(type_: Type) -> int:
    """The bits of a whole number."""
    return WIDTHS[str(type_)]


def _is_nan(values: Iterator[Value]) -> bool:
    value = next(values)
    return value is not None and math.isnan(value)


def _unless_nan(values: Iterator[Value]) -> Value:
    value = next(values)
    return next(values) if value is not None and math.isnan(value) else value


NUMBERS: dict[str, Callable[..., Value]] = {
    "ACOS": _inside(math.acos, lambda x: abs(x) <= 1),
    "ASIN": _inside(math.asin, lambda x: abs(x) <= 1),
    "ACOSH": _inside(math.acosh, lambda x: x >= 1),
    "ASINH": lambda x: math.asinh(x),
    "ATANH": _inside(math.atanh, lambda x: abs(x) <= 1),  # 1 and -1 have no value here, and raise
    "SINH": lambda x: math.sinh(x),
    "COSH": lambda x: math.cosh(x),
    "TANH": lambda x: math.tanh(x),
    "COT": lambda x: 1 / math.tan(x),
    "CSC": lambda x: 1 / math.sin(x),
    "SEC": lambda x: 1 / math.cos(x),
    "SQRT": _inside(math.sqrt, lambda x: x >= 0),
    "EXPM1": lambda x: math.expm1(x),
    "LOG1P": lambda x: math.log1p(x) if x > -1 else None,
    "LOG": _logarithm,
    "FACTORIAL": _factorial,
    "WIDTH_BUCKET": _width_bucket,
    "CONV": _converted,
    "BIN": lambda number: f"{number & LONG:b}",
    "BIT_COUNT": lambda number: (int(number) & LONG).bit_count(),
    "BITMAP_BIT_POSITION": lambda number: (number - 1 if number > 0 else -number) % 32768,
    "BITMAP_BUCKET_NUMBER": lambda number: 1 + (number - 1) // 32768 if number > 0 else -(-number // 32768),
    "FORMAT_NUMBER": _with_thousands,
}
NUMBERS_NULL_AWARE: dict[str, Callable[[Iterator[Value]], Value]] = {"ISNAN": _is_nan, "NANVL": _unless_nan}
"""Functions of an iterator over the arguments, which decide what NULL means."""
NUMBERS_TYPED: dict[str, Callable[..., Value]] = {
    "BIT_GET": _one_bit,
    "GETBIT": _one_bit,
    "SHIFTLEFT": _moved_left,
    "SHIFTRIGHT": _moved_right,
    "SHIFTRIGHTUNSIGNED": _moved_unsigned,
    "NEGATIVE": lambda types, value: fit(flip_sign(value), types[0]),
}
"""Functions of the types of the arguments, and of the arguments."""
