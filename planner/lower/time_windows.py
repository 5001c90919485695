"""TUMBLE, HOP, CUMULATE and SESSION, as relations in FROM and as calls in GROUP BY -> plan windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from msgspec.structs import replace
from sqlglot import exp

from penstock.diagnostics import CompileError, Span
from penstock.diagnostics.codes.building import B002
from penstock.diagnostics.codes.event_time import W002, W006, W007, W014, W015, W018
from penstock.diagnostics.codes.kinds import K010
from penstock.diagnostics.codes.limits import L005
from penstock.diagnostics.codes.names import N001
from penstock.parser import ast, name_text
from penstock.planner.durations import duration_text, interval_duration, interval_sql, positive_milliseconds
from penstock.planner.functions import clock_calls
from penstock.planner.lower.context import resolve_scalar
from penstock.planner.lower.from_rows import FromRows, TimedWindow, require_event_time
from penstock.planner.lower.select_items import WINDOW_COLUMNS
from penstock.planner.plan import (
    AssignWindows,
    Column,
    Cumulate,
    EventTime,
    Filter,
    Hop,
    KStream,
    Node,
    Project,
    SessionWindow,
    Tumble,
    Window,
    make_column,
)
from penstock.planner.scalars.literals import bare
from penstock.planner.scalars.scopes import Scope, ScopeColumn
from penstock.planner.scalars.typed import Typed
from penstock.planner.types import TIMESTAMP

ARGUMENTS = {
    ast.WindowKind.TUMBLE: "the event time and a size: TUMBLE(time, INTERVAL '1' HOUR)",
    ast.WindowKind.HOP: "the event time, a slide and a size: HOP(time, INTERVAL '5' MINUTE, INTERVAL '1' HOUR)",
    ast.WindowKind.CUMULATE: (
        "the event time, a step and a size: CUMULATE(time, INTERVAL '10' MINUTE, INTERVAL '1' HOUR)"
    ),
    ast.WindowKind.SESSION: "the event time and a gap: SESSION(time, INTERVAL '30' MINUTE)",
}


def is_window_call(expression: exp.Expression) -> bool:
    """Whether a GROUP BY expression is a call of TUMBLE, HOP, CUMULATE or SESSION, or of a window of Spark."""
    if not isinstance(expression, exp.Anonymous):
        return False
    name = str(expression.this).upper()
    return name in ast.WindowKind.__members__ or name in SPARK_WINDOWS


def read_window_call(call: exp.Expression, rows: FromRows) -> TimedWindow:
    """The window of a call in GROUP BY; raises CompileError."""
    name, arguments = str(call.this).upper(), call.expressions
    if name in SPARK_WINDOWS:
        return read_spark_window(call, rows)
    kind = ast.WindowKind[name]
    intervals = [argument for argument in arguments[1:] if isinstance(argument, exp.Interval)]
    if not arguments or len(intervals) != len(arguments) - 1:
        found = W006.at(call.meta["span"], "", window=kind.value, expected=ARGUMENTS[kind])
        raise CompileError([found.with_sql(propose_lengths(call))])
    durations = tuple(interval_duration(interval) for interval in intervals)
    return read_window(kind, arguments[0], durations, rows, call.meta["span"])


def propose_lengths(call: exp.Expression) -> str | None:
    """The call with intervals in the place of texts and numbers; None where a length is neither."""
    written: list[str] = []
    for each in call.expressions:
        inner = bare(each)
        text: str | None = each.meta["span"].text
        if isinstance(inner, exp.Literal):
            is_number = not inner.is_string and inner.name.isdecimal()
            text = f"INTERVAL '{inner.name}' SECOND" if is_number else ast.write_interval(inner.name)
        if text is None:
            return None
        written.append(text)
    written.sort(key=_is_length)  # the time comes first
    count = 2 if str(call.this).upper() in (ast.WindowKind.HOP.value, ast.WindowKind.CUMULATE.value) else 1
    is_right = [_is_length(each) for each in written] == [False] + [True] * count
    return f"{call.this}({', '.join(written)})" if is_right else None


def _is_length(text: str) -> bool:
    return text.upper().startswith("INTERVAL")


SPARK_WINDOWS = {
    "WINDOW": "the event time, a size and perhaps a slide: WINDOW(time, '1 hour', '5 minutes')",
    "SESSION_WINDOW": "the event time and a gap: SESSION_WINDOW(time, '30 minutes')",
}


def read_spark_window(call: exp.Expression, rows: FromRows) -> TimedWindow:
    """The window of `window(time, size[, slide])` or `session_window(time, gap)`, whose lengths are texts."""
    name, (*time, lengths) = str(call.this).upper(), [call.expressions[:1], call.expressions[1:]]
    found = [read_length(each) for each in lengths]
    durations = tuple(each for each in found if each is not None)
    if name == "WINDOW" and len(durations) == 3 and len(lengths) == 3:
        durations = drop_offset(durations, call)
        lengths = lengths[:2]
    most = 2 if name == "WINDOW" else 1
    if not time[0] or not durations or len(durations) < len(lengths) or len(durations) > most:
        raise CompileError([W006.at(call.meta["span"], "", window=name, expected=SPARK_WINDOWS[name])])
    kind = ast.WindowKind.SESSION if name == "SESSION_WINDOW" else ast.WindowKind.TUMBLE
    if len(durations) == 2 and durations[0].milliseconds != durations[1].milliseconds:
        kind = ast.WindowKind.HOP
    durations = durations[::-1] if kind is ast.WindowKind.HOP else durations[:1]
    return read_window(kind, time[0][0], durations, rows, call.meta["span"])


def drop_offset(durations: tuple[ast.Duration, ...], call: exp.Expression) -> tuple[ast.Duration, ...]:
    """The lengths of a window without Spark's start time, which has to be nothing. Raises CompileError."""
    if durations[2].milliseconds:
        found = W006.at(call.meta["span"], "", window="WINDOW", expected=SPARK_WINDOWS["WINDOW"])
        reason = "Windows begin at multiples of their length since 1970, in UTC."
        shown = ", ".join(each.meta["span"].text for each in call.expressions[:3])
        raise CompileError([found.because(reason).with_sql(f"WINDOW({shown})")])
    return durations[:2]


