"""Scalar expressions as written -> typed expressions over the columns of a plan's input."""

from __future__ import annotations

from sqlglot import exp

from penstock.diagnostics.diagnostic import Diagnostic
from penstock.planner.plan.expressions import Aggregate
from penstock.planner.scalars.aggregate_calls import AggregateResolver
from penstock.planner.scalars.common_types import cast, common_type, data_type, is_lossless, type_of
from penstock.planner.scalars.resolver import Resolver
from penstock.planner.scalars.scopes import Scope
from penstock.planner.scalars.typed import Typed
from penstock.planner.types import is_ordered

__all__ = [
    "Typed",
    "cast",
    "common_type",
    "data_type",
    "is_lossless",
    "is_ordered",
    "resolve",
    "resolve_aggregate",
    "resolve_boolean",
    "type_of",
]


def resolve(expression: exp.Expression, scope: Scope, findings: list[Diagnostic]) -> Typed | None:
    """A new, typed tree; None after everything that is wrong has been appended to `findings`."""
    return Resolver(scope, findings).resolve(expression)


def resolve_boolean(
    expression: exp.Expression, scope: Scope, findings: list[Diagnostic], clause: str
) -> exp.Expression | None:
    """The condition of a clause (WHERE, ON, HAVING); None after what is wrong has been appended to `findings`."""
    return Resolver(scope, findings).boolean(expression, clause)


def resolve_aggregate(call: exp.Expression, scope: Scope, findings: list[Diagnostic]) -> Aggregate | None:
    """A call of an aggregate function, perhaps with DISTINCT and FILTER. Its name is empty: the caller sets it."""
    return AggregateResolver(scope, findings).aggregate(call)
