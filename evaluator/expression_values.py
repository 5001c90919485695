"""A scalar expression over one row -> its value, with NULL as None and three-valued logic.

`types` are the types of the row's columns; they decide how arithmetic rounds and overflows. A kind of expression that
is not listed raises `Unsupported`: the model never guesses. Not modelled: lambdas, arrays, subqueries, collations.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal

from sqlglot import exp

from penstock.diagnostics.codes.running import R023
from penstock.evaluator.arithmetic import OPERATORS, calculate, result_type
from penstock.evaluator.functions import FIRST_TYPED, FUNCTIONS, NULL_AWARE
from penstock.evaluator.library import pattern_of
from penstock.evaluator.nested_functions import LAMBDAS, Lambda, type_text
from penstock.evaluator.number_functions import NUMBERS_TYPED
from penstock.evaluator.typed_values import (
    QueryFailure,
    Row,
    Types,
    Unsupported,
    Value,
    cast,
    fit,
    flip_sign,
    integer_literal,
    milliseconds,
    type_of_value,
)
from penstock.parser.ast import UNIT_MILLISECONDS
from penstock.planner import types as t
from penstock.planner.functions import find_function
from penstock.planner.types import Type

_COMPARISONS = {exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="}
_BITS = {exp.BitwiseAnd: int.__and__, exp.BitwiseOr: int.__or__, exp.BitwiseXor: int.__xor__}
TRIED: dict[str, type[exp.Expression]] = {
    "TRY_ADD": exp.Add,
    "TRY_SUBTRACT": exp.Sub,
    "TRY_MULTIPLY": exp.Mul,
    "TRY_DIVIDE": exp.Div,
    "TRY_MOD": exp.Mod,
}
_TYPES = {
    "BOOLEAN": t.BOOLEAN,
    "TINYINT": t.TINYINT,
    "SMALLINT": t.SMALLINT,
    "INT": t.INT,
    "BIGINT": t.BIGINT,
    "DOUBLE": t.DOUBLE,
    "FLOAT": t.FLOAT,
    "TEXT": t.STRING,
    "VARCHAR": t.STRING,
    "DATE": t.DATE,
    "BINARY": t.BINARY,
    "VARBINARY": t.BINARY,
    "TIMESTAMP": t.TIMESTAMP,
    "TIMESTAMPTZ": t.TIMESTAMP,
    "TIME": t.TIME,
}


def holds(condition: exp.Expression | None, row: Row, types: Types) -> bool:
    """Whether a condition lets a row pass: true, neither false nor NULL. No condition lets all pass."""
    return condition is None or evaluate_scalar(condition, row, types) is True


def evaluate_scalar(node: exp.Expression, row: Row, types: Types) -> Value:
    """The value of `node` over `row`. Raises QueryFailure where the query would fail, Unsupported for unknown kinds."""

    def value(child: exp.Expression) -> Value:
        return evaluate_scalar(child, row, types)

    match node:
        case exp.Column():
            return row[node.name]
        case exp.Identifier():
            return row[lambda_name(node.name)]
        case exp.Paren():
            return value(node.this)
        case exp.Literal() | exp.Boolean() | exp.Null() | exp.Interval():
            return _constant(node)
        case exp.Dot():
            struct = value(node.this)
            return None if struct is None else struct[node.expression.name]
        case exp.Bracket():
            return _item(value(node.this), value(node.expressions[0]))
        case exp.And():
            left = value(node.this)
            return False if left is False else both(left, value(node.expression))
        case exp.Or():
            left = value(node.this)
            return True if left is True else negate(both(negate(left), negate(value(node.expression))))
        case exp.Not():
            return negate(value(node.this))
        case exp.Is():
            return value(node.this) is value(node.expression)
        case exp.NullSafeEQ():
            return value(node.this) == value(node.expression)
        case exp.NullSafeNEQ():
            return value(node.this) != value(node.expression)
        case exp.EQ() | exp.NEQ() | exp.LT() | exp.LTE() | exp.GT() | exp.GTE():
            left = value(node.this)
            return None if left is None else compare(_COMPARISONS[type(node)], left, value(node.expression))
        case exp.Between():
            this = value(node.this)
            return both(compare(">=", this, value(node.args["low"])), compare("<=", this, value(node.args["high"])))
        case exp.In() if node.args.get("query") is None:
            this = value(node.this)
            return negate(all_of(compare("<>", this, value(each)) for each in node.expressions))
        case exp.Case():
            return _case(node, row, types)
        case exp.Cast():  # TryCast is one, too
            return _cast(node, value(node.this))
        case exp.Anonymous():
            called = _call(node, row, types)
            return fit(called, t.FLOAT) if node.meta.get("type") == t.FLOAT else called
    arguments: list[Value] = []
    for child in node.iter_expressions():
        if arguments == [None] and not isinstance(node, exp.DPipe):  # then it does not look at the second operand
            return None
        arguments.append(value(child))
    if isinstance(node, exp.Neg):
        return None if arguments[0] is None else fit(flip_sign(arguments[0]), type_of(node, row, types))
    if type(node) in OPERATORS:
        if None in arguments:
            return None
        return calculate(OPERATORS[type(node)], arguments[0], arguments[1], type_of(node, row, types))
    strict = _strict(node)
    return None if None in arguments else strict(*arguments)


def _strict(node: exp.Expression) -> Value:
    """The function of an operator that answers NULL whenever an argument is NULL."""
    match node:
        case exp.DPipe():
            return str.__add__
        case exp.BitwiseNot():
            return int.__invert__
        case exp.BitwiseAnd() | exp.BitwiseOr() | exp.BitwiseXor():
            return _BITS[type(node)]
        case exp.ILike():
            return lambda text, pattern: like(text.lower(), pattern.lower())
        case exp.Like():
            return like
        case exp.RegexpLike():
            return lambda text, pattern: pattern_of(pattern).search(text) is not None
        case _:
            raise Unsupported(f"the expression {node.sql()}")


def negate(truth: bool | None) -> bool | None:
    return None if truth is None else not truth


def both(left: bool | None, right: bool | None) -> bool | None:
    """Three-valued AND."""
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def all_of(truths: Value) -> bool | None:
    result: bool | None = True
    for truth in truths:
        result = both(result, truth)
    return result


def compare(operator: str, left: Value, right: Value) -> bool | None:
    """A comparison of two values of one type; NULL if one of them is NULL."""
    if left is None or right is None:
        return None
    left, right = rank_number(left), rank_number(right)
    match operator:
        case "=":
            return bool(left == right)
        case "<>":
            return bool(left != right)
        case "<":
            return bool(left < right)
        case "<=":
            return bool(left <= right)
        case ">":
            return bool(left > right)
        case _:
            return bool(left >= right)


def rank_number(value: Value) -> Value:
    """What Python orders as Spark orders the value: NaN is equal to itself, and greater than all other numbers."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return value
    return (True, 0.0) if math.isnan(value) else (False, value)


