"""Intervals of SQL's other forms -> intervals of one quantity and one unit."""

from __future__ import annotations

import re
from decimal import Decimal

from sqlglot import exp

from penstock.diagnostics.codes import syntax
from penstock.diagnostics.diagnostic import CompileError
from penstock.diagnostics.source import Span
from penstock.grammar import Token
from penstock.parser.ast.intervals import UNIT_MILLISECONDS, UNIT_MONTHS, UNITS, sum_interval
from penstock.parser.build.base import Builder, placed, span_of

_QUANTITY = re.compile(r"[+-]?[0-9]{1,18}(\.[0-9]{1,18})?")
# For each range of units: what its text looks like, and the unit and the largest value of each number.
_N, _S = "([0-9]{1,9})", r"([0-9]{1,9}(?:\.[0-9]{1,6})?)"
_RANGES = {
    "YEAR TO MONTH": (f"{_N}-{_N}", "'1-2'", ("YEAR", "MONTH")),
    "DAY TO HOUR": (f"{_N} {_N}", "'1 02'", ("DAY", "HOUR")),
    "DAY TO MINUTE": (f"{_N} {_N}:{_N}", "'1 02:03'", ("DAY", "HOUR", "MINUTE")),
    "DAY TO SECOND": (f"{_N} {_N}:{_N}:{_S}", "'1 02:03:04'", ("DAY", "HOUR", "MINUTE", "SECOND")),
    "HOUR TO MINUTE": (f"{_N}:{_N}", "'1:02'", ("HOUR", "MINUTE")),
    "HOUR TO SECOND": (f"{_N}:{_N}:{_S}", "'1:02:03'", ("HOUR", "MINUTE", "SECOND")),
    "MINUTE TO SECOND": (f"{_N}:{_S}", "'1:02'", ("MINUTE", "SECOND")),
}
_FEWER_THAN = {"MONTH": 12, "HOUR": 24, "MINUTE": 60, "SECOND": 60}


def quantity(span: Span, token: Token) -> exp.Literal:
    return placed(exp.Literal(this=token.value, is_string=True), span)


def unit(span: Span, token: Token) -> exp.Var:
    return placed(exp.Var(this=UNITS[token.value.upper()]), span)


def interval(span: Span, quantity: exp.Literal, unit: exp.Var) -> exp.Interval:
    if not _QUANTITY.fullmatch(quantity.this):
        raise _no_interval(span_of(quantity), "write a decimal number, as in INTERVAL '10' SECOND")
    return placed(exp.Interval(this=quantity, unit=unit), span)


def interval_range(span: Span, quantity: exp.Literal, first: exp.Var, last: exp.Var) -> exp.Interval:
    """`INTERVAL '1:30' MINUTE TO SECOND`: the same length in the last of its units."""
    words = f"{first.this} TO {last.this}"
    if words not in _RANGES:
        raise _no_interval(span, f"the ranges are {', '.join(_RANGES)}")
    pattern, example, units = _RANGES[words]
    text = quantity.this.strip()
    sign = -1 if text.startswith("-") else 1
    found = re.fullmatch(pattern, text.removeprefix("-").removeprefix("+"))
    if found is None:
        raise _no_interval(span, f"INTERVAL {example} {words}")
    numbers = [Decimal(number) for number in found.groups()]
    for number, each in list(zip(numbers, units, strict=True))[1:]:
        if number >= _FEWER_THAN[each]:
            raise _no_interval(span, f"INTERVAL {example} {words}")
    lengths = UNIT_MONTHS if units[0] == "YEAR" else UNIT_MILLISECONDS
    total = sum((number * lengths[each] for number, each in zip(numbers, units, strict=True)), Decimal())
    return _of(span, sign * total / lengths[last.this], last.this)


def interval_sum(span: Span, *parts: exp.Expression) -> exp.Interval:
    """`INTERVAL 1 DAY 2 HOURS`: the sum of its parts."""
    text = " ".join(f"{number.this} {name.this}" for number, name in zip(parts[::2], parts[1::2], strict=True))
    return sum_up(span, text)


def interval_text(span: Span, token: Token) -> exp.Interval:
    """`INTERVAL '5 minutes'` and `INTERVAL '1 day 02:03:04'`."""
    return sum_up(span, token.value)


def read_interval(span: Span, text: exp.Expression, type_: Span) -> exp.Interval:
    """`'1 day'::INTERVAL` of PostgreSQL. Raises CompileError for what is no literal."""
    if isinstance(text, exp.Literal) and text.is_string:
        return sum_up(span, text.this)
    found = syntax.S011.at(type_, name=type_.text.removeprefix("::").strip())
    raise CompileError([found.with_hint("INTERVAL '1 day' is written as it is, beside a time")])


def sum_up(span: Span, text: str) -> exp.Interval:
    """The length that a text says, in one unit."""
    try:
        number, name = sum_interval(text)
    except ValueError as error:
        raise _no_interval(span, str(error)) from error
    return _of(span, number, name)


def _of(span: Span, number: Decimal, name: str) -> exp.Interval:
    text = f"{number.normalize():f}"
    if not _QUANTITY.fullmatch(text):
        raise _no_interval(span, "write a number of at most 18 digits, as in INTERVAL '10' SECOND")
    literal = placed(exp.Literal(this=text, is_string=True), span)
    return placed(exp.Interval(this=literal, unit=placed(exp.Var(this=name), span)), span)


def _no_interval(span: Span, hint: str) -> CompileError:
    return CompileError([syntax.S014.at(span, found=span.text).with_hint(hint)])


RULES: dict[str, Builder] = {
    "interval": interval,
    "interval_range": interval_range,
    "interval_sum": interval_sum,
    "interval_text": interval_text,
    "quantity": quantity,
    "unit": unit,
}
