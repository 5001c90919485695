"""GROUP BY, with or without a window, and HAVING -> aggregate nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from penstock.diagnostics import CompileError, Diagnostic, Span
from penstock.diagnostics.codes.building import B002
from penstock.diagnostics.codes.kinds import K014, K018
from penstock.diagnostics.codes.windows import W005, W009, W010, W012
from penstock.parser import ast
from penstock.planner import scalars
from penstock.planner.functions import is_aggregate
from penstock.planner.intervals import positive_milliseconds
from penstock.planner.lower.context import aggregate, condition, scalar
from penstock.planner.lower.items import WINDOW_COLUMNS, Output
from penstock.planner.lower.rows import Rows, event_time, require_stateless
from penstock.planner.lower.windows import is_window_call, window_of_call
from penstock.planner.names import Scope, ScopeColumn
from penstock.planner.plan import (
    Aggregate,
    Column,
    Emission,
    Filter,
    GroupAggregate,
    KStream,
    KTable,
    Named,
    Node,
    Session,
    Shape,
    Window,
    WindowAggregate,
    WTable,
)
from penstock.planner.scalars.literals import bare
from penstock.planner.types import TIMESTAMP, Decimal


def is_aggregate_call(node: exp.Expression) -> bool:
    """Whether the node is an aggregate call, with its FILTER if it has one."""
    call = node.this if isinstance(node, exp.Filter) else node
    return isinstance(call, exp.Anonymous) and is_aggregate(str(call.this))


def has_aggregate(expression: exp.Expression | None) -> bool:
    """Whether an aggregate call stands in the expression outside of OVER."""
    return expression is not None and any(True for _ in topmost(expression, is_aggregate_call))


def topmost(expression: exp.Expression, wanted: Callable[[exp.Expression], bool]) -> Iterator[exp.Expression]:
    """The nodes for which `wanted(node)` holds and that are not below another such node, OVER or a lambda."""
    pending = [expression]
    while pending:
        node = pending.pop()
        if wanted(node):
            yield node
        elif not isinstance(node, exp.Window | exp.Lambda):
            pending += reversed(list(node.iter_expressions()))


@dataclass(slots=True)
class Grouping:
    """The keys and aggregates of a SELECT while its clauses are rewritten to refer to them."""

    rows: Rows
    keys: list[Named]
    aggregates: list[Aggregate]
    windowed: bool

    def rewritten(self, expression: exp.Expression, name: str | None) -> exp.Expression:
        """The expression over the aggregate's output: keys and aggregate calls become columns of it.

        `name` is taken for the aggregate if the expression is nothing but one. Raises CompileError for a column that is
        neither grouped by nor aggregated.
        """
        holder = exp.Paren(this=expression.copy())
        for call in list(topmost(holder, is_aggregate_call)):
            wanted = name if call.parent is holder and name else f"agg{len(self.aggregates) + 1}"
            swap(call, self.aggregate_column(call, wanted))
        for node in list(topmost(holder, self.is_key)):
            swap(node, exp.column(self.key_of(node) or ""))
        report: list[Diagnostic] = []
        for node in list(topmost(holder, lambda n: isinstance(n, exp.Column))):
            if node.meta.get("grouped"):
                continue
            if self.windowed and node.name.lower() in WINDOW_COLUMNS and not self.rows.scope.named(node.name):
                swap(node, exp.column(node.name.lower()))
            elif self.rows.scope.find(node, report) is not None:  # type: ignore[arg-type]
                found = K014.at(node.meta["span"], "", expression=node.meta["span"].text)
                grouped = ", ".join(key.name for key in self.keys)
                detail = f"The groups are by {grouped}." if grouped else "There is no GROUP BY: all rows are one group."
                report.append(
                    found.because(detail).with_hint(
                        f"add it to GROUP BY, or aggregate it: MAX({node.meta['span'].text})"
                    )
                )
        if report:
            raise CompileError(report)
        rewritten: exp.Expression = holder.this
        return rewritten

    def aggregate_column(self, call: exp.Expression, name: str) -> exp.Column:
        resolved = aggregate(call, self.rows.scope)
        if resolved.distinct:
            resolved = distinct_aggregate(call, resolved, self.rows.scope)
        for known in self.aggregates:
            if replace(known, name="") == resolved:
                return exp.column(known.name)
        name = unused(name, [*(key.name for key in self.keys), *(each.name for each in self.aggregates)])
        self.aggregates.append(replace(resolved, name=name))
        return exp.column(name)

    def is_key(self, node: exp.Expression) -> bool:
        return self.key_of(node) is not None

    def key_of(self, node: exp.Expression) -> str | None:
        """The key that the node computes, compared after names are resolved."""
        if isinstance(node, exp.Column) and node.meta.get("grouped"):
            return None
        wanted = canonical(node, self.rows.scope)
        return next((key.name for key in self.keys if key.value == wanted), None)


# Where a value that comes again changes nothing.
_IDEMPOTENT = frozenset(
    ["MIN", "MAX", "MIN_BY", "MAX_BY", "BOOL_AND", "EVERY", "BOOL_OR", "ANY", "SOME", "BIT_AND", "BIT_OR"]
)
_OVER_SETS = ("COUNT", "SUM", "AVG", "MEAN")


def distinct_aggregate(call: exp.Expression, resolved: Aggregate, scope: Scope) -> Aggregate:
    """A checked DISTINCT aggregate; the word is dropped where it says nothing."""
    span: Span = call.meta["span"]
    if resolved.function in _IDEMPOTENT:
        return replace(resolved, distinct=False)
    too_fine = resolved.function != "COUNT" and isinstance(resolved.type, Decimal) and resolved.type.scale > 37
    if resolved.function not in _OVER_SETS or too_fine:
        raise CompileError([B002.at(span, "", construct=f"{resolved.function}(DISTINCT …) on a stream")])
    function = call.this if isinstance(call, exp.Filter) else call
    types = [scalar(each, scope).type for each in function.expressions[0].expressions]
    unequal = next((type_ for type_ in types if not scalars.is_ordered(type_)), None)
    if unequal is not None:
        raise CompileError([K018.at(span, "", type=unequal).because("DISTINCT compares values.")])
    return resolved


def unused(name: str, taken: Iterable[str]) -> str:
    """The name, or with underscores behind it if another column has it."""
    folded = {each.lower() for each in taken} | set(WINDOW_COLUMNS)
    while name.lower() in folded:
        name += "_"
    return name


def swap(node: exp.Expression, reference: exp.Column) -> None:
    """Puts a reference to the aggregate's output in the place of `node`."""
    for part in reference.walk():
        part.meta["span"] = node.meta["span"]
    reference.this.set("quoted", True)
    reference.meta["grouped"] = True
    node.replace(reference)


