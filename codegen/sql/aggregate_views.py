"""WindowAggregate, GroupAggregate, Distinct -> a GROUP BY view, CUMULATE with one more below it."""

from __future__ import annotations

from typing import assert_never

from sqlglot import exp

from penstock.codegen.program import View
from penstock.codegen.sql.collect import collect_call
from penstock.codegen.sql.distinct_calls import distinct_call
from penstock.codegen.sql.latest_views import count_arrivals
from penstock.codegen.sql.ordering import comparable, holds_map, make_zero_positive, make_zeros_positive
from penstock.codegen.sql.printing import print_sql
from penstock.codegen.sql.row_forms import DELETED, KEY, ORDER, key_value
from penstock.codegen.sql.trees import (
    alias,
    before_all,
    beside_time,
    both,
    call,
    column,
    columns,
    duration,
    filter_rows,
    floor_time,
    is_null,
    make_free_name,
    moment,
    number,
    select,
    struct_of,
)
from penstock.planner.functions.facts import Retraction
from penstock.planner.plan import (
    Aggregate,
    Cumulate,
    Distinct,
    Emission,
    Expression,
    GroupAggregate,
    Hop,
    SessionWindow,
    Tumble,
    WindowAggregate,
)


def window_aggregate_views(node: WindowAggregate, name: str, source: str, own: tuple[str, ...]) -> tuple[View, ...]:
    """One row per keys and window. Whether it comes out once or at every change is the query's output mode.

    `own`: whether the rows of a window have an order, too.
    """
    keys = _keys(node)
    match node.window:
        case Cumulate():
            return _cumulate_views(node, node.window, name, source, own)
        case SessionWindow():
            assert node.emission is Emission.FINAL, "Spark runs session windows only to their final rows"
            # Spark runs sessions only with keys, and takes a constant for none, also one that it finds out to be one.
            keys.append(before_all(column(node.time)))
    window = _window(node.window, column(node.time))
    items = _items(node, _part(window, "start"), _part(window, "end"), own)
    return (View(name, print_sql(select(items, source).group_by(*keys, window, copy=False))),)


def _cumulate_views(
    node: WindowAggregate, window: Cumulate, name: str, source: str, own: tuple[str, ...]
) -> tuple[View, ...]:
    """A row lies in several hopping windows of that size. The windows that reach back to the start of the row's
    own window are kept.

    Each is as long as the size until it is shown, so that the watermark closes it at its end.
    """
    hop = call("WINDOW", column(node.time), duration(window.size), duration(window.step))
    held = make_free_name("_window", node.input.schema)
    each_window = View(f"{name}_windows", print_sql(select([*columns(node.input.schema), alias(hop, held)], source)))
    end = _part(column(held), "end")
    last = exp.Sub(this=call("UNIX_MICROS", end), expression=number(1))
    start = floor_time(last, window.size)
    grown = exp.GTE(this=column(node.time), expression=start)
    tree = select(_items(node, start, end, own), each_window.name).where(grown, copy=False)
    return each_window, View(name, print_sql(tree.group_by(*_keys(node), column(held), copy=False)))


def _keys(node: WindowAggregate) -> list[Expression]:
    return [beside_time(key.value, node.input.schema) for key in node.keys]


def _items(node: WindowAggregate, start: Expression, end: Expression, own: tuple[str, ...]) -> list[Expression]:
    return [
        *(alias(value, key.name) for value, key in zip(_keys(node), node.keys, strict=True)),
        alias(start, "window_start"),
        alias(end, "window_end"),
        *(alias(aggregate_call(each), each.name) for each in node.aggregates),
        *([count_arrivals()] if ORDER in own else []),
    ]


def _part(window: Expression, name: str) -> Expression:
    return exp.Dot(this=window, expression=exp.to_identifier(name))


def group_aggregate_view(node: GroupAggregate, name: str, source: str, own: tuple[str, ...]) -> View:
    """One row per keys, kept forever. With columns of its `own` it is a result."""
    items = [
        *(alias(key.value, key.name) for key in node.keys),
        *(alias(aggregate_call(each), each.name) for each in node.aggregates),
    ]
    if own:
        key = key_value(each.value for each in node.keys)
        nothing = exp.EQ(this=call("COUNT", number(1)), expression=number(0))
        items += [*([] if key is None else [alias(key, KEY)]), count_arrivals(), alias(nothing, DELETED)]
    tree = select(items, source)
    return View(name, print_sql(tree.group_by(*(key.value for key in node.keys), copy=False) if node.keys else tree))


def distinct_view(node: Distinct, name: str, source: str) -> View:
    """The rows, equal ones once. A group is final when the watermark has passed its time."""
    others = [each for each in node.schema if each.name != node.time]
    window = moment(column(node.time))
    values = {each.name: beside_time(column(each.name), others) for each in others}
    items = [alias(values.get(each.name) or _part(window.copy(), "start"), each.name) for each in node.schema]
    return View(name, print_sql(select(items, source).group_by(window, *values.values(), copy=False)))


def aggregate_call(aggregate: Aggregate) -> Expression:
    """FUNCTION(arguments) [FILTER (WHERE condition)], or what gives the same over distinct arguments."""
    if aggregate.entry.collecting is not None:
        return collect_call(aggregate)
    if aggregate.distinct:
        return distinct_call(aggregate)
    if aggregate.entry.retraction in (Retraction.MIN_BY, Retraction.MAX_BY):
        return _extreme(aggregate)
    if aggregate.entry.retraction in (Retraction.MIN, Retraction.MAX):
        value = make_zero_positive(aggregate.arguments[0], aggregate.type)
        return _filter(_place(call(aggregate.function, value), aggregate), aggregate.condition)
    result = call(aggregate.function, *(aggregate.arguments or [exp.Star()]))
    return _filter(_place(result, aggregate), aggregate.condition)


def _extreme(aggregate: Aggregate) -> Expression:
    """MIN_BY and MAX_BY. If several values have the same least or greatest order, the least or the greatest value wins.

    Spark orders structs by their fields, NULL first. It does not order maps.
    """
    value, by = make_zeros_positive(aggregate.arguments[0], aggregate.type), aggregate.arguments[1]
    condition = both(aggregate.condition, exp.Not(this=is_null(by.copy())))
    if holds_map(aggregate.type):
        place = struct_of([("by", by), ("value", comparable(value, aggregate.type))])
        return _filter(_place(call(aggregate.function, value, place), aggregate), condition)
    best = "MIN" if aggregate.entry.retraction is Retraction.MIN_BY else "MAX"
    found = _filter(_place(call(best, struct_of([("by", by), ("value", value)])), aggregate), condition)
    return _part(found, "value")


def _place(result: Expression, aggregate: Aggregate) -> Expression:
    """The call with the place of the aggregate in the script."""
    if aggregate.span is not None:
        result.meta["span"] = aggregate.span
    return result


def _filter(result: Expression, condition: Expression | None) -> Expression:
    return result if condition is None else filter_rows(result, condition)


def _window(window: Tumble | Hop | SessionWindow, time: Expression) -> Expression:
    match window:
        case Tumble():
            return call("WINDOW", time, duration(window.size))
        case Hop():
            return call("WINDOW", time, duration(window.size), duration(window.slide))
        case SessionWindow():
            return call("SESSION_WINDOW", time, duration(window.gap))
        case _:
            assert_never(window)
