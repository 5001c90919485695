"""DEDUPLICATE -> OVER, which counts the rows of the same keys up to each row, and a filter for the first ones."""

from __future__ import annotations

from sqlglot import exp

from penstock.diagnostics import CompileError
from penstock.diagnostics.codes.event_time import W026
from penstock.parser import ast
from penstock.planner.durations import positive_milliseconds
from penstock.planner.lower.context import resolve_key
from penstock.planner.lower.from_rows import FromRows, require_event_time
from penstock.planner.lower.intermediates import materialise_input
from penstock.planner.plan import (
    Aggregate,
    Column,
    EventTime,
    Filter,
    Frame,
    FramedAggregate,
    KStream,
    Over,
    make_column,
)
from penstock.planner.plan.reserved import choose_unused_name
from penstock.planner.types import INT


def deduplicate_rows(rows: FromRows, clause: ast.Deduplicate) -> FromRows:
    """Leaves out each row that follows another row of the same keys within the interval.

    A row that is left out counts, too: the rows after it are compared with it.
    """
    node, span = rows.node, clause.span
    if not isinstance(node.shape, KStream):
        found = W026.at(span, "", operator="DEDUPLICATE", relation=rows.name)
        raise CompileError([found.with_hint("a table has one row per key: deduplicate the stream behind it")])
    keys = tuple(resolve_key(each, rows.scope) for each in clause.keys)
    within = positive_milliseconds(clause.within, "deduplication")
    time = require_event_time(rows, "DEDUPLICATE", span, None if rows.window is None else rows.window.time)
    number = choose_unused_name("number", [column.name for column in node.schema])
    counted = Over(
        schema=(*node.schema, Column(number, INT, nullable=False)),
        shape=KStream(node.shape.key, (EventTime(time, 0),)),
        span=span,
        input=materialise_input(node, time),
        partition_by=keys,
        time=time,
        aggregates=(FramedAggregate(Aggregate(number, "ROW_NUMBER", (), False, None, INT), Frame(-within, 0)),),
    )
    first = exp.EQ(this=make_column(number), expression=exp.Literal.number(1))
    kept = Filter(schema=counted.schema, shape=counted.shape, span=span, input=counted, condition=first)
    return FromRows(kept, rows.scope, rows.name, rows.window, rows.over)
