"""Scalar rules -> sqlglot nodes, each with `meta["span"]`.

Chains of And and Or are balanced. Every function call is Anonymous. `a.b` is a Column with a table, every further `.c`
a Dot. A typed literal is a Cast of its string. The kinds that occur:
    Column (also over Star), Dot, Bracket, Star, Identifier, Literal, Boolean, Null, Interval, Paren, Cast, TryCast,
    DataType, Neg, BitwiseNot, Not, Add, Sub, Mul, Div, IntDiv, Mod, DPipe, BitwiseAnd, BitwiseOr, BitwiseXor, EQ, NEQ,
    LT, LTE, GT, GTE, NullSafeEQ, NullSafeNEQ, And, Or, Is, Like, ILike, RegexpLike, Between, In, Exists, Subquery,
    Case, If, Anonymous, Distinct, WithinGroup, Filter, Where, Window, Order, Ordered, WindowSpec, Lambda, Var
"""

from __future__ import annotations

import re
from typing import Any

from sqlglot import exp

from penstock.diagnostics.codes import syntax
from penstock.diagnostics.diagnostic import CompileError
from penstock.diagnostics.source import Span
from penstock.grammar import Token
from penstock.parser.ast import OverClause, Query, is_star
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
from penstock.parser.build.intervals import read_interval
from penstock.parser.build.named_values import TYPE, name_arguments, name_fields
from penstock.parser.build.percentiles import refuse_computed
from penstock.parser.build.predicates import QUANTIFIERS
from penstock.parser.build.standard import check_cast, make_call, refuse, refuse_pattern, unpair
from penstock.parser.build.windows import EXTENDS, ExtendedWindow

OPERATORS: dict[str, type[exp.Expression]] = {
    "+": exp.Add,
    "-": exp.Sub,
    "||": exp.DPipe,
    "*": exp.Mul,
    "/": exp.Div,
    "%": exp.Mod,
    "DIV": exp.IntDiv,
}


NUMBER_TYPES = {
    "L": exp.DType.BIGINT,
    "S": exp.DType.SMALLINT,
    "Y": exp.DType.TINYINT,
    "D": exp.DType.DOUBLE,
    "F": exp.DType.FLOAT,
    "BD": exp.DType.DECIMAL,
}


def column(span: Span, token: Token) -> exp.Column:
    return placed(exp.Column(this=identifier(span, token)), span)


def string(span: Span, token: Token) -> exp.Literal:
    return placed(exp.Literal(this=token.value, is_string=True), span)


def number(span: Span, token: Token) -> exp.Literal:
    return placed(exp.Literal(this=token.value, is_string=False), span)


def typed_number(span: Span, token: Token) -> exp.Cast:
    """A number with the type at its end: `1L`, `2S`, `3Y`, `1.5D`, `1.5F` and `1.5BD`."""
    suffix = "BD" if token.value[-2:].upper() == "BD" else token.value[-1].upper()
    digits = token.value.removesuffix(token.value[-len(suffix) :])
    literal = placed(exp.Literal(this=digits, is_string=False), span)
    kind = placed(exp.DataType(this=NUMBER_TYPES[suffix], nested=False), span)
    if suffix == "BD":
        whole, _, fraction = digits.partition(".")
        sizes = (max(len((whole + fraction).lstrip("0")), len(fraction), 1), len(fraction))
        for size in sizes:
            number_ = placed(exp.Literal(this=str(size), is_string=False), span)
            kind.append("expressions", placed(exp.DataTypeParam(this=number_), span))
    typed = placed(exp.Cast(this=literal, to=kind), span)
    typed.meta["typed_number"] = True
    return typed


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


def time_literal(span: Span, token: Token) -> exp.Cast:
    return _typed_literal(span, token, exp.DType.TIME)


def hex_literal(span: Span, token: Token) -> exp.Anonymous:
    """`X'1F'`, which is UNHEX('1F')."""
    if not re.fullmatch("([0-9A-Fa-f]{2})*", token.value):
        refused = syntax.S026.at(span, "", construct="X of anything but pairs of hexadecimal digits")
        raise CompileError([refused.with_sql("X'1F'")])
    return placed(exp.Anonymous(this="UNHEX", expressions=[string(token_span(span, token), token)]), span)


def _typed_literal(span: Span, token: Token, kind: exp.DType) -> exp.Cast:
    text = string(token_span(span, token), token)
    return placed(exp.Cast(this=text, to=placed(exp.DataType(this=kind, nested=False), span)), span)


