"""SELECT list and HAVING of a grouped query -> expressions over the aggregation's output, and its aggregates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import msgspec
from msgspec.structs import replace
from sqlglot import exp

from penstock.diagnostics import CompileError, Diagnostic, Span
from penstock.diagnostics.codes.building import B002
from penstock.diagnostics.codes.event_time import W005
from penstock.diagnostics.codes.expression_types import T005
from penstock.diagnostics.codes.kinds import K014, K018
from penstock.diagnostics.codes.names import N001
from penstock.parser.ast import EVENT_TIME
from penstock.planner import scalars
from penstock.planner.functions import is_aggregate
from penstock.planner.functions.facts import DistinctRule
from penstock.planner.lower.context import resolve_aggregate, resolve_scalar
from penstock.planner.lower.from_rows import FromRows, TimedWindow
from penstock.planner.lower.grouping_sets import compute_grouping_value, is_grouping_call
from penstock.planner.lower.retraction import is_too_fine
from penstock.planner.lower.select_items import WINDOW_COLUMNS
from penstock.planner.lower.window_parts import find_window_part
from penstock.planner.plan import Aggregate, Named
from penstock.planner.plan.reserved import choose_unused_name
from penstock.planner.plan.substitute import free_columns
from penstock.planner.scalars.known import known_function
from penstock.planner.scalars.literals import bare
from penstock.planner.scalars.scopes import Scope
from penstock.planner.scalars.window_names import PART_COLUMNS, split_part
from penstock.planner.types import INTERVAL, Decimal


def strip_filter(call: exp.Expression) -> exp.Expression:
    """A call without its FILTER and its WITHIN GROUP."""
    while isinstance(call, exp.Filter | exp.WithinGroup):
        call = call.this
    return call


def is_aggregate_call(node: exp.Expression) -> bool:
    """Whether the node is an aggregate call, with its FILTER if it has one."""
    call = strip_filter(node)
    return isinstance(call, exp.Anonymous) and is_aggregate(str(call.this))


def has_aggregate(expression: exp.Expression | None) -> bool:
    """Whether the expression has an aggregate call outside of OVER."""
    return expression is not None and any(True for _ in find_topmost(expression, is_aggregate_call))


def find_topmost(expression: exp.Expression, wanted: Callable[[exp.Expression], bool]) -> Iterator[exp.Expression]:
    """The topmost nodes for which `wanted(node)` holds. Calls with OVER and lambdas are not searched inside."""
    pending = [expression]
    while pending:
        node = pending.pop()
        if wanted(node):
            yield node
        elif not isinstance(node, exp.Window | exp.Lambda | exp.Column):
            pending += reversed(list(node.iter_expressions()))


class Grouping(msgspec.Struct):
    """The keys and aggregates of a SELECT while its clauses are rewritten to refer to them."""

    rows: FromRows
    keys: list[Named]
    texts: list[str]
    """The keys as they are written in GROUP BY."""
    aggregates: list[Aggregate]
    window: TimedWindow | None
    spans: list[Span] = msgspec.field(default_factory=list)
    """The place where each aggregate is first written."""
    id_column: str | None = None
    """The column with the id of the row's grouping set, None if there is only one set."""
    known: dict[Aggregate, str] = msgspec.field(default_factory=dict)
    """The names of `aggregates`, by what they are without a name."""
    end: Span | None = None
    """The place behind GROUP BY, or where one may stand; None if its keys are written elsewhere."""

    def rewrite(self, expression: exp.Expression, name: str | None) -> exp.Expression:
        """Rewrites an expression over the output of the aggregation, where keys and aggregate calls are columns.

        If the whole expression is one aggregate call, its column is called `name`. Raises CompileError for a column
        that is neither grouped by nor aggregated.
        """
        holder = exp.Paren(this=expression.copy())
        for over in list(holder.find_all(exp.Window)):
            for part in list_over_parts(over):
                part.replace(self.rewrite(part, None))
        # Find all before replacing any: a column of the output may have the name of a column of the input.
        for node in list(find_topmost(holder, self.is_replaced)):
            window_part = self.find_part(node)
            if window_part is not None:
                node.replace(window_part)
            elif is_grouping_call(node):
                self.replace_grouping_call(node)
            elif is_aggregate_call(node):
                preferred = name if node.parent is holder and name else f"agg{len(self.aggregates) + 1}"
                swap_node(node, self.add_aggregate(node, preferred))
            else:
                swap_node(node, exp.column(self.find_key(node) or ""))
        findings: list[Diagnostic] = []
        for node in list(free_columns(holder, in_over=False)):
            if node.meta.get("grouped"):
                continue
            key = self.find_key(node)
            if key is not None:  # in a lambda, where a parameter may have the same name
                swap_node(node, exp.column(key, table=self.rows.name, quoted=True))
            elif (
                self.window is not None and node.name.lower() in WINDOW_COLUMNS and not self.rows.scope.named(node.name)
            ):
                swap_node(node, exp.column(node.name.lower()))
            elif (written := self._explain_part(node)) is not None:
                findings.append(written)
            elif self.rows.scope.find(node, findings) is not None:
                findings.append(self._explain_loose(node))
        if findings:
            unknown: list[Diagnostic] = []  # an unknown function may be a misspelled aggregate
            for call in holder.find_all(exp.Anonymous):
                known_function(call, unknown, in_window=self.window is not None)
            raise CompileError(unknown or findings)
        rewritten: exp.Expression = holder.this
        return rewritten

    def add_aggregate(self, call: exp.Expression, name: str) -> exp.Column:
        """The column of the aggregate, which is added unless an equal one is there."""
        resolved = resolve_aggregate(call, self.rows.scope)
        if resolved.distinct:
            resolved = resolve_distinct(call, resolved, self.rows.scope)
        if resolved in self.known:
            return exp.column(self.known[resolved])
        taken = [*(key.name for key in self.keys), *(each.name for each in self.aggregates)]
        name = choose_group_name(name, taken if self.id_column is None else [*taken, self.id_column])
        self.aggregates.append(replace(resolved, name=name))
        self.known[resolved] = name
        self.spans.append(call.meta["span"])
        return exp.column(name)

    def _explain_part(self, node: exp.Column) -> Diagnostic | None:
        """The finding for a part of the window that is written as a column, `tumble_start`; None for other names."""
        _, part = split_part(node.name)
        if self.window is None or not part or node.table or self.rows.scope.named(node.name):
            return None
        return N001.at(node.meta["span"], name=node.name).with_sql(PART_COLUMNS[part])

    def _explain_loose(self, node: exp.Column) -> Diagnostic:
        """The finding for a column that is neither a key nor in an aggregate."""
        text = node.meta["span"].text
        *most, last = [*self.texts, *([] if self.window is None else ["the window"])] or [""]
        groups = f"{', '.join(most)} and {last}" if most else last
        detail = f"The groups are by {groups}." if groups else "There is no GROUP BY: all rows are one group."
        found = K014.at(node.meta["span"], "", expression=text).because(detail)
        if text == "*":
            return found.with_hint("name the columns that GROUP BY has: * has all of them")
        if self.end is None or self.is_time(node):
            return found.with_sql(f"MAX({text})", before="add it to GROUP BY, or aggregate it: ")
        is_inside = node.find_ancestor(exp.Lambda, exp.Window) is not None
        after = "" if is_inside else f"; or one value of each group: MAX({text})"
        if self.end.start < self.end.end:
            keys = self.end.text
            return found.with_sql(f"{keys}, {text}", self.end, before="GROUP BY ", after=after)
        return found.with_sql(f" GROUP BY {text}", self.end, after=after)

    def is_time(self, node: exp.Column) -> bool:
        """Whether the column is an event time, so that each value would make a group of its own."""
        return any(each in self.rows.scope.times for each in self.rows.scope.named(node.name, node.table or None)) or (
            node.name.upper() == EVENT_TIME and not self.rows.scope.named(node.name)
        )

    def replace_grouping_call(self, call: exp.Expression) -> None:
        """Replaces a call of GROUPING or GROUPING_ID by its value."""
        span: Span = call.meta["span"]
        name = str(call.this).upper()
        if self.id_column is None:
            raise CompileError([W005.at(span, "", clause=name, needed="ROLLUP, CUBE or GROUPING SETS")])
        if name == "GROUPING_ID" and not call.expressions:
            return swap_node(call, exp.column(self.id_column))
        if name == "GROUPING" and len(call.expressions) != 1:
            found = T005.at(span, name=name, count=f"{len(call.expressions)} arguments")
            raise CompileError([found.because("it takes GROUPING(key)")])
        names = [key.name for key in self.keys]
        places = []
        for each in map(bare, call.expressions):
            key = self.find_key(each)
            if key is None:
                raise CompileError([K014.at(each.meta["span"], "", expression=each.meta["span"].text)])
            places.append(names.index(key))
        if name == "GROUPING_ID" and places == [*range(len(names))]:
            return swap_node(call, exp.column(self.id_column))
        call.replace(compute_grouping_value(call, places, len(names), self.id_column))
        return None

    def is_replaced(self, node: exp.Expression) -> bool:
        """Whether the node as a whole becomes a column of the aggregate's output, or is computed from one."""
        is_call = is_grouping_call(node) or is_aggregate_call(node)
        return is_call or self.find_part(node) is not None or self.find_key(node) is not None

    def find_part(self, node: exp.Expression) -> exp.Expression | None:
        """What the node says of the window that is grouped by, None where it says nothing."""
        return None if self.window is None else find_window_part(node, self.window, self.rows)

    def find_key(self, node: exp.Expression) -> str | None:
        """The name of the key that equals the node once names are resolved, None if there is none."""
        wanted = make_canonical(node, self.rows.scope)
        return next((key.name for key in self.keys if key.value == wanted), None)


