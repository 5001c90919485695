"""OVER, on a call, by a WINDOW name or on the relation -> the Over and OverRows nodes."""

from __future__ import annotations

import re

import msgspec
from msgspec.structs import replace
from sqlglot import exp

from penstock.diagnostics import CompileError, Diagnostic, Prose, Span, nearest
from penstock.diagnostics.codes.event_time import (
    W014,
    W020,
    W021,
    W022,
    W024,
    W025,
    W026,
    W027,
    W028,
    W029,
    W030,
    W041,
    W042,
    W043,
)
from penstock.diagnostics.codes.expression_types import T007
from penstock.parser import ast, name_text
from penstock.planner.durations import interval_duration, positive_milliseconds
from penstock.planner.functions import clock_calls, find_function, is_framed
from penstock.planner.functions.facts import Framing
from penstock.planner.lower.checked_frames import AHEAD, BACK, refuse_unframable
from penstock.planner.lower.context import Context, collect_findings, resolve_aggregate, resolve_key, resolve_scalar
from penstock.planner.lower.from_rows import FromRows, require_event_time
from penstock.planner.lower.grouped import find_topmost, is_aggregate_call, strip_filter, swap_node
from penstock.planner.lower.intermediates import materialise_input
from penstock.planner.lower.select_items import OutputColumn
from penstock.planner.plan import (
    Column,
    EventTime,
    Frame,
    FramedAggregate,
    KStream,
    Node,
    Over,
    OverRows,
    RowsFrame,
)
from penstock.planner.plan.reserved import choose_unused_name
from penstock.planner.scalars.scopes import Scope, ScopeColumn

# Far above what a worker could hold of each key.
MOST_ROWS = 1_000_000
_RANKS = (Framing.ROW_NUMBER, Framing.RANK, Framing.DENSE_RANK)
Expressions = tuple[exp.Expression, ...]
# The keys of a partition, and whether its frames are numbers of rows.
Partition = tuple[Expressions, bool]


class Specification(msgspec.Struct, frozen=True):
    """An OVER after names are looked up: resolved partition keys and the frame."""

    partition_by: Expressions
    frame: Frame | RowsFrame
    span: Span


def is_by_rows(specification: Specification) -> bool:
    return isinstance(specification.frame, RowsFrame)


def has_over(expression: exp.Expression) -> bool:
    return expression.find(exp.Window) is not None


def takes_over(node: exp.Expression) -> bool:
    """Whether the OVER of the relation is for this node: an aggregate, or a function that exists over frames only."""
    return is_aggregate_call(node) or is_framed_call(node)


def is_framed_call(node: exp.Expression) -> bool:
    call = strip_filter(node)
    return isinstance(call, exp.Anonymous) and is_framed(str(call.this))


def refuse_framed(outputs: list[OutputColumn], rows: FromRows) -> None:
    """Raises CompileError for functions over frames in a SELECT without OVER."""
    for output in outputs:
        for call in find_topmost(output.value, is_framed_call):
            resolve_scalar(strip_filter(call), rows.scope)


