"""JOIN … USING, and joins whose condition stands in WHERE -> joins with ON."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace
from sqlglot import exp

from penstock.diagnostics import CompileError, Diagnostic
from penstock.diagnostics.codes.joins import J022
from penstock.diagnostics.codes.names import N001, N002
from penstock.parser import ast, name_text
from penstock.planner.lower.context import place
from penstock.planner.lower.from_rows import FromRows
from penstock.planner.lower.joins.sides import find_right_span
from penstock.planner.plan import conjunction
from penstock.planner.scalars.scopes import Scope, SharedColumn, add_nearest


def name_condition(join: ast.Join, left: FromRows, right: FromRows, where: Sequence[exp.Expression]) -> ast.Join:
    """The join with ON, where USING or the WHERE of an inner join says which rows meet; raises CompileError."""
    if join.natural:
        raise CompileError([explain_natural(join, left, right)])
    if join.using:
        return replace(join, on=conjunction([compare_columns(name, left, right) for name in join.using]))
    if join.on is None and join.kind is ast.JoinKind.INNER:
        return replace(join, on=conjunction([part for part in where if is_about_both(part, left.scope, right.scope)]))
    return join


def share_columns(join: ast.Join, left: FromRows, right: FromRows, joined: FromRows) -> FromRows:
    """The joined rows, in which each column of USING has one name without a relation before it."""
    if join.kind in (ast.JoinKind.SEMI, ast.JoinKind.ANTI):
        return joined
    shared = {each.name.casefold(): each for each in joined.scope.shared}
    for name in join.using:
        one, other = find_side_column(name, left), find_side_column(name, right)
        match join.kind:
            case ast.JoinKind.RIGHT:
                value = other
            case ast.JoinKind.FULL:
                value = place(exp.Anonymous(this="COALESCE", expressions=[one, other]), name.span)
            case _:
                value = one
        known = left.scope.find_shared(name.text)
        relations = known.relations if known is not None else frozenset[str | None]()
        both = (*left.scope.named(name.text), *right.scope.named(name.text))
        shared[name.folded] = SharedColumn(name.text, value, relations.union(each.relation for each in both))
    return replace(joined, scope=replace(joined.scope, shared=tuple(shared.values())))


def compare_columns(name: ast.Name, left: FromRows, right: FromRows) -> exp.Expression:
    """The equality of the columns of that name; raises CompileError."""
    equality = exp.EQ(this=find_side_column(name, left), expression=find_side_column(name, right))
    return place(equality, name.span)


def find_side_column(name: ast.Name, rows: FromRows) -> exp.Expression:
    """The column of that name of one side, with its relation before it; raises CompileError."""
    shared = rows.scope.find_shared(name.text)
    if shared is not None:
        return shared.value.copy()
    found = rows.scope.named(name.text)
    if len(found) == 1:
        return place(exp.column(found[0].name, table=found[0].relation, quoted=True), name.span)
    if found:
        raise CompileError(
            [N002.at(name.span, name=name.text).with_hint("ON instead of USING says which one is meant")]
        )
    found_none = N001.at(name.span, name=f"{rows.name}.{name.text}")
    raise CompileError([add_nearest(found_none, name.text, (each.name for each in rows.scope.columns))])


def is_about_both(condition: exp.Expression, left: Scope, right: Scope) -> bool:
    """Whether a condition of WHERE names a column of either side that the other does not have."""
    named = [(each.name, each.table or None) for each in condition.find_all(exp.Column)]
    sides = {(bool(left.named(*each)), bool(right.named(*each))) for each in named}
    return {(True, False), (False, True)} <= sides


def explain_natural(join: ast.Join, left: FromRows, right: FromRows) -> Diagnostic:
    """The finding for NATURAL JOIN, with the columns that it compares today."""
    both = [each.name for each in left.scope.columns if right.scope.named(each.name)]
    found = J022.at(find_right_span(join), "").because("A column that is added to one side would change the answer.")
    shared = ", ".join(map(name_text, dict.fromkeys(both)))
    kind = "" if join.kind is ast.JoinKind.INNER else f"{join.kind.value} "
    joined = f"{kind}JOIN {join.right.span.text} USING ({shared})"
    return found.with_sql(joined if both else None, otherwise="JOIN with ON")
