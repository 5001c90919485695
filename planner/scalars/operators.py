"""Operators over typed operands -> typed results, with the casts that Spark's ANSI mode would make written out.

Precision and scale of decimals follow Spark, which follows Hive and SQL Server. The result is exact where it has at
most 38 digits. Otherwise digits after the point are given up, down to six.
"""

from __future__ import annotations

import re

from sqlglot import exp

from penstock.diagnostics.codes.expression_types import T002, T004, T012
from penstock.diagnostics.diagnostic import Diagnostic
from penstock.parser import ast
from penstock.planner.scalars.certain import arithmetic_problem, cast_problem
from penstock.planner.scalars.common_types import (
    FLOATS,
    MAX_PRECISION,
    common_type,
    data_type,
    integer_as_decimal,
    is_number,
)
from penstock.planner.scalars.constants import text_problem
from penstock.planner.scalars.implicit import as_text, read_texts, unify_comparable
from penstock.planner.scalars.literals import bare, exact_type, unit_of, whole_number
from penstock.planner.scalars.typed import Typed, as_time, cast_hint, is_text_literal, make_typed
from penstock.planner.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGERS,
    INTERVAL,
    STRING,
    TIME,
    TIMESTAMP,
    VOID,
    Array,
    Decimal,
    Map,
    Simple,
    Struct,
    Type,
)

MONTHS = Simple("INTERVAL MONTH")
"""The type of an interval of months or years, which exists only next to + and -."""

SYMBOLS: dict[type[exp.Expression], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.IntDiv: "DIV",
    exp.Mod: "%",
    exp.DPipe: "||",
    exp.BitwiseAnd: "&",
    exp.BitwiseOr: "|",
    exp.BitwiseXor: "^",
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "IS NOT DISTINCT FROM",
    exp.NullSafeNEQ: "IS DISTINCT FROM",
    exp.Like: "LIKE",
    exp.ILike: "ILIKE",
    exp.RegexpLike: "RLIKE",
    exp.And: "AND",
    exp.Or: "OR",
    exp.Not: "NOT",
    exp.Neg: "-",
    exp.BitwiseNot: "~",
}


def refuse(node: exp.Expression, operands: tuple[Typed, ...], findings: list[Diagnostic]) -> None:
    """Reports that the operator has no meaning for its operands; with STRING among them the hint is a CAST."""
    symbol = SYMBOLS[type(node)]
    span = node.meta.get("span")
    texts = [operand for operand in operands if operand.type == STRING]
    others = [operand.type for operand in operands if operand.type != STRING]
    if symbol in ("||", "LIKE", "ILIKE", "RLIKE"):
        wrong = next((operand for operand in operands if operand.type != STRING), operands[0])
        problem = T002.at(wrong.span or span, str(wrong.type), operator=symbol, types=wrong.type)
        castable = isinstance(wrong.type, Simple | Decimal)
        whole = None if castable else _propose_element(symbol, operands)
        findings.append(problem.with_sql(cast_hint(wrong, STRING)) if castable else problem.with_sql(whole, span))
    elif texts and others and is_number(others[0]):
        problem = T004.at(texts[0].span or span, "STRING", operator=symbol, type=others[0])
        findings.append(problem.with_sql(cast_hint(texts[0], others[0])))
    else:
        types = " and ".join(str(operand.type) for operand in operands)
        problem = T002.at(span, operator=symbol, types=types)
        findings.append(problem.with_sql(_propose_form(symbol, operands) or _propose_reading(symbol, operands)))


def _propose_reading(symbol: str, operands: tuple[Typed, ...]) -> str | None:
    """The same over what a text beside a time or an interval says, or behind a minus sign."""
    texts = [operand.span.text for operand in operands if operand.span is not None]
    if len(texts) != len(operands) or symbol not in ("+", "-"):
        return None
    match [operand.type for operand in operands]:
        case [Simple("STRING")]:
            return f"-CAST({texts[0]} AS DOUBLE)"
        case [Simple("DATE" | "TIMESTAMP"), Simple("STRING")] if is_text_literal(operands[1]):
            length = ast.write_interval(bare(operands[1].expression).name)
            return None if length is None else f"{texts[0]} {symbol} {length}"
        case [Simple("STRING"), Simple("INTERVAL" | "INTERVAL MONTH")] if not is_text_literal(operands[0]):
            return f"CAST({texts[0]} AS TIMESTAMP) {symbol} {texts[1]}"
    return None


