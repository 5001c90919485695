"""Resolved expressions with their types, and bringing several of them to one type."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from sqlglot import exp

from penstock.diagnostics.codes.expression_types import T003, T004
from penstock.diagnostics.diagnostic import Diagnostic
from penstock.diagnostics.source import Span
from penstock.planner.scalars.common_types import cast, common_type, is_number
from penstock.planner.scalars.literals import bare, time_literal
from penstock.planner.types import INTEGERS, INTERVAL, MOMENTS, STRING, TIMESTAMP, VOID, Decimal, Simple, Type


class Typed(msgspec.Struct, frozen=True):
    """An expression over the columns of an operator's input, and the type of its values."""

    expression: exp.Expression
    type: Type

    @property
    def span(self) -> Span | None:
        """The text that it was written as."""
        span: Span | None = self.expression.meta.get("span")
        return span

    def to(self, target: Type) -> exp.Expression:
        """The expression as a value of `target`, with a CAST where that is another type."""
        return cast(self.expression, self.type, target)


def make_typed(node: exp.Expression, expression: exp.Expression, type_: Type) -> Typed:
    """What `node` was resolved to; it stands for the same text, and knows its type."""
    expression.meta["type"] = type_
    if "span" in node.meta:
        expression.meta["span"] = node.meta["span"]
    return Typed(expression, type_)


def is_text_literal(value: Typed) -> bool:
    """Whether it is `'…'`, perhaps in parentheses."""
    literal = bare(value.expression)
    return isinstance(literal, exp.Literal) and literal.is_string


def unify_values(
    node: exp.Expression, construct: str, values: Sequence[Typed], findings: list[Diagnostic]
) -> tuple[list[exp.Expression], Type] | None:
    """`values` as expressions of their common type; text literals among dates and times are read as such.

    `construct` names what asked for it in the error that is reported when they have none.
    """
    target: Type = VOID
    plain = [value for value in values if not is_text_literal(value)]
    for value in plain:
        common = common_type(target, value.type)
        if common is None:
            findings.append(_no_common_type(node, construct, target, value, plain))
            return None
        target = common
    literals = [value for value in values if is_text_literal(value)]
    if literals and target not in (*MOMENTS, STRING, VOID):
        found = _no_common_type(node, construct, target, literals[0], literals)
        findings.append(_propose_text(found, plain))
        return None
    if literals and target == VOID:
        target = STRING
    converted = [as_time(value, target, findings) for value in values]
    known = [value.to(target) for value in converted if value is not None]
    return (known, target) if len(known) == len(values) else None


def _propose_text(found: Diagnostic, others: Sequence[Typed]) -> Diagnostic:
    """The finding about a literal that is no number with the one other value as a text."""
    typed = [each for each in others if each.type != VOID]
    if len(typed) != 1 or typed[0].span is None or cast_hint(typed[0], STRING) is None:
        return found
    is_simple = is_number(typed[0].type)
    return (
        found.with_sql(cast_hint(typed[0], STRING), typed[0].span, after=f" instead of {typed[0].span.text}")
        if is_simple
        else found
    )


def as_time(value: Typed, target: Type, findings: list[Diagnostic]) -> Typed | None:
    """A text literal as the DATE, TIMESTAMP or TIME that is asked for; anything else as it is. None if it is none."""
    if target not in MOMENTS or not is_text_literal(value):
        return value
    literal = bare(value.expression)
    text = time_literal(literal.name, target, value.span, findings)
    if text is None:
        return None
    moment = make_typed(value.expression, exp.Literal.string(text), STRING)
    return Typed(moment.to(target), target)


def _no_common_type(
    node: exp.Expression, construct: str, target: Type, value: Typed, values: Sequence[Typed]
) -> Diagnostic:
    place = value.span or node.meta.get("span")
    if STRING not in (target, value.type):
        found = T003.at(place, str(value.type), left=target, right=value.type)
        return found.with_sql(_propose_millis(values))
    other = value.type if target == STRING else target
    text = next((each for each in values if each.type == STRING), value)
    problem = T004.at(text.span or place, "STRING", operator=construct, type=other)
    return problem.with_sql(cast_hint(text, other))


def _propose_millis(values: Sequence[Typed]) -> str | None:
    """What makes a time of a whole number that stands beside times. Other systems count milliseconds."""
    if not any(each.type == TIMESTAMP for each in values):
        return None
    number = next((each for each in values if each.type in INTEGERS and each.span is not None), None)
    return None if number is None or number.span is None else f"TIMESTAMP_MILLIS({number.span.text})"


def cast_hint(value: Typed, target: Type) -> str | None:
    """The CAST to write instead of a value, where its text is known and texts can be cast to the type."""
    is_castable = isinstance(target, Simple | Decimal) and target != INTERVAL
    return f"CAST({value.span.text} AS {target})" if value.span is not None and is_castable else None
