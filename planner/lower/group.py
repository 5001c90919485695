"""GROUP BY, with or without a window, and HAVING -> aggregate nodes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace
from sqlglot import exp

from penstock.diagnostics import CompileError, Diagnostic, Span
from penstock.diagnostics.codes.building import B002
from penstock.diagnostics.codes.event_time import W005, W009, W012, W016, W044
from penstock.diagnostics.codes.kinds import K018
from penstock.parser import ast, name_text
from penstock.planner import scalars
from penstock.planner.durations import positive_milliseconds
from penstock.planner.lower.aliases import replace_in_grouping
from penstock.planner.lower.context import collect_findings, resolve_condition, resolve_scalar
from penstock.planner.lower.from_rows import FromRows, TimedWindow
from penstock.planner.lower.grouped import Grouping, choose_group_name, has_aggregate, make_canonical
from penstock.planner.lower.grouping_sets import (
    KeySet,
    combine_sets,
    expand_grouping_sets,
    is_grouping_sets,
    list_key_sets,
)
from penstock.planner.lower.intermediates import materialise_changes, materialise_input
from penstock.planner.lower.retraction import choose_mergeable, choose_retractions
from penstock.planner.lower.select_items import WINDOW_COLUMNS, OutputColumn, is_nullable
from penstock.planner.lower.time_windows import (
    is_window_call,
    is_window_column,
    list_final_times,
    read_window_call,
    regroup_windows,
)
from penstock.planner.lower.window_parts import is_row_time
from penstock.planner.plan import (
    Column,
    Emission,
    Filter,
    GroupAggregate,
    KStream,
    KTable,
    Named,
    Node,
    SessionWindow,
    Shape,
    WindowAggregate,
    WTable,
)
from penstock.planner.scalars.literals import bare
from penstock.planner.scalars.scopes import Scope, ScopeColumn
from penstock.planner.types import TIMESTAMP


def lower_group(
    select: ast.Select, rows: FromRows, outputs: list[OutputColumn], emission: Emission
) -> tuple[Node, list[OutputColumn], Scope]:
    """The aggregated rows (HAVING applied), and the SELECT list over them."""
    end = find_keys(select)
    select = replace_in_grouping(select, outputs, rows.scope)
    rows = regroup_windows([bare(each) for each in select.group_by], rows)
    window, first_window = rows.window, None
    keys: list[Named] = []
    texts: list[str] = []
    parts: list[list[KeySet]] = []
    findings: list[Diagnostic] = []

    def place(expression: exp.Expression) -> int:
        """The key's place among the keys. A new key is added to them."""
        if is_window_call(expression) or (rows.window is not None and is_window_column(expression)):
            found = W016.at(expression.meta["span"], "")
            raise CompileError([found.with_hint("GROUP BY has the window in front of GROUPING SETS")])
        key = read_group_key(expression, rows, outputs, len(keys))
        if not scalars.is_ordered(key.type):
            raise CompileError([K018.at(expression.meta["span"], "", type=key.type)])
        known = next((number for number, known in enumerate(keys) if known.value == key.value), None)
        if known is None:
            keys.append(replace(key, name=choose_group_name(key.name, [known.name for known in keys])))
            texts.append(expression.name if isinstance(expression, exp.Column) else expression.meta["span"].text)
        return len(keys) - 1 if known is None else known

    for expression in map(bare, select.group_by):
        with collect_findings(findings):
            if is_window_call(expression):
                if window is not None:
                    first_span = first_window.meta["span"] if first_window is not None else select.relation.span
                    raise CompileError([W009.at(expression.meta["span"], "second").also(first_span, "first")])
                window, first_window = read_window_call(expression, rows), expression
            elif window is None or not (is_window_column(expression) or is_row_time(expression, rows)):
                # The window groups by its columns anyway.
                parts.append(list_key_sets(expression, place))
    if findings:
        raise CompileError(findings)
    if window is not None:
        check_session_keys(window, keys, rows, select.relation.span)
    grouping, sets = Grouping(rows, keys, texts, [], window, end=end), None
    several = next((each for each in map(bare, select.group_by) if is_grouping_sets(each)), None)
    if several is not None:
        sets = combine_sets(parts, several.meta["span"])
        grouping.id_column = choose_group_name("grouping_id", [key.name for key in keys])
    rewritten: list[OutputColumn] = []
    for output in outputs:
        with collect_findings(findings):
            rewritten.append(replace(output, value=grouping.rewrite(output.value, output.name)))
    having = None
    with collect_findings(findings):
        having = None if select.having is None else grouping.rewrite(select.having, None)
    if findings:
        raise CompileError([each for each, before in zip(findings, [None, *findings], strict=False) if each != before])
    if sets is not None and grouping.id_column is not None:
        below = rows.node if isinstance(rows.node.shape, KStream) else materialise_changes(rows.node)
        exploded, grouping.keys = expand_grouping_sets(below, keys, sets, grouping.id_column)
        grouping.rows = replace(rows, node=exploded)
    node = make_aggregate(select, grouping, window, emission)
    scope = Scope(tuple(ScopeColumn(rows.name, c.name, c.name, c.type) for c in node.schema))
    if having is not None:
        span: Span = having.meta["span"]
        resolved = resolve_condition(having, scope, "HAVING")
        node = Filter(schema=node.schema, shape=node.shape, span=span, input=node, condition=resolved)
    return node, rewritten, scope


