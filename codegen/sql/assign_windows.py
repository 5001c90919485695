"""AssignWindows -> the windows of each row, by arithmetic on its time, which leaves the time its watermark."""

from __future__ import annotations

from typing import assert_never

from sqlglot import exp

from penstock.codegen.program import View
from penstock.codegen.sql.printing import print_sql
from penstock.codegen.sql.trees import (
    alias,
    call,
    column,
    columns,
    floor_time,
    function,
    make_free_name,
    multiple,
    number,
    select,
)
from penstock.planner.plan import AssignWindows, Cumulate, Expression, Hop, Tumble
from penstock.planner.plan.substitute import substitute


def assign_windows_views(node: AssignWindows, name: str, source: str) -> tuple[View, ...]:
    """The rows with `window_start` and `window_end` beside them, once for each window that holds them."""
    below = columns(node.input.schema)
    if isinstance(node.window, Tumble):
        ends = window_columns(node, micros(column(node.time)))
        items = [*below, *(alias(value, each) for each, value in ends.items())]
        return (View(name, print_sql(select(items, source))),)
    mark = make_free_name("_window", node.input.schema)
    each_window = select([*below, alias(call("EXPLODE", marks(node)), mark)], source)
    views = View(f"{name}_windows", print_sql(each_window))
    ends = window_columns(node, column(mark))
    return views, View(name, print_sql(select([*below, *(alias(v, k) for k, v in ends.items())], views.name)))


def marks(node: AssignWindows) -> Expression:
    """What tells a row's windows apart, in microseconds: their starts, of windows with one start their ends."""
    time = micros(column(node.time))
    match node.window:
        case Tumble():
            return call("ARRAY", time)
        case Hop(slide, size):
            first = exp.Sub(this=time.copy(), expression=number(size * 1000 - 1))
            return call("SEQUENCE", multiple(time, slide), first, number(-slide * 1000))
        case Cumulate(step, size):
            shortest = exp.Add(this=multiple(time, step), expression=number(step * 1000))
            longest = exp.Add(this=multiple(time.copy(), size), expression=number(size * 1000))
            return call("SEQUENCE", shortest, longest, number(step * 1000))
        case _:
            assert_never(node.window)


def window_columns(node: AssignWindows, mark: Expression) -> dict[str, Expression]:
    """`window_start` and `window_end` of the window that `mark` stands for."""
    match node.window:
        case Tumble(size):
            start = floor_time(mark, size)
            end = call("TIMESTAMP_MICROS", exp.Add(this=multiple(mark.copy(), size), expression=number(size * 1000)))
        case Hop(_, size):
            start = call("TIMESTAMP_MICROS", mark)
            end = call("TIMESTAMP_MICROS", exp.Add(this=mark.copy(), expression=number(size * 1000)))
        case Cumulate(_, size):
            start = floor_time(exp.Sub(this=mark, expression=number(1)), size)
            end = call("TIMESTAMP_MICROS", mark.copy())
        case _:
            assert_never(node.window)
    return {"window_start": start, "window_end": end}


def in_some_window(node: AssignWindows, condition: Expression) -> Expression:
    """Whether a row of the input fulfils the condition on the node's rows in at least one window."""
    names = {each.name for each in condition.find_all(exp.Column)}
    if not names & {"window_start", "window_end"}:
        return condition
    name = make_free_name("mark", node.input.schema)
    one = isinstance(node.window, Tumble)
    mark = micros(column(node.time)) if one else exp.Identifier(this=name, quoted=True)
    values = {each.name: column(each.name) for each in node.input.schema} | window_columns(node, mark)
    held = substitute(condition, values)
    return held if one else call("EXISTS", marks(node), function(name, body=lambda _: held))


def micros(time: Expression) -> Expression:
    """A time as microseconds since 1970."""
    return call("UNIX_MICROS", time)
