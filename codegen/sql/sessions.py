"""WindowAggregate over sessions that change -> buckets of sessions, and DuckDB, which makes one session of several.

Spark's own sessions come once, when they are over. Here a session is sent when it changes, and the rows of sessions
that it replaces are deleted. The groups are spread over some buckets. The state of a bucket is one table. For each
session it has the totals: the number of rows, and exact sums. For aggregates that do not follow from these it also has
a row for each different combination of values, with the number of rows that have it. Views:

* `<name>_values`: the session of each row, which is as long as the gap, what it adds to the totals, and its values;
* `<name>_rows`, `<name>_tables`: these in tables, one for each bucket;
* `<name>_sessions`: the totals of each session that has changed, and DuckDB's answers, before and after;
* `<name>`: the changes. The key of a session that has grown is another one, so these are a delete and an insert.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlglot import exp

from penstock.codegen.program import AnyView, SessionView, View
from penstock.codegen.sql.gathered import rows_view, tables_view
from penstock.codegen.sql.multiset import Values
from penstock.codegen.sql.ordering import make_zero_positive
from penstock.codegen.sql.printing import print_duckdb, print_sql
from penstock.codegen.sql.retraction_sums import Sums
from penstock.codegen.sql.row_forms import AFTER, BEFORE, DELTA, VERSION, key_struct
from penstock.codegen.sql.trees import (
    alias,
    both,
    call,
    cast,
    column,
    column_of,
    filter_rows,
    is_null,
    null,
    number,
    only_if,
    rows_where,
    select,
    shift_time,
    struct_of,
)
from penstock.planner.plan import Expression, SessionWindow, WindowAggregate
from penstock.planner.plan.substitute import substitute, substitute_columns
from penstock.planner.types import BIGINT, Type

_TOTAL, _COUNT, _START, _END, _IS_AFTER = "total", "count", "start", "end", "after"
"""Whether a row has the totals of its session; the number of its rows; the session; whether the session is there now,
and not only before the micro-batch."""


def session_views(node: WindowAggregate, name: str, source: str, buckets: int) -> tuple[AnyView, ...]:
    """The views; the last one has changes of the node's schema. Groups are spread over so many `buckets`."""
    assert isinstance(node.window, SessionWindow)
    values, sums = Values(node, relation="v"), Sums()
    items = [
        values.compute(each) if each.keeps_values else sums.compute(each, str(place), node.input)
        for place, each in enumerate(node.aggregates)
    ]
    keys = {f"k{place}": values.compare(each.value, each.type) for place, each in enumerate(node.keys)}
    key = key_struct(make_zero_positive(each.value, each.type) for each in node.keys)
    held = {
        _TOTAL: exp.Boolean(this=False),
        _COUNT: cast(number(1), BIGINT),
        _START: column(node.time),
        _END: shift_time(column(node.time), node.window.gap),
        **{each: cast(_added(value), type_) for each, (value, type_) in sums.parts.items()},
        **keys,
        **({} if key is None else {"key": key}),
        **values.held,
    }
    time = alias(column(node.time), "time")
    each_row = View(f"{name}_values", print_sql(select([time, *(alias(held[each], each) for each in held)], source)))
    rows = rows_view(
        name, each_row.name, "time", [*map(column, keys)], ((each, column(each)) for each in held), buckets=buckets
    )
    tables = tables_view(name, rows)
    totals = {_COUNT: BIGINT, **{each: type_ for each, (_, type_) in sums.parts.items()}}
    sessions = SessionView(
        name=f"{name}_sessions",
        source=tables.name,
        merge=print_duckdb(_merge([*keys], values.given, totals)),
        sql=print_duckdb(_answers([*keys], [*totals], values)),
        given=(_TOTAL, _START, _END, *totals, *keys, *values.given),
        kept=() if key is None else ("key",),
        picked=tuple((f"{side}{each}", held_) for side in (BEFORE, AFTER) for each, held_ in values.picked.items()),
        schema=print_sql(select(_schema(key, totals, values), rows.name)),
    )
    shown = [*(column("key", f"k{place}") for place, _ in enumerate(node.keys)), *map(_time, (_START, _END)), *items]
    found = (*totals, *values.answers)
    changed = [*(alias(_row_struct(side, shown, found), side) for side in (BEFORE, AFTER)), alias(_version(), VERSION)]
    return each_row, rows, tables, sessions, View(name, print_sql(select(changed, sessions.name)))


def _added(value: Expression) -> Expression:
    """What a row of a stream adds to a sum: no row is deleted."""
    return substitute_columns(value, lambda each: cast(number(1), BIGINT) if each.name == DELTA else None)


def _time(name: str) -> Expression:
    return call("TIMESTAMP_MICROS", column(name))


def _row_struct(side: str, shown: Sequence[Expression], found: Iterable[str]) -> Expression:
    """The row before or after, NULL if there is none."""
    of_side = {each: column(f"{side}{each}") for each in found}
    own = {each: column(each) for each in ("key", _START, _END)}
    row = struct_of((f"c{place}", substitute(value, of_side | own)) for place, value in enumerate(shown))
    return only_if(exp.Not(this=is_null(column(f"{side}{_COUNT}"))), row)


def _version() -> Expression:
    """The order of a change among the changes of a session. It has more rows each time, and is never there again."""
    before = exp.Add(this=column(f"{BEFORE}{_COUNT}"), expression=number(1))
    return call("COALESCE", column(f"{AFTER}{_COUNT}"), before)


