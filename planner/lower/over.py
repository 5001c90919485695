"""OVER, on a call, by a WINDOW name or on the relation -> the Over node."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from penstock.diagnostics import CompileError, Diagnostic, Span, nearest
from penstock.diagnostics.codes.building import B002
from penstock.diagnostics.codes.types import T007
from penstock.diagnostics.codes.windows import W020, W021, W022, W023, W024, W025, W026, W027
from penstock.parser import ast
from penstock.planner.intervals import interval_duration, positive_milliseconds
from penstock.planner.lower.context import Context, aggregate, scalar
from penstock.planner.lower.group import is_aggregate_call, swap, topmost
from penstock.planner.lower.items import Output
from penstock.planner.lower.rows import Rows, event_time, staged
from penstock.planner.names import Scope, ScopeColumn
from penstock.planner.plan import Aggregate, Column, EventTime, FramedAggregate, KStream, Node, Over
from penstock.planner.plan.over import OVER_FUNCTIONS
from penstock.planner.types import INTERVAL, Decimal

RANKING = frozenset(
    [
        "ROW_NUMBER",
        "RANK",
        "DENSE_RANK",
        "PERCENT_RANK",
        "CUME_DIST",
        "NTILE",
        "LAG",
        "LEAD",
        "FIRST_VALUE",
        "LAST_VALUE",
    ]
)
Expressions = tuple[exp.Expression, ...]


@dataclass(frozen=True, slots=True)
class Specification:
    """An OVER after names are looked up: resolved partition keys and the reach back in milliseconds."""

    partition_by: Expressions
    preceding: int
    span: Span


def has_over(expression: exp.Expression) -> bool:
    return expression.find(exp.Window) is not None


def lower_over(
    select: ast.Select, rows: Rows, outputs: list[Output], context: Context
) -> tuple[Node, list[Output], Scope]:
    """The rows with their frames' aggregates beside them, and the SELECT list over those."""
    span = next((o.span for o in outputs if has_over(o.value)), select.relation.span)
    if not isinstance(rows.node.shape, KStream):
        found = W026.at(span, "", relation=rows.name)
        raise CompileError([found.with_hint("a table has no order: GROUP BY, or read the stream behind it")])
    time = event_time(rows, "OVER", span)
    framed: list[FramedAggregate] = []
    specifications: list[Specification] = []
    rewritten: list[Output] = []
    report: list[Diagnostic] = []
    for output in outputs:
        holder = exp.Paren(this=output.value.copy())
        try:
            for call in list(topmost(holder, lambda n: isinstance(n, exp.Window) or is_aggregate_call(n))):
                specification = specification_of(call, select, rows, time)
                specifications.append(specification)
                wanted = output.name if call.parent is holder else f"over{len(framed) + 1}"
                function = call.this if isinstance(call, exp.Window) else call
                name = add(framed, function, specification.preceding, wanted, rows)
                swap(call, exp.column(name))
            rewritten.append(replace(output, value=holder.this))
        except CompileError as error:
            report.extend(error.diagnostics)
    if report:
        raise CompileError(report)
    first = specifications[0]
    other = next((s for s in specifications if s.partition_by != first.partition_by), None)
    if other is not None:
        found = B002.at(other.span, "", construct="several OVERs of different PARTITION BY in one SELECT")
        raise CompileError([found.also(first.span, "another one")])
    if not first.partition_by:
        found = W025.at(first.span, "all rows go to one task").with_hint("OVER (PARTITION BY key ORDER BY …)")
        context.warnings.append(found)
    columns = [Column(each.aggregate.name, each.aggregate.type) for each in framed]
    node = Over(
        schema=(*rows.node.schema, *columns),
        shape=KStream(rows.node.shape.key, (EventTime(time, 0),)),
        span=span,
        input=staged(rows.node, "OVER", span, time),
        partition_by=first.partition_by,
        time=time,
        aggregates=tuple(framed),
    )
    added = tuple(ScopeColumn(None, c.name, c.name, c.type) for c in columns)
    return node, rewritten, Scope((*rows.scope.columns, *added))