def field(span: Span, token: Token) -> Token:
    return token


def as_type(span: Span, type_: exp.DataType) -> exp.DataType:
    return placed(type_, span)


def at_time_zone(span: Span, token: Token) -> exp.AtTimeZone:
    """`AT TIME ZONE 'zone'`, of what is yet to be said."""
    return placed(exp.AtTimeZone(zone=string(token_span(span, token), token)), span)


def access(span: Span, base: exp.Expression, *suffixes: Token | exp.Expression) -> exp.Expression:
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
            if is_star(node):
                raise CompileError([syntax.S020.at(span_of(suffix))])
            is_name = isinstance(node, exp.Column) and "table" not in node.args
            star_of = exp.Column(this=suffix, table=node.this) if is_name else exp.Dot(this=node, expression=suffix)
            node = placed(star_of, span_of(node).to(span_of(suffix)))
        elif isinstance(suffix, exp.DataType) and suffix.this == exp.DType.INTERVAL:
            node = read_interval(span_of(node).to(span_of(suffix)), node, span_of(suffix))
        elif isinstance(suffix, exp.DataType):
            check_cast(node, suffix)
            node = placed(exp.Cast(this=node, to=suffix), span_of(node).to(span_of(suffix)))
        elif isinstance(suffix, exp.AtTimeZone):
            zone = span_of(suffix.args["zone"]).text
            reason = "It means what clocks there show for some types, and the time when they show it for others."
            form = f"FROM_UTC_TIMESTAMP({span_of(node).text}, {zone})"
            raise refuse(span_of(node).to(span_of(suffix)), "AT TIME ZONE", reason, sql=form)
        else:
            place = span_of(node).to(span_of(suffix))
            node = placed(exp.Bracket(this=node, expressions=suffix.expressions), place)
    return node


def element(span: Span, index: exp.Expression) -> exp.Bracket:
    """`[index]`, of what is yet to be said."""
    return placed(exp.Bracket(expressions=[index]), span)


def paren(span: Span, inner: exp.Expression) -> exp.Paren:
    return placed(exp.Paren(this=inner), span)


def negative(span: Span, operand: exp.Expression) -> exp.Expression:
    if operand.meta.get("typed_number"):  # -128Y has a TINYINT, and 128Y has none
        number_ = placed(exp.Neg(this=operand.this), span)
        return placed(exp.Cast(this=number_, to=operand.args["to"]), span)
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


def scalar_query(span: Span, query: Query) -> exp.Subquery:
    return placed(exp.Subquery(this=query), span)


def case(
    span: Span, operand: exp.Expression | None, branches: tuple[exp.If, ...], default: exp.Expression | None
) -> exp.Case:
    return placed(exp.Case(this=operand, ifs=list(branches), default=default), span)


def branch(span: Span, condition: exp.Expression, value: exp.Expression) -> exp.If:
    return placed(exp.If(this=condition, true=value), span)


def call(span: Span, function: Token, *arguments: exp.Expression) -> exp.Expression:
    name = function.value.upper()
    if any(isinstance(each, exp.Alias) for each in arguments):
        if name == "CAST" and len(arguments) == 1 and arguments[0].alias.upper() == "INTERVAL":
            return read_interval(span, arguments[0].this, span_of(arguments[0].args["alias"]))
        if name in ("CAST", "TRY_CAST") and len(arguments) == 1:
            return cast(span, function, arguments[0].this, arguments[0].meta[TYPE]())
        return name_fields(span, name, arguments)
    if any(isinstance(each, exp.Lambda) for each in arguments):
        arguments = name_arguments(span, name, arguments)
    if any(isinstance(each, exp.PropertyEQ) for each in arguments):
        return unpair(span, name, arguments)
    if name == "POSITION" and len(arguments) == 1 and isinstance(arguments[0], exp.In):
        found = arguments[0]  # POSITION(a IN (b)) reads as a list of one
        if len(found.expressions) == 1:
            return make_call(span, name, found.this, found.expressions[0])
    if name in ("SUBSTRING", "SUBSTR") and len(arguments) == 2:
        refuse_pattern(span, arguments[0], arguments[1])
    return make_call(span, name, *arguments)


