"""What a FROM clause provides to the other clauses."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace
from sqlglot import exp

from penstock.diagnostics import CompileError, Diagnostic, Span
from penstock.diagnostics.codes.building import B001
from penstock.diagnostics.codes.event_time import W001, W026
from penstock.parser import ast
from penstock.planner.durations import interval_sql
from penstock.planner.lower.select_items import WINDOW_COLUMNS
from penstock.planner.plan import EventTime, Hop, KStream, Node, Tumble, Window, WindowAggregate
from penstock.planner.plan.walk import stateful
from penstock.planner.scalars.scopes import Scope
from penstock.planner.types import TIMESTAMP


class TimedWindow(msgspec.Struct, frozen=True):
    """A window, and the event-time column that it divides.

    `keys`: the keys that the script gives to sessions, as written. None where GROUP BY alone says them.
    """

    window: Window
    time: str
    keys: tuple[exp.Expression, ...] | None = None


class FromRows(msgspec.Struct, frozen=True):
    """A relation under construction: the plan so far, the names in scope, and what FROM says about windows.

    `window` is set by `FROM TUMBLE(…)` and the like, `over` by `FROM relation OVER (…)`, `as_of` by
    `FOR SYSTEM_TIME AS OF`.
    """

    node: Node
    scope: Scope
    name: str
    window: TimedWindow | None = None
    over: ast.OverClause | None = None
    as_of: exp.Expression | None = None

    @property
    def as_of_time(self) -> exp.Expression | None:
        """The time of the row version that is looked up. None for the present row."""
        return None if is_now(self.as_of) else self.as_of


def is_now(as_of: exp.Expression | None) -> bool:
    """Whether FOR SYSTEM_TIME AS OF asks for the table as it is when a row is processed, as every lookup does."""
    return isinstance(as_of, exp.Anonymous) and str(as_of.this).upper() == "CURRENT_TIMESTAMP"


def order_times(node: Node, time: str) -> tuple[EventTime, ...]:
    """The event times of rows that come out in the order of one of them, `time`, with the delays that follow."""
    assert isinstance(node.shape, KStream)
    chosen = next(each for each in node.shape.times if each.column == time)
    spreads = {each.column: 0 if each is chosen else each.spread + chosen.spread for each in node.shape.times}
    return tuple(replace(each, delay=spreads[each.column]) for each in node.shape.times)


def explain_unchained(operator: str, below: Node, span: Span) -> Diagnostic:
    """The finding that `operator` cannot yet read the result of `below`."""
    below = stateful(below) or below
    found = B001.at(span, "", above=operator, below=below.NOUN).also(below.span, "its input is computed here")
    if isinstance(below.shape, KStream):
        return found.with_hint("write the inner result to files with INSERT INTO, and read these in a second script")
    hint = "SELECT STREAM with a window inside: its rows are final, and can be read as a stream"
    window = below.window if isinstance(below, WindowAggregate) else None
    if operator == "a GROUP BY" and isinstance(window, Tumble | Hop):
        step = interval_sql(window.slide if isinstance(window, Hop) else window.size)
        best = "QUALIFY RANK() OVER (PARTITION BY window_start ORDER BY n DESC) = 1 keeps the greatest of each window"
        hint = f"SELECT STREAM inside, with window_start AS began, and GROUP BY TUMBLE(began, {step}); {best}"
    return found.with_hint(hint)


def require_event_time(rows: FromRows, operator: str, span: Span, wanted: str | None = None) -> str:
    """The event-time column of a stream: `wanted` if it is one, else the stream's first.

    Raises CompileError if there is none.
    """
    shape = rows.node.shape
    times = [each.column for each in shape.times] if isinstance(shape, KStream) else []
    if times:
        return wanted if wanted in times else times[0]
    below = stateful(rows.node)
    if below is not None and not (isinstance(below.shape, KStream) and below.shape.times):
        raise CompileError([explain_unchained(operator, below, span)])
    if not isinstance(shape, KStream):
        found = W026.at(span, "", operator=operator, relation=rows.name)
        raise CompileError([found.with_hint("a table has no order: GROUP BY, or read the stream behind it")])
    found = W001.at(span, "", operator=operator, relation=rows.name)
    moments = {each.name.rpartition(".")[2] for each in rows.node.schema if each.type == TIMESTAMP and not each.hidden}
    moments -= set(WINDOW_COLUMNS)
    time = next(iter(moments)) if len(moments) == 1 else "time"
    hint = (
        f"declare it with {rows.name}: WATERMARK FOR {time} AS {time} - INTERVAL '10' SECOND, and select it unchanged"
    )
    raise CompileError([found.with_hint(hint)])