def lower_over(
    select: ast.Select, rows: FromRows, outputs: list[OutputColumn], context: Context
) -> tuple[Node, list[OutputColumn], Scope]:
    """The rows with the aggregates over their frames beside them, and the SELECT list over these."""
    span = next((o.span for o in outputs if has_over(o.value)), select.relation.span)
    if not isinstance(rows.node.shape, KStream):
        found = W026.at(span, "", operator="OVER", relation=rows.name)
        raise CompileError([found.with_hint("a table has no order: GROUP BY, or read the stream behind it")])
    time = require_event_time(rows, "OVER", span, find_order(select, rows, outputs))
    check_windows(select, rows, time, outputs)
    framed: dict[Partition, list[FramedAggregate]] = {}
    specifications: list[Specification] = []
    rewritten: list[OutputColumn] = []
    findings: list[Diagnostic] = []
    for output in outputs:
        holder = exp.Paren(this=output.value.copy())
        with collect_findings(findings):
            for call in list(find_topmost(holder, lambda n: isinstance(n, exp.Window) or takes_over(n))):
                specification = read_specification(call, select, rows, time)
                specifications.append(specification)
                wanted = output.name if call.parent is holder else f"over{len(specifications)}"
                function = call.this if isinstance(call, exp.Window) else call
                name = add_call(framed, function, specification, wanted, rows)
                swap_node(call, exp.column(name))
            rewritten.append(replace(output, value=holder.this))
    if findings:
        raise CompileError(findings)
    alone = next((each for each in specifications if not each.partition_by), None)
    if alone is not None:
        found = W025.at(alone.span, "all rows go to one task").with_hint(
            f"PARTITION BY a key, in front of ORDER BY {time}"
        )
        context.warnings.append(found)
    remembering = next((each for each in specifications if is_by_rows(each) and each.partition_by), None)
    if remembering is not None:
        found = W041.at(remembering.span, "the state grows with the keys")
        context.warnings.append(found.with_hint(f"ORDER BY {time} RANGE INTERVAL '1' DAY PRECEDING forgets them"))
    node = rows.node
    for (partition_by, by_rows), functions in framed.items():
        columns = [Column(each.aggregate.name, each.aggregate.type) for each in functions]
        node = (OverRows if by_rows else Over)(
            schema=(*node.schema, *columns),
            shape=KStream(rows.node.shape.key, (EventTime(time, 0),)),
            span=span,
            input=materialise_input(node, time),
            partition_by=partition_by,
            time=time,
            aggregates=tuple(functions),
        )
    added = (ScopeColumn(None, c.name, c.name, c.type) for c in node.schema[len(rows.node.schema) :])
    return node, rewritten, replace(rows.scope, columns=(*rows.scope.columns, *added))


def find_order(select: ast.Select, rows: FromRows, outputs: list[OutputColumn]) -> str | None:
    """The column that the first OVER with an ORDER BY names, None where that is no column."""
    calls = [
        call for output in outputs for call in find_topmost(output.value, lambda node: isinstance(node, exp.Window))
    ]
    orders = [call.args["order"].expressions for call in calls if call.args.get("order") is not None]
    orders += [over.order_by for over in (rows.over, *(window.over for window in select.windows)) if over is not None]
    first = next((order[0].this for order in orders if order), None)
    found = rows.scope.find(first, []) if isinstance(first, exp.Column) else None
    return None if found is None else found.column


def add_call(
    framed: dict[Partition, list[FramedAggregate]],
    call: exp.Expression,
    specification: Specification,
    name: str,
    rows: FromRows,
) -> str:
    """The name of the function's column.

    The function is added to the functions of its partition if it is not there yet.
    """
    frame = specification.frame
    resolved = resolve_aggregate(call, rows.scope)
    refuse_unframable(resolved, call, frame, rows)
    functions = framed.setdefault((specification.partition_by, is_by_rows(specification)), [])
    for known in functions:
        if known.frame == frame and replace(known.aggregate, name="") == resolved:
            return known.aggregate.name
    taken = [each.aggregate.name for others in framed.values() for each in others]
    name = choose_unused_name(name, [*(column.name for column in rows.node.schema), *taken])
    functions.append(FramedAggregate(replace(resolved, name=name), frame))
    return name


def read_specification(call: exp.Expression, select: ast.Select, rows: FromRows, time: str) -> Specification:
    """The OVER of a call: its own, the named one, or the relation's."""
    function = call.this if isinstance(call, exp.Window) else call
    if not isinstance(call, exp.Window):
        if rows.over is None:
            found = T007.at(call.meta["span"], "beside OVER", name=str(strip_filter(call).this).upper())
            raise CompileError([found.with_hint("give it an OVER of its own: there is one row per input row here")])
        return read_over(rows.over, rows, time, function)
    over = find_over_clause(call, select)
    if over is None:
        name = call.args["alias"]
        guess = nearest(name.name, [window.name.text for window in select.windows])
        found = W024.at(name.meta.get("span", call.meta["span"]), "", name=name.name)
        raise CompileError([found.with_guess(guess and name_text(guess))])
    return read_over(over, rows, time, function)


