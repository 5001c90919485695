"""Names in FROM -> what they stand for. How FROM itself is planned stands in query.py."""

from __future__ import annotations

from typing import assert_never

from sqlglot import exp

from penstock.diagnostics import CompileError, Diagnostic, Span
from penstock.diagnostics.codes.kinds import K024
from penstock.parser import ast
from penstock.planner.catalog import Declared, Derived
from penstock.planner.lower.context import Context
from penstock.planner.plan import KTable, Node, Scan
from penstock.planner.scalars.scopes import Scope


def is_inner(relation: ast.Join) -> bool:
    """Whether a WHERE beside the join can be tested in the join on its left as well."""
    inner = ast.JoinKind.INNER
    return relation.kind is inner and isinstance(relation.left, ast.Join) and relation.left.kind is inner


def is_about(condition: exp.Expression, *scopes: Scope) -> bool:
    """Whether the condition names columns, and all of them are in these scopes."""
    named = [(each.name, each.table or None) for each in condition.find_all(exp.Column)]
    return bool(named) and all(any(scope.named(*each) for scope in scopes) for each in named)


def may_mean(condition: exp.Expression, scope: Scope) -> bool:
    """Whether a column without a relation has a name of this scope."""
    return any(not each.table and scope.named(each.name) for each in condition.find_all(exp.Column))


def find_entry(name: ast.Name, context: Context) -> Node | Declared | Derived:
    """What a name stands for: the plan of a table of WITH, else an entry of the catalog; raises CompileError."""
    common = context.common_tables.get(name.folded)
    return context.catalog.require(name, beside=context.common_tables) if common is None else common


def explain_nothing(span: Span) -> Diagnostic:
    """The finding for a query that keeps running and has nothing to read."""
    found = K024.at(span, "").because("No row would ever arrive.")
    return found.with_hint("penstock query and Session.sql read it")


def lower_name(name: ast.Name, context: Context) -> Node:
    """The plan of what a name stands for; raises CompileError for an unknown one."""
    entry = find_entry(name, context)
    match entry:
        case Node():
            return entry
        case Derived():
            if entry.is_constant:
                raise CompileError([explain_nothing(name.span)])
            context.reads.update(entry.reads if entry.kind == "VIEW" else {entry.name.lower()})
            return entry.node
        case Declared():
            origin = entry.origin
            shape = origin.stream if entry.kind == "STREAM" else KTable(origin.key)
            return entry.place_items(Scan(schema=origin.columns, shape=shape, span=name.span, origin=origin))
        case _:
            assert_never(entry)
