"""What cannot be computed over a frame, or would have one value whatever the rows are."""

from __future__ import annotations

from sqlglot import exp

from penstock.diagnostics import CompileError, Span
from penstock.diagnostics.codes.building import B002
from penstock.diagnostics.codes.event_time import W023
from penstock.diagnostics.codes.expression_types import T008
from penstock.planner.functions import FUNCTIONS
from penstock.planner.functions.facts import Framing
from penstock.planner.lower.context import resolve_scalar
from penstock.planner.lower.from_rows import FromRows
from penstock.planner.lower.grouped import strip_filter
from penstock.planner.lower.retraction import is_too_fine
from penstock.planner.plan import Aggregate, Frame, KStream, RowsFrame
from penstock.planner.types import INTERVAL, Array, Map, Struct

BACK = "RANGE INTERVAL '10' MINUTE PRECEDING"
AHEAD = "RANGE BETWEEN CURRENT ROW AND INTERVAL '10' MINUTE FOLLOWING"


def refuse_unframable(function: Aggregate, call: exp.Expression, frame: Frame | RowsFrame, rows: FromRows) -> None:
    """Raises CompileError for what cannot be computed over this frame."""
    span: Span = call.meta["span"]
    name = function.function
    refused = W023.at(span, "", function=name)
    framing = function.entry.framing
    if framing is None:
        known = ", ".join(each.name for each in FUNCTIONS if each.framing is not None)
        raise CompileError([refused.because(f"Over a frame there are {known}.")])
    if function.condition is not None and not framing.takes_filter:
        raise CompileError([T008.at(span, "", construct=f"FILTER of {name}")])
    if function.distinct and not framing.takes_distinct:
        raise CompileError([T008.at(span, "", construct=f"DISTINCT of {name}")])
    if framing.is_place and not frame.start <= 0 <= frame.end:
        raise CompileError([refused.because("It ranks a row in its frame, but this frame does not include the row.")])
    found = explain_nothing_there(function, framing, frame, rows)
    if found is not None:
        reason, hint = found
        raise CompileError([refused.because(f"{reason} So its value would always be the same.").with_hint(hint)])
    if function.distinct and len(function.arguments) > 1:
        raise CompileError([B002.at(span, "", construct=f"{name}(DISTINCT …) of several columns over a frame")])
    is_sum = framing in (Framing.SUM, Framing.MEAN)
    if (is_sum and function.type == INTERVAL) or is_too_fine(function):
        raise CompileError([refused.because(f"It would be of type {function.type}.")])
    written = strip_filter(call)
    place = 0 if function.distinct else framing.compares
    if place is not None:
        compared = written.expressions[place]
        value = compared.expressions[0] if isinstance(compared, exp.Distinct) else compared
        type_ = resolve_scalar(value, rows.scope).type
        if isinstance(type_, Array | Map | Struct):
            raise CompileError([refused.because(f"Over a frame values of type {type_} are not compared.")])


def explain_nothing_there(
    function: Aggregate, framing: Framing, frame: Frame | RowsFrame, rows: FromRows
) -> tuple[str, str] | None:
    """Why the frame never has the rows that the function looks at, and a frame that has; None where it may have them.

    Rows of the time of the row are no reason to look for one before or after it.
    """
    by_rows, shape = isinstance(frame, RowsFrame), rows.node.shape
    time = shape.time if isinstance(shape, KStream) else None
    if framing.looks_away:
        count = int(function.arguments[1].name) if len(function.arguments) > 1 else 1
        is_ahead = framing is Framing.LEAD
        place = count if is_ahead else -count
        if count == 0 or by_rows:
            is_there = frame.start <= place <= frame.end
        else:
            is_there = frame.end > 0 if is_ahead else frame.start < 0
        if is_there:
            return None
        side = "after" if is_ahead else "before"
        away = {0: "itself", 1: f"{side} it"}.get(count, f"{count:,} rows {side} it")
        reason = f"It looks at the row {away}, which is never in this frame."
        if is_ahead and count:
            return reason, f"ORDER BY {time} {AHEAD}"
        back = f"ROWS {count} PRECEDING" if by_rows else BACK
        return reason, f"ORDER BY {time} {back}"
    retraction = function.entry.retraction
    if retraction is not None and retraction.is_of_sample and by_rows and frame.start == frame.end:
        return "It needs two rows, and this frame has one.", f"ORDER BY {time} ROWS 10 PRECEDING"
    return None
