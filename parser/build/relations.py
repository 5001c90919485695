"""FROM rules -> relations."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import msgspec
from msgspec.structs import replace
from sqlglot import exp

from penstock.diagnostics import nearest
from penstock.diagnostics.codes import syntax
from penstock.diagnostics.codes.building import B002
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
    UnnestedTable,
    Unnesting,
    WindowedTable,
    WindowKind,
    Within,
)
from penstock.parser.ast.intervals import write_interval
from penstock.parser.build.base import (
    Builder,
    check_chain,
    duration,
    flag,
    identifier,
    name,
    placed,
    span_of,
    token_span,
)
from penstock.parser.build.standard import enclose, make_call, repeat
from penstock.parser.build.windows import refuse_extended

# What stands behind the relation in a call of a window function: the time, then these.
WINDOW_ARGUMENTS = {
    WindowKind.TUMBLE: ("size",),
    WindowKind.HOP: ("slide", "size"),
    WindowKind.CUMULATE: ("step", "size"),
    WindowKind.SESSION: ("gap",),
}


def table(
    span: Span,
    token: Token,
    as_of: exp.Expression | None,
    alias: Name | None,
    columns: tuple[Name, ...] | None,
    over: OverClause | None,
) -> Table:
    return Table(name(span, token), alias, refuse_extended(over), as_of, span, columns or ())


def as_of(span: Span, time: exp.Expression) -> exp.Expression:
    return time


def derived_table(
    span: Span, query: Query, alias: Name | None, columns: tuple[Name, ...] | None, over: OverClause | None
) -> Subquery:
    return Subquery(query, alias, columns or (), refuse_extended(over), span)


def windowed_table(span: Span, call: WindowedTable, alias: Name | None) -> WindowedTable:
    return replace(call, alias=alias, span=span)


def windowed_call(span: Span, function: Token, *arguments: Any) -> WindowedTable:
    """`TUMBLE(rel, time, size)` and its sisters, also with the names of Flink's arguments."""
    try:
        kind = WindowKind(function.value.upper())
    except ValueError:
        unknown = syntax.S015.at(token_span(span, function), name=function.value)
        known = "the functions in FROM are TUMBLE, HOP, CUMULATE and SESSION"
        guess = nearest(function.value, WindowKind.__members__)
        raise CompileError([unknown.with_guess(guess, otherwise=known)]) from None
    names = WINDOW_ARGUMENTS[kind]
    given = _take_offset(span, kind, _order_arguments(kind, arguments))
    is_marked = isinstance(given[0], TableArgument)
    relation, keys = (given[0].table, given[0].keys) if isinstance(given[0], TableArgument) else (given[0], None)
    if len(given) != 2 + len(names) or not isinstance(relation, Table | Subquery) or any(e is None for e in given):
        wrong = syntax.S016.at(span, name=kind.value)
        raise CompileError([wrong.with_hint(f"{kind.value}(relation, time, {', '.join(names)})")])
    if keys and kind is not WindowKind.SESSION:
        wrong = syntax.S016.at(span, name=kind.value).because("Only sessions depend on a key.")
        raise CompileError([wrong.with_hint("leave PARTITION BY out, and GROUP BY the key")])
    time, *lengths = given[1:]
    described, durations = _unwrap_descriptor(time), tuple(_length(length) for length in lengths)
    said = kind is WindowKind.SESSION and is_marked
    return WindowedTable(kind, relation, described, durations, (keys or ()) if said else None, None, span)


def _take_offset(span: Span, kind: WindowKind, given: list[Any]) -> list[Any]:
    """The arguments without the offset of Flink, which has to be nothing. Raises CompileError."""
    if kind is WindowKind.SESSION or len(given) != 3 + len(WINDOW_ARGUMENTS[kind]) or None in given:
        return given
    *rest, offset = given
    if not isinstance(offset, exp.Interval):
        return given
    if not Decimal(offset.this.name):
        return rest
    relation, *others = rest
    name = f"TABLE {relation.table.name.text}" if isinstance(relation, TableArgument) else relation.span.text
    shown = ", ".join([name, *(span_of(each).text for each in others)])
    found = syntax.S026.at(span_of(offset), construct=f"an offset of {kind.value}")
    reason = "Windows begin at multiples of their length since 1970, in UTC."
    raise CompileError([found.because(reason).with_sql(f"{kind.value}({shown})", span)])


def _order_arguments(kind: WindowKind, arguments: Sequence[Any]) -> list[Any]:
    """The arguments in their order. One that has a name but no place, or is left out or given twice, gives None."""
    if not isinstance(arguments[0], NamedArgument):
        return list(arguments)
    names = ["DATA", "TIMECOL", *(name.upper() for name in WINDOW_ARGUMENTS[kind])]
    if any(argument.name == "OFFSET" for argument in arguments):
        names.append("OFFSET")
    given = {argument.name: argument.value for argument in arguments}
    ordered = [given.pop(name, None) for name in names]
    return ordered + [None] * (len(arguments) - sum(each is not None for each in ordered))


