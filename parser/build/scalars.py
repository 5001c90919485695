"""Scalar rules -> sqlglot nodes, each with `meta["span"]`.

The kinds that occur: Column (also over Star), Dot, Bracket, Star, Identifier, Literal, Boolean, Null, Interval,
Paren, Cast, TryCast, DataType, Neg, BitwiseNot, Not, Add, Sub, Mul, Div, IntDiv, Mod, DPipe, BitwiseAnd, BitwiseOr,
BitwiseXor, EQ, NEQ, LT, LTE, GT, GTE, NullSafeEQ, NullSafeNEQ, And, Or (chains are balanced), Is, Like, ILike,
RegexpLike, Between, In, Exists, Subquery, Case, If, Anonymous (every function call), Distinct, Filter, Where, Window,
Order, Ordered, WindowSpec, Lambda, Var. `a.b` is a Column with a table, every further `.c` a Dot. A typed literal is
a Cast of its string.
"""

from __future__ import annotations

import re
from typing import Any

from sqlglot import exp

from penstock.diagnostics.codes import syntax
from penstock.diagnostics.diagnostic import CompileError
from penstock.diagnostics.source import Span
from penstock.grammar import Token
from penstock.parser.ast import OverClause, Query
from penstock.parser.build.base import (
    Builder,
    balanced,
    check_chain,
    identifier,
    placed,
    sequence,
    span_of,
    token_span,
    words,
)

UNITS = {
    **dict.fromkeys(("MILLISECOND", "MILLISECONDS", "MS"), "MILLISECOND"),
    **dict.fromkeys(("SECOND", "SECONDS", "SEC", "SECS"), "SECOND"),
    **dict.fromkeys(("MINUTE", "MINUTES", "MIN", "MINS"), "MINUTE"),
    **dict.fromkeys(("HOUR", "HOURS"), "HOUR"),
    **dict.fromkeys(("DAY", "DAYS"), "DAY"),
    **dict.fromkeys(("WEEK", "WEEKS"), "WEEK"),
    **dict.fromkeys(("MONTH", "MONTHS"), "MONTH"),
    **dict.fromkeys(("YEAR", "YEARS"), "YEAR"),
}
OPERATORS: dict[str, type[exp.Expression]] = {
    "+": exp.Add,
    "-": exp.Sub,
    "||": exp.DPipe,
    "*": exp.Mul,
    "/": exp.Div,
    "%": exp.Mod,
    "DIV": exp.IntDiv,
    "=": exp.EQ,
    "==": exp.EQ,
    "<>": exp.NEQ,
    "!=": exp.NEQ,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
    "<=>": exp.NullSafeEQ,
    "LIKE": exp.Like,
    "ILIKE": exp.ILike,
    "RLIKE": exp.RegexpLike,
    "REGEXP": exp.RegexpLike,
}


def column(span: Span, token: Token) -> exp.Column:
    return placed(exp.Column(this=identifier(span, token)), span)


def string(span: Span, token: Token) -> exp.Literal:
    return placed(exp.Literal(this=token.value, is_string=True), span)


def number(span: Span, token: Token) -> exp.Literal:
    return placed(exp.Literal(this=token.value, is_string=False), span)


def true(span: Span) -> exp.Boolean:
    return placed(exp.Boolean(this=True), span)


def false(span: Span) -> exp.Boolean:
    return placed(exp.Boolean(this=False), span)


def null(span: Span) -> exp.Null:
    return placed(exp.Null(), span)


def star(span: Span) -> exp.Star:
    return placed(exp.Star(), span)


def date_literal(span: Span, token: Token) -> exp.Cast:
    return _typed_literal(span, token, exp.DType.DATE)


def timestamp_literal(span: Span, token: Token) -> exp.Cast:
    return _typed_literal(span, token, exp.DType.TIMESTAMPTZ)


def _typed_literal(span: Span, token: Token, kind: exp.DType) -> exp.Cast:
    text = string(token_span(span, token), token)
    return placed(exp.Cast(this=text, to=placed(exp.DataType(this=kind, nested=False), span)), span)


def quantity(span: Span, token: Token) -> exp.Literal:
    if not re.fullmatch(r"[+-]?[0-9]{1,18}(\.[0-9]{1,18})?", token.value):
        finding = syntax.S014.at(span, found=span.text)
        raise CompileError([finding.with_hint("write a decimal number, as in INTERVAL '10' SECOND")])
    return placed(exp.Literal(this=token.value, is_string=True), span)


def interval(span: Span, quantity: exp.Literal, unit: exp.Var) -> exp.Interval:
    return placed(exp.Interval(this=quantity, unit=unit), span)


def unit(span: Span, token: Token) -> exp.Var:
    return placed(exp.Var(this=UNITS[token.value.upper()]), span)


def field(span: Span, token: Token) -> Token:
    return token


