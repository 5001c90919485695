"""Queries -> plans: WITH, UNION, SELECT and what FROM names. Queries and relations contain each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from msgspec.structs import replace
from sqlglot import exp

from penstock.diagnostics import CompileError, Diagnostic, Span
from penstock.diagnostics.codes.building import B002
from penstock.diagnostics.codes.joins import J007
from penstock.parser import ast
from penstock.planner.lower.compound import lower_union, lower_with
from penstock.planner.lower.context import Context, list_subqueries, make_scope, name_side
from penstock.planner.lower.from_names import explain_nothing, is_about, is_inner, lower_name, may_mean
from penstock.planner.lower.from_rows import FromRows
from penstock.planner.lower.joins.join import lower_join
from penstock.planner.lower.joins.kept_subqueries import find_kept_membership
from penstock.planner.lower.joins.lookup import explain_outside_join
from penstock.planner.lower.joins.membership import Membership
from penstock.planner.lower.joins.subqueries import find_membership
from penstock.planner.lower.joins.using import name_condition, share_columns
from penstock.planner.lower.misplaced import explain_clauses
from penstock.planner.lower.plan_limits import check_size
from penstock.planner.lower.select import filter_rows, list_scalars, lower_select, refuse_unbuilt
from penstock.planner.lower.select_items import name_columns
from penstock.planner.lower.table_sets import lower_set_query
from penstock.planner.lower.time_windows import assign_windows, read_window
from penstock.planner.lower.unnest import is_true, join_elements
from penstock.planner.plan import KStream, Node, Shape, conjunction, conjuncts


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
                refuse_unbuilt(query, context)
                query, memberships = split_memberships(query, context)
                refuse_subqueries(query, context)
                rows = lower_relation(query.relation, conjuncts(query.where), context)
                return lower_select(query, rows, context, memberships)
        case ast.UnionQuery():
            return lower_union(query, context, lower_query)
        case ast.SetQuery():
            return lower_set_query(query, context, lower_query)
        case ast.With():
            return lower_with(query, context, lower_query)
        case _:
            assert_never(query)


def lower_relation(relation: ast.Relation, where: Sequence[exp.Expression], context: Context) -> FromRows:
    """The rows of a FROM clause. `where`: the conjuncts of the WHERE beside it, which may bound an inner join.

    Raises CompileError, also for more rows than one plan can give.
    """
    rows = plan_relation(relation, where, context)
    check_size(rows.node, relation.span)
    return rows


def plan_relation(
    relation: ast.Relation, where: Sequence[exp.Expression], context: Context, *, is_part: bool = False
) -> FromRows:
    """The rows of a FROM clause of any size.

    `is_part`: other relations stand beside it, and some conjuncts may be about them.
    """
    match relation:
        case ast.Table():
            alias = relation.alias.text if relation.alias else relation.name.text
            node = name_columns(lower_name(relation.name, context), relation.columns, alias, relation.span)
            return FromRows(node, make_scope(node, alias), alias, over=relation.over, as_of=relation.as_of)
        case ast.Subquery():
            alias_or_none = relation.alias.text if relation.alias else None
            node = lower_query(relation.query, context)
            node = name_columns(node, relation.columns, alias_or_none or "the subquery", relation.span)
            return FromRows(node, make_scope(node, alias_or_none), alias_or_none or "the subquery", over=relation.over)
        case ast.WindowedTable():
            rows = lower_relation(relation.relation, (), context)
            if rows.as_of is not None:
                raise CompileError([explain_outside_join(relation.relation.span)])
            if rows.over is not None:
                raise CompileError([B002.at(relation.span, "", construct="OVER on a windowed relation")])
            window = read_window(relation.kind, relation.time, relation.durations, rows, relation.span)
            window = replace(window, keys=relation.keys)
            alias = relation.alias.text if relation.alias else rows.name
            return FromRows(rows.node, make_scope(rows.node, alias), alias, window=window)
        case ast.UnnestedTable() | ast.NoTable():
            raise CompileError([explain_no_table(relation)])
        case ast.Join():
            takes_where = is_inner(relation)
            left = plan_relation(relation.left, where if takes_where else (), context, is_part=takes_where)
            check_size(left.node, relation.left.span)
            if isinstance(relation.right, ast.UnnestedTable):
                where = [part for part in where if not (takes_where and is_about(part, left.scope))]
                rows = join_elements(relation, relation.right, left)
                if is_part:
                    where = [part for part in where if is_about(part, rows.scope)]
                return filter_elements(relation, rows, where)
            right = lower_relation(relation.right, (), context)
            if takes_where:  # what a column of both sides may mean is asked below
                where = [part for part in where if not is_about(part, left.scope) or may_mean(part, right.scope)]
            for side, rows in ((relation.left, left), (relation.right, right)):
                if rows.over is not None:
                    raise CompileError([B002.at(side.span, "", construct="OVER on a relation in a join")])
            left, right = (
                rows if rows.window is None else assign_windows(rows, rows.window, side.span)
                for side, rows in ((relation.left, left), (relation.right, right))
            )
            if is_part:
                where = [part for part in where if is_about(part, left.scope, right.scope)]
            join = name_condition(relation, left, right, where)
            if join is not relation and not join.using:  # what ON says now, WHERE has said
                where = [part for part in where if part not in conjuncts(join.on)]
            return share_columns(join, left, right, lower_join(join, left, right, where, context))
        case _:
            assert_never(relation)


def filter_elements(join: ast.Join, rows: FromRows, where: Sequence[exp.Expression]) -> FromRows:
    """The rows of an inner join with UNNEST for which ON, and the WHERE beside the join, are true."""
    if rows.window is not None or rows.over is not None:
        clause = "a windowed relation" if rows.over is None else "OVER on a relation"
        raise CompileError([B002.at(join.left.span, "", construct=f"{clause} in a join")])
    if join.kind is not ast.JoinKind.INNER:
        return rows
    parts = [each for each in (*conjuncts(join.on), *where) if not is_true(each)]
    condition = conjunction(parts)
    if condition is None:
        return rows
    condition.meta.setdefault("span", parts[0].meta["span"].to(parts[-1].meta["span"]))
    return filter_rows(rows, condition)


def split_memberships(select: ast.Select, context: Context) -> tuple[ast.Select, list[Membership]]:
    """The SELECT without the parts of its WHERE that ask a table, and these parts."""
    rest, memberships = [], list[Membership]()
    for part in conjuncts(select.where):
        found = find_membership(part, context) or find_kept_membership(part, context, lower_relation, lower_query)
        if found is None:
            rest.append(part)
        else:
            memberships.append(found)
    if select.where is None or not memberships:
        return select, []
    where = conjunction(rest)
    if where is not None and len(rest) > 1:
        where.meta["span"] = select.where.meta["span"]
    return replace(select, where=where), memberships


def refuse_subqueries(select: ast.Select, context: Context) -> None:
    """IN, EXISTS and scalar subqueries: over a stream they would keep it forever."""
    findings: list[Diagnostic] = []
    for expression in list_scalars(select):
        for node, query in list_subqueries(expression):
            words = "IN (SELECT …)" if isinstance(node, exp.In) else "EXISTS (SELECT …)"
            name = "a scalar subquery" if isinstance(node, exp.Subquery) else words
            span: Span = node.meta["span"]
            if isinstance(find_subquery_shape(query, context), KStream):
                found = J007.at(span, "", construct=name)
                findings.append(found.with_hint(propose_join(node, query, select.relation)))
            else:
                found = B002.at(span, "", construct=f"{name} over a table")
                findings.append(found.with_hint(propose_lookup(node, query, select.relation)))
    if findings:
        raise CompileError(findings)


def propose_join(node: exp.Expr, query: ast.Query, outer: ast.Relation) -> str:
    """The join that a subquery over a stream means."""
    kind = "LEFT ANTI JOIN" if isinstance(node.parent, exp.Not) else "LEFT SEMI JOIN"
    kind = "JOIN" if isinstance(node, exp.Subquery) else kind
    bound = "with a bound on the two event times"
    if not isinstance(query, ast.Select) or not isinstance(query.relation, ast.Table):
        return f"{kind} and ON the keys, {bound}"
    parts = [] if query.where is None else [query.where.meta["span"].text]
    joined = f"{kind} {query.relation.span.text} ON"
    if isinstance(node, exp.Exists) and parts:
        return f"{joined} {parts[0]}"
    if isinstance(node, exp.In) and len(query.items) == 1:
        parts.insert(0, f"{name_side(node.this, outer)} = {name_side(query.items[0].value, query.relation)}")
    return f"{joined} {' AND '.join(parts) or 'the keys'}, {bound}"


def propose_lookup(node: exp.Expr, query: ast.Query, outer: ast.Relation) -> str:
    """The join that gives the value of a subquery over a table, or says whether there is a row."""
    otherwise = "give the subquery a key, and JOIN it"
    if not isinstance(query, ast.Select) or not isinstance(query.relation, ast.Table) or len(query.items) != 1:
        return otherwise
    if not isinstance(outer, ast.Table) or query.relation.span.text == outer.span.text:
        return otherwise
    relation, item = query.relation.span.text, query.items[0].value
    is_computed = any(isinstance(part, exp.Anonymous) for part in item.walk())
    where = None if query.where is None else query.where.meta["span"].text
    if isinstance(node, exp.In):
        if is_computed:
            return otherwise
        keys = f"{name_side(node.this, outer)} = {name_side(item, query.relation)}"
        return f"LEFT JOIN {relation} ON {keys}, and {name_side(item, query.relation)} IS NOT NULL"
    if isinstance(node, exp.Exists):
        return f"LEFT JOIN {relation} ON {where or 'the keys'}, and IS NOT NULL of its key"
    value = item.meta["span"].text
    if where is None:
        around = f"(SELECT *, 1 AS one FROM {outer.span.text}) AS a"
        return (
            f"FROM {around} JOIN (SELECT 1 AS one, {value} AS value FROM {relation} GROUP BY 1) AS b ON b.one = a.one"
        )
    if is_computed:
        return "GROUP BY the compared column in a subquery of FROM, and LEFT JOIN it"
    return f"LEFT JOIN {relation} ON {where}, and {value} in the place of the subquery"


def find_subquery_shape(query: ast.Query, context: Context) -> Shape:
    """The kind of what a subquery gives, or, where that is not known without what is around it, of its FROM."""
    try:
        return lower_query(query, context).shape
    except CompileError:
        return lower_name(find_first_name(query), context).shape


def explain_no_table(relation: ast.NoTable | ast.UnnestedTable) -> Diagnostic:
    """The finding for a query that keeps running and has nothing to read."""
    found = explain_nothing(relation.span)
    if isinstance(relation, ast.UnnestedTable):
        return found.with_hint(f"FROM events CROSS JOIN {relation.span.text}; penstock query reads it alone")
    return found


def find_first_name(syntax: ast.Query | ast.Relation) -> ast.Name:
    """The first relation that is named in FROM."""
    match syntax:
        case ast.Select() | ast.WindowedTable():
            return find_first_name(syntax.relation)
        case ast.UnionQuery():
            return find_first_name(syntax.branches[0])
        case ast.SetQuery():
            return find_first_name(syntax.left)
        case ast.NoTable() | ast.UnnestedTable():
            raise CompileError([explain_no_table(syntax)])
        case ast.With():
            return find_first_name(syntax.tables[0].query)
        case ast.Join():
            return find_first_name(syntax.left)
        case ast.Subquery():
            return find_first_name(syntax.query)
        case ast.Table():
            return syntax.name
        case _:
            assert_never(syntax)
