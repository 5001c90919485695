"""What a FROM clause gives to the other clauses."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from penstock.diagnostics import CompileError, Diagnostic, Span
from penstock.diagnostics.codes.building import B001
from penstock.diagnostics.codes.connectors import C009
from penstock.diagnostics.codes.kinds import K016
from penstock.diagnostics.codes.limits import L004
from penstock.diagnostics.codes.windows import W001, W026
from penstock.parser import ast
from penstock.planner.connectors import find_unheld
from penstock.planner.names import Scope
from penstock.planner.plan import (
    Distinct,
    EventTime,
    Filter,
    ForeignKeyJoin,
    GroupAggregate,
    Intermediate,
    IntervalJoin,
    KStream,
    Latest,
    Node,
    Over,
    OverRows,
    Project,
    Ranked,
    TableJoin,
    TableLookup,
    UnionAll,
    Window,
    WindowAggregate,
    anchor_times,
)
from penstock.planner.plan.reserved import STREAM_COLUMNS
from penstock.planner.plan.walk import STATEFUL, inputs, stateful, with_inputs

# Far above what people write, and still planned within a second.
LARGEST_PLAN = 500


@dataclass(frozen=True, slots=True)
class TimedWindow:
    """A window, and the event-time column of the relation that it is over."""

    window: Window
    time: str


@dataclass(frozen=True, slots=True)
class Rows:
    """A relation under construction: the plan so far, the names in sight, and what FROM said about windows.

    `window` is set by `FROM TUMBLE(…)` and its kin, `over` by `FROM relation OVER (…)`, `as_of` by
    `FOR SYSTEM_TIME AS OF`.
    """

    node: Node
    scope: Scope
    name: str
    window: TimedWindow | None = None
    over: ast.OverClause | None = None
    as_of: exp.Expression | None = None


def operator_name(node: Node) -> str:
    """The operator as messages call it."""
    match node:
        case WindowAggregate():
            return "a window aggregation"
        case GroupAggregate():
            return "a GROUP BY"
        case IntervalJoin():
            return "a stream-stream join"
        case Distinct():
            return "SELECT DISTINCT"
        case Over() | OverRows():
            return "OVER"
        case Ranked():
            return "a ranking"
        case TableJoin() | ForeignKeyJoin():
            return "a join of tables"
        case TableLookup():
            return "a stream-table join"
        case Latest():
            return "a table"
        case _:
            return "a relation"


def check_size(root: Node, span: Span) -> None:
    """Raises CompileError for a plan so large, by views over views, that working on it would take minutes."""
    count = 0
    pending = [root]
    while pending:
        count += 1
        if count > LARGEST_PLAN:
            found = L004.at(span, "", limit=LARGEST_PLAN)
            raise CompileError([found.with_hint("write what others read to a place of its own with INSERT INTO")])
        pending += inputs(pending.pop())


def staged(node: Node, span: Span, time: str | None = None) -> Node:
    """The input of a stateful operator: what keeps state below it is computed by queries of their own.

    `time` is the column of `node` that the operator goes by, None if it needs no event time. Of a table, the changes
    are written.
    """
    below = stateful(node)
    if below is None:
        return node
    if isinstance(node.input if isinstance(node, Filter) else node, STATEFUL):
        if not isinstance(node.shape, KStream):
            return Intermediate(schema=node.schema, shape=node.shape, span=node.span, input=node)
        times = anchor_times(each for each in node.shape.times if each.column == time)
        assert bool(times) == (time is not None), f"{time} is no event time"
        return Intermediate(schema=node.schema, shape=KStream(node.shape.key, times), span=node.span, input=node)
    changed = []
    for each in inputs(node):  # no comprehension, which would take the stack of a deep plan twice
        changed.append(staged(each, span, time_below(node, each, time)))
    return with_inputs(node, tuple(changed))


def in_order_of(node: Node, time: str) -> tuple[EventTime, ...]:
    """The event times of rows that come out in the order of one of them, `time`."""
    assert isinstance(node.shape, KStream)
    chosen = next(each for each in node.shape.times if each.column == time)
    spreads = {each.column: 0 if each is chosen else each.spread + chosen.spread for each in node.shape.times}
    return tuple(replace(each, delay=spreads[each.column]) for each in node.shape.times)


def check_stage(node: Node, span: Span) -> None:
    """Raises CompileError for a column that an intermediate stream, which is Parquet files, cannot hold."""
    column = find_unheld("parquet", node.schema)
    if column is not None:
        found = C009.at(span, "", format="parquet", column=column.name, type=column.type)
        found = found.because("Rows on their way from one query to the next are written to such files.")
        raise CompileError([found.with_hint(f"CAST({column.name} AS STRING)")])
    taken = next((each.name for each in node.schema if each.name.lower() in STREAM_COLUMNS), None)
    if taken is not None:
        raise CompileError([K016.at(span, "", name=taken).with_hint(f"{taken} AS another name, in the inner SELECT")])


def time_below(node: Node, below: Node, time: str | None) -> str | None:
    """What the column `time` of a stateless operator is called in its input `below`."""
    if time is None:
        return None
    match node:
        case Project():
            return next(str(item.value.name) for item in node.items if item.name == time)
        case UnionAll():
            position = next(i for i, each in enumerate(node.schema) if each.name == time)
            return below.schema[position].name
        case _:
            return time


def unchained(operator: str, below: Node, span: Span) -> Diagnostic:
    """The finding that `operator` cannot yet read the result of `below`."""
    below = stateful(below) or below
    found = B001.at(span, "", above=operator, below=operator_name(below)).also(below.span, "its input is computed here")
    if isinstance(below.shape, KStream):
        return found.with_hint("write the inner result to files with INSERT INTO, and read those in a second script")
    return found.with_hint("SELECT STREAM with a window inside: its rows are final, and can be read as a stream")


def event_time(rows: Rows, operator: str, span: Span, wanted: str | None = None) -> str:
    """The event-time column of a stream: `wanted` if it can be that, else the one it has by itself.

    Raises CompileError where there is none.
    """
    shape = rows.node.shape
    times = [each.column for each in shape.times] if isinstance(shape, KStream) else []
    if times:
        return wanted if wanted in times else times[0]
    below = stateful(rows.node)
    if below is not None and not (isinstance(below.shape, KStream) and below.shape.times):
        raise CompileError([unchained(operator, below, span)])
    if not isinstance(shape, KStream):
        found = W026.at(span, "", operator=operator, relation=rows.name)
        raise CompileError([found.with_hint("a table has no order: GROUP BY, or read the stream behind it")])
    found = W001.at(span, "", operator=operator, relation=rows.name)
    hint = f"declare it with {rows.name}: WATERMARK FOR time AS time - INTERVAL '10' SECOND, and select it unchanged"
    raise CompileError([found.with_hint(hint)])