def _propose_element(symbol: str, operands: tuple[Typed, ...]) -> str | None:
    """What adds an element to an array, for || between the two."""
    texts = [operand.span.text for operand in operands if operand.span is not None]
    if symbol != "||" or len(texts) != 2 or len(operands) != 2:
        return None
    left, right = (operand.type for operand in operands)
    if isinstance(left, Array) and common_type(left.element, right) is not None:
        return f"ARRAY_APPEND({texts[0]}, {texts[1]})"
    is_before = isinstance(right, Array) and common_type(right.element, left) is not None
    return f"ARRAY_PREPEND({texts[1]}, {texts[0]})" if is_before else None


def _propose_form(symbol: str, operands: tuple[Typed, ...]) -> str | None:
    """What to write in the place of + or - over these types, where there is something."""
    types = tuple(operand.type for operand in operands)
    texts = [operand.span.text for operand in operands if operand.span is not None]
    if symbol == "+" and set(types) == {STRING} and len(texts) == len(types):
        return " || ".join(texts)
    if types[0] == DATE and len(types) == 2 and types[1] in INTEGERS and len(texts) == 2 and symbol in ("+", "-"):
        return f"{'DATE_ADD' if symbol == '+' else 'DATE_SUB'}({texts[0]}, {texts[1]})"
    match symbol, types, texts:
        case "+", (Simple("DATE"), Simple("TIME")), [day, clock]:
            return f"MAKE_TIMESTAMP({day}, {clock})"
        case "+", (Simple("TIME"), Simple("DATE")), [clock, day]:
            return f"MAKE_TIMESTAMP({day}, {clock})"
        case "-", (Simple("TIME"), Simple("TIME")), [end, start]:
            return f"TIME_DIFF('MICROSECOND', {start}, {end})"
        case "+" | "-", (Simple("TIME"), Simple("INTERVAL")), [clock, length]:
            return f"CAST(MAKE_TIMESTAMP(DATE '1970-01-01', {clock}) {symbol} {length} AS TIME)"
        case "+", (Simple("INTERVAL"), Simple("TIME")), [length, clock]:
            return f"CAST(MAKE_TIMESTAMP(DATE '1970-01-01', {clock}) + {length} AS TIME)"
    return None


def arithmetic(node: exp.Expression, left: Typed, right: Typed, findings: list[Diagnostic]) -> Typed | None:
    """+ - * / DIV % on numbers, dates, times and intervals."""
    types = _time_arithmetic(node, left, right) or _number_arithmetic(node, left, right)
    if types is None and STRING in (left.type, right.type) and (is_number(left.type) or is_number(right.type)):
        read = read_texts((left, right), findings)
        if read is None:
            return None
        left, right = read
        types = _number_arithmetic(node, left, right)
    if types is None:
        refuse(node, (left, right), findings)
        return None
    left_type, right_type, result = types
    problem = arithmetic_problem(node, left, right, result)
    if problem is not None:
        findings.append(problem)
        return None
    return make_typed(node, type(node)(this=left.to(left_type), expression=right.to(right_type)), result)


def _time_arithmetic(node: exp.Expression, left: Typed, right: Typed) -> tuple[Type, Type, Type] | None:
    """The types to cast the operands to, and the result's."""
    moments, lengths = (DATE, TIMESTAMP), (INTERVAL, MONTHS)
    if isinstance(node, exp.Add | exp.Sub):
        if left.type in moments and right.type in lengths:
            shifted = _shifted(left.type, right)
            return shifted, right.type, shifted
        if isinstance(node, exp.Add) and left.type in lengths and right.type in moments:
            shifted = _shifted(right.type, left)
            return left.type, shifted, shifted
        if isinstance(node, exp.Sub) and left.type in moments and right.type in moments:
            moment = DATE if left.type == right.type == DATE else TIMESTAMP
            return moment, moment, INTERVAL
        if left.type == right.type == INTERVAL:
            return INTERVAL, INTERVAL, INTERVAL
    if isinstance(node, exp.Mul | exp.Div) and left.type == INTERVAL and is_number(right.type):
        return INTERVAL, right.type, INTERVAL
    if isinstance(node, exp.Mul) and is_number(left.type) and right.type == INTERVAL:
        return left.type, INTERVAL, INTERVAL
    return None


