"""HOP -> panes: partial aggregates of each micro-batch, which DuckDB merges when the watermark has passed a window.

A window of Spark's has a row of state for each key, and a row of a stream is in several windows. Here the rows of a
micro-batch are aggregated by key between two borders of windows. The partial aggregates are stored in tables. Each
table belongs to several windows. Views:

* `<name>_rows`: each row's bucket and time, and what the aggregates take of it;
* `<name>_tables`: partial aggregates in tables; the rows of a table are in the same windows;
* `<name>_panes`: for each window and bucket its tables, once the watermark has passed the end of the window;
* `<name>_merged`: a row per keys and window;
* `<name>`: the node's schema.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sqlglot import exp

from penstock.codegen.program import AnyView, PaneView, PartialView, View
from penstock.codegen.sql.decimals import EXACT_DIGITS, decimal_mean
from penstock.codegen.sql.gathered import panes_view, rows_view, tables_view
from penstock.codegen.sql.ordering import make_zero_positive
from penstock.codegen.sql.printing import print_duckdb, print_sql
from penstock.codegen.sql.row_fields import RowFields
from penstock.codegen.sql.trees import (
    alias,
    both,
    call,
    cast,
    column,
    duration,
    is_null,
    null,
    number,
    only_if,
    select,
    shift_time,
)
from penstock.planner.functions.facts import Framing
from penstock.planner.plan import Aggregate, Expression, Hop, WindowAggregate
from penstock.planner.types import BIGINT, DOUBLE, TIMESTAMP, Decimal, Type


@dataclass(slots=True)
class _Partials:
    """What DuckDB computes of rows, as p0, p1 …, and then of these, as r0, r1 …."""

    rows: RowFields = field(default_factory=RowFields)
    parts: dict[str, Expression] = field(default_factory=dict)
    merged: RowFields = field(default_factory=RowFields)

    def part(self, tree: Expression) -> Expression:
        """A partial aggregate, as the column that has it."""
        for name, known in self.parts.items():
            if known == tree:
                return column(name)
        name = f"p{len(self.parts)}"
        self.parts[name] = tree
        return column(name)


def hop_pane_views(node: WindowAggregate, name: str, source: str, buckets: int) -> tuple[AnyView, ...]:
    """The views of a HOP with `merges_partials`. Keys are spread over so many `buckets`."""
    window = node.window
    assert isinstance(window, Hop)
    partials = _Partials()
    keys = [partials.rows.give(key.value) for key in node.keys]
    kept = tuple(key.name for key in keys)
    results = [_merge(aggregate, partials) for aggregate in node.aggregates]
    if not partials.rows.held:
        partials.rows.hold(exp.true())  # Spark has no struct without fields
    values = [key.value for key in node.keys]
    rows = rows_view(name, source, node.time, values, partials.rows.held.items(), buckets=buckets)
    packed = tables_view(name, rows, window.slide, (0, window.size))
    tables = PartialView(
        name=packed.name,
        source=packed.source,
        length=packed.length,
        cuts=packed.cuts,
        sql=print_duckdb(_aggregate(partials, keys, packed.length, packed.cuts)),
        given=tuple(partials.rows.given),
        kept=kept,
        schema=packed.schema,
    )
    span = call("WINDOW", column("time"), duration(window.size), duration(window.slide))
    start = exp.Dot(this=span.copy(), expression=exp.to_identifier("start"))
    gathered = panes_view(name, tables.name, span, start)
    merged = PaneView(
        name=f"{name}_merged",
        source=gathered.name,
        order=None,
        sql=print_duckdb(_merge_groups(partials, keys)),
        given=(*kept, *partials.parts),
        kept=kept,
        picked=(),
        schema=print_sql(select(_show_merged(partials, kept, lambda each: column("row", each)), rows.name)),
    )
    begin = call("TIMESTAMP_MICROS", column("begin"))
    items = [
        *(alias(column(each), key.name) for each, key in zip(kept, node.keys, strict=True)),
        alias(begin, "window_start"),
        alias(shift_time(begin.copy(), window.size), "window_end"),
        *(alias(value, each.name) for value, each in zip(results, node.aggregates, strict=True)),
    ]
    return rows, tables, gathered, merged, View(name, print_sql(select(items, merged.name)))


def _aggregate(partials: _Partials, keys: list[Expression], length: int, cuts: tuple[int, ...]) -> Expression:
    """DuckDB's SELECT of the partial aggregates, each group with the place of one of its rows.

    No time is before 1970, so that a division which cuts off the fraction rounds down.
    """
    parts = (alias(tree, name) for name, tree in partials.parts.items())
    spans = (
        exp.IntDiv(this=exp.Paren(this=exp.Add(this=column("time"), expression=number(length - cut))), expression=by)
        for cut, by in ((cut, number(length)) for cut in cuts)
    )
    tree = select([alias(call("MIN", column("place")), "place"), *parts], "rows")
    return tree.group_by(column("bucket"), *spans, *(key.copy() for key in keys), copy=False)


def _merge_groups(partials: _Partials, keys: list[Expression]) -> Expression:
    """DuckDB's SELECT of the groups of each window."""
    merged = (alias(tree, name) for name, (tree, _) in partials.merged.answers.items())
    place = alias(call("MIN", column("place")), "place")
    begin = alias(call("ANY_VALUE", column("begin")), "begin")
    tree = select([place, begin, *merged], "rows")
    return tree.group_by(column("pane"), *(key.copy() for key in keys), copy=False)


