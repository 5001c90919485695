"""GROUP BY, with or without a window, and HAVING -> aggregate nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from sqlglot import exp

from penstock.diagnostics import CompileError, Diagnostic, Span
from penstock.diagnostics.codes.building import B002
from penstock.diagnostics.codes.kinds import K006, K014, K018
from penstock.diagnostics.codes.types import T005
from penstock.diagnostics.codes.windows import W005, W009, W010, W012, W016
from penstock.parser import ast
from penstock.planner import scalars
from penstock.planner.functions import is_aggregate
from penstock.planner.intervals import positive_milliseconds
from penstock.planner.lower.changes import staged_changes
from penstock.planner.lower.context import aggregate, condition, scalar
from penstock.planner.lower.grouping_sets import (
    KeySet,
    combined,
    grouping_sets,
    grouping_value,
    is_grouping_call,
    is_grouping_sets,
    key_sets,
)
from penstock.planner.lower.items import WINDOW_COLUMNS, Output, is_nullable
from penstock.planner.lower.retraction import check_retractable
from penstock.planner.lower.rows import Rows, TimedWindow, staged
from penstock.planner.lower.windows import final_times, is_window_call, is_window_column, regrouped, window_of_call
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
    WindowAggregate,
    WTable,
)
from penstock.planner.scalars.literals import bare
from penstock.planner.types import INTERVAL, TIMESTAMP, Decimal


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
        elif not isinstance(node, exp.Window | exp.Lambda | exp.Column):
            pending += reversed(list(node.iter_expressions()))


def free_columns(expression: exp.Expression) -> Iterator[exp.Column]:
    """The columns in the expression outside of OVER, but for the parameters of lambdas around them."""
    pending = [(expression, frozenset[str]())]
    while pending:
        node, parameters = pending.pop()
        if isinstance(node, exp.Column):
            if node.parts[0].name.casefold() not in parameters:
                yield node
        elif isinstance(node, exp.Lambda):
            pending.append((node.this, parameters | {each.name.casefold() for each in node.expressions}))
        elif not isinstance(node, exp.Window):
            pending += reversed([(each, parameters) for each in node.iter_expressions()])


@dataclass(slots=True)
class Grouping:
    """The keys and aggregates of a SELECT while its clauses are rewritten to refer to them."""

    rows: Rows
    keys: list[Named]
    aggregates: list[Aggregate]
    windowed: bool
    spans: list[Span] = field(default_factory=list)
    """Where each of the aggregates is written first."""
    id_column: str | None = None
    """Where the id of the row's grouping set is, None if there is one set."""

    def rewritten(self, expression: exp.Expression, name: str | None) -> exp.Expression:
        """The expression over the aggregate's output: keys and aggregate calls become columns of it.

        `name` is taken for the aggregate if the expression is nothing but one. Raises CompileError for a column that is
        neither grouped by nor aggregated.
        """
        holder = exp.Paren(this=expression.copy())
        for over in list(holder.find_all(exp.Window)):
            for part in over_parts(over):
                part.replace(self.rewritten(part, None))
        # All are found before any is replaced: columns of the output may be called as columns of the input.
        for node in list(topmost(holder, self.is_replaced)):
            if is_grouping_call(node):
                self.put_grouping(node)
            elif is_aggregate_call(node):
                wanted = name if node.parent is holder and name else f"agg{len(self.aggregates) + 1}"
                swap(node, self.aggregate_column(node, wanted))
            else:
                swap(node, exp.column(self.key_of(node) or ""))
        report: list[Diagnostic] = []
        for node in list(free_columns(holder)):
            key = self.key_of(node)
            if node.meta.get("grouped"):
                continue
            if key is not None:  # in a lambda, whose parameters may be called as the key
                swap(node, exp.column(key, table=self.rows.name, quoted=True))
            elif self.windowed and node.name.lower() in WINDOW_COLUMNS and not self.rows.scope.named(node.name):
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
        taken = [*(key.name for key in self.keys), *(each.name for each in self.aggregates)]
        name = unused(name, taken if self.id_column is None else [*taken, self.id_column])
        self.aggregates.append(replace(resolved, name=name))
        self.spans.append(call.meta["span"])
        return exp.column(name)

    def put_grouping(self, call: exp.Expression) -> None:
        """Puts what GROUPING or GROUPING_ID says in its place."""
        span: Span = call.meta["span"]
        name = str(call.this).upper()
        if self.id_column is None:
            raise CompileError([W005.at(span, "", clause=name, needed="ROLLUP, CUBE or GROUPING SETS")])
        if name == "GROUPING_ID" and not call.expressions:
            return swap(call, exp.column(self.id_column))
        if name == "GROUPING" and len(call.expressions) != 1:
            found = T005.at(span, name=name, count=f"{len(call.expressions)} arguments")
            raise CompileError([found.because("it takes GROUPING(key)")])
        names = [key.name for key in self.keys]
        places = []
        for each in map(bare, call.expressions):
            key = self.key_of(each)
            if key is None:
                raise CompileError([K014.at(each.meta["span"], "", expression=each.meta["span"].text)])
            places.append(names.index(key))
        call.replace(grouping_value(call, places, len(names), self.id_column))
        return None

    def is_replaced(self, node: exp.Expression) -> bool:
        """Whether the node as a whole becomes a column of the aggregate's output, or is computed from one."""
        return is_grouping_call(node) or is_aggregate_call(node) or self.key_of(node) is not None

    def key_of(self, node: exp.Expression) -> str | None:
        """The key that the node computes, compared after names are resolved."""
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
    too_fine = isinstance(resolved.type, Decimal) and resolved.type.scale > 37
    unbuilt = resolved.function != "COUNT" and (too_fine or resolved.type == INTERVAL)
    if resolved.function not in _OVER_SETS or unbuilt:
        raise CompileError([B002.at(span, "", construct=f"{resolved.function}(DISTINCT …) on a stream")])
    function = call.this if isinstance(call, exp.Filter) else call
    types = [scalar(each, scope).type for each in function.expressions[0].expressions]
    unequal = next((type_ for type_ in types if not scalars.is_ordered(type_)), None)
    if unequal is not None:
        raise CompileError([K018.at(span, "", type=unequal).because("DISTINCT compares values.")])
    return resolved


