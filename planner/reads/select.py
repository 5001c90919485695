"""A SELECT over tables as they are at one moment -> the plan of a read: plain SQL, without state, time or changes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import assert_never

from msgspec.structs import replace
from sqlglot import exp

from penstock.diagnostics import CompileError, Diagnostic, Span
from penstock.diagnostics.codes.building import B002
from penstock.diagnostics.codes.joins import J015
from penstock.diagnostics.codes.kinds import K014, K018
from penstock.diagnostics.codes.running import R031, R033
from penstock.parser import ast
from penstock.planner import scalars
from penstock.planner.catalog import Catalog, Declared, Derived
from penstock.planner.connectors import connector_of
from penstock.planner.lower.compound import lower_union, lower_with
from penstock.planner.lower.context import Context, list_subqueries, make_scope, name_side, resolve_condition
from penstock.planner.lower.from_names import find_entry
from penstock.planner.lower.from_rows import FromRows
from penstock.planner.lower.group import lower_group
from penstock.planner.lower.group_all import name_all_keys
from penstock.planner.lower.grouped import has_aggregate
from penstock.planner.lower.joins.sides import join_columns, join_scopes, qualify_sides
from penstock.planner.lower.joins.using import name_condition, share_columns
from penstock.planner.lower.misplaced import explain_clauses
from penstock.planner.lower.over import has_over
from penstock.planner.lower.plan_limits import check_expressions, check_size
from penstock.planner.lower.rank import make_sorting
from penstock.planner.lower.select import filter_rows, find_refused_beside_explode, is_grouped, list_scalars
from penstock.planner.lower.select_items import (
    OutputColumn,
    find_numbered,
    name_columns,
    project_items,
    spread_items,
    substitute_outputs,
)
from penstock.planner.lower.time_windows import is_window_call
from penstock.planner.lower.unnest import explode_items, join_elements, unnest_rows
from penstock.planner.plan import (
    Column,
    Emission,
    Intermediate,
    JoinType,
    KStream,
    Named,
    Node,
    OneRow,
    PlainJoin,
    Project,
    Snapshot,
    Sort,
    Sorting,
    make_column,
)
from penstock.planner.plan.reserved import choose_unused_name
from penstock.planner.plan.walk import fold_plan, walk
from penstock.planner.reads.narrow import narrow_snapshots
from penstock.planner.reads.set_queries import drop_repeated_rows, lower_set_query
from penstock.planner.reads.snapshot import PEEK, explain_out_of_reach, read_snapshot
from penstock.planner.reads.views import is_planned_anew, plan_views
from penstock.planner.scalars.literals import bare
from penstock.planner.scalars.scopes import Scope
from penstock.planner.types import BOOLEAN


def plan_read(statements: Sequence[ast.Statement], catalog: Catalog, text: Span, *, memory: bool) -> Node:
    """The plan of the one SELECT that `text` holds. `memory`: whether tables that are kept in memory are at hand.

    Raises CompileError.
    """
    if len(statements) != 1:
        raise CompileError([R031.at(text, found=f"{len(statements)} statements")])
    (statement,) = statements
    if not isinstance(statement, ast.QueryStatement):
        found = R031.at(statement.span, found="another statement")
        raise CompileError([found.with_hint("penstock run, or Session.submit, takes all other statements")])

    context = Context(catalog, statement.span)

    def plan_view(view: Derived) -> Node:
        return name_columns(lower_query(view.query, context), view.columns, view.name, statement.span)

    plan_views(statement.query, catalog, plan_view, context.views)
    root = lower_query(statement.query, context)
    check_expressions(root)
    for node in walk(root):
        if isinstance(node, Snapshot) and not memory and not connector_of(node.origin.connector).outlives_process:
            raise CompileError([explain_out_of_reach(node)])
    return narrow_snapshots(fold_plan(root, drop_intermediate))


def lower_query(query: ast.Query, context: Context) -> Node:
    """The plan of a query; raises CompileError. One that is too large is refused before anything reads it."""
    node = plan_parts(query, context)
    check_size(node, query.span)
    return node


def plan_parts(query: ast.Query, context: Context) -> Node:
    """The plan of a query of any size; raises CompileError."""
    match query:
        case ast.Select():
            with explain_clauses(query):
                return lower_select(query, context)
        case ast.UnionQuery():
            refuse_sorted_branches(query.branches)
            return lower_union(query, context, lower_query)
        case ast.SetQuery():
            refuse_sorted_branches((query.left, query.right))
            return lower_set_query(query, context, lower_query)
        case ast.With():
            return lower_with(query, context, lower_query)
        case _:
            assert_never(query)


def drop_intermediate(node: Node, below: tuple[Node, ...]) -> Node:
    """The node without what queries that run would write for each other."""
    return below[0] if isinstance(node, Intermediate) else node.with_inputs(below)


def lower_select(select: ast.Select, context: Context) -> Node:
    """The plan of one SELECT; raises CompileError."""
    refuse_running(select, context)
    rows = lower_relation(select.relation, context)
    if select.where is not None:
        rows = filter_rows(rows, select.where)
    select, rows = explode_items(select, rows, find_refused_beside_explode(select, rows))
    shown = spread_items(select.items, rows.scope)
    select = name_all_keys(select, shown, rows)
    order_by, beside = read_sort_keys(select, shown, rows)
    outputs = [*shown, *beside]
    node, scope = rows.node, rows.scope
    if is_grouped(select) or any(has_aggregate(each.value) for each in beside):
        # As a stream it need not show its keys: no row of the result will be replaced.
        node, outputs, scope = lower_group(replace(select, stream=True, emit=None), rows, outputs, Emission.FINAL)
        node = replace(node, shape=KStream())
    node = project_items(node, outputs, scope, select.span)
    if select.distinct:
        node = select_distinct(node, outputs, beside, select.span)
    if order_by or select.limit is not None:
        node = sort_rows(node, order_by, select)
    if not beside:
        return node
    visible = node.schema[: len(shown)]
    items = tuple(Named(each.name, make_column(each.name), each.type) for each in visible)
    return Project(schema=visible, shape=KStream(), span=select.span, input=node, items=items)


def lower_relation(relation: ast.Relation, context: Context) -> FromRows:
    """The rows of a FROM clause; raises CompileError."""
    match relation:
        case ast.Table():
            for clause, name in ((relation.over, "OVER"), (relation.as_of, "FOR SYSTEM_TIME AS OF")):
                if clause is not None:
                    raise CompileError([B002.at(relation.span, "", construct=f"{name} in a read")])
            alias = relation.alias.text if relation.alias else relation.name.text
            node = name_columns(lower_name(relation.name, context), relation.columns, alias, relation.span)
            return FromRows(node, make_scope(node, alias), alias)
        case ast.Subquery():
            if relation.over is not None:
                raise CompileError([B002.at(relation.span, "", construct="OVER in a read")])
            alias_or_none = relation.alias.text if relation.alias else None
            node = lower_query(relation.query, context)
            node = name_columns(node, relation.columns, alias_or_none or "the subquery", relation.span)
            return FromRows(node, make_scope(node, alias_or_none), alias_or_none or "the subquery")
        case ast.WindowedTable():
            raise CompileError([B002.at(relation.span, "", construct=f"{relation.kind.value} in a read")])
        case ast.NoTable():
            return make_one_row(relation.span)
        case ast.UnnestedTable():
            return unnest_rows(make_one_row(relation.span), relation, outer=False)
        case ast.Join() if isinstance(relation.right, ast.UnnestedTable):
            return lower_elements(relation, relation.right, lower_relation(relation.left, context))
        case ast.Join():
            left = lower_relation(relation.left, context)
            right = lower_relation(relation.right, context)
            join = name_read_condition(relation, left, right)
            return share_columns(join, left, right, lower_join(join, left, right))
        case _:
            assert_never(relation)


def make_one_row(span: Span) -> FromRows:
    """One row without columns."""
    one = OneRow(schema=(Column("_one", BOOLEAN, nullable=False),), shape=KStream(), span=span)
    return FromRows(one, Scope(()), "nothing")


def name_read_condition(join: ast.Join, left: FromRows, right: FromRows) -> ast.Join:
    """The join with ON. Raises CompileError for NATURAL, and for an outer join without a condition."""
    if join.using or join.natural:
        return name_condition(join, left, right, ())
    if join.on is None and join.kind is ast.JoinKind.INNER:
        every = exp.Boolean(this=True)
        every.meta["span"] = join.span
        return replace(join, on=every)
    return join


def lower_elements(join: ast.Join, unnest: ast.UnnestedTable, left: FromRows) -> FromRows:
    """Rows with their elements beside them. ON of an inner join filters them."""
    rows = join_elements(join, unnest, left)
    is_inner = join.kind is ast.JoinKind.INNER
    return filter_rows(rows, join.on) if is_inner and join.on is not None else rows


def lower_join(join: ast.Join, left: FromRows, right: FromRows) -> FromRows:
    """Rows of both sides beside each other, by any condition."""
    if join.within is not None:
        raise CompileError([R033.at(join.within.span, clause="WITHIN")])
    left, right = qualify_sides(join, left, right)
    scope = join_scopes(left, right)
    if join.on is None:
        raise CompileError([J015.at(join.span, kind=join.kind.value)])
    type_ = JoinType[join.kind.name]
    node = PlainJoin(
        schema=join_columns(type_, left.node.schema, right.node.schema),
        shape=KStream(),
        span=join.span,
        left=left.node,
        right=right.node,
        type=type_,
        condition=resolve_condition(join.on, scope, "ON"),
    )
    is_one_sided = join.kind in (ast.JoinKind.SEMI, ast.JoinKind.ANTI)
    return FromRows(node, left.scope if is_one_sided else scope, f"{left.name} and {right.name}")


def lower_name(name: ast.Name, context: Context) -> Node:
    """The rows of what a name stands for: a view means what its definition means now. Raises CompileError."""
    entry = find_entry(name, context)
    match entry:
        case Node():
            return entry
        case Derived() if is_planned_anew(entry):
            known = context.views.get(entry.name.lower())
            node = lower_query(entry.query, replace(context, common_tables={})) if known is None else known
            return node if known is not None else name_columns(node, entry.columns, entry.name, name.span)
        case Declared() | Derived():
            return read_snapshot(entry, name.span)
        case _:
            assert_never(entry)


def refuse_running(select: ast.Select, context: Context) -> None:
    """Raises CompileError for what only queries that keep running have, and for what is not built."""
    if select.stream:
        raise CompileError([explain_stream_read(select, context)])
    findings: list[Diagnostic] = []
    running: tuple[tuple[str, Span | None], ...] = (
        ("PARTITION BY", None if select.partition_by is None else select.partition_by.span),
        ("DEDUPLICATE", None if select.deduplicate is None else select.deduplicate.span),
        ("EMIT", None if select.emit is None else select.emit.span),
        ("GRACE PERIOD", None if select.grace is None else select.grace.span),
        ("RETENTION", None if select.retention is None else select.retention.span),
        ("LATE", None if select.late is None else select.late.span),
    )
    for clause, span in running:
        if span is not None:
            found = R033.at(span, clause=clause)
            findings.append(found.with_hint("leave it out: a read gives the rows as they are now, once"))
    for each in (*list_scalars(select), *(() if select.order_by is None else select.order_by.keys)):
        findings += find_unbuilt_parts(each, select.relation)
    if findings:
        raise CompileError(findings)


def find_unbuilt_parts(expression: exp.Expression, relation: ast.Relation) -> list[Diagnostic]:
    """What is said of the parts of an expression that a read does not compute."""
    found: list[Diagnostic] = []
    span: Span = expression.meta["span"]
    if is_window_call(bare(expression)):
        found.append(B002.at(span, "", construct="a window in a read"))
    if has_over(expression):
        hint = "CREATE TABLE with it, where OVER is by the event time, and read that"
        found.append(B002.at(span, "", construct="OVER in a read").with_hint(hint))
    for node, query in list_subqueries(expression):
        kind = f"LEFT {'ANTI' if isinstance(node.parent, exp.Not) else 'SEMI'} JOIN"
        hint = f"{kind} and ON its condition"
        if isinstance(node, exp.Subquery):
            hint = f"JOIN ({query.span.text}) AS a ON TRUE"
        elif isinstance(node, exp.In) and isinstance(query, ast.Select) and len(query.items) == 1:
            item = query.items[0]
            column = item.alias.text if item.alias is not None else item.value.name
            hint = f"{kind} ({query.span.text}) AS a ON {name_side(node.this, relation)} = a.{column}"
        part = B002.at(node.meta["span"], "", construct="a subquery in an expression in a read")
        found.append(part.with_hint(hint))
    return found


def explain_stream_read(select: ast.Select, context: Context) -> Diagnostic:
    """SELECT STREAM: the finding, and the read that may have been meant."""
    table = re.sub(r"^(SELECT)\s+STREAM\b", r"\1", select.span.text, flags=re.IGNORECASE)
    found = R031.at(select.span, found="SELECT STREAM").because("A stream of new rows never ends.")
    try:
        node = lower_query(replace(select, stream=False), context)
    except CompileError as refusal:
        first = refusal.diagnostics[0]
        if first.hint is not None and first.hint.startswith(PEEK):
            return found.with_hint(f"penstock run and Session.submit run streams; {first.hint.partition('; ')[0]}")
        return found.with_hint(f"penstock run and Session.submit run streams; as a read: {first.message}")
    read = [each for each in walk(node) if isinstance(each, Snapshot)]
    if not all(connector_of(each.origin.connector).outlives_process for each in read):
        return found.with_hint(
            "penstock run and Session.submit run streams; Session.sql reads the table without STREAM"
        )
    return found.with_hint(
        "without STREAM it gives the table as it is now; penstock run and Session.submit run streams",
        fix=table if select.span == context.statement and table != select.span.text else None,
    )


def refuse_sorted_branches(branches: Sequence[ast.Query]) -> None:
    """Raises CompileError for ORDER BY or LIMIT within UNION and its kin, where it is not clear what they are of."""
    for branch in branches:
        for clause in (branch.order_by, branch.limit) if isinstance(branch, ast.Select) else ():
            if clause is not None:
                name = "ORDER BY" if isinstance(clause, ast.OrderBy) else "LIMIT"
                found = B002.at(clause.span, "", construct=f"{name} beside UNION ALL")
                raise CompileError(
                    [found.with_hint(f"write it around them: SELECT * FROM (them) AS a {clause.span.text}")]
                )


def read_sort_keys(
    select: ast.Select, shown: list[OutputColumn], rows: FromRows
) -> tuple[list[tuple[str, exp.Expression]], list[OutputColumn]]:
    """The columns to sort by, each with how it is written, and the ones among them that the SELECT list does not show.

    A name means a column of the SELECT list first. A whole number is a place in that list.
    """
    keys: list[tuple[str, exp.Expression]] = []
    beside: list[OutputColumn] = []
    for ordered in () if select.order_by is None else select.order_by.keys:
        value, span = bare(ordered.this), ordered.this.meta["span"]
        item = find_numbered(value, shown, "ORDER BY")
        if isinstance(value, exp.Column) and not value.table:
            item = next((each for each in shown if each.name.lower() == value.name.lower()), None)
        if item is not None:
            name = item.name
        else:
            name = choose_unused_name(f"sort{len(beside) + 1}", [*(o.name for o in (*shown, *beside))])
            beside.append(OutputColumn(name, substitute_outputs(value, shown, rows.scope), span))
        keys.append((name, ordered))
    return keys, beside


def select_distinct(node: Node, outputs: list[OutputColumn], beside: list[OutputColumn], span: Span) -> Node:
    """Equal rows once; raises CompileError for what they are sorted by and do not show."""
    for output in beside:
        found = K014.at(output.span, "", expression=output.span.text)
        raise CompileError([found.because("DISTINCT groups by all that is selected.").with_hint("select it, too")])
    return drop_repeated_rows(node, [each.span for each in outputs], span)


def sort_rows(node: Node, keys: list[tuple[str, exp.Expression]], select: ast.Select) -> Node:
    """The rows in order, as many as are asked for. Rows that are equal in it are ordered by all their columns."""
    order: list[Sorting] = []
    for name, ordered in keys:
        type_ = node.column(name).type
        if not scalars.is_ordered(type_):
            found = K018.at(ordered.this.meta["span"], "", type=type_)
            raise CompileError([found.because("ORDER BY compares values.")])
        order.append(make_sorting(ordered, make_column(name)))
    if order:  # which of several equal rows comes first must not depend on how they lie in files
        taken = {name for name, _ in keys}
        others = (each for each in node.schema if each.name not in taken and scalars.is_ordered(each.type))
        order += (Sorting(make_column(each.name), descending=False, nulls_first=True) for each in others)
    limit, skipped = (None, 0) if select.limit is None else (select.limit.count, select.limit.skipped)
    return Sort(
        schema=node.schema,
        shape=KStream(),
        span=select.span,
        input=node,
        order_by=tuple(order),
        limit=limit,
        skipped=skipped,
    )