def canonical(expression: exp.Expression, scope: Scope) -> exp.Expression:
    """The expression resolved if it can be, for comparison with a resolved key."""
    try:
        return scalar(expression, scope).expression
    except CompileError:
        return expression


def lower_group(
    select: ast.Select, rows: Rows, outputs: list[Output], emission: Emission
) -> tuple[Node, list[Output], Scope]:
    """The aggregated rows (HAVING applied), and the SELECT list over them."""
    window, first_window = rows.window, None
    keys: list[Named] = []
    report: list[Diagnostic] = []
    for expression in map(bare, select.group_by):
        try:
            if is_window_call(expression):
                if window is not None:
                    first_span = first_window.meta["span"] if first_window is not None else select.relation.span
                    raise CompileError([W009.at(expression.meta["span"], "second").also(first_span, "first")])
                window, first_window = window_of_call(expression, rows), expression
            elif not (window is not None and is_window_column(expression)):
                key = group_key(expression, rows, outputs, len(keys))
                if not scalars.is_ordered(key.type):
                    raise CompileError([K018.at(expression.meta["span"], "", type=key.type)])
                if all(key.value != known.value for known in keys):
                    keys.append(replace(key, name=unused(key.name, [known.name for known in keys])))
        except CompileError as error:
            report.extend(error.diagnostics)
    if report:
        raise CompileError(report)
    grouping = Grouping(rows, keys, [], window is not None)
    rewritten: list[Output] = []
    for output in outputs:
        try:
            rewritten.append(replace(output, value=grouping.rewritten(output.value, output.name)))
        except CompileError as error:
            report.extend(error.diagnostics)
    having = None
    try:
        having = None if select.having is None else grouping.rewritten(select.having, None)
    except CompileError as error:
        report.extend(error.diagnostics)
    if report:
        raise CompileError(report)
    node = aggregate_node(select, grouping, window, emission)
    scope = Scope(tuple(ScopeColumn(rows.name, c.name, c.name, c.type) for c in node.schema))
    if having is not None:
        span: Span = having.meta["span"]
        if emission is Emission.CHANGES or not isinstance(node, WindowAggregate):
            raise CompileError([B002.at(span, "", construct="HAVING on a table that keeps changing")])
        resolved = condition(having, scope, "HAVING")
        node = Filter(schema=node.schema, shape=node.shape, span=span, input=node, condition=resolved)
    return node, rewritten, scope


