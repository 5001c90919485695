"""Rules of predicates -> sqlglot nodes."""

from __future__ import annotations

from sqlglot import exp

from penstock.diagnostics.source import Span
from penstock.grammar import Token
from penstock.parser.ast import Query
from penstock.parser.build.base import Builder, balanced, placed, words
from penstock.parser.build.standard import between_symmetric, escape_like, repeat
from penstock.parser.build.values import compare_rows, find_row, is_row

COMPARISONS: dict[str, type[exp.Expression]] = {
    "=": exp.EQ,
    "==": exp.EQ,
    "<>": exp.NEQ,
    "!=": exp.NEQ,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
    "<=>": exp.NullSafeEQ,
}
LIKES: dict[str, type[exp.Expression]] = {
    "LIKE": exp.Like,
    "ILIKE": exp.ILike,
    "RLIKE": exp.RegexpLike,
    "REGEXP": exp.RegexpLike,
}


def not_(span: Span, operand: exp.Expression) -> exp.Not:
    return placed(exp.Not(this=operand), span)


def _negated(span: Span, negation: Token | None, node: exp.Expression) -> exp.Expression:
    placed(node, span)
    return node if negation is None else placed(exp.Not(this=node), span)


def compare(span: Span, left: exp.Expression, sign: str, right: exp.Expression) -> exp.Expression:
    return _compare(span, COMPARISONS[sign], left, right)


def _compare(span: Span, kind: type[exp.Expression], left: exp.Expression, right: exp.Expression) -> exp.Expression:
    if is_row(left) or is_row(right):
        return compare_rows(span, kind, left, right)
    return placed(kind(this=left, expression=right), span)


def like_predicate(
    span: Span,
    left: exp.Expression,
    negation: Token | None,
    word: str,
    right: exp.Expression,
    escape: exp.Literal | None,
) -> exp.Expression:
    return _negated(span, negation, LIKES[word](this=left, expression=escape_like(span, word, right, escape)))


def like_any(
    span: Span,
    left: exp.Expression,
    negation: Token | None,
    word: str,
    quantifier: str,
    patterns: tuple[exp.Expression, ...],
) -> exp.Expression:
    """`x LIKE ANY (a, b)` is `x LIKE a OR x LIKE b`; ALL is AND. NOT stands before each LIKE."""
    each = [_negated(span, negation, LIKES[word](this=repeat(left), expression=pattern)) for pattern in patterns]
    whole = balanced(exp.And if quantifier == "ALL" else exp.Or, each)
    return placed(exp.Paren(this=whole), span)


def is_null(span: Span, operand: exp.Expression, negation: Token | None) -> exp.Expression:
    return _negated(span, negation, exp.Is(this=operand, expression=placed(exp.Null(), span)))


def is_true(span: Span, operand: exp.Expression, negation: Token | None) -> exp.Expression:
    return _negated(span, negation, exp.Is(this=operand, expression=placed(exp.Boolean(this=True), span)))


def is_false(span: Span, operand: exp.Expression, negation: Token | None) -> exp.Expression:
    return _negated(span, negation, exp.Is(this=operand, expression=placed(exp.Boolean(this=False), span)))


def is_distinct(span: Span, left: exp.Expression, negation: Token | None, right: exp.Expression) -> exp.Expression:
    kind = exp.NullSafeNEQ if negation is None else exp.NullSafeEQ
    return _compare(span, kind, left, right)


def between(
    span: Span,
    operand: exp.Expression,
    negation: Token | None,
    symmetry: str | None,
    low: exp.Expression,
    high: exp.Expression,
) -> exp.Expression:
    if symmetry == "SYMMETRIC":
        return _negated(span, negation, between_symmetric(span, operand, low, high))
    return _negated(span, negation, exp.Between(this=operand, low=low, high=high))


def in_list(
    span: Span, operand: exp.Expression, negation: Token | None, values: tuple[exp.Expression, ...]
) -> exp.Expression:
    if isinstance(operand, exp.Tuple):
        return _negated(span, negation, find_row(span, operand, values))
    return _negated(span, negation, exp.In(this=operand, expressions=list(values)))


def in_query(span: Span, operand: exp.Expression, negation: Token | None, query: Query) -> exp.Expression:
    return _negated(span, negation, exp.In(this=operand, query=query))


RULES: dict[str, Builder] = {
    "not_": not_,
    "compare": compare,
    "like_predicate": like_predicate,
    "like_any": like_any,
    "quantifier": words,
    "is_null": is_null,
    "is_true": is_true,
    "is_false": is_false,
    "is_distinct": is_distinct,
    "between": between,
    "in_list": in_list,
    "in_query": in_query,
    "comparison": words,
    "like": words,
}