def find_over_clause(call: exp.Window, select: ast.Select) -> ast.OverClause | None:
    """The OVER of a call, or the OVER of the WINDOW that it names. None if no WINDOW has this name."""
    name = call.args.get("alias")
    if name is not None:
        return next((each.over for each in select.windows if each.name.folded == name.name.lower()), None)
    order = call.args.get("order")
    order_by = () if order is None else tuple(order.expressions)
    return ast.OverClause(
        tuple(call.args.get("partition_by") or ()), order_by, call.args.get("spec"), call.meta["span"]
    )


def read_over(over: ast.OverClause, rows: FromRows, time: str, function: exp.Expression | None = None) -> Specification:
    """The specification, if it is ordered by the event time and its frame is bounded; `function` is what has it."""
    span = over.span
    keys = tuple(resolve_key(each, rows.scope) for each in over.partition_by)
    hint = write_over(over, time, AHEAD if looks_ahead(function) else BACK)
    ranked = propose_rank(over, time, function)
    if len(over.order_by) != 1 or over.order_by[0].args.get("desc"):
        raise CompileError([W021.at(span, "").with_sql(ranked or hint, span)])
    if any(True for _ in clock_calls(over.order_by[0].this)):
        raise CompileError([W014.at(over.order_by[0].meta["span"], "", operator="OVER").with_sql(hint, span)])
    ordered = resolve_scalar(over.order_by[0].this, rows.scope).expression
    if not (isinstance(ordered, exp.Column) and ordered.name == time):
        found = W021.at(over.order_by[0].meta["span"], f"the event time is {time}")
        raise CompileError([found.with_sql(ranked or hint, span)])
    frame = make_lag_frame(function) if over.frame is None else read_frame(over, time, hint)
    if frame is None:
        raise CompileError([W022.at(span, "").with_sql(hint, span)])
    return Specification(keys, frame, span)


def looks_ahead(function: exp.Expression | None) -> bool:
    """Whether the function is LEAD, which needs a frame that reaches ahead."""
    entry = find_function(str(function.this)) if isinstance(function, exp.Anonymous) else None
    return entry is not None and entry.framing is Framing.LEAD


def propose_rank(over: ast.OverClause, time: str, function: exp.Expression | None) -> Prose | None:
    """What stands for a rank over all rows of an endless stream; None for other functions."""
    entry = find_function(str(function.this)) if isinstance(function, exp.Anonymous) else None
    if entry is None or entry.framing not in _RANKS or not over.order_by:
        return None
    first = over.order_by[0]
    keys = ", ".join(each.meta["span"].text for each in over.partition_by)
    if len(over.order_by) == 1 and isinstance(first.this, exp.Column) and first.this.name == time and keys:
        return Prose(
            f"GROUP BY {keys}, and MAX_BY(value, {time}) for each other column: a table of the newest row of each key"
        )
    window = ", ".join(["window_start", "window_end", *([keys] if keys else [])])
    return Prose(
        f"PARTITION BY {window}, and FROM TUMBLE(…, {time}, INTERVAL '1' HOUR): the rows of each window are ranked"
    )


def make_lag_frame(function: exp.Expression | None) -> RowsFrame | None:
    """The frame of LAG where none is written: up to the row that it looks at."""
    entry = find_function(str(function.this)) if isinstance(function, exp.Anonymous) else None
    if function is None or entry is None or entry.framing is not Framing.LAG:
        return None
    count = function.expressions[1] if len(function.expressions) > 1 else None
    # What is no number is refused where the types of the arguments are known.
    if not isinstance(count, exp.Literal) or count.is_string:
        return RowsFrame(-1, 0)
    return RowsFrame(-read_row_count(count, function.meta["span"]), 0)