def _shifted(moment: Type, length: Typed) -> Type:
    """A DATE stays one only when it is shifted by a literal of whole days or months."""
    literal = bare(length.expression)
    if isinstance(literal, exp.Neg):
        literal = bare(literal.this)
    by_days = isinstance(literal, exp.Interval) and unit_of(literal) in ("DAY", "WEEK", "MONTH", "YEAR")
    return moment if by_days else TIMESTAMP


def _number_arithmetic(node: exp.Expression, left: Typed, right: Typed) -> tuple[Type, Type, Type] | None:
    one, other = left.type, right.type
    if one == VOID and is_number(other):
        one = other
    elif other == VOID and is_number(one):
        other = one
    if not is_number(one) or not is_number(other):
        return None
    if isinstance(one, Decimal) != isinstance(other, Decimal) and one not in FLOATS and other not in FLOATS:
        one, other = _as_decimal(one, left), _as_decimal(other, right)
    if isinstance(one, Decimal) and isinstance(other, Decimal):
        return one, other, BIGINT if isinstance(node, exp.IntDiv) else decimal_result(type(node), one, other)
    if isinstance(node, exp.IntDiv):
        return (BIGINT, BIGINT, BIGINT) if one in INTEGERS and other in INTEGERS else None
    common = DOUBLE if isinstance(node, exp.Div) else common_type(one, other)
    return None if common is None else (common, common, common)


def _as_decimal(type_: Type, operand: Typed) -> Type:
    """A whole number next to a decimal: a literal takes only the digits that it has."""
    literal = whole_number(operand.expression)
    return integer_as_decimal(type_) if literal is None else exact_type(literal) or type_


def decimal_result(operator: type[exp.Expression], left: Decimal, right: Decimal) -> Decimal:
    """The type of `left operator right` for + - * / %."""
    whole_left, whole_right = left.precision - left.scale, right.precision - right.scale
    scale = max(left.scale, right.scale)
    if operator in (exp.Add, exp.Sub):
        return adjusted(max(whole_left, whole_right) + scale + 1, scale)
    if operator is exp.Mul:
        return adjusted(left.precision + right.precision + 1, left.scale + right.scale)
    if operator is exp.Div:
        scale = max(6, left.scale + right.precision + 1)
        return adjusted(whole_left + right.scale + scale, scale)
    return adjusted(min(whole_left, whole_right) + scale, scale)


def adjusted(precision: int, scale: int) -> Decimal:
    """The type of a result that may need more than 38 digits.

    Whole digits are kept, and at least six digits after the point.
    """
    if precision <= MAX_PRECISION:
        return Decimal(precision, scale)
    return Decimal(MAX_PRECISION, max(MAX_PRECISION - (precision - scale), min(scale, 6)))


def bitwise(node: exp.Expression, left: Typed, right: Typed, findings: list[Diagnostic]) -> Typed | None:
    """& | ^ on whole numbers."""
    common = common_type(left.type, right.type)
    if common not in INTEGERS or common is None:
        refuse(node, (left, right), findings)
        return None
    return make_typed(node, type(node)(this=left.to(common), expression=right.to(common)), common)


def concatenation(node: exp.Expression, left: Typed, right: Typed, findings: list[Diagnostic]) -> Typed | None:
    """Concatenation (||) of two texts, two byte strings or two arrays."""
    if not isinstance(left.type, Array) and BINARY not in (left.type, right.type):
        left, right = as_text(left), as_text(right)
    common = common_type(left.type, right.type)
    if common == VOID:
        common = STRING
    if common is None or (common not in (STRING, BINARY) and not isinstance(common, Array)):
        refuse(node, (left, right), findings)
        return None
    return make_typed(node, exp.DPipe(this=left.to(common), expression=right.to(common), safe=True), common)


def comparison(node: exp.Expression, left: Typed, right: Typed, findings: list[Diagnostic]) -> Typed | None:
    """= <> < <= > >= and IS [NOT] DISTINCT FROM on values of one ordered type."""
    operands = unify_comparable(node, SYMBOLS[type(node)], (left, right), findings)
    return None if operands is None else make_typed(node, type(node)(this=operands[0], expression=operands[1]), BOOLEAN)


