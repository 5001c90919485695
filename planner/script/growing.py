"""Which expressions have ever new values as time goes on, and how long each of these values lasts."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from sqlglot import exp

from penstock.planner.durations import interval_sql
from penstock.planner.plan import Expression

_BOUNDED = frozenset(
    {"HOUR", "MINUTE", "SECOND", "DAY", "DAYOFMONTH", "DAYOFWEEK", "DAYOFYEAR", "WEEKDAY", "MONTH", "QUARTER", "WEEK"}
    | {"WEEKOFYEAR", "MONTHNAME", "DAYNAME", "YEAR", "PMOD", "MOD", "SIGN", "ISNULL", "ISNOTNULL"}
)
"""Functions of times with few values. A year lasts so long that it counts among them."""
_DISTANCES = frozenset({"DATEDIFF", "DATE_DIFF", "TIMESTAMPDIFF", "MONTHS_BETWEEN", "TIMEDIFF"})
_LONG = frozenset({"MONTH", "MON", "MM", "QUARTER", "YEAR", "YYYY", "YY", "DECADE", "CENTURY", "MILLENNIUM"})
"""Units of months and longer. Windows do not have these units either."""
_UNITS = {"SECOND": 1_000, "MINUTE": 60_000, "HOUR": 3_600_000}
_DAY = 86_400_000
_MICROS = {"UNIX_MICROS": 0.001, "UNIX_MILLIS": 1.0, "UNIX_SECONDS": 1_000.0, "UNIX_TIMESTAMP": 1_000.0}
_BOOLEAN = (exp.Predicate, exp.Connector, exp.Not, exp.Boolean)


def is_growing(expression: Expression, growing: Collection[str]) -> bool:
    """Whether the value takes ever new values, if the columns `growing` do."""
    match expression:
        case exp.Column():
            return expression.name in growing
        case exp.Case():
            branches = [each.args["true"] for each in expression.args["ifs"]]
            return any(is_growing(each, growing) for each in (*branches, *list_given(expression.args.get("default"))))
        case exp.Mod():
            return not isinstance(strip_casts(expression.expression), exp.Literal) and is_growing(
                expression.this, growing
            )
        case exp.Sub():
            sides = [is_growing(each, growing) for each in (expression.this, expression.expression)]
            return sides.count(True) == 1  # two times of one row are not far apart
        case exp.Anonymous():
            return is_growing_call(str(expression.this).upper(), expression.expressions, growing)
        case _ if isinstance(expression, _BOOLEAN):
            return False
        case _:
            return any(is_growing(each, growing) for each in expression.iter_expressions())


def is_growing_call(name: str, arguments: Sequence[Expression], growing: Collection[str]) -> bool:
    """The same for a call of a function."""
    given = [each for each in arguments if is_growing(each, growing)]
    text = find_text(arguments)
    match name:
        case "IF" | "IIF":
            return any(is_growing(each, growing) for each in arguments[1:])
        case "DATE_PART" | "DATEPART" | "EXTRACT":
            return bool(given) and text.upper() == "EPOCH"
        case "DATE_FORMAT" | "TO_CHAR" | "TO_VARCHAR":
            letters = set(re.findall("[A-Za-z]", re.sub("'[^']*'", "", text)))
            return bool(given) and bool(letters & set("yYu")) and not letters <= set("yYuGMLqQ")
        case "DATE_TRUNC" | "TRUNC":
            return bool(given) and text.upper() not in _LONG
        case _ if name in _BOUNDED:
            return False
        case _ if name in _DISTANCES:
            return len(given) == 1
        case _:
            return bool(given)


def find_text(arguments: Sequence[Expression]) -> str:
    """The first text among arguments: a unit or a format."""
    return next((each.name for each in arguments if isinstance(each, exp.Literal) and each.is_string), "")


def list_given(expression: Expression | None) -> list[Expression]:
    return [] if expression is None else [expression]


def strip_casts(expression: Expression) -> Expression:
    """The expression without casts and parentheses around it."""
    while isinstance(expression, exp.Cast | exp.Paren):
        expression = expression.this
    return expression


def measure_step(expression: Expression) -> int:
    """For how many milliseconds an expression of a time has one value; a minute where nothing says it."""
    for part in expression.walk():
        step = read_step(part)
        if step is not None:
            return step
    return _UNITS["MINUTE"]


def read_step(part: exp.Expr) -> int | None:
    """What one node of an expression says of it."""
    match part:
        case exp.Cast() if part.to.this is exp.DType.DATE:
            return _DAY
        case exp.IntDiv() | exp.Div() | exp.Mod():
            return scale(part.this, part.expression)
        case exp.Anonymous():
            name = str(part.this).upper()
            text = find_text(part.expressions)
            if name in ("DATE_TRUNC", "TRUNC"):
                return _UNITS.get(text.upper(), _DAY)
            if name in ("TO_DATE", "LAST_DAY", "DATE"):
                return _DAY
            if name == "PMOD":
                return scale(*part.expressions)
            if name in ("DATE_FORMAT", "TO_CHAR", "TO_VARCHAR"):
                letters = set(re.sub("'[^']*'", "", text))
                finest = (("SECOND", "sS"), ("MINUTE", "m"), ("HOUR", "HhkK"))
                return next((_UNITS[unit] for unit, signs in finest if letters & set(signs)), _DAY)
    return None


def scale(time: Expression, divisor: Expression) -> int | None:
    """The step of a time that is counted in units of a number of units, None where it is something else."""
    number = strip_casts(divisor)
    unit = next(
        (_MICROS[str(each.this).upper()] for each in time.find_all(exp.Anonymous) if str(each.this).upper() in _MICROS),
        None,
    )
    if unit is None or not isinstance(number, exp.Literal) or not number.name.isdecimal():
        return None
    return int(int(number.name) * unit) or None


def window_text(time: str, step: int) -> str:
    """The call of a window of that length."""
    return f"TUMBLE({time}, {interval_sql(step)})"