def read_length(value: exp.Expression) -> ast.Duration | None:
    """The length of an interval or of a text such as '10 minutes', None for anything else."""
    if isinstance(value, exp.Interval):
        return interval_duration(value)
    if isinstance(value, exp.Literal) and value.is_string:
        return ast.parse_duration(value.name, value.meta["span"])
    return None


def assign_windows(rows: FromRows, timed: TimedWindow, span: Span) -> FromRows:
    """The rows once for each of their windows, with its start and end beside them."""
    if isinstance(timed.window, SessionWindow):
        found = W018.at(span, "").because("Which session a row belongs to depends on rows that are still to come.")
        raise CompileError([found.with_hint("GROUP BY the key of the sessions, or use TUMBLE, HOP or CUMULATE")])
    for each in WINDOW_COLUMNS:
        taken = next((known for known in rows.node.schema if known.name.lower() == each), None)
        if taken is not None:
            hint = "give it another name in a subquery: the window's columns are called so"
            raise CompileError([K010.at(span, "", name=taken.name).with_hint(hint)])
    added = [Column(name, TIMESTAMP, nullable=False) for name in WINDOW_COLUMNS]
    node = AssignWindows(
        schema=(*rows.node.schema, *added),
        shape=rows.node.shape,
        span=span,
        input=rows.node,
        window=timed.window,
        time=timed.time,
    )
    relation = rows.scope.columns[0].relation
    beside = (ScopeColumn(relation, column.name, column.name, column.type) for column in added)
    return FromRows(node, replace(rows.scope, columns=(*rows.scope.columns, *beside)), rows.name)