def matching(node: exp.Expression, left: Typed, right: Typed, findings: list[Diagnostic]) -> Typed | None:
    """LIKE, ILIKE, RLIKE on texts."""
    left, right = as_text(left), as_text(right)
    if not {left.type, right.type} <= {STRING, VOID}:
        refuse(node, (left, right), findings)
        return None
    problem = text_problem(SYMBOLS[type(node)], "REGEX" if isinstance(node, exp.RegexpLike) else "LIKE", right)
    if problem is not None:
        findings.append(problem)
        return None
    return make_typed(node, type(node)(this=left.to(STRING), expression=right.to(STRING)), BOOLEAN)


def connective(node: exp.Expression, left: Typed, right: Typed, findings: list[Diagnostic]) -> Typed | None:
    """AND, OR."""
    wrong = tuple(operand for operand in (left, right) if operand.type not in (BOOLEAN, VOID))
    if wrong:
        findings.append(T002.at(wrong[0].span, str(wrong[0].type), operator=SYMBOLS[type(node)], types=wrong[0].type))
        return None
    return make_typed(node, type(node)(this=left.to(BOOLEAN), expression=right.to(BOOLEAN)), BOOLEAN)


def unary(node: exp.Expression, operand: Typed, findings: list[Diagnostic]) -> Typed | None:
    """NOT, the minus sign, ~."""
    type_: Type = BOOLEAN if isinstance(node, exp.Not) else operand.type
    match node:
        case exp.Not():
            accepted = operand.type in (BOOLEAN, VOID)
        case exp.Neg():
            accepted = is_number(operand.type) or operand.type == INTERVAL
        case _:
            accepted = operand.type in INTEGERS
    if not accepted:
        refuse(node, (operand,), findings)
        return None
    return make_typed(node, type(node)(this=operand.to(type_)), type_)


def conversion(node: exp.Expression, operand: Typed, target: Type, findings: list[Diagnostic]) -> Typed | None:
    """CAST and TRY_CAST, refused between types that Spark's ANSI mode does not convert."""
    if not can_cast(operand.type, target):
        found = T012.at(node.meta.get("span"), source=operand.type, target=target)
        findings.append(found.with_sql(_propose_conversion(operand, target)))
        return None
    if isinstance(node, exp.Cast) and not isinstance(node, exp.TryCast):
        checked = as_time(operand, target, findings)
        if checked is None:
            return None
        if checked is not operand:
            return make_typed(node, checked.expression, target)
        problem = cast_problem(operand, target)
        if problem is not None:
            findings.append(problem)
            return None
    safe = {"safe": True} if isinstance(node, exp.TryCast) else {}  # without it sqlglot prints TRY_CAST as CAST
    made = type(node)(this=operand.expression, to=data_type(target), **safe)
    if operand.type == TIMESTAMP and target == TIME:
        made.meta["since"] = (4, 3)  # the first Spark that has it
    return make_typed(node, made, target)


def _propose_conversion(operand: Typed, target: Type) -> str | None:
    """What makes the value of an operand that cannot be cast, where there is something."""
    if operand.span is None:
        return None
    value = operand.span.text
    if isinstance(target, Array) and re.fullmatch(r"'\{[^{}']*\}'", value):
        return f"ARRAY[{value[2:-2]}]"
    if operand.type == TIME and is_number(target):
        return f"TIME_TO_SECONDS({value})"
    if operand.type == TIME and target == TIMESTAMP:
        return f"MAKE_TIMESTAMP(DATE '1970-01-01', {value})"
    return f"TIME_FROM_SECONDS({value})" if operand.type in INTEGERS and target == TIME else None


def can_cast(source: Type, target: Type) -> bool:
    """Whether CAST is defined between two types (single values may still fail, which ends the query)."""
    if source in (target, VOID):
        return True
    match source, target:
        case Array(element), Array(target_element):
            return can_cast(element, target_element)
        case Map(key, value), Map(target_key, target_value):
            return can_cast(key, target_key) and can_cast(value, target_value)
        case Struct(fields), Struct(target_fields):
            return len(fields) == len(target_fields) and all(
                can_cast(field, target_field)
                for (_, field), (_, target_field) in zip(fields, target_fields, strict=True)
            )
    if is_number(source):
        return is_number(target) or target in (STRING, BOOLEAN, TIMESTAMP)
    if source == STRING:
        return isinstance(target, Decimal | Simple) and target != INTERVAL
    if source == TIMESTAMP:
        return is_number(target) or target in (STRING, DATE, TIME)
    return target == STRING or (source == BOOLEAN and is_number(target)) or (source == DATE and target == TIMESTAMP)