def resolve_distinct(call: exp.Expression, resolved: Aggregate, scope: Scope) -> Aggregate:
    """Checks a DISTINCT aggregate, and drops DISTINCT where it changes nothing. Raises CompileError."""
    span: Span = call.meta["span"]
    rule = resolved.entry.distinct
    if rule is DistinctRule.IDEMPOTENT:
        return replace(resolved, distinct=False)
    too_fine = is_too_fine(resolved) or (isinstance(resolved.type, Decimal) and resolved.type.scale > 37)
    is_unsupported = rule is not DistinctRule.COUNT and (too_fine or resolved.type == INTERVAL)
    if rule is None or is_unsupported:
        raise CompileError([B002.at(span, "", construct=f"{resolved.function}(DISTINCT …) on a stream")])
    function = strip_filter(call)
    types = [resolve_scalar(each, scope).type for each in function.expressions[0].expressions]
    unordered = next((type_ for type_ in types if not scalars.is_ordered(type_)), None)
    if unordered is not None:
        raise CompileError([K018.at(span, "", type=unordered).because("DISTINCT compares values.")])
    return resolved


def list_over_parts(call: exp.Window) -> list[exp.Expression]:
    """The expressions over rows in a call with OVER: arguments, FILTER, PARTITION BY and ORDER BY."""
    function, parts = call.this, list[exp.Expression]()
    if isinstance(function, exp.Filter):
        parts.append(function.expression.this)
        function = function.this
    parts += (each for each in function.expressions if not isinstance(each, exp.Star | exp.Distinct))
    parts += call.args.get("partition_by") or ()
    order = call.args.get("order")
    return [*parts, *(each.this for each in (order.expressions if order is not None else ()))]


def choose_group_name(name: str, taken: Iterable[str]) -> str:
    """A name for an output column of a grouped query. It is not in `taken` and is no window column."""
    return choose_unused_name(name, [*taken, *WINDOW_COLUMNS])


def swap_node(node: exp.Expression, reference: exp.Column) -> None:
    """Replaces `node` by a reference to the aggregation's output."""
    for part in reference.walk():
        part.meta["span"] = node.meta["span"]
    reference.this.set("quoted", True)
    reference.meta["grouped"] = True
    node.replace(reference)


def make_canonical(expression: exp.Expression, scope: Scope) -> exp.Expression:
    """The resolved expression, for comparison with a resolved key; unchanged if it cannot be resolved."""
    try:
        return resolve_scalar(expression, scope).expression
    except CompileError:
        return expression
