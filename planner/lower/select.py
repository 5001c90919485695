"""SELECT -> plan: FROM, WHERE, DEDUPLICATE, GROUP BY or OVER, HAVING, the SELECT list, in that order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace
from sqlglot import exp

from penstock.diagnostics import CompileError, Diagnostic, Span
from penstock.diagnostics.codes.building import B002
from penstock.diagnostics.codes.event_time import W005, W010, W019
from penstock.diagnostics.codes.expression_types import T020
from penstock.diagnostics.codes.kinds import K001
from penstock.diagnostics.codes.syntax import S008, S009
from penstock.parser import ast
from penstock.planner.lower.aliases import replace_aliases
from penstock.planner.lower.context import Context, collect_findings, resolve_condition
from penstock.planner.lower.deduplicate import deduplicate_rows
from penstock.planner.lower.distinct import lower_distinct
from penstock.planner.lower.final import stream_final_rows
from penstock.planner.lower.from_rows import FromRows, TimedWindow
from penstock.planner.lower.group import lower_group
from penstock.planner.lower.group_all import name_all_keys
from penstock.planner.lower.grouped import find_topmost, has_aggregate
from penstock.planner.lower.joins.lookup import explain_outside_join
from penstock.planner.lower.joins.membership import Membership
from penstock.planner.lower.joins.subqueries import lower_membership
from penstock.planner.lower.over import has_over, lower_over, refuse_framed, takes_over
from penstock.planner.lower.rank import is_ranked, keep_first_rows, lower_ranked
from penstock.planner.lower.rekey import lower_rekey
from penstock.planner.lower.select_items import (
    WINDOW_COLUMNS,
    OutputColumn,
    project_items,
    spread_items,
    substitute_outputs,
)
from penstock.planner.lower.time_windows import assign_windows, uses_windows
from penstock.planner.lower.unnest import explode_items
from penstock.planner.plan import Cumulate, Emission, Filter, KStream, Node, WTable, conjuncts
from penstock.planner.plan.walk import has_window_key, is_changing
from penstock.planner.scalars.literals import whole_number
from penstock.planner.scalars.scopes import Scope


def lower_select(select: ast.Select, rows: FromRows, context: Context, memberships: Sequence[Membership] = ()) -> Node:
    """The plan of one SELECT over the rows of its FROM. `memberships`: parts of its WHERE; raises CompileError."""
    inner = isinstance(select.relation, ast.Join) and select.relation.kind is ast.JoinKind.INNER
    if rows.as_of is not None:
        raise CompileError([explain_outside_join(select.relation.span)])
    if rows.window is not None and not is_grouped(select):
        rows = assign_windows(rows, rows.window, select.relation.span)
    elif rows.window is not None and select.where is not None and uses_windows(select.where):
        found = B002.at(select.where.meta["span"], "", construct="WHERE by the windows that GROUP BY makes")
        raise CompileError([found.with_hint("conditions on window_start and window_end go into HAVING")])
    elif rows.window is not None:
        warn_of_windows(select, rows.window, context)
    if select.distinct:
        select = group_distinct(select, rows)
    refused = find_refused_beside_explode(select, rows)
    findings: list[Diagnostic] = []
    with collect_findings(findings):
        if select.where is not None and not inner:
            rows = filter_rows(rows, select.where)
        for each in memberships:
            rows = lower_membership(rows, each, list_present(select.where, rows.scope), context)
    with collect_findings(findings):
        if select.deduplicate is not None:
            rows = deduplicate_rows(rows, select.deduplicate)
    with collect_findings(findings):
        select, rows = explode_items(select, rows, refused)
        outputs = replace_aliases(spread_items(select.items, rows.scope), rows.scope)
        select = name_all_keys(select, outputs, rows)
        if select.order_by is not None and select.limit is not None:
            if isinstance(rows.node.shape, KStream) and not is_grouped(select):
                raise CompileError(find_endless_clauses(select))
            select = keep_first_rows(select, select.order_by, select.limit, outputs)
        node, values, scope = aggregate_rows(select, rows, outputs, context)
        if select.stream and (isinstance(node.shape, WTable) or has_window_key(node)):
            node = stream_final_rows(node)
        result = project_items(node, values, scope, select.span)
        if select.distinct:
            result = lower_distinct(select, rows, values, result, context)
        if select.partition_by is not None:
            plain = values is outputs and not select.distinct
            result = lower_rekey(select.partition_by, result, rows, outputs, plain)
    if findings:
        raise CompileError(findings)
    if select.stream and not isinstance(result.shape, KStream):
        raise CompileError([explain_stream_of_table(select, context.statement)])
    return result


def group_distinct(select: ast.Select, rows: FromRows) -> ast.Select:
    """SELECT DISTINCT of a table as GROUP BY all that it shows; groups and streams are left to `lower_distinct`."""
    if isinstance(rows.node.shape, KStream) or is_grouped(select) or any(has_over(item.value) for item in select.items):
        return select
    return replace(
        select, distinct=False, group_by=tuple(each.value for each in spread_items(select.items, rows.scope))
    )


def aggregate_rows(
    select: ast.Select, rows: FromRows, outputs: list[OutputColumn], context: Context
) -> tuple[Node, list[OutputColumn], Scope]:
    """The rows after GROUP BY or OVER, with the SELECT list rewritten to read them."""
    if select.qualify is not None:
        return qualify_rows(select, select.qualify, rows, outputs, context)
    is_framed = any(has_over(output.value) for output in outputs)
    is_over_relation = any(True for output in outputs for _ in find_topmost(output.value, takes_over))
    if rows.over is not None and not is_framed and not is_over_relation:
        raise CompileError([W005.at(rows.over.span, "", clause="OVER", needed="aggregate")])
    if is_framed or rows.over is not None:
        if rows.over is not None and select.group_by:
            found = B002.at(select.group_by[0].meta["span"], "", construct="OVER on a relation beside GROUP BY")
            raise CompileError([found])
        if select.group_by:
            node, outputs, scope = lower_group(select, rows, outputs, choose_emission(select, context))
            rows = FromRows(node, scope, "the result of GROUP BY")
        else:
            if rows.window is not None:
                raise CompileError([B002.at(select.relation.span, "", construct="OVER on a windowed relation")])
            refuse_having(select)
            refuse_window_clauses(select, rows)
        if is_ranked(select, rows, outputs):
            return lower_ranked(select, rows, outputs)
        return lower_over(select, rows, outputs, context)
    if select.windows:
        raise CompileError([W005.at(select.windows[0].over.span, "", clause="WINDOW", needed="OVER")])
    refuse_framed(outputs, rows)
    if is_grouped(select):
        return lower_group(select, rows, outputs, choose_emission(select, context))
    refuse_having(select)
    refuse_window_clauses(select, rows)
    return rows.node, outputs, rows.scope


def qualify_rows(
    select: ast.Select, condition: exp.Expression, rows: FromRows, outputs: list[OutputColumn], context: Context
) -> tuple[Node, list[OutputColumn], Scope]:
    """The rows that QUALIFY keeps. Its condition may use OVER, and the names that the SELECT list gives."""
    wanted = substitute_outputs(condition, outputs, rows.scope)
    span: Span = condition.meta["span"]
    if not has_over(wanted):
        raise CompileError([W005.at(span, "", clause="QUALIFY", needed="OVER")])
    whole = [*outputs, OutputColumn("qualify", wanted, span)]
    node, (*rest, last), scope = aggregate_rows(replace(select, qualify=None), rows, whole, context)
    kept = resolve_condition(last.value, scope, "QUALIFY")
    return Filter(schema=node.schema, shape=node.shape, span=span, input=node, condition=kept), rest, scope


def is_grouped(select: ast.Select) -> bool:
    """Whether the SELECT makes one row of many, outside of OVER."""
    expressions = [*(item.value for item in select.items), select.having]
    return bool(select.group_by) or any(map(has_aggregate, expressions))


def warn_of_windows(select: ast.Select, timed: TimedWindow, context: Context) -> None:
    """T020 for GROUP BY over the rows of windows that does not name these.

    CUMULATE windows are told apart by their ends.
    """
    named = {item.alias.folded: item.value for item in select.items if item.alias is not None}
    keys: list[exp.Expression] = []
    for key in select.group_by:
        place = whole_number(key)
        is_item = place is not None and 0 < place <= len(select.items)
        keys.append(select.items[int(place or 1) - 1].value if is_item else named.get(key.name.casefold(), key))
    grows = isinstance(timed.window, Cumulate)
    needed = WINDOW_COLUMNS[1:] if grows else WINDOW_COLUMNS
    if any(isinstance(key, exp.Var) or any(c.name.lower() in needed for c in key.find_all(exp.Column)) for key in keys):
        return
    texts = [key.meta["span"].text for key in select.group_by]
    span = select.group_by[0].meta["span"] if select.group_by else select.relation.span
    found = T020.at(span, form="GROUP BY without window_start and window_end", systems="Flink")
    found = found.because("Each window has groups of its own here. There the rows of all windows are one group.")
    missing = [name for name in WINDOW_COLUMNS if name not in map(str.lower, texts)]
    found = found.with_hint(f"GROUP BY {', '.join([*texts, *missing])}")
    if found not in context.warnings:
        context.warnings.append(found)


def find_refused_beside_explode(select: ast.Select, rows: FromRows) -> str | None:
    """What the SELECT has that is computed over its rows before EXPLODE could make more of them."""
    if is_grouped(select):
        return "GROUP BY or an aggregate"
    if rows.over is not None or select.qualify is not None or any(has_over(item.value) for item in select.items):
        return "OVER"
    return "DISTINCT" if select.distinct else None


def choose_emission(select: ast.Select, context: Context) -> Emission:
    """FINAL for a stream of results, CHANGES for a table, unless EMIT says otherwise."""
    match select.emit:
        case ast.EmitFinal():
            return Emission.FINAL
        case ast.EmitChanges():
            if select.stream:
                found = explain_stream_of_table(select, context.statement).also(
                    select.emit.span, "asks for every change"
                )
                raise CompileError([found.with_hint("leave out EMIT CHANGES, or STREAM")])
            return Emission.CHANGES
        case ast.EmitEarly():
            if select.stream:
                found = W019.at(select.emit.span, "").because("A row that was sent early would have to be retracted.")
                raise CompileError([found.with_hint("leave out EMIT; or leave out STREAM, which makes a table")])
            return Emission.CHANGES
        case None:
            return Emission.FINAL if select.stream else Emission.CHANGES


def filter_rows(rows: FromRows, where: exp.Expression) -> FromRows:
    span: Span = where.meta["span"]
    node = rows.node
    resolved, present = resolve_condition(where, rows.scope, "WHERE"), list_present(where, rows.scope)
    schema = tuple(replace(each, nullable=each.nullable and each.name not in present) for each in node.schema)
    node = Filter(schema=schema, shape=node.shape, span=span, input=node, condition=resolved)
    return FromRows(node, rows.scope, rows.name, rows.window, rows.over)


def list_present(where: exp.Expression | None, scope: Scope) -> set[str]:
    """The columns that WHERE says IS NOT NULL about."""
    resolved = None if where is None else resolve_condition(where, scope, "WHERE")
    return {part.this.this.name for part in conjuncts(resolved) if is_not_null(part)}


def is_not_null(condition: exp.Expression) -> bool:
    """Whether it says of a column that it is not NULL."""
    inner = condition.this if isinstance(condition, exp.Not) else None
    return isinstance(inner, exp.Is) and isinstance(inner.this, exp.Column) and isinstance(inner.expression, exp.Null)


def explain_stream_of_table(select: ast.Select, statement: Span) -> Diagnostic:
    """SELECT STREAM whose result is a table. As a whole statement, the same SELECT without STREAM is that table."""
    found = K001.at(select.span, "the result is a table")
    table = re.sub(r"^(SELECT)\s+STREAM\b", r"\1", select.span.text, flags=re.IGNORECASE)
    return found.with_hint(
        "leave STREAM out to get the table, or group by a window too: its rows become final",
        fix=table if select.span == statement and table != select.span.text else None,
    )


def refuse_unbuilt(select: ast.Select, context: Context) -> None:
    """Raises CompileError for each clause that this version does not lower, or that no query that runs on can have."""
    findings: list[Diagnostic] = []
    if select.late is not None and select.late.into is not None and select.late is not context.late:
        findings.append(B002.at(select.late.span, "", construct="LATE INTO in a view or a subquery"))
    if select.stream or select.order_by is None or select.limit is None:
        findings += find_endless_clauses(select)
    if findings:
        raise CompileError(findings)


def find_endless_clauses(select: ast.Select) -> list[Diagnostic]:
    """ORDER BY and LIMIT of rows that keep arriving."""
    findings = []
    if select.order_by is not None:
        found = S008.at(select.order_by.span)
        found = found.because("rows keep arriving, so there is no last row before which to sort")
        findings.append(found.with_hint("leave it out here; penstock query takes it over tables as they are now"))
    if select.limit is not None:
        found = S009.at(select.limit.span)
        found = found.because("rows keep arriving, so which ones are the first depends on chance")
        hint = "leave it out here; penstock query and penstock shell take it over tables, and over a declared stream"
        findings.append(found.with_hint(hint))
    return findings


def refuse_having(select: ast.Select) -> None:
    """HAVING belongs to GROUP BY."""
    if select.having is not None:
        raise CompileError([W005.at(select.having.meta["span"], "", clause="HAVING", needed="GROUP BY")])


def refuse_window_clauses(select: ast.Select, rows: FromRows) -> None:
    """EMIT, GRACE PERIOD and LATE belong to windows; EMIT CHANGES is also what tables and streams do by themselves."""
    is_table = not isinstance(rows.node.shape, KStream)
    if isinstance(select.emit, ast.EmitChanges) and (is_table or not select.distinct or not select.stream):
        if is_table and not is_changing(rows.node):
            found = W010.at(select.emit.span, "", found="a windowed table that is FINAL")
            raise CompileError([found.because("Each of its rows comes once, when its window is over.")])
        select = replace(select, emit=None)
    dropped = select.late if select.late is not None and select.late.into is None else None
    clauses = {
        "EMIT": select.emit, "GRACE PERIOD": select.grace, "RETENTION": select.retention, "LATE": dropped
    }  # fmt: skip
    written = [(name, clause) for name, clause in clauses.items() if clause is not None]
    findings = [W005.at(clause.span, "", clause=name, needed="window") for name, clause in written]
    if findings:
        raise CompileError(findings)


def list_scalars(select: ast.Select) -> Iterator[exp.Expression]:
    yield from (item.value for item in select.items)
    yield from (clause for clause in (select.where, select.having, select.qualify) if clause is not None)
    yield from () if select.deduplicate is None else select.deduplicate.keys
    yield from select.group_by
    relation = select.relation
    while isinstance(relation, ast.Join):
        if relation.on is not None:
            yield relation.on
        relation = relation.left