def like(text: str, pattern: str) -> bool:
    """LIKE with `%`, `_` and the backslash as escape."""
    regex, escaped = "", False
    for char in pattern:
        if escaped or char not in "%_\\":
            regex, escaped = regex + re.escape(char), False
        elif char == "\\":
            escaped = True
        else:
            regex += ".*" if char == "%" else "."
    return re.fullmatch(regex, text, re.DOTALL) is not None


def spark_type(node: exp.Expression) -> Type:
    """The type that a CAST names."""
    name = node.text("kind") or node.this.name
    if name == "DECIMAL":
        precision, scale, *_ = *(int(each.name) for each in node.expressions), 0, 0
        return t.Decimal(precision or 10, scale)
    if name == "ARRAY":
        return t.Array(spark_type(node.expressions[0]))
    if name not in _TYPES:
        raise Unsupported(f"CAST to {node.sql('spark')}")
    return _TYPES[name]


def type_of(node: exp.Expression, row: Row, types: Types) -> Type:
    """The type of a number-valued expression: declared where it is known, else the type of its value in this row."""
    match node:
        case exp.Column() if node.name in types:
            return types[node.name]
        case exp.Paren() | exp.Neg():
            return type_of(node.this, row, types)
        case exp.Cast():
            return spark_type(node.args["to"])
        case exp.Literal() if not node.is_string and node.name.isdigit():
            return integer_literal(int(node.name))
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Div() | exp.IntDiv() | exp.Mod():
            operands = (node.this, node.expression)
            left, right = (type_of(each, row, types) for each in operands)
            if isinstance(left, t.Decimal) or isinstance(right, t.Decimal):
                left, right = (_with_digits(each, type_) for each, type_ in zip(operands, (left, right), strict=True))
            return result_type(OPERATORS[type(node)], left, right)
        case exp.Anonymous() if node.name in TRIED:
            left_operand, right_operand = node.expressions
            return type_of(TRIED[node.name](this=left_operand, expression=right_operand), row, types)
        case exp.Anonymous() if node.name in FIRST_TYPED:
            return type_of(node.expressions[0], row, types)
        case exp.Case():
            return type_of(node.args["ifs"][0].args["true"], row, types)
        case _:
            known: Type | None = node.meta.get("type")
            return type_of_value(evaluate_scalar(node, row, types)) if known is None else known


