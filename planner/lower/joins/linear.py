"""Scalar expressions -> sums of two event times and a constant, in microseconds.

Functions that cut times off, such as UNIX_SECONDS and DATE_TRUNC, give such a sum up to a distance, which is known.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

import msgspec
from sqlglot import exp

from penstock.parser import name_text
from penstock.planner.durations import fixed_milliseconds, interval_duration
from penstock.planner.scalars.scopes import Scope


class Near(msgspec.Struct, frozen=True):
    """A column between `time - below` and `time + above`, in microseconds."""

    time: str
    below: int
    above: int


class Times(msgspec.Struct, frozen=True):
    """What the analysis knows: the joined columns, the two event times among them, and the columns near to these."""

    scope: Scope
    left: str
    right: str
    near: Mapping[str, Near] = msgspec.field(default_factory=dict)
    ends: Mapping[str, int] = msgspec.field(default_factory=dict)
    """The ends of windows of groups, and how many milliseconds they lie behind the starts, for hints."""

    def side(self, column: exp.Column) -> str | None:
        """The plan name of the event time that `column` is, None for any other column."""
        found = self.scope.find(column, [])
        return found.column if found and found.column in (self.left, self.right) else None

    def find_near(self, column: exp.Column) -> Near | None:
        """How near `column` is to one of the event times, None where that is not known."""
        found = self.scope.find(column, [])
        near = self.near.get(found.column) if found else None
        return near if near is not None and near.time in (self.left, self.right) else None

    def as_sql(self) -> tuple[str, str]:
        """The left and the right event time as SQL."""
        named = {each.column: [each.relation, each.name] for each in self.scope.columns}
        left, right = (".".join(name_text(part) for part in named[time] if part) for time in (self.left, self.right))
        return left, right


class Linear(msgspec.Struct, frozen=True):
    """A value between `left * left.time + right * right.time + constant - below` and the same sum `+ above`.

    Times and intervals count microseconds. `exact`: the value is the sum itself, and computing it fails for no row.
    """

    left: Fraction
    right: Fraction
    constant: Fraction
    below: Fraction = Fraction(0)
    above: Fraction = Fraction(0)
    exact: bool = True

    @property
    def is_constant(self) -> bool:
        return not (self.left or self.right or self.below or self.above)

    def plus(self, other: Linear) -> Linear:
        return Linear(
            self.left + other.left,
            self.right + other.right,
            self.constant + other.constant,
            self.below + other.below,
            self.above + other.above,
            self.exact and other.exact,
        )

    def minus(self, other: Linear) -> Linear:
        return self.plus(other.times(Fraction(-1)))

    def times(self, factor: Fraction) -> Linear:
        below, above = self.below * factor, self.above * factor
        if factor < 0:
            below, above = -above, -below
        return Linear(self.left * factor, self.right * factor, self.constant * factor, below, above, self.exact)

    def widen(self, below: Fraction, above: Fraction) -> Linear:
        """The values up to so much lower and higher."""
        return Linear(self.left, self.right, self.constant, self.below + below, self.above + above, exact=False)


_MICROSECONDS = {"MICROSECOND": 1, "MILLISECOND": 1_000, "SECOND": 1_000_000}
_DAY = 86_400_000_000
# The longest that a unit is. Times in UTC have no longer days.
_UNITS = {
    **_MICROSECONDS,
    "MINUTE": 60_000_000,
    "HOUR": 3_600_000_000,
    **dict.fromkeys(("DAY", "DD"), _DAY),
    "WEEK": 7 * _DAY,
    **dict.fromkeys(("MONTH", "MON", "MM"), 31 * _DAY),
    "QUARTER": 92 * _DAY,
    **dict.fromkeys(("YEAR", "YYYY", "YY"), 366 * _DAY),
}
# Functions that count whole units since 1970, and how long a unit is.
_COUNTED = {
    "UNIX_MICROS": 1,
    "UNIX_MILLIS": 1_000,
    **dict.fromkeys(("UNIX_SECONDS", "UNIX_TIMESTAMP", "TO_UNIX_TIMESTAMP"), 1_000_000),
    "UNIX_DATE": _DAY,
}
_NUMBER = re.compile(r"[0-9]{1,15}(\.[0-9]{1,6})?", re.ASCII)
# A quotient is rounded: a DOUBLE by less than this many microseconds, a DECIMAL by less than its sixth digit.
_ROUNDING = 1_000
_LAST_DIGIT = Fraction(1, 1_000_000)


def read_linear(expression: exp.Expr, times: Times) -> Linear | None:
    """The expression as a sum of event times and constants, None where it is not one."""
    match expression:
        case exp.Paren():
            return read_linear(expression.this, times)
        case exp.Column():
            side = times.side(expression)
            if side is None:
                near = times.find_near(expression)
                if near is None:
                    return None
                time = Linear(Fraction(near.time == times.left), Fraction(near.time == times.right), Fraction(0))
                return time.widen(Fraction(near.below), Fraction(near.above))
            return Linear(Fraction(side == times.left), Fraction(side == times.right), Fraction(0))
        case exp.Interval():
            duration = interval_duration(expression)
            if duration.milliseconds is None:
                return None
            return make_constant(1_000 * fixed_milliseconds(duration, "time bound"))
        case exp.Literal():
            is_number = not expression.is_string and _NUMBER.fullmatch(expression.name)
            return make_constant(Fraction(expression.name)) if is_number else None
        case exp.Neg():
            inner = read_linear(expression.this, times)
            return None if inner is None else inner.times(Fraction(-1))
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Div() | exp.IntDiv():
            return _read_binary(expression, times)
        case exp.Cast() if expression.to.this is exp.DType.DATE:
            return _cut_off(expression.this, _DAY, times)
        case exp.Anonymous():
            return _read_call(expression, times)
        case _:
            return None


def make_constant(value: int | Fraction) -> Linear:
    return Linear(Fraction(0), Fraction(0), Fraction(value))


def _read_binary(node: exp.Binary, times: Times) -> Linear | None:
    first, second = read_linear(node.this, times), read_linear(node.expression, times)
    if first is None or second is None:
        return None
    match node:
        case exp.Add():
            return first.plus(second)
        case exp.Sub():
            return first.minus(second)
        case exp.Mul() if first.is_constant and second.is_constant:
            return first.times(second.constant)
        case exp.Mul() if first.is_constant:
            return second.times(first.constant).widen(_LAST_DIGIT, _LAST_DIGIT)
        case exp.Mul() if second.is_constant:
            return first.times(second.constant).widen(_LAST_DIGIT, _LAST_DIGIT)
        case exp.Div() if second.is_constant and second.constant:
            rounding = _ROUNDING * (abs(first.left) + abs(first.right)) / abs(second.constant) + _LAST_DIGIT
            return first.times(1 / second.constant).widen(rounding, rounding)
        case exp.IntDiv() if second.is_constant and second.constant:
            return first.times(1 / second.constant).widen(Fraction(1), Fraction(1))
        case _:
            return None


def _read_call(call: exp.Anonymous, times: Times) -> Linear | None:
    name, arguments = str(call.this).upper(), call.expressions
    match name, arguments:
        case "DATE_TRUNC", [exp.Literal() as unit, time] if unit.name.upper() in _UNITS:
            return _cut_off(time, _UNITS[unit.name.upper()], times)
        case "TRUNC", [time, exp.Literal() as unit] if unit.name.upper() in _UNITS:
            return _cut_off(time, _UNITS[unit.name.upper()], times)
        case "TO_DATE", [time]:
            return _cut_off(time, _DAY, times)
        case "DATEDIFF" | "DATE_DIFF", [end, start]:
            last, first = read_linear(end, times), read_linear(start, times)
            return None if first is None or last is None else last.minus(first).times(Fraction(1, _DAY))
        case _, [time] if name in _COUNTED:
            cut = _cut_off(time, _COUNTED[name], times)
            return None if cut is None else cut.times(Fraction(1, _COUNTED[name]))
        case _:
            return None


def _cut_off(time: exp.Expression, unit: int, times: Times) -> Linear | None:
    """The beginning of the unit of so many microseconds that the time lies in."""
    read = read_linear(time, times)
    return read if read is None or unit == 1 else read.widen(Fraction(unit - 1), Fraction(0))
