"""Implicit casts between texts and other values, as in Spark's ANSI mode.

A cast that fails for some values is marked, so that the script gets a warning for it.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from penstock.diagnostics.codes.expression_types import T002, T010
from penstock.diagnostics.diagnostic import Diagnostic
from penstock.diagnostics.source import Span
from penstock.planner.scalars.certain import cast_problem
from penstock.planner.scalars.common_types import FLOATS, MAPS_ARE_UNEQUAL, cast, integer_as_decimal, is_lossless
from penstock.planner.scalars.literals import bare
from penstock.planner.scalars.typed import Typed, cast_hint, is_text_literal, make_typed, unify_values
from penstock.planner.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    INTEGERS,
    MOMENTS,
    STRING,
    VOID,
    Decimal,
    Type,
    is_ordered,
)

MARK = "implicit"
"""The key in `meta` of an implicit cast that fails for some values: the type that is cast."""


def mark_cast(expression: exp.Expression, source: Type) -> exp.Expression:
    """The cast of a value of type `source`, marked."""
    expression.meta[MARK] = source
    return expression


def is_exact_or_fails(source: Type, target: Type) -> bool:
    """Whether CAST gives each value of `source` unchanged or fails, so that the value can be stored as `target`."""
    exact = integer_as_decimal(source)
    if not isinstance(exact, Decimal):
        return False
    if target in INTEGERS:
        return exact.scale == 0
    return isinstance(target, Decimal) and exact.scale <= target.scale


def store(value: exp.Expression, source: Type, target: Type, span: Span) -> exp.Expression | None:
    """The value as it is put into a column of type `target`; None where it could change by that."""
    stored = cast(value, source, target)
    if source == target or is_lossless(source, target):
        return stored
    if not is_exact_or_fails(source, target):
        return None
    stored.meta.setdefault("span", span)
    return mark_cast(stored, source)


def is_printable(type_: Type) -> bool:
    """Whether Spark takes a value of the type where it wants a STRING."""
    return isinstance(type_, Decimal) or type_ in (*INTEGERS, *FLOATS, BOOLEAN, *MOMENTS)


def as_text(value: Typed) -> Typed:
    """A value as STRING where Spark prints it, else the value as it is."""
    return make_typed(value.expression, value.to(STRING), STRING) if is_printable(value.type) else value


def read_texts(values: Sequence[Typed], findings: list[Diagnostic]) -> list[Typed] | None:
    """The values with texts read as the others' type. None if a literal is no such value, which is reported.

    Texts stay texts where the others are not all of one kind.
    """
    targets = {_read_type(each.type) for each in values if each.type not in (STRING, VOID)}
    target = targets.pop() if len(targets) == 1 else None
    if target is None:
        return list(values)
    problems: list[Diagnostic] = []
    read = [read_text(each, target, problems) if each.type == STRING else each for each in values]
    findings.extend(_explain_text(each, values) for each in problems)
    known = [each for each in read if each is not None]
    return known if len(known) == len(values) else None


def _explain_text(problem: Diagnostic, values: Sequence[Typed]) -> Diagnostic:
    """The finding about a text with the value that stands beside it."""
    other = next((each for each in values if each.type not in (STRING, VOID) and each.span is not None), None)
    if other is None or other.span is None or isinstance(bare(other.expression), exp.Literal):
        return problem
    return problem.because(f"{other.span.text} is {other.type}, and the text is no such value.")


def _propose_texts(problem: Diagnostic, values: Sequence[Typed]) -> Diagnostic:
    """The finding about a text with a comparison of texts, where one other value stands beside texts."""
    others = [each for each in values if each.type not in (STRING, VOID)]
    if len(others) != 1 or others[0].span is None or problem.code != T010.id or not is_printable(others[0].type):
        return problem
    text = cast_hint(others[0], STRING)
    return problem.with_sql(text, others[0].span, before="compared as texts: ")


def _read_type(type_: Type) -> Type | None:
    """What Spark reads a text as beside a value of the type."""
    if type_ in INTEGERS:
        return BIGINT
    if isinstance(type_, Decimal) or type_ in FLOATS:
        return DOUBLE
    return type_ if type_ in (BOOLEAN, *MOMENTS) else None


def read_text(value: Typed, target: Type, findings: list[Diagnostic]) -> Typed | None:
    """A text as a number, time or BOOLEAN; as it is where it is no such type.

    None (reported) if a literal is not one.
    """
    if _read_type(target) is None:
        return value
    if not is_text_literal(value):
        return Typed(mark_cast(make_typed(value.expression, value.to(target), target).expression, STRING), target)
    if target in MOMENTS:
        return value  # read at once, together with the others
    problem = cast_problem(value, target)
    if problem is None:
        return make_typed(value.expression, value.to(target), target)
    findings.append(problem)
    return None


def unify_comparable(
    node: exp.Expression, construct: str, values: Sequence[Typed], findings: list[Diagnostic]
) -> list[exp.Expression] | None:
    """As `unify_values`, for a construct that compares the values; None (reported) where they cannot be compared."""
    problems: list[Diagnostic] = []
    read = read_texts(values, problems)
    findings.extend(_propose_texts(each, values) for each in problems)
    found = None if read is None else unify_values(node, construct, read, findings)
    if found is None:
        return None
    expressions, common = found
    if is_ordered(common):
        return expressions
    types = " and ".join(dict.fromkeys(str(value.type) for value in values))
    findings.append(T002.at(node.meta.get("span"), operator=construct, types=types).because(MAPS_ARE_UNEQUAL))
    return None