def over_parts(call: exp.Window) -> list[exp.Expression]:
    """The expressions over rows in a call with OVER: its arguments and condition, and those of its OVER."""
    function, parts = call.this, list[exp.Expression]()
    if isinstance(function, exp.Filter):
        parts.append(function.expression.this)
        function = function.this
    parts += (each for each in function.expressions if not isinstance(each, exp.Star | exp.Distinct))
    parts += call.args.get("partition_by") or ()
    order = call.args.get("order")
    return [*parts, *(each.this for each in (order.expressions if order is not None else ()))]


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
    rows = regrouped([bare(each) for each in select.group_by], rows)
    window, first_window = rows.window, None
    keys: list[Named] = []
    parts: list[list[KeySet]] = []
    report: list[Diagnostic] = []

    def place(expression: exp.Expression) -> int:
        """The key's place among the keys, of which it becomes one."""
        if is_window_call(expression) or (rows.window is not None and is_window_column(expression)):
            found = W016.at(expression.meta["span"], "")
            raise CompileError([found.with_hint("GROUP BY the window, GROUPING SETS (…)")])
        key = group_key(expression, rows, outputs, len(keys))
        if not scalars.is_ordered(key.type):
            raise CompileError([K018.at(expression.meta["span"], "", type=key.type)])
        known = next((number for number, known in enumerate(keys) if known.value == key.value), None)
        if known is None:
            keys.append(replace(key, name=unused(key.name, [known.name for known in keys])))
        return len(keys) - 1 if known is None else known

    for expression in map(bare, select.group_by):
        try:
            if is_window_call(expression):
                if window is not None:
                    first_span = first_window.meta["span"] if first_window is not None else select.relation.span
                    raise CompileError([W009.at(expression.meta["span"], "second").also(first_span, "first")])
                window, first_window = window_of_call(expression, rows), expression
            elif not (window is not None and is_window_column(expression)):  # else the window groups by it anyway
                parts.append(key_sets(expression, place))
        except CompileError as error:
            report.extend(error.diagnostics)
    if report:
        raise CompileError(report)
    grouping, sets = Grouping(rows, keys, [], window is not None), None
    several = next((each for each in map(bare, select.group_by) if is_grouping_sets(each)), None)
    if several is not None:
        sets = combined(parts, several.meta["span"])
        grouping.id_column = unused("grouping_id", [key.name for key in keys])
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
    if sets is not None and grouping.id_column is not None:
        if not select.stream and not any(is_column(each.value, grouping.id_column) for each in rewritten):
            found = K006.at(select.span, "", column="GROUPING_ID()")
            reason = "Without it the row of a total is not told from that of a group of NULLs."
            raise CompileError([found.because(reason).with_hint("add GROUPING_ID() AS grouping_id to the SELECT list")])
        exploded, grouping.keys = grouping_sets(rows.node, keys, sets, grouping.id_column)
        grouping.rows = replace(rows, node=exploded)
    node = aggregate_node(select, grouping, window, emission)
    scope = Scope(tuple(ScopeColumn(rows.name, c.name, c.name, c.type) for c in node.schema))
    if having is not None:
        span: Span = having.meta["span"]
        resolved = condition(having, scope, "HAVING")
        node = Filter(schema=node.schema, shape=node.shape, span=span, input=node, condition=resolved)
    return node, rewritten, scope


