"""SELECT DISTINCT -> the rows of the result once each: when their time is past, or, without STREAM, as a table."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from penstock.diagnostics import CompileError, Diagnostic, Span
from penstock.diagnostics.codes.event_time import W040
from penstock.diagnostics.codes.kinds import K018
from penstock.parser import ast
from penstock.planner import scalars
from penstock.planner.functions import clock_calls
from penstock.planner.lower.context import Context
from penstock.planner.lower.from_rows import FromRows, order_times
from penstock.planner.lower.grouped import has_aggregate
from penstock.planner.lower.intermediates import materialise_changes, materialise_input
from penstock.planner.lower.over import has_over
from penstock.planner.lower.select_items import OutputColumn
from penstock.planner.plan import (
    Cumulate,
    Distinct,
    Filter,
    GroupAggregate,
    KStream,
    KTable,
    Named,
    Node,
    Project,
    WindowAggregate,
    make_column,
)
from penstock.planner.plan.walk import walk


def lower_distinct(
    select: ast.Select, rows: FromRows, outputs: Sequence[OutputColumn], result: Node, context: Context
) -> Node:
    """The rows of `result` without repetitions. `rows` are the rows of FROM and WHERE, `outputs` is the SELECT list.

    Rows of tables and groups differ by their keys: DISTINCT changes nothing where all of these are selected.
    """
    shape, span = result.shape, select.span
    shown = [each for each in result.schema if not each.hidden]
    is_shown = len(shown) == len(result.schema) and not isinstance(shape, KStream)
    if is_shown or is_distinct(result):
        return result
    for output, each in zip(outputs, shown, strict=False):  # a windowed table shows its windows behind them
        if not scalars.is_ordered(each.type):
            raise CompileError([K018.at(output.span, "", type=each.type).because("DISTINCT compares values.")])
    if not isinstance(shape, KStream) or not select.stream:
        return GroupAggregate(
            schema=tuple(shown),
            shape=KTable(tuple(each.name for each in shown)),
            span=span,
            input=materialise_changes(result),
            keys=tuple(Named(each.name, make_column(each.name), each.type) for each in shown),
            aggregates=(),
        )
    if not shape.times:
        raise CompileError([explain_endless(select, rows, result, context)])
    time = min(shape.times, key=lambda each: each.delay).column
    return Distinct(
        schema=result.schema,
        shape=KStream(shape.key, order_times(result, time)),
        span=span,
        input=materialise_input(result, time),
        time=time,
    )


def is_distinct(node: Node) -> bool:
    """Whether the rows are groups, each showing all that tells it from the others."""
    shown = {each.name: each.name for each in node.schema if not each.hidden}
    while isinstance(node, Filter | Project):
        if isinstance(node, Project):
            values = {item.name: item.value for item in node.items}
            shown = {str(value.name): name for name in shown if isinstance(value := values[name], exp.Column)}
        node = node.input
    if not isinstance(node, WindowAggregate):
        return False
    window = ("window_start", "window_end") if isinstance(node.window, Cumulate) else ("window_start",)
    return all(name in shown for name in (*(key.name for key in node.keys), *window))


def explain_endless(select: ast.Select, rows: FromRows, result: Node, context: Context) -> Diagnostic:
    """The finding that each row would be remembered forever, with a statement that remembers it for a while."""
    found = W040.at(select.span, "")
    keys = [item.value.meta["span"].text for item in select.items]
    clause = f"DEDUPLICATE ON ({', '.join(keys)}) WITHIN INTERVAL '1' DAY"
    head = re.match(r"SELECT\s+STREAM(\s+DISTINCT)\b", select.span.text, flags=re.IGNORECASE)
    if head is None or not is_plain(select, rows, result):
        is_plain_list = all(isinstance(item.value, exp.Column) for item in select.items)
        return found.with_hint("select the event time, too" + f"; or {clause}" * is_plain_list)
    text, start = context.statement.source.text, select.span.start
    where: Span | None = None if select.where is None else select.where.meta["span"]
    behind = max(select.relation.span.end, 0 if where is None else where.end)
    fix = (
        text[context.statement.start : start + head.start(1)]
        + text[start + head.end(1) : behind]
        + f" {clause}"
        + text[behind : context.statement.end]
    )
    return found.with_hint(f"{clause}; or select the event time, too", fix=fix)


def is_plain(select: ast.Select, rows: FromRows, result: Node) -> bool:
    """Whether the SELECT list is over rows with an event time, so that these can be deduplicated by it."""
    values = [item.value for item in select.items]
    clauses = (select.group_by, select.windows, select.qualify, select.deduplicate, rows.over)
    return (
        not any(clauses)
        and isinstance(rows.node.shape, KStream)
        and bool(rows.node.shape.times)
        and not any(has_aggregate(value) or has_over(value) or value.find(exp.Star) for value in values)
        and not any(any(clock_calls(each)) for node in walk(result) for each in node.expressions)
    )
