"""Computations with literals that are sure to fail, whatever the rows are."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Context, InvalidOperation
from decimal import Decimal as Number

from sqlglot import exp

from penstock.diagnostics.codes.expression_types import T010, T017
from penstock.diagnostics.diagnostic import Diagnostic
from penstock.planner.scalars.common_types import FLOATS
from penstock.planner.scalars.literals import bare, whole_number
from penstock.planner.scalars.typed import Typed, is_text_literal
from penstock.planner.types import BIGINT, BOOLEAN, INT, INTEGERS, SMALLINT, TINYINT, VOID, Decimal, Type

_BITS = {TINYINT: 8, SMALLINT: 16, INT: 32, BIGINT: 64}
_WIDE = Context(prec=500)
_WHOLE = re.compile(r"[+-]?[0-9]+")
_EXACT = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_LONGEST = 100  # characters of a number that are read
_FLOAT = re.compile(r"[+-]?(0x.*|([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?[df]?|inf|infinity|nan)", re.IGNORECASE)
_TRUTHS = ("t", "true", "y", "yes", "1", "f", "false", "n", "no", "0")


def cast_problem(operand: Typed, target: Type) -> Diagnostic | None:
    """Why CAST of a literal fails; None where it does not, or is no literal."""
    literal = bare(operand.expression)
    if is_text_literal(operand):
        value = f"'{literal.name}'"
        fits = _reads(literal.name, target)
    else:
        number = literal_number(literal)
        if number is None:
            return None
        value = f"{number}"
        fits = _holds(number, target)
    if fits:
        return None
    problem = T010.at(operand.span, text=value, type=target)
    if operand.span is None:
        return problem
    text = re.sub(r"(?<=[0-9])[A-Za-z]{1,2}$", "", operand.span.text)  # the type of a number fails by itself
    return problem.with_sql(f"TRY_CAST({text} AS {target})", after=" gives NULL")


def literal_number(expression: exp.Expression) -> Number | None:
    """The value of a literal number, perhaps negated or in parentheses."""
    literal = bare(expression)
    sign = "-" if isinstance(literal, exp.Neg) else ""
    literal = bare(literal.this) if sign else literal
    if not isinstance(literal, exp.Literal) or literal.is_string or len(literal.name) > _LONGEST:
        return None
    return Number(sign + literal.name)


def _reads(text: str, target: Type) -> bool:
    """Whether Spark may read a text as a value of the type."""
    if len(text) > _LONGEST or not (text.isascii() and text.isprintable()) or re.search("[eE][+-]?[0-9]{4}", text):
        return True
    text = text.strip()
    if target in INTEGERS:
        return _WHOLE.fullmatch(text) is not None and _holds(Number(text), target)
    if isinstance(target, Decimal):
        return _EXACT.fullmatch(text) is not None and _holds(Number(text), target)
    if target in FLOATS:
        return _FLOAT.fullmatch(text) is not None
    return target != BOOLEAN or text.lower() in _TRUTHS


def _holds(number: Number, target: Type) -> bool:
    """Whether the type has room for a number. Digits after the point are cut or rounded, digits before it are not."""
    if target in INTEGERS:
        bits = _BITS[target]
        return number.copy_abs() < Number("1e30") and -(2 ** (bits - 1)) <= int(number) < 2 ** (bits - 1)
    if isinstance(target, Decimal):
        try:
            rounded = number.quantize(Number(1).scaleb(-target.scale), ROUND_HALF_UP, _WIDE)
        except InvalidOperation:
            return False
        return rounded.copy_abs() < Number(10) ** (target.precision - target.scale)
    return True


def arithmetic_problem(node: exp.Expression, left: Typed, right: Typed, result: Type) -> Diagnostic | None:
    """Why an operator over numbers fails: a literal 0 divides, or two literals give what their type does not hold.

    None for TRY_ADD and its kin, which give NULL then.
    """
    span = node.meta.get("span")
    if span is None or node.meta.get("gives_null"):
        return None
    problem = T017.at(span, expression=span.text)
    if isinstance(node, exp.Div | exp.IntDiv | exp.Mod):
        by_zero = literal_number(right.expression) == 0 and left.type != VOID
        return problem.because("It divides by zero.") if by_zero else None
    one, other = whole_number(left.expression), whole_number(right.expression)
    if one is None or other is None or result not in INTEGERS:
        return None
    a, b = int(one), int(other)
    value = a + b if isinstance(node, exp.Add) else a - b if isinstance(node, exp.Sub) else a * b
    return None if _holds(Number(value), result) else problem.because(f"{value} does not fit {result}.")
