"""What means something else because of the types of its operands: found in the plan, and written into the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from sqlglot import exp

from penstock.diagnostics import Source, Span
from penstock.planner.plan.expressions import Expression
from penstock.planner.types import (
    BINARY,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    INTEGERS,
    STRING,
    TIMESTAMP,
    Decimal,
    Map,
    Struct,
    Type,
)
from penstock.translate.model import Known, System

_NAME = re.compile(r"(\w+)\s*\(")
_SHOWN = 40  # characters of an expression


@dataclass(frozen=True, slots=True)
class TypedChange:
    """What to write in the place of some characters, None if they stay, and what to tell."""

    start: int
    end: int
    text: str | None
    told: str


def find_changes(
    expressions: Iterable[Expression], source: Source, system: System, known: Known
) -> Iterator[TypedChange]:
    """The changes of what the statement says itself, each once."""
    found: set[TypedChange] = set()
    for expression in expressions:
        for part in (each for each in expression.walk() if isinstance(each, exp.Expression)):
            span = _span(part)
            change = None if span is None or span.source is not source else _judge(part, span, system, known)
            if change is not None and change not in found:
                found.add(change)
                yield change


def apply_changes(text: str, changes: Iterable[TypedChange]) -> str:
    """The text with the changes that have no other one inside of them."""
    written = sorted((each for each in changes if each.text is not None), key=lambda each: (each.start, -each.end))
    inner = [
        each
        for number, each in enumerate(written)
        if number + 1 == len(written) or written[number + 1].start >= each.end
    ]
    for each in reversed(inner):
        text = text[: each.start] + str(each.text) + text[each.end :]
    return text


def _judge(part: Expression, span: Span, system: System, known: Known) -> TypedChange | None:
    if system is System.SPARK:
        return None
    if isinstance(part, exp.Div):
        return _judge_quotient(part, span, system)
    if isinstance(part, exp.Mod) and system is System.KSQLDB and _type(part) in INTEGERS:
        if not _is_nonzero(_inner(part.expression)):
            return TypedChange(span.start, span.end, None, "a remainder of 0 fails; in ksqlDB it is NULL: NULLIF")
        return None
    if isinstance(part, exp.Add | exp.Sub | exp.Mul) and _type(part) in INTEGERS and part.find(exp.Column):
        told = f"a whole number that does not fit its type fails; in {system.title} it wraps around"
        return TypedChange(span.start, span.end, None, told)
    if isinstance(part, exp.Cast):
        return _judge_cast(part, span, system, known)
    name = _NAME.match(span.text)
    rule = None if name is None else _CALLS[system].get(name[1].upper())
    arguments = (
        [each for each in part.expressions if _span(each) is not None] if isinstance(part, exp.Anonymous) else []
    )
    return rule(part, arguments, span) if rule is not None and arguments else None


def _judge_quotient(part: exp.Div, span: Span, system: System) -> TypedChange | None:
    """A quotient of whole numbers is one. A quotient of other numbers has a value for a divisor of 0."""
    left, right = _span(part.this), _span(part.expression)
    divisor = _inner(part.expression)
    is_safe = _is_nonzero(divisor)
    if _type(_inner(part.this)) in INTEGERS and _type(divisor) in INTEGERS and left is not None and right is not None:
        sign = span.source.text[left.end : right.start]
        if sign.count("/") != 1:
            return TypedChange(span.start, span.end, None, _WHOLE.format(system.title))
        before, behind = sign.split("/")
        operand = span.source.text[right.start : span.end]
        if system is System.KSQLDB and not is_safe and not behind.strip():
            operand = f"NULLIF({operand}, 0)"
        text = f"{span.source.text[span.start : left.end]}{before.rstrip()} DIV {behind.lstrip()}{operand}"
        return TypedChange(span.start, span.end, text, _WHOLE.format(system.title))
    if is_safe:
        return None
    given = "Infinity or NaN for DOUBLEs" if system is System.FLINK else "Infinity, NaN or NULL"
    return TypedChange(span.start, span.end, None, f"a division by 0 fails; in {system.title} it gives {given}")


_WHOLE = "a whole number / a whole number is a DOUBLE here, and a whole number in {}: DIV"


def _judge_cast(part: exp.Cast, span: Span, system: System, known: Known) -> TypedChange | None:
    """A cast that is written."""
    given, target, value = _type(_inner(part.this)), _type(part), _span(part.this)
    if value is None or value == span or not span.text.upper().startswith("CAST"):
        return None
    text = value.text
    if target == STRING and given == TIMESTAMP:
        return _judge_time(text, span, system, known)
    if target == STRING and given == BOOLEAN and system is System.FLINK:
        if isinstance(part.parent, exp.Anonymous) and part.parent.name.upper() == "UPPER":
            return None
        told = "a BOOLEAN as a text is true or false; in Flink TRUE or FALSE: UPPER"
        return TypedChange(span.start, span.end, f"UPPER({span.text})", told)
    if target == STRING and isinstance(given, Map | Struct):
        told = f"a map or struct as a text is written as in Spark; in {system.title} as in Java"
        return TypedChange(span.start, span.end, None, told)
    if given == STRING and target not in (STRING, BINARY) and system is System.KSQLDB:
        told = (
            f"a CAST of a text to {part.to.sql('spark')} fails if the text does not fit; in ksqlDB it is NULL: TRY_CAST"
        )
        if target == BOOLEAN:
            told = (
                "a CAST of a text to BOOLEAN fails if the text does not fit; in ksqlDB it is FALSE: COALESCE, TRY_CAST"
            )
            inside = f"TRY_{span.text}"
            return TypedChange(span.start, span.end, f"COALESCE({inside}, {text} IS NULL AND NULL)", told)
        return TypedChange(span.start, span.end, f"TRY_{span.text}", told)
    return None


def _judge_time(text: str, span: Span, system: System, known: Known) -> TypedChange:
    """CAST(time AS STRING)."""
    if system is System.KSQLDB:
        told = "a TIMESTAMP as a text has a blank before the hour; in ksqlDB a T, and milliseconds: DATE_FORMAT"
        return TypedChange(span.start, span.end, f"DATE_FORMAT({text}, 'yyyy-MM-dd''T''HH:mm:ss.SSS')", told)
    told = "a TIMESTAMP as a text has no zeros at its end; in Flink it has all digits of its type: DATE_FORMAT"
    if len(known.digits) != 1:
        return TypedChange(span.start, span.end, None, f"{told} with 'yyyy-MM-dd HH:mm:ss.SSS' for TIMESTAMP(3)")
    (digits,) = known.digits
    fraction = "." + "S" * min(digits, 6) if digits else ""
    return TypedChange(span.start, span.end, f"DATE_FORMAT({text}, 'yyyy-MM-dd HH:mm:ss{fraction}')", told)


def _judge_round(part: Expression, arguments: list[Expression], span: Span) -> TypedChange | None:
    """ROUND of ksqlDB."""
    if not _has_fraction(arguments[0]):
        return None
    told = "ROUND rounds halves away from zero; in ksqlDB upwards"
    if len(arguments) != 1:
        return TypedChange(span.start, span.end, None, told)
    text = f"CAST(FLOOR({_text(arguments[0])} + 0.5) AS BIGINT)"
    if isinstance(_type(_inner(arguments[0])), Decimal):
        text = f"FLOOR({_text(arguments[0])} + 0.5)"
    return TypedChange(span.start, span.end, text, f"{told}: FLOOR(… + 0.5)")


def _judge_whole(part: Expression, arguments: list[Expression], span: Span) -> TypedChange | None:
    """CEIL and FLOOR of a DOUBLE, which are DOUBLEs."""
    if len(arguments) != 1 or _type(_inner(arguments[0])) not in (DOUBLE, FLOAT) or _is_cast(part):
        return None
    type_ = "DOUBLE" if _type(_inner(arguments[0])) == DOUBLE else "FLOAT"
    told = "CEIL and FLOOR of a DOUBLE are a BIGINT; elsewhere they are a DOUBLE: CAST"
    return TypedChange(span.start, span.end, f"CAST({span.text} AS {type_})", told)


def _judge_sign(part: Expression, arguments: list[Expression], span: Span) -> TypedChange | None:
    """SIGN of Flink has the type of its argument."""
    type_ = _type(_inner(arguments[0]))
    if type_ not in INTEGERS or _is_cast(part):
        return None
    told = "SIGN is a DOUBLE; in Flink it has the type of its argument: CAST"
    return TypedChange(span.start, span.end, f"CAST({span.text} AS {type_})", told)


def _judge_concat(part: Expression, arguments: list[Expression], span: Span) -> TypedChange | None:
    """CONCAT of ksqlDB."""
    told = "CONCAT with a NULL is NULL; ksqlDB takes NULL as an empty text: CONCAT_WS('', …)"
    if _type(part) != STRING:
        return TypedChange(span.start, span.end, None, told)
    return TypedChange(span.start, span.end, f"CONCAT_WS('', {', '.join(_text(each) for each in arguments)})", told)


_Rule: TypeAlias = Callable[[Expression, list[Expression], Span], TypedChange | None]
_CALLS: Mapping[System, Mapping[str, _Rule]] = {
    System.FLINK: {**dict.fromkeys(("CEIL", "CEILING", "FLOOR"), _judge_whole), "SIGN": _judge_sign},
    System.KSQLDB: {
        "ROUND": _judge_round,
        **dict.fromkeys(("CEIL", "FLOOR"), _judge_whole),
        "CONCAT": _judge_concat,
    },
}


def _span(part: Expression) -> Span | None:
    found = part.meta.get("span") if isinstance(part, exp.Expression) else None
    return found if isinstance(found, Span) else None


def _text(part: Expression) -> str:
    span = _span(part)
    return part.name if span is None else span.text


def _type(part: Expression) -> Type | None:
    found: Type | None = part.meta.get("type")
    return found


def _inner(part: Expression) -> Expression:
    """An operand without brackets, and without the casts around it that nobody wrote."""
    while isinstance(part, exp.Paren) or (isinstance(part, exp.Cast) and _span(part) == _span(part.this)):
        part = part.this
    return part


def _is_nonzero(part: Expression) -> bool:
    """Whether it is a number that is written, and not 0."""
    return isinstance(part, exp.Literal) and not part.is_string and float(part.name) != 0


def _has_fraction(part: Expression) -> bool:
    type_ = _type(_inner(part))
    return isinstance(type_, Decimal) or type_ in (FLOAT, DOUBLE)


def _is_cast(part: Expression) -> bool:
    """Whether a cast is written around it."""
    outer = part.parent
    return isinstance(outer, exp.Cast) and _span(outer) != _span(part)


def shorten(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _SHOWN else words[: _SHOWN - 1] + "…"
