"""Rules of predicates -> sqlglot nodes."""

from __future__ import annotations

import re

from sqlglot import exp

from penstock.diagnostics import CompileError
from penstock.diagnostics.codes import syntax
from penstock.diagnostics.source import Span
from penstock.grammar import Token
from penstock.parser.ast import Query
from penstock.parser.build.base import Builder, balanced, placed, span_of, words
from penstock.parser.build.row_comparisons import compare_rows, find_row, is_row
from penstock.parser.build.standard import between_symmetric, escape_like, make_call, refuse, repeat

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


# Whether all values have to fit.
QUANTIFIERS = {"ANY": False, "SOME": False, "ALL": True}


def compare(span: Span, left: exp.Expression, sign: str, right: exp.Expression) -> exp.Expression:
    if isinstance(right, exp.Anonymous) and right.name.upper() in QUANTIFIERS and len(right.expressions) == 1:
        return _compare_with_each(span, COMPARISONS[sign], left, right)
    return _compare(span, COMPARISONS[sign], left, right)


def _compare_with_each(
    span: Span, kind: type[exp.Expression], left: exp.Expression, quantified: exp.Anonymous
) -> exp.Expression:
    """`x = ANY (array)` and its kin. Over a list or a query, = ANY and <> ALL are IN and NOT IN."""
    is_all, (values,) = QUANTIFIERS[quantified.name.upper()], quantified.expressions
    is_listed = isinstance(values, exp.Anonymous) and values.name.upper() == "ARRAY" and values.expressions
    if (kind, is_all) in ((exp.EQ, False), (exp.NEQ, True)) and (is_listed or isinstance(values, exp.Subquery)):
        query, listed = (values.this, []) if isinstance(values, exp.Subquery) else (None, values.expressions)
        among = exp.In(this=left, query=query) if query is not None else exp.In(this=left, expressions=listed)
        return placed(exp.Not(this=placed(among, span)), span) if is_all else placed(among, span)
    if isinstance(values, exp.Subquery):
        found = syntax.S018.at(span_of(values), name=quantified.name.upper())
        raise CompileError([found.with_hint("compare with MIN or MAX of the values, in a subquery that is joined")])
    if isinstance(values, exp.Literal) and values.is_string and re.fullmatch(r"\{[^{}']*\}", values.this):
        array = f"ARRAY[{values.this[1:-1]}]"
        raise refuse(span_of(values), "a text as an array", "Only PostgreSQL reads it as one.", sql=array)
    name = "value"
    while any(column.name.lower() == name for column in left.find_all(exp.Column)):
        name += "_"
    element = placed(exp.Column(this=exp.to_identifier(name)), span_of(values))
    parameter = placed(exp.to_identifier(name), span_of(values))
    body = placed(kind(this=left, expression=element), span)
    test = placed(exp.Lambda(this=body, expressions=[parameter]), span)
    return make_call(span, "FORALL" if is_all else "EXISTS", values, test)


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


def isnull(span: Span, operand: exp.Expression) -> exp.Expression:
    """`x ISNULL` of PostgreSQL."""
    return is_null(span, operand, None)


def notnull(span: Span, operand: exp.Expression) -> exp.Expression:
    """`x NOTNULL` of PostgreSQL."""
    return placed(exp.Not(this=isnull(span, operand)), span)


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
    "isnull": isnull,
    "notnull": notnull,
    "is_true": is_true,
    "is_false": is_false,
    "is_distinct": is_distinct,
    "between": between,
    "in_list": in_list,
    "in_query": in_query,
    "comparison": words,
    "like": words,
}
