"""Values of types, and values of columns that make a condition true or false.

They are guesses: the rows that are made of them are tried before they are shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Context, Decimal
from typing import TypeAlias

from sqlglot import exp

from penstock.evaluator import QueryFailure, Row, Unsupported, Value, cast, evaluate_scalar
from penstock.planner.types import BOOLEAN, DATE, DOUBLE, FLOAT, INTEGERS, STRING, TIME, TIMESTAMP, Type
from penstock.planner.types import Decimal as DecimalType
from penstock.testing.coverage_classes import column_name
from penstock.testing.given_values import START

Types: TypeAlias = Mapping[str, Type]
MILLISECOND = timedelta(milliseconds=1)
WIDE = Context(prec=80)
"""Room for the digits of all numbers."""
OPPOSITES: dict[type[exp.Expression], type[exp.Expression]] = {
    exp.LT: exp.GTE,
    exp.GTE: exp.LT,
    exp.GT: exp.LTE,
    exp.LTE: exp.GT,
    exp.EQ: exp.NEQ,
    exp.NEQ: exp.EQ,
}
MIRRORED: dict[type[exp.Expression], type[exp.Expression]] = {
    exp.LT: exp.GT,
    exp.GT: exp.LT,
    exp.LTE: exp.GTE,
    exp.GTE: exp.LTE,
}


def plain_value(type_: Type) -> Value:
    """A value of a type, None if none is known."""
    match type_:
        case DecimalType():
            return cast(Decimal(type_.precision > type_.scale), type_)
        case _ if type_ in INTEGERS:
            return 1
        case _ if type_ in (DOUBLE, FLOAT):
            return 1.0
    plain: dict[Type, Value] = {STRING: "a", BOOLEAN: True, TIMESTAMP: START, DATE: START.date(), TIME: START.time()}
    return plain.get(type_)


def vary_value(type_: Type, place: int) -> Value:
    """One of several values of a type. Times are all the same."""
    value = plain_value(type_)
    match value:
        case bool() | None:
            return value
        case str():
            return chr(ord("a") + place % 26)
        case Decimal():
            known = fit_column(value + place, type_)
            return value if known is None else known
        case int() | float():
            return value + place % 100
        case _:
            return value


def constant_value(expression: exp.Expression) -> Value:
    """The value of an expression without columns, None if it has columns or is not known."""
    if expression.find(exp.Column, exp.Identifier, exp.Lambda) is not None:
        return None
    try:
        return evaluate_scalar(expression, {}, {})
    except (Unsupported, QueryFailure, TypeError, ValueError, LookupError, ArithmeticError):
        return None


def step_value(value: Value, type_: Type | None, steps: int) -> Value:
    """The value some units on, None if the type has no unit, or no value there. `type_`: None if it is not known."""
    try:
        stepped = add_units(value, type_, steps)
    except OverflowError:
        return None
    if type_ is not None and stepped is not None:
        stepped = fit_column(stepped, type_)
    return None if steps and stepped == value else stepped


def add_units(value: Value, type_: Type | None, steps: int) -> Value:
    """Numbers go by their last digit, times by a millisecond. Raises OverflowError for times that no calendar has."""
    match value:
        case bool():
            return None
        case Decimal():
            unit = Decimal(1).scaleb(-type_.scale) if isinstance(type_, DecimalType) else Decimal(1)
            return WIDE.add(value, steps * unit)
        case int() | float():
            return value + steps
        case datetime():
            return value + steps * MILLISECOND
        case date():
            return value + timedelta(days=steps)
        case time():
            stepped = datetime.combine(START, value) + steps * MILLISECOND
            return stepped.time() if stepped.date() == START.date() else None
        case str():
            return value + "~" * steps if steps >= 0 else None
        case _:
            return None


def fit_column(value: Value, type_: Type) -> Value:
    """A value of a comparison as the type of a column has it, None if it has none."""
    try:
        return cast(value, type_)
    except (Unsupported, QueryFailure, TypeError, ValueError, ArithmeticError, AttributeError):
        return None


def solve(condition: exp.Expression, types: Types, *, wanted: bool = True) -> Row:
    """Values of columns with which a condition is likely to be true, or false."""
    match condition:
        case exp.Paren():
            return solve(condition.this, types, wanted=wanted)
        case exp.Not():
            return solve(condition.this, types, wanted=not wanted)
        case exp.And() | exp.Or():
            first, second = (solve(each, types, wanted=wanted) for each in (condition.this, condition.expression))
            if wanted == isinstance(condition, exp.And):
                return second | first if isinstance(condition, exp.Or) else first | second
            return first or second
        case exp.Column():
            return {condition.name: wanted}
        case exp.Is():
            name = column_name(condition.this)
            if name is None or not isinstance(condition.expression, exp.Null):
                return {}
            return {name: None if wanted else plain_value(types[name])}
        case exp.In():
            values = [constant_value(each) for each in condition.expressions]
            return solve_equal(condition.this, values[0] if values else None, types, wanted=wanted, others=values)
        case exp.Between():
            low, high = constant_value(condition.args["low"]), constant_value(condition.args["high"])
            value = low if wanted else high
            return solve_comparison(condition.this, exp.GTE if wanted else exp.GT, value, types)
        case exp.Like() | exp.ILike():
            pattern = constant_value(condition.expression)
            text = pattern.replace("%", "").replace("_", "a") if isinstance(pattern, str) else None
            return solve_equal(condition.this, text, types, wanted=wanted, others=[text])
        case exp.EQ() | exp.NEQ() | exp.LT() | exp.LTE() | exp.GT() | exp.GTE():
            kind = type(condition) if wanted else OPPOSITES[type(condition)]
            left, right = constant_value(condition.this), constant_value(condition.expression)
            if right is not None:
                return solve_comparison(condition.this, kind, right, types)
            if left is not None:
                return solve_comparison(condition.expression, MIRRORED.get(kind, kind), left, types)
            return solve_columns(condition, kind, types)
        case _:
            return {}


def solve_equal(side: exp.Expression, value: Value, types: Types, *, wanted: bool, others: Iterable[Value]) -> Row:
    """The column as the value, or as none of the others."""
    if wanted:
        return solve_comparison(side, exp.EQ, value, types)
    known = [each for each in others if each is not None]
    if known and all(isinstance(each, str) for each in known):
        return solve_comparison(side, exp.EQ, find_other(known), types)
    try:
        return solve_comparison(side, exp.GT, max(known), types) if known else {}
    except TypeError:
        return {}


def find_other(texts: Sequence[str]) -> str:
    """A short text that is none of these."""
    return next(each for each in ("a", "b", "c", *(text + "~" for text in texts)) if each not in texts)


def solve_comparison(side: exp.Expression, kind: type[exp.Expression], value: Value, types: Types) -> Row:
    """The column beside a value: the value itself if it may be, or one unit from it."""
    name = column_name(side)
    if name is None or value is None:
        return {}
    type_ = types[name]
    known = fit_column(value, type_)
    if known is None:
        return {}
    if kind is exp.NEQ and isinstance(known, str):
        known = find_other([known])
    elif kind in (exp.NEQ, exp.GT):
        known = not known if isinstance(known, bool) else step_value(known, type_, 1)
    elif kind is exp.LT:
        known = step_value(known, type_, -1)
    return {} if known is None else {name: known}


def solve_columns(condition: exp.Expression, kind: type[exp.Expression], types: Types) -> Row:
    """Two columns that are compared."""
    left, right = column_name(condition.this), column_name(condition.expression)
    if left is None or right is None:
        return {}
    value = plain_value(types[right])
    return solve_comparison(condition.this, kind, value, types) | ({} if value is None else {right: value})


def list_parts(expression: exp.Expression, kind: type[exp.Expression]) -> Iterator[exp.Expression]:
    """The operands of AND or OR, without the brackets around them."""
    while isinstance(expression, exp.Paren):
        expression = expression.this
    if isinstance(expression, kind):
        yield from list_parts(expression.this, kind)
        yield from list_parts(expression.expression, kind)
    else:
        yield expression
