"""Query rules -> Select and its clauses. What puts queries together stands in sets.py."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

from sqlglot import exp

from penstock.diagnostics.codes import syntax
from penstock.diagnostics.codes.building import B002
from penstock.diagnostics.codes.event_time import W005
from penstock.diagnostics.diagnostic import CompileError
from penstock.diagnostics.source import Span
from penstock.grammar import Token
from penstock.parser.ast import (
    EVENT_TIME,
    Deduplicate,
    Duration,
    EmitChanges,
    EmitEarly,
    EmitFinal,
    Item,
    Late,
    Limit,
    NamedWindow,
    NoTable,
    OrderBy,
    PartitionBy,
    Relation,
    Select,
    parse_count,
)
from penstock.parser.build.base import (
    Builder,
    duration,
    flag,
    name,
    placed,
    sequence,
    span_of,
    token_span,
    words,
)
from penstock.parser.build.grouping import spread_keys
from penstock.parser.build.windows import extend_windows


class _Clause(NamedTuple):
    """A clause of a SELECT: the field of `Select` that it sets, and the value."""

    field: str
    value: Any
    span: Span


# The clauses of a SELECT in their required order, with their names in errors.
CLAUSES = {
    "group_window": "WINDOW (SIZE)",
    "where": "WHERE",
    "deduplicate": "DEDUPLICATE",
    "group_by": "GROUP BY",
    "having": "HAVING",
    "windows": "WINDOW",
    "qualify": "QUALIFY",
    "partition_by": "PARTITION BY",
    "emit": "EMIT",
    "grace": "GRACE PERIOD",
    "retention": "RETENTION",
    "late": "LATE",
    "order_by": "ORDER BY",
    "limit": "LIMIT",
    "offset": "OFFSET",
}
_ORDER = list(CLAUSES)


class _DistinctOn(NamedTuple):
    """DISTINCT ON, which is refused when the ORDER BY is known."""

    keys: tuple[exp.Expression, ...]
    span: Span


def select(
    span: Span,
    stream: Token | None,
    distinct: bool | _DistinctOn | None,
    items: tuple[Item, ...],
    relation: Relation,
    clauses: tuple[_Clause, ...] = (),
) -> Select:
    for before, after in pairwise(clauses):
        if any(after.field == other.field for other in clauses if other.span.start < after.span.start):
            raise CompileError([syntax.S012.at(after.span, clause=CLAUSES[after.field])])
        is_swapped = _ORDER.index(after.field) < _ORDER.index(before.field)
        if is_swapped and (before.field, after.field) != ("offset", "limit"):
            names = {"clause": CLAUSES[after.field], "other": CLAUSES[before.field]}
            misplaced = syntax.S013.at(after.span, **names).also(before.span, "it belongs in front of this")
            raise CompileError([misplaced.with_hint(f"the order is {', '.join(CLAUSES.values())}")])
    given = {clause.field: clause.value for clause in clauses}
    if isinstance(distinct, _DistinctOn):
        raise _refuse_distinct_on(distinct, given.get("order_by"))
    if named := given.get("windows"):
        given["windows"] = extend_windows(named, items, given.get("qualify"))
    window = given.pop("group_window", None)
    if isinstance(window, GroupWindow):
        given = add_group_window(given, window)
    return Select(
        stream=stream is not None,
        distinct=bool(distinct),
        items=items,
        relation=relation,
        where=given.get("where"),
        deduplicate=given.get("deduplicate"),
        group_by=given.get("group_by", ()),
        having=given.get("having"),
        windows=given.get("windows", ()),
        qualify=given.get("qualify"),
        partition_by=given.get("partition_by"),
        emit=given.get("emit"),
        grace=given.get("grace"),
        retention=given.get("retention"),
        late=given.get("late"),
        order_by=given.get("order_by"),
        limit=join_limit(given.get("limit"), given.get("offset")),
        span=span,
    )


def select_alone(
    span: Span, stream: Token | None, distinct: bool | _DistinctOn | None, items: tuple[Item, ...]
) -> Select:
    """A SELECT without FROM."""
    return select(span, stream, distinct, items, NoTable(span))


def all_rows(span: Span) -> bool:
    """SELECT ALL, which says what is so without it."""
    return False


def distinct_on(span: Span, keys: tuple[exp.Expression, ...]) -> _DistinctOn:
    return _DistinctOn(keys, span)


def _refuse_distinct_on(distinct: _DistinctOn, order: OrderBy | None) -> CompileError:
    """The order behind the keys decides which row stays."""
    texts = [span_of(key).text for key in distinct.keys]
    rest = [each for each in (order.keys if order else ()) if span_of(each.this).text not in texts]
    shown = ", ".join(texts)
    by = ", ".join(span_of(each).text for each in rest) or texts[0]
    ranked = f"QUALIFY ROW_NUMBER() OVER (PARTITION BY {shown} ORDER BY {by}) = 1 of a table"
    kept = f"DEDUPLICATE ON ({shown}) WITHIN 1 DAY of a stream"
    if rest and rest[0].args.get("desc"):
        kept = f"GROUP BY {shown} of a stream, with MAX_BY(value, {span_of(rest[0].this).text}) for each other column"
    refused = B002.at(distinct.span, "", construct="DISTINCT ON")
    return CompileError([refused.with_hint(f"{kept}; {ranked}")])


def join_limit(limit: Limit | None, offset: Limit | None) -> Limit | None:
    """LIMIT and OFFSET as one."""
    if offset is None or not offset.skipped:
        return limit
    if limit is None:
        return offset
    return Limit(limit.count, offset.skipped, limit.span.to(offset.span))


def where(span: Span, condition: exp.Expression) -> _Clause:
    return _Clause("where", condition, span)


def deduplicate(span: Span, keys: tuple[exp.Expression, ...], within: exp.Interval) -> _Clause:
    return _Clause("deduplicate", Deduplicate(keys, duration(within), span), span)


def group_by(span: Span, *keys: exp.Expression) -> _Clause:
    return _Clause("group_by", spread_keys(keys), span)


def group_by_with(span: Span, *parts: Any) -> _Clause:
    """`GROUP BY a, b WITH ROLLUP`, which is GROUP BY ROLLUP (a, b)."""
    *keys, kind = parts
    return _Clause("group_by", (placed(exp.Anonymous(this=kind, expressions=keys), span),), span)


def group_by_sets(span: Span, *parts: exp.Expression) -> _Clause:
    """`GROUP BY a, b GROUPING SETS ((a), (b))`: the sets have the keys in front."""
    return _Clause("group_by", parts[-1:], span)


def group_by_all(span: Span) -> _Clause:
    return _Clause("group_by", (placed(exp.Var(this="ALL"), span),), span)


def add_group_window(given: dict[str, Any], window: GroupWindow) -> dict[str, Any]:
    """The clauses with a window as the last key of GROUP BY, ALL included; raises CompileError."""
    if "group_by" not in given:
        missing = W005.at(window.span, "", clause="WINDOW", needed="GROUP BY")
        raise CompileError([missing.with_hint("GROUP BY a key too; a window groups rows")])
    for field in ("grace", "retention"):
        if field in window.clauses and field in given:
            raise CompileError([syntax.S012.at(given[field].span, clause=CLAUSES[field])])
    return {**given, **window.clauses, "group_by": (*given["group_by"], window.call)}


class GroupWindow(NamedTuple):
    """`WINDOW TUMBLING (SIZE …)`, as a call for GROUP BY, and the clauses that stand inside of it."""

    call: exp.Anonymous
    clauses: dict[str, Duration]
    span: Span


# For each kind of window in ksqlDB: the function that it is, and the lengths that it takes, in their order.
GROUP_WINDOWS = {
    "TUMBLING": ("TUMBLE", ("size",)),
    "HOPPING": ("HOP", ("advance", "size")),
    "SESSION": ("SESSION", ("gap",)),
}


def group_window(span: Span, kind: str, *parts: _Clause) -> _Clause:
    """KsqlDB's window, over the event time."""
    function, wanted = GROUP_WINDOWS[kind]
    given = {part.field: part.value for part in parts}
    lengths = [given.pop(field, None) for field in wanted]
    twice = len(parts) > len({part.field for part in parts})
    if twice or None in lengths or not given.keys() <= {"grace", "retention"}:
        wrong = syntax.S016.at(span, name=f"WINDOW {kind}")
        raise CompileError([wrong.with_hint(_GROUP_WINDOW_EXAMPLES[kind])])
    time = placed(exp.Column(this=placed(exp.Identifier(this=EVENT_TIME, quoted=False), span)), span)
    call = placed(exp.Anonymous(this=function, expressions=[time, *lengths]), span)
    return _Clause("group_window", GroupWindow(call, given, span), span)


