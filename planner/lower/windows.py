"""TUMBLE, HOP, CUMULATE and SESSION, as relations in FROM and as calls in GROUP BY -> plan windows."""

from __future__ import annotations

from typing import assert_never

from sqlglot import exp

from penstock.diagnostics import CompileError, Span
from penstock.diagnostics.codes.windows import W002, W006, W007, W015
from penstock.parser import ast
from penstock.planner.intervals import duration_text, interval_duration, positive_milliseconds
from penstock.planner.lower.context import scalar
from penstock.planner.lower.rows import Rows, TimedWindow, event_time
from penstock.planner.plan import Cumulate, EventTime, Hop, Session, Tumble, Window

ARGUMENTS = {
    ast.WindowKind.TUMBLE: "the event time and a size: TUMBLE(time, INTERVAL '1' HOUR)",
    ast.WindowKind.HOP: "the event time, a slide and a size: HOP(time, INTERVAL '5' MINUTE, INTERVAL '1' HOUR)",
    ast.WindowKind.CUMULATE: (
        "the event time, a step and a size: CUMULATE(time, INTERVAL '10' MINUTE, INTERVAL '1' HOUR)"
    ),
    ast.WindowKind.SESSION: "the event time and a gap: SESSION(time, INTERVAL '30' MINUTE)",
}


def is_window_call(expression: exp.Expression) -> bool:
    """Whether a GROUP BY expression is a call of TUMBLE, HOP, CUMULATE or SESSION."""
    return isinstance(expression, exp.Anonymous) and str(expression.this).upper() in ast.WindowKind.__members__


def window_of_call(call: exp.Expression, rows: Rows) -> TimedWindow:
    """The window of a call in GROUP BY."""
    kind = ast.WindowKind[str(call.this).upper()]
    arguments = call.expressions
    intervals = [argument for argument in arguments[1:] if isinstance(argument, exp.Interval)]
    if not arguments or len(intervals) != len(arguments) - 1:
        raise CompileError([W006.at(call.meta["span"], "", window=kind.value, expected=ARGUMENTS[kind])])
    durations = tuple(interval_duration(interval) for interval in intervals)
    return window_of(kind, arguments[0], durations, rows, call.meta["span"])


def window_of(
    kind: ast.WindowKind, time: exp.Expression, durations: tuple[ast.Duration, ...], rows: Rows, span: Span
) -> TimedWindow:
    """A checked window over the event time of `rows`."""
    typed = scalar(time, rows.scope)
    wanted = typed.expression.name if isinstance(typed.expression, exp.Column) else None
    expected = event_time(rows, f"a {kind.value} window", span, wanted)
    if wanted != expected:
        found = W002.at(time.meta["span"], "", column=time.meta["span"].text, relation=rows.name)
        raise CompileError([found.with_hint(f"the event time is {expected}")])
    if len(durations) != (2 if kind in (ast.WindowKind.HOP, ast.WindowKind.CUMULATE) else 1):
        raise CompileError([W006.at(span, "", window=kind.value, expected=ARGUMENTS[kind])])
    return TimedWindow(checked_window(kind, durations), expected)


def checked_window(kind: ast.WindowKind, durations: tuple[ast.Duration, ...]) -> Window:
    """The window of a call that has as many durations as its kind takes."""
    match kind:
        case ast.WindowKind.TUMBLE:
            return Tumble(positive_milliseconds(durations[0], "window"))
        case ast.WindowKind.SESSION:
            return Session(positive_milliseconds(durations[0], "session gap"))
        case ast.WindowKind.HOP:
            slide, size = (positive_milliseconds(duration, "window") for duration in durations)
            if slide > size:
                found = W007.at(durations[0].span, f"slide {duration_text(slide)}")
                found = found.also(durations[1].span, f"size {duration_text(size)}")
                raise CompileError([found.with_hint("HOP takes the slide first, then the size; gaps are not windows")])
            return Hop(slide, size)
        case ast.WindowKind.CUMULATE:
            step, size = (positive_milliseconds(duration, "window") for duration in durations)
            if size % step:
                found = W015.at(durations[1].span, f"size {duration_text(size)}")
                found = found.also(durations[0].span, f"step {duration_text(step)}")
                raise CompileError([found.with_hint("CUMULATE takes the step first, then the size")])
            return Cumulate(step, size)
        case _:
            assert_never(kind)


def final_times(window: Window) -> tuple[EventTime, ...]:
    """The columns that can be the event time of a window's final rows. They come out in the order of these times."""
    if isinstance(window, Session | Cumulate):
        return (EventTime("window_end", 0),)
    return EventTime("window_start", 0), EventTime("window_end", 0, window.size, window.size)