def check_session_keys(window: TimedWindow, keys: Sequence[Named], rows: FromRows, span: Span) -> None:
    """Raises CompileError if PARTITION BY of the sessions has other keys than GROUP BY."""
    if window.keys is None:
        return
    said = {resolve_scalar(each, rows.scope).expression for each in window.keys}
    if said != {key.value for key in keys}:
        found = B002.at(span, "", construct="GROUP BY other keys than the sessions have")
        names = ", ".join(key.name for key in keys)
        hint = f"write PARTITION BY {names} in SESSION" if names else "GROUP BY the keys of the sessions"
        raise CompileError([found.with_hint(hint)])


def is_column(expression: exp.Expression, name: str) -> bool:
    """Whether the expression is nothing but that column of the aggregate's output."""
    inner = bare(expression)
    return isinstance(inner, exp.Column) and bool(inner.meta.get("grouped")) and inner.name == name


def read_group_key(expression: exp.Expression, rows: FromRows, outputs: list[OutputColumn], position: int) -> Named:
    """A key, called by its column, or by the SELECT item that it is the alias of or equal to."""
    if isinstance(expression, exp.Column) and not expression.table and not rows.scope.named(expression.name):
        for output in outputs:
            if output.name.lower() == expression.name.lower() and not has_aggregate(output.value):
                typed = resolve_scalar(output.value, rows.scope)
                return Named(output.name, typed.expression, typed.type)
    typed = resolve_scalar(expression, rows.scope)
    if isinstance(expression, exp.Column):
        return Named(expression.name, typed.expression, typed.type)
    name = next(
        (o.name for o in outputs if make_canonical(o.value, rows.scope) == typed.expression), f"key{position + 1}"
    )
    return Named(name, typed.expression, typed.type)


def refuse_endless_lists(select: ast.Select, grouping: Grouping) -> None:
    """Raises CompileError for aggregates whose values grow with each row of a stream that does not end."""
    for aggregate, span in zip(grouping.aggregates, grouping.spans, strict=True):
        collecting = aggregate.entry.collecting
        if collecting is not None and collecting.keeps_all and not aggregate.distinct:
            written = re.match(r"\w+", span.text)  # some are computed from others
            found = W044.at(span, "", function=written[0].upper() if written else aggregate.function)
            raise CompileError([propose_window(found, select, grouping)])