_GROUP_WINDOW_EXAMPLES = {
    "TUMBLING": "WINDOW TUMBLING (SIZE 1 HOUR, GRACE PERIOD 10 MINUTES)",
    "HOPPING": "WINDOW HOPPING (SIZE 1 HOUR, ADVANCE BY 10 MINUTES, GRACE PERIOD 10 MINUTES)",
    "SESSION": "WINDOW SESSION (30 MINUTES, GRACE PERIOD 10 MINUTES)",
}


def window_size(span: Span, length: exp.Interval) -> _Clause:
    return _Clause("size", length, span)


def window_advance(span: Span, length: exp.Interval) -> _Clause:
    return _Clause("advance", length, span)


def session_gap(span: Span, length: exp.Interval) -> _Clause:
    return _Clause("gap", length, span)


def having(span: Span, condition: exp.Expression) -> _Clause:
    return _Clause("having", condition, span)


def windows(span: Span, *named: NamedWindow) -> _Clause:
    return _Clause("windows", named, span)


def qualify(span: Span, condition: exp.Expression) -> _Clause:
    return _Clause("qualify", condition, span)


def partition_by(span: Span, keys: tuple[exp.Expression, ...], into: int | None) -> _Clause:
    return _Clause("partition_by", PartitionBy(spread_keys(keys), into, span), span)


