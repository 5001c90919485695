"""FROM rules -> relations."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from penstock.diagnostics.codes import syntax
from penstock.diagnostics.diagnostic import CompileError
from penstock.diagnostics.source import Span
from penstock.grammar import Token
from penstock.parser.ast import (
    Duration,
    Join,
    JoinKind,
    Name,
    OverClause,
    Query,
    Relation,
    Subquery,
    Table,
    WindowedTable,
    WindowKind,
    Within,
)
from penstock.parser.build.base import Builder, check_chain, duration, name, span_of, token_span

# What stands behind the relation in a call of a window function: the time, then these.
WINDOW_ARGUMENTS = {
    WindowKind.TUMBLE: ("size",),
    WindowKind.HOP: ("slide", "size"),
    WindowKind.CUMULATE: ("step", "size"),
    WindowKind.SESSION: ("gap",),
}


def table(span: Span, token: Token, as_of: exp.Expression | None, alias: Name | None, over: OverClause | None) -> Table:
    return Table(name(span, token), alias, over, as_of, span)


def as_of(span: Span, time: exp.Expression) -> exp.Expression:
    return time


def derived_table(span: Span, query: Query, alias: Name | None, over: OverClause | None) -> Subquery:
    return Subquery(query, alias, over, span)


def windowed_table(span: Span, function: Token, relation: Any, *rest: Any) -> WindowedTable:
    """`TUMBLE(rel, time, size) alias` and its sisters."""
    *arguments, alias = rest
    try:
        kind = WindowKind(function.value.upper())
    except ValueError:
        unknown = syntax.S015.at(token_span(span, function), name=function.value)
        raise CompileError([unknown.with_hint("the functions in FROM are TUMBLE, HOP, CUMULATE and SESSION")]) from None
    names = WINDOW_ARGUMENTS[kind]
    if len(arguments) != 1 + len(names) or not isinstance(relation, Table | Subquery):
        wrong = syntax.S016.at(span, name=kind.value)
        raise CompileError([wrong.with_hint(f"{kind.value}(relation, time, {', '.join(names)})")])
    time, *lengths = arguments
    return WindowedTable(kind, relation, time, tuple(_length(length) for length in lengths), alias, span)


def _length(value: exp.Expression) -> Duration:
    if not isinstance(value, exp.Interval):
        refused = syntax.S014.at(span_of(value), found=span_of(value).text)
        raise CompileError([refused.with_hint("write a fixed length, as in INTERVAL '10' MINUTE")])
    return duration(value)


def relation(span: Span, first: Relation, *joins: tuple[Any, ...]) -> Relation:
    """Joins group to the left."""
    check_chain(span, len(joins) + 1, "joined relations")
    left = first
    for kind, right, within, condition, end in joins:
        left = Join(left, right, kind, within, condition, Span(span.source, first.span.start, end.end))
    return left


def join(
    span: Span, kind: JoinKind | None, right: Relation, within: Within | None, on: exp.Expression | None
) -> tuple[Any, ...]:
    return kind or JoinKind.INNER, right, within, on, span


def join_kind(span: Span, *tokens: Token) -> JoinKind:
    return JoinKind(" ".join(token.value.upper() for token in tokens if token.value.upper() != "OUTER"))


def within(span: Span, before: exp.Interval, after: exp.Interval | None = None) -> Within:
    return Within(duration(before), duration(after or before), span)


RULES: dict[str, Builder] = {
    "relation": relation,
    "join": join,
    "join_kind": join_kind,
    "within": within,
    "table": table,
    "derived_table": derived_table,
    "windowed_table": windowed_table,
    "as_of": as_of,
}