def access(span: Span, base: exp.Expression, *suffixes: Token | exp.Star | exp.Bracket) -> exp.Expression:
    """`a.b` is a column of a relation or a field of a column; only the planner can tell. It starts as the former."""
    check_chain(span, len(suffixes), "field or element accesses")
    node = base
    for suffix in suffixes:
        if isinstance(suffix, Token):
            end = token_span(span, suffix)
            inner = identifier(span, suffix)
            if isinstance(node, exp.Column) and "table" not in node.args:
                place = span_of(node).to(end)
                node = placed(exp.Column(this=inner, table=node.this), place)
            else:
                node = placed(exp.Dot(this=node, expression=inner), span_of(node).to(end))
        elif isinstance(suffix, exp.Star):
            if not isinstance(node, exp.Column) or "table" in node.args or isinstance(node.this, exp.Star):
                raise CompileError([syntax.S020.at(span_of(suffix))])
            node = placed(exp.Column(this=suffix, table=node.this), span_of(node).to(span_of(suffix)))
        else:
            place = span_of(node).to(span_of(suffix))
            node = placed(exp.Bracket(this=node, expressions=suffix.expressions), place)
    return node


def element(span: Span, index: exp.Expression) -> exp.Bracket:
    """`[index]`, of what is yet to be said."""
    return placed(exp.Bracket(expressions=[index]), span)


def paren(span: Span, inner: exp.Expression) -> exp.Paren:
    return placed(exp.Paren(this=inner), span)


def negative(span: Span, operand: exp.Expression) -> exp.Neg:
    return placed(exp.Neg(this=operand), span)


def positive(span: Span, operand: exp.Expression) -> exp.Expression:
    """A plus sign changes nothing."""
    return operand


def bit_not(span: Span, operand: exp.Expression) -> exp.BitwiseNot:
    return placed(exp.BitwiseNot(this=operand), span)


def arithmetic(span: Span, first: exp.Expression, *rest: str | exp.Expression) -> exp.Expression:
    """Operands with an operator between each two, grouped to the left."""
    operands = rest[1::2]
    check_chain(span, len(operands) + 1, "operands")
    node = first
    for sign, operand in zip(rest[::2], operands, strict=True):
        node = _binary(OPERATORS[str(sign)], node, operand)
    return node


def bit_or(span: Span, *operands: exp.Expression) -> exp.Expression:
    return _left_chain(exp.BitwiseOr, span, operands)


def bit_xor(span: Span, *operands: exp.Expression) -> exp.Expression:
    return _left_chain(exp.BitwiseXor, span, operands)


def bit_and(span: Span, *operands: exp.Expression) -> exp.Expression:
    return _left_chain(exp.BitwiseAnd, span, operands)


def _left_chain(kind: type[exp.Expression], span: Span, operands: tuple[exp.Expression, ...]) -> exp.Expression:
    check_chain(span, len(operands), "operands")
    node = operands[0]
    for operand in operands[1:]:
        node = _binary(kind, node, operand)
    return node


def _binary(kind: type[exp.Expression], left: exp.Expression, right: Any) -> exp.Expression:
    return placed(kind(this=left, expression=right), span_of(left).to(span_of(right)))


def disjunction(span: Span, *operands: exp.Expression) -> exp.Expression:
    return balanced(exp.Or, operands)


def conjunction(span: Span, *operands: exp.Expression) -> exp.Expression:
    return balanced(exp.And, operands)


def not_(span: Span, operand: exp.Expression) -> exp.Not:
    return placed(exp.Not(this=operand), span)


def _negated(span: Span, negation: Token | None, node: exp.Expression) -> exp.Expression:
    placed(node, span)
    return node if negation is None else placed(exp.Not(this=node), span)


def compare(span: Span, left: exp.Expression, sign: str, right: exp.Expression) -> exp.Expression:
    return _binary(OPERATORS[sign], left, right)


def like_predicate(
    span: Span, left: exp.Expression, negation: Token | None, word: str, right: exp.Expression
) -> exp.Expression:
    return _negated(span, negation, OPERATORS[word](this=left, expression=right))


def is_null(span: Span, operand: exp.Expression, negation: Token | None) -> exp.Expression:
    return _negated(span, negation, exp.Is(this=operand, expression=null(span)))


def is_true(span: Span, operand: exp.Expression, negation: Token | None) -> exp.Expression:
    return _negated(span, negation, exp.Is(this=operand, expression=true(span)))


def is_false(span: Span, operand: exp.Expression, negation: Token | None) -> exp.Expression:
    return _negated(span, negation, exp.Is(this=operand, expression=false(span)))


def is_distinct(span: Span, left: exp.Expression, negation: Token | None, right: exp.Expression) -> exp.Expression:
    kind = exp.NullSafeNEQ if negation is None else exp.NullSafeEQ
    return placed(kind(this=left, expression=right), span)