def is_window_column(expression: exp.Expression) -> bool:
    """Whether it is called `window_start` or `window_end`."""
    return isinstance(expression, exp.Column) and expression.name.lower() in WINDOW_COLUMNS


def uses_windows(expression: exp.Expression) -> bool:
    """Whether `window_start` or `window_end` stands in the expression."""
    return any(is_window_column(each) for each in expression.find_all(exp.Column))


def regroup_windows(group_by: Sequence[exp.Expression], rows: FromRows) -> FromRows:
    """The rows as FROM TUMBLE(…) gives them, where both columns of windows assigned further below are grouped by.

    The windows are then the windows of the grouping, so that its rows become final with them.
    """
    names = {each.name.lower() for each in group_by if is_window_column(each)}
    assigned = rows.node
    while isinstance(assigned, Filter | Project):
        assigned = assigned.input
    if rows.window is not None or not isinstance(assigned, AssignWindows) or len(names) < len(WINDOW_COLUMNS):
        return rows
    node = find_unassigned(rows.node)
    if node is None:
        construct = "GROUP BY the windows of a relation that has used them already"
        raise CompileError([B002.at(group_by[0].meta["span"], "", construct=construct).also(assigned.span, "assigned")])
    columns = tuple(each for each in rows.scope.columns if each.column not in WINDOW_COLUMNS)
    scope = replace(rows.scope, columns=columns)
    return FromRows(node, scope, rows.name, TimedWindow(assigned.window, assigned.time))


def find_unassigned(node: Node) -> Node | None:
    """The relation without its windows, each row once; None where anything depends on them."""
    if isinstance(node, AssignWindows):
        return node.input
    if not isinstance(node, Filter | Project):
        return None
    below = find_unassigned(node.input)
    if below is None:
        return None
    schema = tuple(each for each in node.schema if each.name not in WINDOW_COLUMNS)
    if isinstance(node, Filter):
        return None if uses_windows(node.condition) else replace(node, schema=schema, input=below)
    kept = tuple(item for item in node.items if item.value != make_column(item.name) or item.name not in WINDOW_COLUMNS)
    if any(uses_windows(item.value) or item.name in WINDOW_COLUMNS for item in kept):
        return None
    return replace(node, schema=schema, input=below, items=kept)


def read_window(
    kind: ast.WindowKind, time: exp.Expression, durations: tuple[ast.Duration, ...], rows: FromRows, span: Span
) -> TimedWindow:
    """A checked window over the event time of `rows`."""
    wanted = None
    is_any = is_event_time(time, rows.scope)
    if not is_any:
        if any(True for _ in clock_calls(time)):
            found = W014.at(time.meta["span"], "", operator=f"a {kind.value} window")
            raise CompileError([found.with_sql("ROWTIME", before="the event time: ")])
        typed = resolve_time(time, rows)
        wanted = typed.expression.name if isinstance(typed.expression, exp.Column) else None
    expected = require_event_time(rows, f"a {kind.value} window", span, wanted)
    if wanted != expected and not is_any:
        found = W002.at(time.meta["span"], "", column=time.meta["span"].text, relation=rows.name)
        raise CompileError([found.with_sql(write_time(time, expected), before="the event time is ")])
    if len(durations) != (2 if kind in (ast.WindowKind.HOP, ast.WindowKind.CUMULATE) else 1):
        raise CompileError([W006.at(span, "", window=kind.value, expected=ARGUMENTS[kind])])
    return TimedWindow(make_window(kind, durations), expected)


def resolve_time(time: exp.Expression, rows: FromRows) -> Typed:
    """What a window is over; raises CompileError, for a column that is not there with the event time as its hint."""
    try:
        return resolve_scalar(time, rows.scope)
    except CompileError as error:
        shape, (found, *more) = rows.node.shape, error.diagnostics
        is_named = isinstance(time, exp.Column) and found.code == N001.id and not more
        if not is_named or not isinstance(shape, KStream) or shape.time is None:
            raise
        raise CompileError([found.with_sql(write_time(time, shape.time), before="the event time is ")]) from None


