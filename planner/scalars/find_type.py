"""The types of expressions that stand in plans."""

from __future__ import annotations

from penstock.planner import scalars
from penstock.planner.plan import Expression, Node
from penstock.planner.scalars.scopes import Scope, ScopeColumn
from penstock.planner.types import Type


def find_type(value: Expression, node: Node) -> Type | None:
    """The type of an expression over the columns of `node`, or None for a NULL without a type."""
    scope = Scope(tuple(ScopeColumn(None, c.name, c.name, c.type) for c in node.schema))
    typed = scalars.resolve(value, scope, [])
    return None if typed is None else typed.type