def _unwrap_descriptor(time: exp.Expression) -> exp.Expression:
    """The column of `DESCRIPTOR(column)`; another expression is left as it is."""
    if isinstance(time, exp.Anonymous) and time.this == "DESCRIPTOR" and len(time.expressions) == 1:
        column: exp.Expression = time.expressions[0]
        return column
    return time


class TableArgument(msgspec.Struct, frozen=True):
    """`TABLE name [PARTITION BY keys]`."""

    table: Table
    keys: tuple[exp.Expression, ...] | None


class NamedArgument(msgspec.Struct, frozen=True):
    """`NAME => value`."""

    name: str
    value: exp.Expression | TableArgument


def table_argument(span: Span, token: Token, keys: tuple[exp.Expression, ...] | None) -> TableArgument:
    return TableArgument(Table(name(span, token), None, None, None, token_span(span, token)), keys)


def session_keys(span: Span, *tokens: Token) -> tuple[exp.Expression, ...]:
    places = [token_span(span, token) for token in tokens]
    pairs = zip(tokens, places, strict=True)
    return tuple(placed(exp.Column(this=identifier(span, token)), at) for token, at in pairs)


def named_argument(span: Span, token: Token, value: exp.Expression | TableArgument) -> NamedArgument:
    return NamedArgument(token.value.upper(), value)


def _length(value: exp.Expression) -> Duration:
    if not isinstance(value, exp.Interval):
        refused = syntax.S014.at(span_of(value), found=span_of(value).text)
        written = write_interval(str(value.this)) if isinstance(value, exp.Literal) and value.is_string else None
        raise CompileError([refused.with_sql(written, otherwise="write a fixed length, as in INTERVAL '10' MINUTE")])
    return duration(value)


def relation(span: Span, first: Relation, *joins: JoinPart) -> Relation:
    """Joins group to the left."""
    check_chain(span, len(joins) + 1, "joined relations")
    left = first
    if joins:
        refuse_asof(first if len(joins) == 1 else joins[-2].right)
    for part in joins:
        on = None if isinstance(part.condition, tuple) else part.condition
        using = part.condition if isinstance(part.condition, tuple) else ()
        place = Span(span.source, first.span.start, part.span.end)
        left = Join(left, part.right, part.kind, part.within, on, using, part.natural, place)
    return left


class JoinPart(msgspec.Struct, frozen=True):
    """A join without its left side. `condition` is the condition of ON, or the columns of USING."""

    kind: JoinKind
    right: Relation
    span: Span
    within: Within | None = None
    condition: exp.Expression | tuple[Name, ...] | None = None
    natural: bool = False


def join(
    span: Span,
    kind: JoinKind | None,
    right: Relation,
    within: Within | None,
    condition: exp.Expression | tuple[Name, ...] | None,
) -> JoinPart:
    is_outer = kind is JoinKind.LEFT and within is None
    if is_outer and isinstance(right, UnnestedTable) and right.function is not Unnesting.UNNEST:
        # LATERAL VIEW OUTER says the same.
        condition = None if isinstance(condition, exp.Boolean) and condition.this else condition
    return JoinPart(kind or JoinKind.INNER, right, span, within, condition)


def refuse_asof(left: Relation) -> None:
    """Raises CompileError for ASOF JOIN, whose first word was read as an alias."""
    alias: Name | None = getattr(left, "alias", None)
    if alias is not None and alias.span.text.upper() == "ASOF":
        hint = "JOIN t FOR SYSTEM_TIME AS OF o.time ON the key looks up the row of that time"
        raise CompileError([B002.at(alias.span, "", construct="ASOF JOIN").with_hint(hint)])


def cross_join(span: Span, right: Relation) -> JoinPart:
    return JoinPart(JoinKind.INNER, right, span)


def natural_join(span: Span, kind: JoinKind | None, right: Relation) -> JoinPart:
    return JoinPart(kind or JoinKind.INNER, right, span, natural=True)


def unnest(
    span: Span, value: exp.Expression, ordinality: bool | None, alias: Name | None, columns: tuple[Name, ...] | None
) -> UnnestedTable:
    return UnnestedTable(Unnesting.UNNEST, value, bool(ordinality), alias, columns or (), span)


