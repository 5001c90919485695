"""PARTITION BY -> a re-keyed stream."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from penstock.diagnostics import CompileError
from penstock.diagnostics.codes.kinds import K018, K020
from penstock.parser import ast
from penstock.planner import scalars
from penstock.planner.lower.context import scalar
from penstock.planner.lower.items import Output, project
from penstock.planner.lower.rows import Rows
from penstock.planner.names import Scope, ScopeColumn
from penstock.planner.partitions.mend import rekey
from penstock.planner.plan import Column, KStream, KTable, Node


def lower_rekey(clause: ast.PartitionBy, result: Node, rows: Rows, outputs: Sequence[Output], plain: bool) -> Node:
    """The rows `result` of a SELECT over `rows`, re-keyed. `outputs` is the SELECT list as it stands in the text.

    The key is in terms of that list; where it is `plain`, without aggregation, also of the rows of FROM: then the key
    need not be shown.
    """
    if not isinstance(result.shape, KStream):
        kind = "table" if isinstance(result.shape, KTable) else "windowed table"
        hint = "GROUP BY what is to be the key, or SELECT STREAM over a window, whose rows are final"
        raise CompileError([K020.at(clause.span, "", kind=kind).with_hint(hint)])
    try:
        keys = resolved(clause, shown(result.schema, outputs, rows.scope))
    except CompileError as error:
        if not plain:
            raise
        try:
            keys = resolved(clause, rows.scope)
        except CompileError:
            raise error from None
        return project(rekey(rows.node, keys, clause.into, clause.span), outputs, rows.scope, result.span)
    return rekey(result, keys, clause.into, clause.span)


def resolved(clause: ast.PartitionBy, scope: Scope) -> tuple[exp.Expression, ...]:
    """The key's expressions, of types that can be compared."""
    keys = []
    for key in clause.keys:
        typed = scalar(key, scope)
        if not scalars.is_ordered(typed.type):
            raise CompileError([K018.at(key.meta["span"], "", type=typed.type)])
        keys.append(typed.expression)
    return tuple(keys)


def shown(schema: Iterable[Column], outputs: Sequence[Output], scope: Scope) -> Scope:
    """The columns of a SELECT list, by the names given there or, where that is nobody else's, by their own."""
    columns = {c.name: c for c in schema}
    names = {output.name: relation_of(output.value, scope) for output in outputs}
    known = [ScopeColumn(names.get(name), name, name, c.type) for name, c in columns.items()]
    for output in outputs:
        relation, own = names[output.name], output.value.name
        if relation is not None and output.name in columns and not Scope(tuple(known)).named(own):
            known.append(ScopeColumn(relation, own, output.name, columns[output.name].type))
    return Scope(tuple(known))


def relation_of(value: exp.Expression, scope: Scope) -> str | None:
    """The relation that a column of the list is of, None for another expression."""
    found = scope.named(value.name, value.table or None) if isinstance(value, exp.Column) else ()
    return found[0].relation if len(found) == 1 else None
