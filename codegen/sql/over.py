"""Over -> panes, as Spark runs no OVER on a stream: a window aggregation that holds the rows, and array functions.

With i the longest frame, hopping windows of size 2·i every i hold each row twice: once in the second half, where all
rows of its frame are in the same window, and once in the first half, where it is history for others. When the watermark
passes a window's end, the rows of its second half come out, each with the aggregates over its frame. Three views:

* `<name>_panes`: per window and partition the rows by time, each with the values that its aggregates take of it;
* `<name>_frames`: the rows of the second half, each with the places in the pane where its frames begin and end;
* `<name>`: each row's columns and its aggregates, computed over slices of the pane.
"""

from __future__ import annotations

from sqlglot import exp

from penstock.codegen.program import View
from penstock.codegen.sql.frames import frame_value, value_taken
from penstock.codegen.sql.printing import print_sql
from penstock.codegen.sql.trees import (
    call,
    column,
    duration,
    function,
    named,
    number,
    select,
    shifted,
    struct,
    struct_of,
)
from penstock.planner.plan import Expression, Over


def over_views(node: Over, name: str, source: str) -> tuple[View, ...]:
    """The three views; the last one has the node's schema."""
    panes = View(f"{name}_panes", print_sql(_panes(node, source)))
    frames = View(f"{name}_frames", print_sql(_frames(node, panes.name)))
    return panes, frames, View(name, print_sql(_result(node, frames.name)))


def _panes(node: Over, source: str) -> Expression:
    """Columns `begin`, where the second half begins, and `pane`: array of struct(time, row, v0, v1, …)."""
    reach = _reach(node)
    window = call("WINDOW", column(node.time), duration(2 * reach), duration(reach))
    row = struct_of((each.name, column(each.name)) for each in node.input.schema)
    values = ((f"v{i}", value) for i, framed in enumerate(node.aggregates) if (value := value_taken(framed.aggregate)))
    rows = call("COLLECT_LIST", struct_of((("time", column(node.time)), ("row", row), *values)))
    begin = shifted(exp.Dot(this=window.copy(), expression=exp.to_identifier("start")), reach)
    items = [named(begin, "begin"), named(call("ARRAY_SORT", rows, _by_time()), "pane")]
    return select(items, source).group_by(window, *node.partition_by, copy=False)


def _by_time() -> Expression:
    def order(one: str, other: str) -> Expression:
        before, after = column(one, "time"), column(other, "time")
        return exp.Case(
            ifs=[
                exp.If(this=exp.LT(this=before, expression=after), true=number(-1)),
                exp.If(this=exp.GT(this=before.copy(), expression=after.copy()), true=number(1)),
            ],
            default=number(0),
        )

    return function("one", "other", body=order)


def _frames(node: Over, panes: str) -> Expression:
    """Columns `pane` and `frames`: array of struct(row, past, from0, from1, …).

    `past` is the place after the last row of the frames, `from…` that of the first row of each length of frame; both
    count from 0.
    """

    def framed(row: str) -> Expression:
        time = column(row, "time")
        ends = (
            ("row", column(row, "row")),
            ("past", _place(exp.LTE, time)),
            *((f"from{i}", _place(exp.LT, shifted(time.copy(), -reach))) for i, reach in enumerate(_reaches(node))),
        )
        return struct_of(ends)

    emitted = call(
        "FILTER",
        column("pane"),
        function("row", body=lambda row: exp.GTE(this=column(row, "time"), expression=column("begin"))),
    )
    frames = call("TRANSFORM", emitted, function("row", body=framed))
    return select([column("pane"), named(frames, "frames")], panes)


def _place(before: type[exp.Binary], time: Expression) -> Expression:
    """How many rows of the pane have a time before (LT) or up to (LTE) `time`: a binary search, halving [low, high)."""

    def halved(range_: str, step: str) -> Expression:
        low, high = column(range_, "low"), column(range_, "high")
        middle = call("SHIFTRIGHT", exp.Add(this=low, expression=high), number(1))
        found = exp.Dot(
            this=exp.Bracket(this=column("pane"), expressions=[middle]), expression=exp.to_identifier("time")
        )
        upper = struct(low=exp.Add(this=middle.copy(), expression=number(1)), high=high.copy())
        lower = struct(low=low.copy(), high=middle.copy())
        return exp.Case(
            ifs=[
                exp.If(this=exp.GTE(this=low.copy(), expression=high.copy()), true=column(range_)),
                exp.If(this=before(this=found, expression=time), true=upper),
            ],
            default=lower,
        )

    size = call("SIZE", column("pane"))
    # A range of n rows is empty after as many halvings as n has binary digits.
    steps = call("SEQUENCE", number(1), call("LENGTH", call("BIN", size)))
    whole = struct(low=number(0), high=size.copy())
    end = function("range", body=lambda range_: column(range_, "low"))
    return call("AGGREGATE", steps, whole, function("range", "step", body=halved), end)


def _result(node: Over, frames: str) -> Expression:
    reaches = _reaches(node)

    def row(frame: str) -> Expression:
        inputs = ((each.name, column(frame, "row", each.name)) for each in node.input.schema)
        aggregates = (
            (
                framed.aggregate.name,
                frame_value(framed.aggregate, f"v{i}", frame, f"from{reaches.index(framed.preceding)}"),
            )
            for i, framed in enumerate(node.aggregates)
        )
        return struct_of((*inputs, *aggregates))

    return select([call("INLINE", call("TRANSFORM", column("frames"), function("frame", body=row)))], frames)


def _reaches(node: Over) -> list[int]:
    """The different lengths of frame."""
    return sorted({framed.preceding for framed in node.aggregates})


def _reach(node: Over) -> int:
    """The longest frame, in milliseconds; windows have at least one."""
    return max(*_reaches(node), 1)