def write_over(over: ast.OverClause, time: str, frame: str) -> str:
    """The call, or the window of WINDOW, with the event time as its order and another frame."""
    head = re.match(r".*\bOVER\s*(?=\()", over.span.text, re.IGNORECASE | re.DOTALL)
    keys = ", ".join(each.meta["span"].text for each in over.partition_by)
    partition = f"PARTITION BY {keys} " if keys else ""
    return f"{head[0] if head else ''}({partition}ORDER BY {name_text(time)} {frame})"


def read_frame(over: ast.OverClause, time: str, hint: str) -> Frame | RowsFrame:
    """The frame, if it reaches back and forward by fixed times, or back by a number of rows."""
    frame, span = over.frame, over.span
    assert frame is not None
    finite = write_over(over, time, AHEAD)
    start, end = frame.args.get("start"), frame.args.get("end") or "CURRENT ROW"
    if start == "UNBOUNDED" and frame.args.get("start_side") == "PRECEDING":
        table = "or leave OVER out: GROUP BY a key keeps a total of all rows"
        raise CompileError([W020.at(span, "UNBOUNDED PRECEDING").with_sql(hint, after=f"; {table}")])
    if "UNBOUNDED" in (start, end) and not (end == "UNBOUNDED" and frame.args.get("end_side") == "PRECEDING"):
        raise CompileError([W028.at(span, "UNBOUNDED FOLLOWING").with_sql(finite)])
    by_rows = str(frame.args.get("kind")).upper() == "ROWS"
    edges = []
    for edge, side in ((start, frame.args.get("start_side")), (end, frame.args.get("end_side"))):
        if edge == "CURRENT ROW":
            edges.append(0)
        elif by_rows and isinstance(edge, exp.Expression):
            count = read_row_count(edge, span)
            if side == "FOLLOWING" and count:
                found = W042.at(span, f"{count} FOLLOWING")
                raise CompileError([found.with_sql(finite, after=" waits for a fixed time")])
            edges.append(-count)
        elif isinstance(edge, exp.Interval):
            length = positive_milliseconds(interval_duration(edge), "frame")
            edges.append(length if side == "FOLLOWING" else -length)
        elif edge != "UNBOUNDED":
            raise CompileError([W027.at(span, "").with_sql(hint)])
    if len(edges) < 2 or edges[0] > edges[1]:
        unit = "ROWS" if by_rows else "RANGE"
        raise CompileError([W029.at(span, "").with_hint(f"{unit} BETWEEN the earlier AND the later end")])
    return RowsFrame(*edges) if by_rows else Frame(*edges)


def read_row_count(written: exp.Expression, span: Span) -> int:
    """A whole number of rows."""
    count = ast.parse_count(written.name) if isinstance(written, exp.Literal) and not written.is_string else None
    if count is None or count > MOST_ROWS:
        found = W043.at(written.meta.get("span", span), "")
        raise CompileError([found.with_hint(f"ROWS 10 PRECEDING; at most {MOST_ROWS:,} of them")])
    return count


def check_windows(select: ast.Select, rows: FromRows, time: str, outputs: list[OutputColumn]) -> None:
    """Raises CompileError for windows of one name, and for what is wrong in one that may not be used."""
    findings: list[Diagnostic] = []
    seen: dict[str, ast.NamedWindow] = {}
    calls = [call for output in outputs for call in output.value.find_all(exp.Window)]
    used = {call.args["alias"].name.lower() for call in calls if call.args.get("alias") is not None}
    for window in select.windows:
        first = seen.setdefault(window.name.folded, window)
        if first is not window:
            found = W030.at(window.name.span, "second", name=window.name.text)
            findings.append(found.also(first.name.span, "first"))
        if window.over.frame is None and window.name.folded in used:
            continue  # what uses it may bring a frame
        with collect_findings(findings):
            read_over(window.over, rows, time)
    if findings:
        raise CompileError(findings)