def series(
    span: Span,
    function: Token,
    start: exp.Expression,
    stop: exp.Expression,
    ordinality: bool | None,
    alias: Name | None,
    columns: tuple[Name, ...] | None,
) -> UnnestedTable:
    """`GENERATE_SERIES(1, stop)` of PostgreSQL. It is empty where the numbers would fall, which SEQUENCE lets them."""
    if function.value.upper() != "GENERATE_SERIES":
        unknown = syntax.S015.at(token_span(span, function), name=function.value)
        raise CompileError([unknown.with_hint("GENERATE_SERIES(1, 10)")])
    place = span_of(stop)
    rises = placed(exp.GTE(this=enclose(stop), expression=start), place)
    numbers = make_call(place, "SEQUENCE", repeat(start), repeat(stop))
    value = placed(exp.Case(ifs=[placed(exp.If(this=rises, true=numbers), place)]), place)
    alias = alias or Name(function.value.lower(), token_span(span, function))
    if columns is None and not ordinality:  # the relation has the name of its column, too
        columns = (alias,)
    return UnnestedTable(Unnesting.UNNEST, value, bool(ordinality), alias, columns or (), span)


def lateral_call(
    span: Span,
    function: Token,
    arguments: tuple[exp.Expression, ...],
    ordinality: bool | None,
    alias: Name | None,
    columns: tuple[Name, ...] | None,
) -> UnnestedTable:
    """`LATERAL EXPLODE(value) AS t(e)` of Spark, `LATERAL GENERATE_SERIES(1, n)` of PostgreSQL."""
    word, place = function.value.upper(), token_span(span, function)
    if word == "GENERATE_SERIES" and len(arguments) == 2:
        return series(span, function, *arguments, ordinality, alias, columns)
    if word == "TABLE":
        found = syntax.S026.at(place.to(span), construct="a function that gives a table")
        hint = "CROSS JOIN UNNEST(array), or JOIN t FOR SYSTEM_TIME AS OF time for the rows of a table at a time"
        raise CompileError([found.because("Queries call no functions of their own.").with_hint(hint)])
    value, shown = arguments[0], span_of(arguments[0]).text
    if word.endswith("_OUTER") and word.removesuffix("_OUTER") in _GENERATORS:
        found = syntax.S015.at(place, name=function.value)
        raise CompileError([found.with_hint(f"LEFT JOIN LATERAL {word.removesuffix('_OUTER')}({shown}) AS t ON TRUE")])
    if word not in _GENERATORS or len(arguments) > 1 or ordinality:
        unknown = syntax.S015.at(place, name=function.value)
        raise CompileError([unknown.with_hint("LATERAL takes EXPLODE, POSEXPLODE, INLINE and GENERATE_SERIES")])
    return UnnestedTable(Unnesting(word), value, False, alias, columns or (), span)


_GENERATORS = {each.value for each in Unnesting if each is not Unnesting.UNNEST}


def lateral_view(
    span: Span, outer: Token | None, function: Token, value: exp.Expression, alias: Token | None, *columns: Token | None
) -> JoinPart:
    """`LATERAL VIEW [OUTER] EXPLODE(value) t AS e`, also of the functions whose names end in _OUTER."""
    word = function.value.upper().removesuffix("_OUTER")
    if word not in _GENERATORS:
        unknown = syntax.S015.at(token_span(span, function), name=function.value)
        raise CompileError([unknown.with_hint("LATERAL VIEW takes EXPLODE, POSEXPLODE and INLINE")])
    names = tuple(name(span, each) for each in columns if each is not None)
    right = UnnestedTable(Unnesting(word), value, False, None if alias is None else name(span, alias), names, span)
    is_outer = outer is not None or word != function.value.upper()
    return JoinPart(JoinKind.LEFT if is_outer else JoinKind.INNER, right, span)


def using(span: Span, columns: tuple[Name, ...]) -> tuple[Name, ...]:
    return columns


def join_kind(span: Span, *tokens: Token) -> JoinKind:
    """Spark's SEMI and ANTI are LEFT SEMI and LEFT ANTI."""
    words = " ".join(token.value.upper() for token in tokens if token.value.upper() != "OUTER")
    return JoinKind(f"LEFT {words}" if words in ("SEMI", "ANTI") else words)


def within(span: Span, before: exp.Interval, *rest: exp.Interval | Duration | None) -> Within:
    """One length for both directions, or two. The last part is the grace period."""
    *after, grace = rest
    lengths = [before, *(each for each in after if isinstance(each, exp.Interval))]
    return Within(duration(before), duration(lengths[-1]), grace if isinstance(grace, Duration) else None, span)


def grace_period(span: Span, length: exp.Interval) -> Duration:
    return duration(length)


RULES: dict[str, Builder] = {
    "relation": relation,
    "join": join,
    "join_kind": join_kind,
    "within": within,
    "table": table,
    "derived_table": derived_table,
    "windowed_table": windowed_table,
    "windowed_call": windowed_call,
    "table_argument": table_argument,
    "session_keys": session_keys,
    "named_argument": named_argument,
    "unnest": unnest,
    "series": series,
    "with_ordinality": flag,
    "lateral_view": lateral_view,
    "lateral_call": lateral_call,
    "cross_join": cross_join,
    "natural_join": natural_join,
    "using": using,
    "grace_period": grace_period,
    "as_of": as_of,
}