def call_distinct(
    span: Span, function: Token, arguments: tuple[exp.Expression, ...], order: tuple[exp.Ordered, ...] | None
) -> exp.Expression:
    place = span_of(arguments[0]).to(span_of(arguments[-1]))
    made = call(span, function, placed(exp.Distinct(expressions=list(arguments)), place))
    return made if order is None else within_group(span, made, order)


def call_ordered(span: Span, function: Token, *parts: Any) -> exp.WithinGroup:
    """`ARRAY_AGG(x ORDER BY y)`, the same as `ARRAY_AGG(x) WITHIN GROUP (ORDER BY y)`."""
    *arguments, order = parts
    return within_group(span, call(span, function, *arguments), order)


def within_group(span: Span, function: exp.Expression, order: tuple[exp.Ordered, ...]) -> exp.WithinGroup:
    place = span_of(order[0]).to(span_of(order[-1]))
    return placed(exp.WithinGroup(this=function, expression=placed(exp.Order(expressions=list(order)), place)), span)


def cast(span: Span, function: Token, value: exp.Expression, type_: exp.DataType) -> exp.Expression:
    check_cast(value, type_)
    kind = {"CAST": exp.Cast, "TRY_CAST": exp.TryCast}.get(function.value.upper())
    if kind is None:
        refused = syntax.S019.at(span, name=function.value.upper())
        raise CompileError([refused.with_sql(f"CAST({span_of(value).text} AS {span_of(type_).text})")])
    return placed(kind(this=value, to=type_), span)


def call_query(span: Span, function: Token, query: Query) -> exp.Expression:
    if function.value.upper() in QUANTIFIERS:
        return make_call(span, function.value.upper(), placed(exp.Subquery(this=query), query.span))
    if function.value.upper() != "EXISTS":
        found = syntax.S018.at(query.span, name=function.value.upper())
        raise CompileError([found.with_hint("COLLECT_LIST(value) and GROUP BY in a subquery that is joined")])
    return placed(exp.Exists(this=query), span)


def filter_(span: Span, function: exp.Expression, condition: exp.Expression) -> exp.Filter:
    refuse_computed(span, function, "FILTER")
    where = placed(exp.Where(this=condition), span_of(condition))
    return placed(exp.Filter(this=function, expression=where), span)


def window(span: Span, function: exp.Expression, over: exp.Identifier | OverClause | ExtendedWindow) -> exp.Window:
    refuse_computed(span, function, "OVER")
    if isinstance(over, ExtendedWindow):
        call = placed(exp.Window(this=function, alias=over.base), span)
        if over.over.order_by or over.over.frame is not None:
            call.meta[EXTENDS] = over.over
        return call
    if isinstance(over, exp.Identifier):
        return placed(exp.Window(this=function, alias=over), span)
    order = placed(exp.Order(expressions=list(over.order_by)), over.span) if over.order_by else None
    return placed(exp.Window(this=function, partition_by=list(over.partition_by), order=order, spec=over.frame), span)


def lambda_(span: Span, written: Token | exp.Tuple | exp.Paren, body: exp.Expression) -> exp.Lambda:
    if isinstance(body, exp.Alias):
        raise refuse(span_of(body), "AS inside of a lambda", None, "NAMED_STRUCT('a', x)")
    if isinstance(written, Token):
        return placed(exp.Lambda(this=body, expressions=[identifier(span, written)]), span)
    parameters = [written.this] if isinstance(written, exp.Paren) else written.expressions
    for parameter in parameters:
        if not isinstance(parameter, exp.Column) or "table" in parameter.args:
            raise CompileError([syntax.S017.at(span_of(parameter))])
    return placed(exp.Lambda(this=body, expressions=[each.this for each in parameters]), span)


RULES: dict[str, Builder] = {
    "expressions": sequence,
    "disjunction": disjunction,
    "conjunction": conjunction,
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
    "as_type": as_type,
    "at_time_zone": at_time_zone,
    "place": access,
    "all_fields": star,
    "element": element,
    "column": column,
    "string": string,
    "number": number,
    "hex_literal": hex_literal,
    "typed_number": typed_number,
    "true": true,
    "false": false,
    "null": null,
    "star": star,
    "date_literal": date_literal,
    "timestamp_literal": timestamp_literal,
    "time_literal": time_literal,
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
    "call_ordered": call_ordered,
    "within_group": within_group,
    "cast": cast,
    "call_query": call_query,
    "lambda": lambda_,
}
