"""EXISTS (SELECT …) and IN (SELECT …) in WHERE, over a table that changes -> LEFT SEMI and LEFT ANTI joins.

The subquery may compare any columns of the table with the row around it. Results are as in SQL, also where values
are NULL. What would need to know whether the whole table has a NULL is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set

from msgspec.structs import replace
from sqlglot import exp

from penstock.diagnostics import CompileError
from penstock.parser import ast
from penstock.planner.lower.context import Context, make_scope, resolve_condition, resolve_scalar
from penstock.planner.lower.from_rows import FromRows
from penstock.planner.lower.joins.conditions import Equality, compare_values, find_key_equality, find_side
from penstock.planner.lower.joins.lookup import explain_outside_join
from penstock.planner.lower.joins.membership import Membership, is_plain, read_membership
from penstock.planner.lower.joins.semi import keep_matched
from penstock.planner.lower.joins.sides import qualify_name
from penstock.planner.lower.select_items import find_value_column
from penstock.planner.plan import Column, KStream, KTable, Named, Node, Project, conjuncts, make_column
from penstock.planner.scalars.literals import bare
from penstock.planner.scalars.scopes import Scope, ScopeColumn

LowerRelation = Callable[[ast.Relation, Sequence[exp.Expression], Context], FromRows]
LowerQuery = Callable[[ast.Query, Context], Node]


class KeptMembership(Membership, frozen=True, kw_only=True):
    """A condition of WHERE: EXISTS or IN with a subquery over a table that changes."""

    right: FromRows
    """The rows of FROM of the subquery, or of a subquery with more than WHERE its result."""
    where: tuple[exp.Expression, ...]
    """The parts of WHERE that are not in `right`."""
    items: tuple[exp.Expression, ...]
    """What the subquery selects of these rows."""


def find_kept_membership(
    part: exp.Expression, context: Context, lower_relation: LowerRelation, lower_query: LowerQuery
) -> KeptMembership | None:
    """The part of WHERE as EXISTS or IN over a table, else None. Raises CompileError for a wrong subquery."""
    found = read_membership(part)
    if found is None:
        return None
    query, name = found.query, "subquery"
    where: tuple[exp.Expression, ...] = ()
    if isinstance(query, ast.Select) and is_plain(query):
        right = lower_relation(query.relation, (), context)
        if right.window is not None or right.over is not None or right.as_of_time is not None:
            return None
        where, items = tuple(conjuncts(query.where)), tuple(each.value for each in query.items)
    else:
        node = lower_query(query, context)
        right = FromRows(node, make_scope(node, name), name)
        items = tuple(exp.column(each.name, table=name, quoted=True) for each in right.scope.columns)
    if not isinstance(right.node.shape, KTable):
        return None
    return KeptMembership(found.query, found.value, found.is_negated, found.span, right=right, where=where, items=items)


def lower_kept(rows: FromRows, membership: KeptMembership, present: Set[str], context: Context) -> FromRows:
    """The rows for which the condition is true. `present`: columns that WHERE keeps from being NULL.

    Raises CompileError if the condition is not supported.
    """
    if not isinstance(rows.node.shape, KStream | KTable):
        raise membership.refuse("of the rows of a windowed table", "FROM a subquery with SELECT STREAM has final rows")
    if membership.right.as_of is not None and not isinstance(rows.node.shape, KStream):
        raise CompileError([explain_outside_join(membership.query.span)])
    right = rename_apart(membership.right, rows.node)
    scope = right.scope.inside(rows.scope)
    equalities: list[Equality] = []
    conditions: list[exp.Expression] = []
    for part in membership.where:
        found = find_key_equality(part, rows, right, scope, context)
        if found is None:
            conditions.append(resolve_condition(part, scope, "WHERE"))
        else:
            equalities.append(found)
    selected = [resolve_scalar(each, scope) for each in membership.items if not ast.is_star(each)]
    if membership.value is not None:
        if len(membership.items) != 1 or len(selected) != 1:
            raise membership.refuse(
                "of anything but one column",
                "EXISTS compares several columns",
            )
        value = resolve_scalar(membership.value, rows.scope)
        span = membership.value.meta["span"]
        equality = compare_values(value, selected[0], rows, right, span, context)
        if equality is None:
            raise membership.refuse(
                "that compares no column with one of the table",
                "compare a column of the row with a column of the subquery",
            )
        if membership.is_negated:
            refuse_nulls(rows, right, membership, equality, conditions, present)
        equalities.append(equality)
    if not equalities:
        raise membership.refuse(
            "that compares no column with the row",
            "compare one in the WHERE of the subquery",
        )
    is_negated = membership.is_negated
    node = keep_matched(rows.node, right.node, equalities, conditions, membership.span, is_negated=is_negated)
    return replace(rows, node=node)


def rename_apart(rows: FromRows, left: Node) -> FromRows:
    """The rows under names that no column of `left` has."""
    node, shape, relation = rows.node, rows.node.shape, rows.name
    assert isinstance(shape, KTable)
    taken = {each.name.casefold() for each in left.schema}
    while any(qualify_name(relation, each.name).casefold() in taken for each in node.schema):
        relation += "_"
    names = {each.name: qualify_name(relation, each.name) for each in node.schema}
    items = tuple(Named(names[each.name], make_column(each.name), each.type) for each in node.schema)
    schema = tuple(Column(names[each.name], each.type, each.nullable) for each in node.schema)
    key = KTable(tuple(names[each] for each in shape.key))
    renamed = Project(schema=schema, shape=key, span=node.span, input=node, items=items)
    columns = tuple(ScopeColumn(c.relation, c.name, names[c.column], c.type) for c in rows.scope.columns)
    times = {names[each.column] for each in rows.scope.times}
    scope = Scope(columns, shared=rows.scope.shared, times=tuple(each for each in columns if each.column in times))
    return FromRows(renamed, scope, rows.name)


def refuse_nulls(
    rows: FromRows,
    right: FromRows,
    membership: KeptMembership,
    equality: Equality,
    conditions: Sequence[exp.Expression],
    present: Set[str],
) -> None:
    """Raises CompileError for NOT IN of values that may be NULL: then it depends on all rows of the table."""
    known = {find_present(each) for each in conditions if find_side(each, rows.node, right.node) == "right"}
    sides = ((equality[0], rows.node, present), (equality[1], right.node, known))
    for value, node, sure in sides:
        name = find_value_column(value, node)
        if name is None or (name not in sure and node.column(name).nullable):
            hint = "say of both values that they are NOT NULL, in the WHERE of each; or write NOT EXISTS"
            raise membership.refuse("of values that may be NULL", hint)


def find_present(condition: exp.Expression) -> str | None:
    """The column that the condition says IS NOT NULL about."""
    whole = bare(condition)
    inner = bare(whole.this) if isinstance(whole, exp.Not) else whole
    if inner is whole or not isinstance(inner, exp.Is) or not isinstance(inner.expression, exp.Null):
        return None
    return str(inner.this.name) if isinstance(inner.this, exp.Column) else None
