"""Arithmetic by Spark's ANSI rules: the type of a result, and the result rounded to that type once.

Whole numbers overflow into a failure, and `/` of whole numbers is DOUBLE. Division by zero fails. Decimals get Spark's
precision and scale. Where more than 38 digits would be needed, digits behind the point are given up, down to 6.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable
from datetime import timedelta

from sqlglot import exp

from penstock.diagnostics.codes.running import R020
from penstock.evaluator.typed_values import EXACT, QueryFailure, Unsupported, Value, fit
from penstock.planner.types import BIGINT, DOUBLE, FLOAT, INTEGERS, VOID, Decimal, Type

OPERATORS: dict[type[exp.Expression], str] = {
    exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.IntDiv: "div", exp.Mod: "%"
}  # fmt: skip
DIGITS = {"TINYINT": 3, "SMALLINT": 5, "INT": 10, "BIGINT": 20}


def bounded(precision: int, scale: int) -> Decimal:
    """A decimal type of at most 38 digits; digits before the point have precedence over all but 6 behind it."""
    if precision <= 38:
        return Decimal(precision, scale)
    return Decimal(38, max(38 - (precision - scale), min(scale, 6)))


def result_type(operator: str, left: Type, right: Type) -> Type:
    """The type of `left operator right`, both numbers; INTERVAL and TIMESTAMP arithmetic has no rounding to know."""
    if VOID in (left, right):
        return right if left == VOID else left
    if operator == "div":
        return BIGINT
    if left == right == FLOAT and operator != "/":
        return FLOAT
    if left in (FLOAT, DOUBLE) or right in (FLOAT, DOUBLE):
        return DOUBLE
    if left in INTEGERS and right in INTEGERS:
        return DOUBLE if operator == "/" else max(left, right, key=INTEGERS.index)
    one, two = _as_decimal(left), _as_decimal(right)
    if one is None or two is None:
        return left
    whole = max(one.precision - one.scale, two.precision - two.scale)
    scale = max(one.scale, two.scale)
    match operator:
        case "+" | "-":
            return bounded(whole + scale + 1, scale)
        case "*":
            return bounded(one.precision + two.precision + 1, one.scale + two.scale)
        case "/":
            scale = max(6, one.scale + two.precision + 1)
            return bounded(one.precision - one.scale + two.scale + scale, scale)
        case _:
            return bounded(min(one.precision - one.scale, two.precision - two.scale) + scale, scale)


def _as_decimal(type_: Type) -> Decimal | None:
    if isinstance(type_, Decimal):
        return type_
    return Decimal(DIGITS[type_.name], 0) if type_ in INTEGERS else None


def calculate(operator: str, left: Value, right: Value, type_: Type) -> Value:
    """`left operator right`, both not NULL, as a value of `type_`."""
    if operator in ("/", "div", "%") and not isinstance(right, timedelta) and right == 0:
        raise QueryFailure(f"{left} {operator} {right}", R020)
    if isinstance(left, str) or isinstance(right, str):
        raise Unsupported(f"arithmetic on text: {left!r} {operator} {right!r}")
    if type_ == DOUBLE:
        left, right = float(left), float(right)
    elif isinstance(left, decimal.Decimal) or isinstance(right, decimal.Decimal):
        with decimal.localcontext(EXACT):
            return fit(_exact(operator, decimal.Decimal(left), decimal.Decimal(right)), type_)
    return fit(_CALCULATIONS[operator](left, right), type_)


def _exact(operator: str, left: decimal.Decimal, right: decimal.Decimal) -> Value:
    match operator:
        case "/":
            return left / right
        case "div":
            return int(left / right)
        case "%":
            return left % right  # the sign of the dividend, as in SQL
        case _:
            return _CALCULATIONS[operator](left, right)


def _truncated(left: Value, right: Value) -> int:
    quotient = abs(left) // abs(right)
    return int(quotient if (left < 0) == (right < 0) else -quotient)


def _remainder(left: Value, right: Value) -> Value:
    return math.fmod(left, right) if isinstance(left, float) else left - right * _truncated(left, right)


_CALCULATIONS: dict[str, Callable[[Value, Value], Value]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "div": _truncated,
    "%": _remainder,
}