def into_partitions(span: Span, token: Token) -> int:
    count = parse_count(token.value, 6)
    if not count:
        raise CompileError([syntax.S024.at(token_span(span, token), number=token.value)])
    return count


def emit_changes(span: Span) -> _Clause:
    return _Clause("emit", EmitChanges(span), span)


def emit_final(span: Span) -> _Clause:
    return _Clause("emit", EmitFinal(span), span)


def emit_early(span: Span, every: exp.Interval) -> _Clause:
    return _Clause("emit", EmitEarly(duration(every), span), span)


def grace(span: Span, length: exp.Interval) -> _Clause:
    return _Clause("grace", duration(length), span)


def retention(span: Span, length: exp.Interval) -> _Clause:
    return _Clause("retention", duration(length), span)


def late_drop(span: Span) -> _Clause:
    return _Clause("late", Late(None, span), span)


def late_into(span: Span, token: Token) -> _Clause:
    return _Clause("late", Late(name(span, token), span), span)


def order_by(span: Span, *keys: exp.Expression) -> _Clause:
    return _Clause("order_by", OrderBy(keys, span), span)


def limit(span: Span, count: exp.Expression) -> _Clause:
    if isinstance(count, exp.Column) and count.name.upper() == "ALL" and not count.table:
        return _Clause("limit", None, span)
    rows = parse_count(count.name) if isinstance(count, exp.Literal) and not count.is_string else None
    if rows is None:
        raise CompileError([syntax.S025.at(span_of(count))])
    return _Clause("limit", Limit(rows, 0, span), span)


def offset(span: Span, count: exp.Expression) -> _Clause:
    found = limit(span, count).value
    if found is None:
        raise CompileError([syntax.S025.at(span_of(count))])
    return _Clause("offset", Limit(None, found.count, span), span)


def fetch(span: Span, token: Token | None) -> _Clause:
    """`FETCH FIRST n ROWS ONLY`, which is LIMIT n; one row without n."""
    if token is None:
        return _Clause("limit", Limit(1, 0, span), span)
    place = token_span(span, token)
    return _Clause("limit", limit(span, placed(exp.Literal(this=token.value, is_string=False), place)).value, span)


RULES: dict[str, Builder] = {
    "select": select,
    "select_alone": select_alone,
    "distinct": flag,
    "distinct_on": distinct_on,
    "all_rows": all_rows,
    "group_by_all": group_by_all,
    "group_by_with": group_by_with,
    "group_by_sets": group_by_sets,
    "with_totals": words,
    "offset": offset,
    "fetch": fetch,
    "alias": name,
    "clauses": sequence,
    "group_window": group_window,
    "group_window_kind": words,
    "window_size": window_size,
    "window_advance": window_advance,
    "session_gap": session_gap,
    "where": where,
    "deduplicate": deduplicate,
    "group_by": group_by,
    "having": having,
    "windows": windows,
    "qualify": qualify,
    "partition_by": partition_by,
    "into_partitions": into_partitions,
    "emit_changes": emit_changes,
    "emit_final": emit_final,
    "emit_early": emit_early,
    "grace": grace,
    "retention": retention,
    "late_drop": late_drop,
    "late_into": late_into,
    "order_by": order_by,
    "limit": limit,
}