def _with_digits(node: exp.Expression, type_: Type) -> Type:
    """Beside a decimal, a whole-number literal is a decimal of just its digits."""
    return t.Decimal(len(node.name), 0) if isinstance(node, exp.Literal) and type_ in t.INTEGERS else type_


def _constant(node: exp.Expression) -> Value:
    match node:
        case exp.Null():
            return None
        case exp.Boolean():
            return bool(node.this)
        case exp.Interval():
            unit = node.args["unit"].name
            if unit not in UNIT_MILLISECONDS:
                raise Unsupported(f"interval of {unit}")
            return milliseconds(1) * float(node.this.name) * UNIT_MILLISECONDS[unit]
        case exp.Literal() if node.is_string:
            return node.name
        case _ if "e" in node.name.lower():
            return float(node.name)
        case _:
            return int(node.name) if node.name.isdigit() else cast(node.name, _literal_type(node.name))


def _literal_type(text: str) -> Type:
    whole, _, fraction = text.partition(".")
    return t.Decimal(max(1, len(whole.lstrip("0")) + len(fraction)), len(fraction))


def _case(node: exp.Case, row: Row, types: Types) -> Value:
    for branch in node.args["ifs"]:
        condition = branch.this if node.this is None else exp.EQ(this=node.this, expression=branch.this)
        if holds(condition, row, types):
            return evaluate_scalar(branch.args["true"], row, types)
    default = node.args.get("default")
    return None if default is None else evaluate_scalar(default, row, types)


def _cast(node: exp.Cast, value: Value) -> Value:
    try:
        return cast(value, spark_type(node.args["to"]))
    except QueryFailure:
        if isinstance(node, exp.TryCast):
            return None
        raise


def _item(values: Value, place: Value) -> Value:
    """`values[place]`: an element of an array by its place from 0, or a value of a map by its key."""
    if values is None or place is None:
        return None
    if isinstance(values, dict):
        return values.get(place)
    if not 0 <= place < len(values):
        raise QueryFailure(f"there are {len(values)} values, and the index is {place}", R023)
    return values[place]


def _call(node: exp.Anonymous, row: Row, types: Types) -> Value:
    if node.name == "IF":
        condition, yes, no = node.expressions
        return evaluate_scalar(yes if holds(condition, row, types) else no, row, types)
    if node.name in TRIED:
        return _tried(node, row, types)
    if node.name in LAMBDAS:
        return _call_with_lambdas(node, row, types)
    arguments = (evaluate_scalar(each, row, types) for each in node.expressions)  # lazy: COALESCE(a, 1 / 0)
    if node.name in NULL_AWARE:
        return NULL_AWARE[node.name](arguments)
    if node.name == "TYPEOF":
        return type_text(type_of(node.expressions[0], row, types))
    typed = NUMBERS_TYPED.get(node.name)
    if typed is None and node.name not in FUNCTIONS:
        known = find_function(node.name)
        clock = ", which reads the clock of the machine" if known is not None and known.clock else ""
        raise Unsupported(f"function {node.name}{clock}")
    values = list(arguments)
    if None in values:
        return None
    try:
        if typed is not None:
            return typed([type_of(each, row, types) for each in node.expressions], *values)
        return FUNCTIONS[node.name](*values)
    except (TypeError, ValueError, ArithmeticError, AttributeError, LookupError) as problem:
        raise Unsupported(f"function {node.name} of such values") from problem


def lambda_name(parameter: str) -> str:
    """What a row calls the parameter of a lambda. No column has this name."""
    return f"{parameter} ->"


def _call_with_lambdas(node: exp.Anonymous, row: Row, types: Types) -> Value:
    """TRANSFORM and its kin. What the function takes beside lambdas may not be NULL, but for the start of a fold."""

    def function_of(node: exp.Lambda) -> Lambda:
        names = [lambda_name(each.name) for each in node.expressions]
        return lambda *values: evaluate_scalar(node.this, row | dict(zip(names, values, strict=False)), types)

    arguments = [
        function_of(each) if isinstance(each, exp.Lambda) else evaluate_scalar(each, row, types)
        for each in node.expressions
    ]
    is_fold = node.name in ("AGGREGATE", "REDUCE")
    if None in (arguments[:1] if is_fold else arguments):
        return None
    return LAMBDAS[node.name](*arguments)


def _tried(node: exp.Anonymous, row: Row, types: Types) -> Value:
    """TRY_ADD and its kin: the operator's value, NULL where it fails. If an operand fails, so does the query."""
    left, right = node.expressions
    one, other = evaluate_scalar(left, row, types), evaluate_scalar(right, row, types)
    if one is None or other is None:
        return None
    kind = TRIED[node.name]
    try:
        return calculate(OPERATORS[kind], one, other, type_of(kind(this=left, expression=right), row, types))
    except QueryFailure:
        return None