def _show_merged(partials: _Partials, kept: tuple[str, ...], show: Callable[[str], Expression]) -> list[Expression]:
    """The columns of the merged view, by name and type alone."""
    shown = (alias(show(each), each) for each in kept)
    return [*shown, alias(null(BIGINT), "begin"), *partials.merged.show_answers(show)]


def _merge(aggregate: Aggregate, partials: _Partials) -> Expression:
    """The aggregate as a Spark expression over r0, r1 …, which `partials` has after this."""
    rows, merged, framing, type_ = partials.rows, partials.merged, aggregate.entry.framing, aggregate.type
    if framing in (Framing.COUNT, Framing.COUNT_IF):
        arguments = aggregate.arguments
        known = arguments if framing is Framing.COUNT_IF else [exp.Not(this=is_null(each)) for each in arguments]
        counted = both(aggregate.condition, *known)
        taken = exp.Star() if counted is None else rows.give(only_if(counted, exp.Boolean(this=True)))
        return merged.answer(cast(call("SUM", partials.part(call("COUNT", taken))), BIGINT), BIGINT)
    value = only_if(aggregate.condition, aggregate.arguments[0])
    if framing in (Framing.MIN, Framing.MAX):
        called = aggregate.entry.original
        best = call(called, partials.part(call(called, rows.give(make_zero_positive(value, type_)))))
        if type_ == TIMESTAMP:  # DuckDB has times as microseconds
            return call("TIMESTAMP_MICROS", merged.answer(best, BIGINT))
        return merged.answer(best, type_)
    taken = rows.give(cast(value, DOUBLE) if type_ == DOUBLE else value)
    if framing is Framing.SUM:
        return merged.answer(_add_up(taken, type_, partials), type_)
    assert framing is Framing.MEAN, f"{aggregate.function} of partial aggregates"
    count = cast(call("SUM", partials.part(call("COUNT", taken))), BIGINT)
    if not isinstance(type_, Decimal):
        return merged.answer(exp.Div(this=_add_up(taken, type_, partials), expression=count), type_)
    # AVG has four more decimals than its argument.
    scale = type_.scale - 4
    summed = merged.answer(_add_up(taken, Decimal(38, scale), partials), Decimal(38, scale))
    counted = merged.answer(count, BIGINT)
    mean = decimal_mean(cast(summed, Decimal(EXACT_DIGITS, scale)), counted, type_)
    return only_if(exp.GT(this=counted.copy(), expression=number(0)), mean)


def _add_up(taken: Expression, type_: Type, partials: _Partials) -> Expression:
    """DuckDB's sum of partial sums. Sums of whole numbers and decimals have the type of the result, as in Spark."""
    total = call("SUM", taken.copy())
    if type_ == DOUBLE:
        return call("SUM", partials.part(total))
    return cast(call("SUM", partials.part(cast(total, type_))), type_)
