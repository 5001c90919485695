"""Literals -> their types; the texts of dates, times and intervals are checked and brought to one form."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time
from decimal import Decimal as Number
from decimal import InvalidOperation
from math import isfinite

from sqlglot import exp

from penstock.diagnostics.codes.expression_types import T010
from penstock.diagnostics.diagnostic import Diagnostic
from penstock.diagnostics.source import Span
from penstock.planner.scalars.common_types import MAX_PRECISION
from penstock.planner.types import BIGINT, DATE, DOUBLE, INT, TIME, TIMESTAMP, Decimal, Simple, Type

MONTH_UNITS = ("MONTH", "YEAR")
# Microseconds, the resolution of Spark's intervals and timestamps.
_UNIT_MICROSECONDS = {
    "MICROSECOND": 1,
    "MILLISECOND": 1_000,
    "SECOND": 1_000_000,
    "MINUTE": 60_000_000,
    "HOUR": 3_600_000_000,
    "DAY": 86_400_000_000,
    "WEEK": 604_800_000_000,
}
_LARGEST_INTERVAL = 2**63 - 1
_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})", re.ASCII)
_TIME = re.compile(r"(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,6}))?)?", re.ASCII)
_TIMESTAMP = re.compile(rf"{_DATE.pattern}(?:[ T]{_TIME.pattern}(Z|[+-]\d{{2}}:\d{{2}})?)?", re.ASCII)
_SHAPES = {
    DATE: (_DATE, "YYYY-MM-DD"),
    TIME: (_TIME, "HH:MM[:SS[.ffffff]]"),
    TIMESTAMP: (_TIMESTAMP, "YYYY-MM-DD [HH:MM[:SS[.ffffff]][Z|+HH:MM]]"),
}


def bare(expression: exp.Expression) -> exp.Expression:
    """The expression without the parentheses around it."""
    while isinstance(expression, exp.Paren):
        expression = expression.this
    return expression


def enclosed(expression: exp.Expression) -> exp.Expression:
    """The expression in parentheses if it could be torn apart beside an operator."""
    compound = isinstance(expression, (exp.Binary, exp.Unary, exp.Predicate)) and not isinstance(
        expression, exp.Dot | exp.Paren
    )
    return exp.Paren(this=expression) if compound else expression


def number_type(text: str) -> Type | None:
    """The type of a number as written, sign included: with an exponent DOUBLE; None where it does not fit."""
    if "e" in text.lower():
        return DOUBLE if isfinite(float(text)) else None
    if len(text.strip("-").replace(".", "")) > MAX_PRECISION:  # zeros in front count, too
        return None
    number = Number(text)
    if "." not in text:
        if -(2**31) <= number < 2**31:
            return INT
        if -(2**63) <= number < 2**63:
            return BIGINT
    return exact_type(number)


def exact_type(number: Number) -> Decimal | None:
    """The narrowest DECIMAL that holds a number with the digits it is written with; None above 38 digits."""
    _, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    scale = max(0, -exponent)
    precision = max(len(digits), scale, 1)
    return Decimal(precision, scale) if precision <= MAX_PRECISION else None


def whole_number(expression: exp.Expression) -> Number | None:
    """The value of a literal whole number, perhaps negated or in parentheses; None for anything else."""
    literal = bare(expression)
    negative = isinstance(literal, exp.Neg)
    if negative:
        literal = bare(literal.this)
    if not isinstance(literal, exp.Literal) or literal.is_string or not literal.name.isdecimal():
        return None
    return Number("-" + literal.name) if negative else Number(literal.name)


def time_literal(text: str, target: Type, span: Span | None, findings: list[Diagnostic]) -> str | None:
    """A text as ISO date, time or UTC timestamp without zone, as `target` says; None (reported) if it is not."""
    assert isinstance(target, Simple)
    pattern, shape = _SHAPES[target]
    found = pattern.fullmatch(text.strip())
    problem = T010.at(span, text=f"'{text}'", type=target)
    if found is None:
        findings.append(problem.with_hint(f"{target} '{shape}'"))
        return None
    numbers = found.groups()
    try:
        if target == DATE:
            return date(*(int(number) for number in numbers)).isoformat()
        if target == TIME:
            return _read_clock(*numbers).isoformat()
        year, month, day, hour, minute, second, fraction, zone = numbers
        clock = _read_clock(hour or "0", minute or "0", second, fraction)
        moment = datetime.combine(date(int(year), int(month), int(day)), clock, UTC)
        if zone not in (None, "Z"):
            moment = datetime.fromisoformat(f"{moment:%Y-%m-%dT%H:%M:%S.%f}{zone}").astimezone(UTC)
    except (ValueError, OverflowError) as error:
        findings.append(problem.because(str(error)))
        return None
    return moment.replace(tzinfo=None).isoformat(sep=" ")


def _read_clock(hour: str, minute: str, second: str | None, fraction: str | None) -> time:
    return time(int(hour), int(minute), int(second or 0), int((fraction or "").ljust(6, "0")))


def unit_of(interval: exp.Interval) -> str:
    """The upper-case name of its unit."""
    return interval.text("unit").upper()


def interval_literal(node: exp.Interval, findings: list[Diagnostic]) -> exp.Interval | None:
    """An interval with a whole quantity, or seconds with up to six digits behind the point."""
    quantity, unit = node.this.name, unit_of(node)
    span = node.meta.get("span")
    problem = T010.at(span, text=f"INTERVAL '{quantity}' {unit}", type="interval")
    try:
        number = Number(quantity)
    except InvalidOperation:
        findings.append(problem)
        return None
    if unit not in (*_UNIT_MICROSECONDS, *MONTH_UNITS):
        findings.append(problem.with_hint(f"units: {', '.join(reversed((*_UNIT_MICROSECONDS, *MONTH_UNITS)))}"))
        return None
    whole = number == number.to_integral_value()
    if unit in MONTH_UNITS:
        if not whole or abs(number) >= 2**31 // 12:
            findings.append(problem)
            return None
    else:
        microseconds = number * _UNIT_MICROSECONDS[unit]
        if microseconds != microseconds.to_integral_value() or abs(microseconds) > _LARGEST_INTERVAL:
            findings.append(problem.because("intervals count whole microseconds"))
            return None
        if not whole:
            number, unit = microseconds / 1_000_000, "SECOND"
    text = f"{number.normalize():f}"
    return exp.Interval(this=exp.Literal.string(text), unit=exp.var(unit))