def between(
    span: Span, operand: exp.Expression, negation: Token | None, low: exp.Expression, high: exp.Expression
) -> exp.Expression:
    return _negated(span, negation, exp.Between(this=operand, low=low, high=high))


def in_list(
    span: Span, operand: exp.Expression, negation: Token | None, values: tuple[exp.Expression, ...]
) -> exp.Expression:
    return _negated(span, negation, exp.In(this=operand, expressions=list(values)))


def in_query(span: Span, operand: exp.Expression, negation: Token | None, query: Query) -> exp.Expression:
    return _negated(span, negation, exp.In(this=operand, query=query))


def scalar_query(span: Span, query: Query) -> exp.Subquery:
    return placed(exp.Subquery(this=query), span)


def case(
    span: Span, operand: exp.Expression | None, branches: tuple[exp.If, ...], default: exp.Expression | None
) -> exp.Case:
    return placed(exp.Case(this=operand, ifs=list(branches), default=default), span)


def branch(span: Span, condition: exp.Expression, value: exp.Expression) -> exp.If:
    return placed(exp.If(this=condition, true=value), span)


def call(span: Span, function: Token, *arguments: exp.Expression) -> exp.Anonymous:
    return placed(exp.Anonymous(this=function.value.upper(), expressions=list(arguments)), span)


def call_distinct(span: Span, function: Token, arguments: tuple[exp.Expression, ...]) -> exp.Anonymous:
    place = span_of(arguments[0]).to(span_of(arguments[-1]))
    return call(span, function, placed(exp.Distinct(expressions=list(arguments)), place))


def cast(span: Span, function: Token, value: exp.Expression, type_: exp.DataType) -> exp.Expression:
    match function.value.upper():
        case "CAST":
            return placed(exp.Cast(this=value, to=type_), span)
        case "TRY_CAST":
            return placed(exp.TryCast(this=value, to=type_), span)
        case other:
            refused = syntax.S019.at(span, name=other)
            raise CompileError([refused.with_hint(f"CAST({span_of(value).text} AS {span_of(type_).text})")])


def call_query(span: Span, function: Token, query: Query) -> exp.Exists:
    if function.value.upper() != "EXISTS":
        raise CompileError([syntax.S018.at(query.span, name=function.value.upper())])
    return placed(exp.Exists(this=query), span)


def filter_(span: Span, function: exp.Anonymous, condition: exp.Expression) -> exp.Filter:
    where = placed(exp.Where(this=condition), span_of(condition))
    return placed(exp.Filter(this=function, expression=where), span)


def window(span: Span, function: exp.Expression, over: exp.Identifier | OverClause) -> exp.Window:
    if isinstance(over, exp.Identifier):
        return placed(exp.Window(this=function, alias=over), span)
    order = placed(exp.Order(expressions=list(over.order_by)), over.span) if over.order_by else None
    return placed(exp.Window(this=function, partition_by=list(over.partition_by), order=order, spec=over.frame), span)


def parameters(span: Span, *columns: exp.Expression) -> list[exp.Identifier]:
    for parameter in columns:
        if not isinstance(parameter, exp.Column) or "table" in parameter.args:
            raise CompileError([syntax.S017.at(span_of(parameter))])
    return [parameter.this for parameter in columns]


def lambda_(span: Span, parameters: list[exp.Identifier], body: exp.Expression) -> exp.Lambda:
    return placed(exp.Lambda(this=body, expressions=parameters), span)


RULES: dict[str, Builder] = {
    "expressions": sequence,
    "disjunction": disjunction,
    "conjunction": conjunction,
    "not_": not_,
    "compare": compare,
    "comparison": words,
    "like_predicate": like_predicate,
    "like": words,
    "is_null": is_null,
    "is_true": is_true,
    "is_false": is_false,
    "is_distinct": is_distinct,
    "between": between,
    "in_list": in_list,
    "in_query": in_query,
    "bit_or": bit_or,
    "bit_xor": bit_xor,
    "bit_and": bit_and,
    "sum": arithmetic,
    "sum_operator": words,
    "product": arithmetic,
    "product_operator": words,
    "negative": negative,
    "positive": positive,
    "bit_not": bit_not,
    "access": access,
    "field": field,
    "all_fields": star,
    "element": element,
    "column": column,
    "string": string,
    "number": number,
    "true": true,
    "false": false,
    "null": null,
    "star": star,
    "date_literal": date_literal,
    "timestamp_literal": timestamp_literal,
    "interval": interval,
    "quantity": quantity,
    "unit": unit,
    "paren": paren,
    "scalar_query": scalar_query,
    "case": case,
    "branches": sequence,
    "branch": branch,
    "window": window,
    "window_name": identifier,
    "filter": filter_,
    "call_empty": call,
    "call": call,
    "call_distinct": call_distinct,
    "cast": cast,
    "call_query": call_query,
    "lambda": lambda_,
    "parameters": parameters,
}