def add(framed: list[FramedAggregate], call: exp.Expression, preceding: int, name: str, rows: Rows) -> str:
    """Adds the aggregate unless it is there already; the name of its column."""
    function = call.this if isinstance(call, exp.Filter) else call
    name_called = str(function.this).upper() if isinstance(function, exp.Anonymous) else ""
    if name_called in RANKING:
        raise CompileError([B002.at(call.meta["span"], "", construct=f"{name_called} over a frame")])
    resolved = aggregate(call, rows.scope)
    if resolved.function not in OVER_FUNCTIONS or not is_framable(resolved):
        found = W023.at(call.meta["span"], "", function=resolved.function)
        raise CompileError([found.because("Over a frame there are " + ", ".join(OVER_FUNCTIONS) + ".")])
    if resolved.distinct:
        raise CompileError([B002.at(call.meta["span"], "", construct="DISTINCT over a frame")])
    for known in framed:
        if known.preceding == preceding and replace(known.aggregate, name="") == resolved:
            return known.aggregate.name
    taken = {c.name.lower() for c in rows.node.schema} | {each.aggregate.name.lower() for each in framed}
    while name.lower() in taken:
        name += "_"
    framed.append(FramedAggregate(replace(resolved, name=name), preceding))
    return name


def is_framable(aggregate: Aggregate) -> bool:
    """SUM and AVG of intervals, and AVG with more decimals than can be divided exactly, have no array form."""
    if aggregate.function not in ("SUM", "AVG"):
        return True
    type_ = aggregate.type
    return type_ != INTERVAL and not (isinstance(type_, Decimal) and aggregate.function == "AVG" and type_.scale > 37)


def specification_of(call: exp.Expression, select: ast.Select, rows: Rows, time: str) -> Specification:
    """The OVER of a call: its own, the named one, or the relation's."""
    if not isinstance(call, exp.Window):
        if rows.over is None:
            function = call.this if isinstance(call, exp.Filter) else call
            found = T007.at(call.meta["span"], "beside OVER", name=str(function.this).upper())
            raise CompileError([found.with_hint("give it an OVER of its own: there is one row per input row here")])
        over = rows.over
        return checked(over.partition_by, over.order_by, over.frame, over.span, rows, time)
    span: Span = call.meta["span"]
    name = call.args.get("alias")
    if name is not None:
        named = next((w for w in select.windows if w.name.folded == name.name.lower()), None)
        if named is None:
            guess = nearest(name.name, [window.name.text for window in select.windows])
            raise CompileError(
                [W024.at(name.meta.get("span", span), "", name=name.name).with_hint(guess and f"did you mean {guess}?")]
            )
        over = named.over
        return checked(over.partition_by, over.order_by, over.frame, over.span, rows, time)
    order = call.args.get("order")
    return checked(
        tuple(call.args.get("partition_by") or ()),
        tuple(order.expressions) if order is not None else (),
        call.args.get("spec"),
        span,
        rows,
        time,
    )


def checked(
    partition_by: Expressions,
    order_by: Expressions,
    frame: exp.WindowSpec | None,
    span: Span,
    rows: Rows,
    time: str,
) -> Specification:
    """The specification, if it is ordered by the event time and reaches back a fixed time."""
    keys = tuple(scalar(expression, rows.scope).expression for expression in partition_by)
    hint = f"ORDER BY {time} RANGE INTERVAL '10' MINUTE PRECEDING"
    if len(order_by) != 1 or order_by[0].args.get("desc"):
        raise CompileError([W021.at(span, "").with_hint(hint)])
    ordered = scalar(order_by[0].this, rows.scope).expression
    if not (isinstance(ordered, exp.Column) and ordered.name == time):
        raise CompileError([W021.at(order_by[0].meta["span"], f"the event time is {time}").with_hint(hint)])
    if frame is None:
        raise CompileError([W022.at(span, "").with_hint(hint)])
    start, end = frame.args.get("start"), frame.args.get("end")
    if start == "UNBOUNDED":
        table = "or as a table of its own: SELECT key, SUM(…) FROM … GROUP BY key"
        raise CompileError([W020.at(span, "UNBOUNDED PRECEDING").with_hint(f"{hint}; {table}")])
    if str(frame.args.get("kind")).upper() != "RANGE":
        raise CompileError([B002.at(span, "", construct="OVER (… ROWS n PRECEDING)")])
    if frame.args.get("start_side") != "PRECEDING" or end not in (None, "CURRENT ROW") or start == "CURRENT ROW":
        raise CompileError([B002.at(span, "", construct="OVER with a frame that does not end at the current row")])
    if not isinstance(start, exp.Interval):
        raise CompileError([W027.at(span, "").with_hint(hint)])
    return Specification(keys, positive_milliseconds(interval_duration(start), "frame"), span)