def _merge(keys: list[str], values: list[str], totals: Mapping[str, Type]) -> Expression:
    """DuckDB's SELECT: the rows of all sessions that are there now, and of earlier sessions that have changed.

    Each is at the place of a row with its key and values. A session begins with a row that starts behind the ends of
    all rows before.
    """
    partition = [*map(column, keys)]
    end_before = _over("MAX", column(_END), partition, last=number(1))
    begins = exp.Case(
        ifs=[exp.If(this=exp.LTE(this=column(_START), expression=end_before), true=number(0))], default=number(1)
    )
    marked = select([exp.Star(), alias(begins, "begins")], "rows")
    counted = alias(_over("SUM", column("begins"), partition), "session")
    numbered = exp.Select(expressions=[exp.Star(), counted]).from_(_as(marked, "marked"), copy=False)
    is_new = exp.Not(this=column("known"))
    own = [*partition, column("session")]
    found = {
        "since": ("MIN", column(_START)),
        "until": ("MAX", column(_END)),
        "touched": ("BOOL_OR", is_new),
    }
    whole = (
        alias(exp.Window(this=call(function, value), partition_by=[*map(_copy, own)], over="OVER"), each)
        for each, (function, value) in found.items()
    )
    sessions = exp.Select(expressions=[exp.Star(), *whole]).from_(_as(numbered, "numbered"), copy=False)

    def now(*, is_total: bool) -> exp.Select:
        added = {each: cast(call("SUM", column(each)), type_) for each, type_ in totals.items()}
        parts = added if is_total else {each: added[each] if each == _COUNT else null(totals[each]) for each in added}
        shown = [
            alias(call("MAX", column("place")), "place"),
            alias(exp.Boolean(this=is_total), _TOTAL),
            *(alias(part, each) for each, part in parts.items()),
            *(alias(column(each), name) for each, name in (("since", _START), ("until", _END))),
            column("touched"),
            alias(exp.true(), _IS_AFTER),
        ]
        chosen = exp.Or(this=column(_TOTAL), expression=is_new.copy()) if is_total else exp.Not(this=column(_TOTAL))
        grouped = (*keys, "since", "until", "touched", *(() if is_total else values))
        return select(shown, "sessions").where(chosen, copy=False).group_by(*map(column, grouped), copy=False)

    shown = [column("place"), column(_TOTAL), *map(column, totals), column(_START), column(_END), column("touched")]
    before = select([*shown, alias(exp.false(), _IS_AFTER)], "sessions")
    before = before.where(both(column("known"), column("touched")), copy=False)
    parts: list[Expression] = [now(is_total=True), *([now(is_total=False)] if values else []), before]
    tree = parts[0]
    for each in parts[1:]:
        tree = exp.Union(this=tree, expression=each, distinct=False)
    assert isinstance(tree, exp.Query)
    return tree.with_("sessions", as_=sessions, copy=False)


def _over(
    function: str, value: Expression, partition: Sequence[Expression], last: Expression | None = None
) -> Expression:
    """The function over the rows of a key up to a row, in the order of their starts; with `last` so many rows fewer."""
    order = [exp.Ordered(this=column(each), nulls_first=False) for each in (_START, "place")]
    end = {"end": "CURRENT ROW"} if last is None else {"end": last, "end_side": "PRECEDING"}
    return exp.Window(
        this=call(function, value),
        partition_by=[*map(_copy, partition)],
        order=exp.Order(expressions=order),
        spec=exp.WindowSpec(kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", **end),
        over="OVER",
    )


def _answers(keys: list[str], totals: list[str], values: Values) -> Expression:
    """DuckDB's SELECT: the totals and the answers of each session that has changed, before and after."""
    beside = [column_of("t", each) for each in ("place", _IS_AFTER, _START, _END, *keys, *totals)]
    computed = (alias(tree, name) for name, (tree, _) in values.answers.items())
    changed = both(column(_TOTAL), column("touched"))
    assert changed is not None
    one = exp.Select(expressions=[*beside, *computed]).from_(rows_where(changed, "t"), copy=False)
    if values.answers:
        same = both(*(exp.NullSafeEQ(this=column_of("t", k), expression=column_of("v", k)) for k in keys))
        there = (exp.EQ(this=column_of("t", k), expression=column_of("v", k)) for k in (_IS_AFTER, _START))
        others = rows_where(exp.Not(this=column(_TOTAL)), "v")
        one.append("joins", exp.Join(this=others, side="LEFT", on=both(same, *there)))
        one = one.group_by(*map(_copy, beside), copy=False)
    sides = (
        alias(filter_rows(call("ANY_VALUE", column(each)), condition), f"{side}{each}")
        for side, condition in ((BEFORE, exp.Not(this=column(_IS_AFTER))), (AFTER, column(_IS_AFTER)))
        for each in (*totals, *values.answers)
    )
    shown = [alias(call("MAX", column("place")), "place"), column(_START), column(_END), *sides]
    tree = exp.Select(expressions=shown).from_(_as(one, "s"), copy=False)
    return tree.group_by(*map(column, (_START, _END, *keys)), copy=False)


def _schema(key: Expression | None, totals: Mapping[str, Type], values: Values) -> list[Expression]:
    """The columns of the sessions, by name and type alone."""
    answers = values.show_answers(lambda field: column("row", field))
    parts = {**{each: null(type_) for each, type_ in totals.items()}, **{each.alias: each.this for each in answers}}
    return [
        *([] if key is None else [alias(column("row", "key"), "key")]),
        *(alias(null(BIGINT), each) for each in (_START, _END)),
        *(alias(part.copy(), f"{side}{each}") for side in (BEFORE, AFTER) for each, part in parts.items()),
    ]


def _copy(each: Expression) -> Expression:
    return each.copy()


def _as(query: Expression, name: str) -> exp.Subquery:
    return exp.Subquery(this=query, alias=exp.TableAlias(this=exp.Identifier(this=name, quoted=True)))
