"""PARTITION BY -> a re-keyed stream."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace
from sqlglot import exp

from penstock.diagnostics import CompileError
from penstock.diagnostics.codes.kinds import K020
from penstock.parser import ast
from penstock.planner.lower.context import resolve_key, resolve_scalar
from penstock.planner.lower.from_rows import FromRows
from penstock.planner.lower.select_items import OutputColumn, project_items
from penstock.planner.partitions.rekey import rekey
from penstock.planner.plan import Column, KStream, KTable, Node, find_columns, make_column
from penstock.planner.plan.substitute import substitute, substitute_names
from penstock.planner.scalars.literals import bare, enclosed
from penstock.planner.scalars.scopes import Scope, ScopeColumn, is_same_name


def lower_rekey(
    clause: ast.PartitionBy, result: Node, rows: FromRows, outputs: Sequence[OutputColumn], plain: bool
) -> Node:
    """The rows `result` of a SELECT over `rows`, re-keyed. `outputs` is the SELECT list as it stands in the text.

    A name in the key means a column of the list. If the list is `plain`, without aggregation, it can also mean a column
    of FROM, so that the key need not be shown.
    """
    if not isinstance(result.shape, KStream):
        kind = "table" if isinstance(result.shape, KTable) else "windowed table"
        hint = "GROUP BY the new key, or SELECT STREAM over a window: its rows are final"
        raise CompileError([K020.at(clause.span, "", kind=kind).with_hint(hint)])
    listed = make_shown_scope(result.schema, outputs, rows.scope)
    if not plain:
        return rekey(result, resolve_keys(clause, listed), clause.into, clause.span)
    # No column of FROM has a name as long as the names that tell the columns of the list from them.
    mark = "_" * (1 + max(len(each.name) for each in rows.node.schema))
    given, own = (tuple(replace(c, column=mark + c.column) for c in part) for part in (listed.columns, listed.beyond))
    hidden = tuple(c for c in rows.scope.columns if not any(is_called(each, c.relation, c.name) for each in own))
    keys = resolve_keys(clause, Scope(given, (*own, *hidden)))
    if all(name.startswith(mark) for name in find_columns(*keys)):
        names = {mark + each.name: each.name for each in result.schema}
        return rekey(result, tuple(substitute_names(key, names) for key in keys), clause.into, clause.span)
    values: dict[str, exp.Expression] = {each.name: make_column(each.name) for each in rows.node.schema}
    values |= {mark + output.name: enclosed(resolve_scalar(output.value, rows.scope).expression) for output in outputs}
    below = rekey(rows.node, tuple(bare(substitute(key, values)) for key in keys), clause.into, clause.span)
    return project_items(below, outputs, rows.scope, result.span)


def resolve_keys(clause: ast.PartitionBy, scope: Scope) -> tuple[exp.Expression, ...]:
    """The key's expressions, of types that can be compared."""
    return tuple(resolve_key(each, scope) for each in clause.keys)


def make_shown_scope(schema: Iterable[Column], outputs: Sequence[OutputColumn], scope: Scope) -> Scope:
    """The columns of a SELECT list, by the names given there or, where that is nobody's, by their own."""
    sources = {output.name: find_source(output.value, scope) for output in outputs}
    given: list[ScopeColumn] = []
    own: list[ScopeColumn] = []
    for each in schema:
        found = sources.get(each.name)
        relation = found.relation if found is not None and is_same_name(found.name, each.name) else None
        given.append(ScopeColumn(relation, each.name, each.name, each.type))
        if found is not None and not any(is_called(known, found.relation, found.name) for known in own):
            own.append(ScopeColumn(found.relation, found.name, each.name, each.type))
    return Scope(tuple(given), tuple(own))


def find_source(value: exp.Expression, scope: Scope) -> ScopeColumn | None:
    """What a column of the list is called in FROM, None for another expression."""
    found = scope.named(value.name, value.table or None) if isinstance(value, exp.Column) else ()
    return found[0] if len(found) == 1 else None


def is_called(column: ScopeColumn, relation: str | None, name: str) -> bool:
    return column.relation == relation and is_same_name(column.name, name)