def is_column(expression: exp.Expression, name: str) -> bool:
    """Whether the expression is nothing but that column of the aggregate's output."""
    inner = bare(expression)
    return isinstance(inner, exp.Column) and bool(inner.meta.get("grouped")) and inner.name == name


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


def aggregate_node(select: ast.Select, grouping: Grouping, timed: TimedWindow | None, emission: Emission) -> Node:
    rows, keys, aggregates = grouping.rows, tuple(grouping.keys), tuple(grouping.aggregates)
    names = tuple(key.name for key in keys)
    columns = [Column(key.name, key.type, is_nullable(key.value, rows.node)) for key in keys]
    values = [Column(each.name, each.type) for each in aggregates]
    if timed is None:
        for clause, written in (
            ("GRACE PERIOD", select.grace),
            ("RETENTION", select.retention),
            ("LATE", select.late),
        ):
            if written is not None:
                raise CompileError([W005.at(written.span, "", clause=clause, needed="window")])
        if isinstance(select.emit, ast.EmitEarly):
            raise CompileError([W005.at(select.emit.span, "", clause="EMIT EARLY EVERY", needed="window")])
        if isinstance(select.emit, ast.EmitFinal):
            raise CompileError([W012.at(select.emit.span, "").with_hint("group by a window too, or EMIT CHANGES")])
        below = staged_changes(rows.node, select.span)
        if not isinstance(below.shape, KStream):
            check_retractable(aggregates, rows.node, grouping.spans)
        return GroupAggregate(
            schema=(*columns, *values),
            shape=KTable(names),
            span=select.span,
            input=below,
            keys=keys,
            aggregates=aggregates,
        )
    window = timed.window
    window_span: Span = next(
        (e.meta["span"] for e in map(bare, select.group_by) if is_window_call(e)), select.relation.span
    )
    if isinstance(window, Session) and emission is Emission.CHANGES:
        span = select.emit.span if select.emit else window_span
        found = W010.at(span, "", found="SESSION windows").because("Spark sends a session once, when it is over.")
        raise CompileError([found.with_hint("EMIT FINAL, or SELECT STREAM")])
    window_columns = [Column(name, TIMESTAMP, nullable=False) for name in WINDOW_COLUMNS]
    shape: Shape = KStream(names, final_times(window)) if select.stream else WTable(names)
    return WindowAggregate(
        schema=(*columns, *window_columns, *values),
        shape=shape,
        span=select.span,
        input=staged(rows.node, select.span, timed.time),
        window=window,
        time=timed.time,
        keys=keys,
        aggregates=aggregates,
        emission=emission,
        grace=0 if select.grace is None else positive_milliseconds(select.grace, "grace period", least=0),
        every=positive_milliseconds(select.emit.every, "pause") if isinstance(select.emit, ast.EmitEarly) else None,
        retention=None if select.retention is None else positive_milliseconds(select.retention, "retention"),
    )