def propose_window(found: Diagnostic, select: ast.Select, grouping: Grouping) -> Diagnostic:
    """The finding with a window to group by as well, if the rows have an event time."""
    if not grouping.rows.scope.times:
        return found
    times = [name_text(each.name) for each in grouping.rows.scope.times]
    window = f"TUMBLE({times[0] if len(times) == 1 else ast.EVENT_TIME}, INTERVAL '1' HOUR)"
    end = max(each.end for each in list_spans(select.relation, select.where, select.deduplicate))
    source = select.span.source
    if not select.group_by:
        return found.with_sql(f" GROUP BY {window}", Span(source, end, end))
    first = min(each.start for each in list_spans(*select.group_by))
    if first < end:  # GROUP BY ALL, or a number: the keys are written in the SELECT list
        return found.with_hint(f"GROUP BY {', '.join([window, *grouping.texts])}")
    keys = ", ".join(each.text for each in list_spans(*select.group_by))
    return found.with_sql(f"{window}, ", Span(source, first, first), before="GROUP BY ", after=keys)


def find_keys(select: ast.Select) -> Span | None:
    """The place of all of GROUP BY, or where it may stand; None if its keys are written elsewhere."""
    end = max(each.end for each in list_spans(select.relation, select.where, select.deduplicate))
    spans = list_spans(*select.group_by)
    if not spans:
        return Span(select.span.source, end, end)
    first, last = min(each.start for each in spans), max(each.end for each in spans)
    return None if first < end else Span(select.span.source, first, last)


def list_spans(*parts: exp.Expression | ast.Relation | ast.Deduplicate | None) -> list[Span]:
    """The places of parts of a SELECT that are written."""
    return [each.meta["span"] if isinstance(each, exp.Expression) else each.span for each in parts if each is not None]


def make_aggregate(select: ast.Select, grouping: Grouping, timed: TimedWindow | None, emission: Emission) -> Node:
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
        below = materialise_changes(rows.node)
        if not isinstance(below.shape, KStream):
            aggregates = choose_retractions(aggregates, rows.node, grouping.spans)
        elif emission is Emission.CHANGES:  # a read ends, and keeps nothing
            refuse_endless_lists(select, grouping)
        return GroupAggregate(
            schema=(*columns, *values),
            shape=KTable(names),
            span=select.span,
            input=below,
            keys=keys,
            aggregates=aggregates,
        )
    if select.stream and select.retention is not None:
        found = W005.at(select.retention.span, "", clause="RETENTION", needed="table that can be looked up")
        raise CompileError([found.with_hint("make the windows a table: CREATE TABLE windows AS SELECT without STREAM")])
    window = timed.window
    shape: Shape = KStream(names, list_final_times(window)) if select.stream else WTable(names)
    if isinstance(window, SessionWindow) and emission is Emission.CHANGES:
        if select.retention is not None:
            found = B002.at(select.retention.span, "", construct="RETENTION of sessions that change")
            raise CompileError([found.with_hint("leave RETENTION out, or write EMIT FINAL")])
        aggregates = choose_mergeable(aggregates, rows.node, grouping.spans)
        shape = KTable((*names, *WINDOW_COLUMNS))
    window_columns = [Column(name, TIMESTAMP, nullable=False) for name in WINDOW_COLUMNS]
    return WindowAggregate(
        schema=(*columns, *window_columns, *values),
        shape=shape,
        span=select.span,
        input=materialise_input(rows.node, timed.time),
        window=window,
        time=timed.time,
        keys=keys,
        aggregates=aggregates,
        emission=emission,
        grace=0 if select.grace is None else positive_milliseconds(select.grace, "grace period", least=0),
        every=positive_milliseconds(select.emit.every, "pause") if isinstance(select.emit, ast.EmitEarly) else None,
        retention=None if select.retention is None else positive_milliseconds(select.retention, "retention", least=0),
    )
