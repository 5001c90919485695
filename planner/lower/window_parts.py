"""What other systems call the start and the end of a group's window -> columns of the aggregation."""

from __future__ import annotations

from sqlglot import exp

from penstock.diagnostics import CompileError
from penstock.diagnostics.codes.event_time import W009
from penstock.diagnostics.codes.names import N005
from penstock.planner.lower.context import place
from penstock.planner.lower.from_rows import FromRows, TimedWindow
from penstock.planner.lower.select_items import WINDOW_COLUMNS
from penstock.planner.lower.time_windows import is_window_call, read_window_call
from penstock.planner.scalars.window_names import NO_CLOCK, PART_COLUMNS, split_part

START, END = WINDOW_COLUMNS
# ksqlDB's columns of windows hold milliseconds.
MILLISECOND_COLUMNS = {"WINDOWSTART": START, "WINDOWEND": END}
ROW_TIME = "window_time"
"""Flink's column for the last millisecond of a window."""
STRUCTS = ("window", "session_window")
"""Spark's names for the column of a window, a struct with the fields `start` and `end`."""


def find_window_part(node: exp.Expression, window: TimedWindow, rows: FromRows) -> exp.Expression | None:
    """What `node` says of the window of a group, over the columns of the aggregation; None where it says nothing.

    Raises CompileError where it says it of another window.
    """
    if isinstance(node, exp.Column):
        return find_column_part(node, rows)
    if isinstance(node, exp.Dot):
        field = node.expression.name.lower()
        if is_window_call(node.this) and field in ("start", "end"):
            column = START if field == "start" else END
            check_same(node.this, window, rows, column)
            return make_part(column, node)
        return None
    if is_window_call(node):
        check_same(node, window, rows)
        return make_struct(node)
    return find_call_part(node, window, rows) if isinstance(node, exp.Anonymous) else None


def find_column_part(column: exp.Column, rows: FromRows) -> exp.Expression | None:
    """`WINDOWSTART`, `window.start` or `window`, where they are no columns of the input."""
    name, table = column.name, column.table
    if rows.scope.named(name, table or None) or isinstance(column.this, exp.Star):
        return None
    if not table and name.upper() in MILLISECOND_COLUMNS:
        return exp.Anonymous(this="UNIX_MILLIS", expressions=[make_part(MILLISECOND_COLUMNS[name.upper()], column)])
    if not table and name.lower() == ROW_TIME:
        return make_row_time(column)
    if not table and name.lower() in STRUCTS:
        return make_struct(column)
    is_field = table.lower() in STRUCTS and not rows.scope.has_relation(table) and not rows.scope.named(table)
    if is_field and name.lower() in ("start", "end"):
        return make_part(START if name.lower() == "start" else END, column)
    return None


def is_part_name(column: exp.Column, rows: FromRows) -> bool:
    """Whether the column can only be one of a group's window."""
    is_own = not column.table and column.name.lower() in WINDOW_COLUMNS and not rows.scope.named(column.name)
    return is_own or find_column_part(column, rows) is not None


def find_called_window(node: exp.Expression) -> exp.Expression | None:
    """The call of a window: `node` itself, or the call whose start, end or row time `node` is."""
    if isinstance(node, exp.Dot) and is_window_call(node.this) and node.expression.name.lower() in ("start", "end"):
        window: exp.Expression = node.this
        return window
    if is_window_call(node):
        return node
    kind, _ = split_part(str(node.this)) if isinstance(node, exp.Anonymous) else ("", "")
    if not kind:
        return None
    call = exp.Anonymous(this=kind, expressions=[each.copy() for each in node.expressions])
    call.meta["span"] = node.meta["span"]
    return call


def find_call_part(call: exp.Anonymous, window: TimedWindow, rows: FromRows) -> exp.Expression | None:
    """`TUMBLE_START(time, size)` and its kin, and `window_time(window)` of Spark."""
    if str(call.this).lower() == ROW_TIME and len(call.expressions) == 1:
        struct = find_window_part(call.expressions[0], window, rows)
        is_struct = isinstance(struct, exp.Anonymous) and struct.this == "NAMED_STRUCT"
        return make_row_time(call, "0.000001") if is_struct else None
    window_call = find_called_window(call)
    if window_call is None:
        return None
    _, part = split_part(str(call.this))
    if part == "PROCTIME":
        found = N005.at(call.meta["span"], "", name=call.this).because(NO_CLOCK)
        raise CompileError([found.with_sql(PART_COLUMNS[part], after=", or window_end")])
    check_same(window_call, window, rows, PART_COLUMNS[part])
    if part == "ROWTIME":
        return make_row_time(call)
    return make_part(START if part == "START" else END, call)


def check_same(call: exp.Expression, window: TimedWindow, rows: FromRows, instead: str | None = None) -> None:
    """Raises CompileError for a window that is not the one of GROUP BY. `instead`: what is there of the latter."""
    other = read_window_call(call, rows)
    if (other.window, other.time) != (window.window, window.time):
        found = W009.at(call.meta["span"], "not the window of GROUP BY")
        raise CompileError([found.with_sql(instead)])


def make_part(name: str, node: exp.Expression) -> exp.Expression:
    """A column of the aggregation, in place of `node`."""
    column = exp.column(name, quoted=True)
    column.meta["grouped"] = True
    return place(column, node.meta["span"])


def is_row_time(expression: exp.Expression, rows: FromRows) -> bool:
    """Whether it is `window_time`, and no column of the input."""
    is_named = isinstance(expression, exp.Column) and not expression.table and expression.name.lower() == ROW_TIME
    return is_named and not rows.scope.named(expression.name)


def make_row_time(node: exp.Expression, seconds: str | None = None) -> exp.Expression:
    """The last instant of the window, which is the last millisecond for Flink."""
    quantity, unit = ("1", "MILLISECOND") if seconds is None else (seconds, "SECOND")
    instant = exp.Interval(this=exp.Literal.string(quantity), unit=exp.Var(this=unit))
    return place(exp.Paren(this=exp.Sub(this=make_part(END, node), expression=instant)), node.meta["span"])


def make_struct(node: exp.Expression) -> exp.Expression:
    """Spark's struct of start and end."""
    fields = [exp.Literal.string("start"), make_part(START, node), exp.Literal.string("end"), make_part(END, node)]
    return place(exp.Anonymous(this="NAMED_STRUCT", expressions=fields), node.meta["span"])