def write_time(time: exp.Expression, expected: str) -> str:
    """The event time as it is written in the place of another column, behind the same relation."""
    table = time.table if isinstance(time, exp.Column) else ""
    return f"{name_text(table)}.{name_text(expected)}" if table else name_text(expected)


def is_event_time(time: exp.Expression, scope: Scope) -> bool:
    """Whether it is the name that stands for the event time of every stream."""
    is_named = isinstance(time, exp.Column) and not time.table and time.name.upper() == ast.EVENT_TIME
    return is_named and not scope.named(ast.EVENT_TIME)


def make_window(kind: ast.WindowKind, durations: tuple[ast.Duration, ...]) -> Window:
    """The window of a call that has as many durations as its kind takes."""
    match kind:
        case ast.WindowKind.TUMBLE:
            return Tumble(positive_milliseconds(durations[0], "window"))
        case ast.WindowKind.SESSION:
            return SessionWindow(positive_milliseconds(durations[0], "session gap"))
        case ast.WindowKind.HOP:
            slide, size = (positive_milliseconds(duration, "window") for duration in durations)
            if slide > size:
                found = W007.at(durations[0].span, f"slide {duration_text(slide)}")
                found = found.also(durations[1].span, f"size {duration_text(size)}")
                raise CompileError([found.with_hint("HOP takes the slide first, then the size; gaps are not windows")])
            check_window_count(kind, slide, size, durations[0].span)
            return Hop(slide, size)
        case ast.WindowKind.CUMULATE:
            step, size = (positive_milliseconds(duration, "window") for duration in durations)
            if size % step:
                found = W015.at(durations[1].span, f"size {duration_text(size)}")
                found = found.also(durations[0].span, f"step {duration_text(step)}")
                raise CompileError([found.with_hint("CUMULATE takes the step first, then the size")])
            check_window_count(kind, step, size, durations[0].span)
            return Cumulate(step, size)
        case _:
            assert_never(kind)


MOST_WINDOWS = 1_440
"""The most windows that one row can be in: as many as in a day with a slide of a minute. In every micro-batch, Spark
plans a copy of the row for each of them. That takes seconds for so many, and half a minute for three times as many.
"""
# Slides that people write, in milliseconds.
_SLIDES = (
    *(1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 20_000, 30_000),
    *(60_000 * minutes for minutes in (1, 2, 5, 10, 15, 20, 30, 60, 120, 180, 240, 360, 720, 1_440)),
)


def check_window_count(kind: ast.WindowKind, slide: int, size: int, span: Span) -> None:
    """Raises CompileError where a row would be in more than `MOST_WINDOWS` windows; the hint is a slide that passes."""
    count = -(-size // slide)
    if count <= MOST_WINDOWS:
        return
    enough = [each for each in _SLIDES if -(-size // each) <= MOST_WINDOWS and size % each == 0]
    divisor = next(number for number in range(MOST_WINDOWS, 0, -1) if size % number == 0)
    hint = interval_sql(enough[0] if enough else size // divisor)
    found = L005.at(span, "", window=kind.value, count=f"{count:,}", limit=f"{MOST_WINDOWS:,}")
    raise CompileError([found.with_sql(hint, after=" is long enough")])


def list_final_times(window: Window) -> tuple[EventTime, ...]:
    """The columns that can be the event time of a window's final rows. They come out in the order of these times."""
    if isinstance(window, SessionWindow):
        return (EventTime("window_end", 0),)
    if isinstance(window, Cumulate):
        # A long window comes out after the short ones that begin later.
        start = EventTime("window_start", window.size - window.step, -window.size, -window.step)
        return EventTime("window_end", 0), start
    return EventTime("window_start", 0), EventTime("window_end", 0, window.size, window.size)