def is_window_column(expression: exp.Expression) -> bool:
    """`window_start` and `window_end` beside FROM TUMBLE(…) repeat what the window groups by anyway."""
    return isinstance(expression, exp.Column) and expression.name.lower() in WINDOW_COLUMNS


def group_key(expression: exp.Expression, rows: Rows, outputs: list[Output], position: int) -> Named:
    """A key, called by its column, or by the SELECT item that it is the alias of or equal to."""
    if isinstance(expression, exp.Column) and not expression.table and not rows.scope.named(expression.name):
        for output in outputs:
            if output.name.lower() == expression.name.lower() and not has_aggregate(output.value):
                typed = scalar(output.value, rows.scope)
                return Named(output.name, typed.expression, typed.type)
    typed = scalar(expression, rows.scope)
    if isinstance(expression, exp.Column):
        return Named(expression.name, typed.expression, typed.type)
    name = next((o.name for o in outputs if canonical(o.value, rows.scope) == typed.expression), f"key{position + 1}")
    return Named(name, typed.expression, typed.type)


def aggregate_node(select: ast.Select, grouping: Grouping, window: Window | None, emission: Emission) -> Node:
    rows, keys, aggregates = grouping.rows, tuple(grouping.keys), tuple(grouping.aggregates)
    names = tuple(key.name for key in keys)
    columns = [Column(key.name, key.type) for key in keys]
    values = [Column(each.name, each.type) for each in aggregates]
    if window is None:
        require_stateless(rows.node, "a GROUP BY", select.span)
        for clause, written in (("GRACE PERIOD", select.grace), ("LATE", select.late)):
            if written is not None:
                raise CompileError([W005.at(written.span, "", clause=clause, needed="window")])
        if isinstance(select.emit, ast.EmitFinal):
            raise CompileError([W012.at(select.emit.span, "").with_hint("group by a window too, or EMIT CHANGES")])
        return GroupAggregate(
            schema=(*columns, *values),
            shape=KTable(names),
            span=select.span,
            input=rows.node,
            keys=keys,
            aggregates=aggregates,
        )
    window_span: Span = next(
        (e.meta["span"] for e in map(bare, select.group_by) if is_window_call(e)), select.relation.span
    )
    if isinstance(window, Session) and emission is Emission.CHANGES:
        span = select.emit.span if select.emit else window_span
        found = W010.at(span, "", found="SESSION windows").because("Spark sends a session once, when it is over.")
        raise CompileError([found.with_hint("EMIT FINAL, or SELECT STREAM")])
    window_columns = [Column(name, TIMESTAMP, nullable=False) for name in WINDOW_COLUMNS]
    time = event_time(rows, "a window", select.span)
    shape: Shape = WTable(names) if not select.stream else KStream(names)
    return WindowAggregate(
        schema=(*columns, *window_columns, *values),
        shape=shape,
        span=select.span,
        input=rows.node,
        window=window,
        time=time,
        keys=keys,
        aggregates=aggregates,
        emission=emission,
        grace=0 if select.grace is None else positive_milliseconds(select.grace, "grace period", least=0),
    )
