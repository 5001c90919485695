"""EXISTS (SELECT …) and IN (SELECT …) as parts of WHERE, whatever they are over."""

from __future__ import annotations

import msgspec
from sqlglot import exp

from penstock.diagnostics import CompileError, Span
from penstock.diagnostics.codes.building import B002
from penstock.parser import ast
from penstock.planner.lower.context import list_subqueries
from penstock.planner.lower.grouped import has_aggregate
from penstock.planner.lower.over import has_over
from penstock.planner.plan import conjuncts
from penstock.planner.scalars.literals import bare


class Membership(msgspec.Struct, frozen=True):
    """A condition of WHERE: EXISTS or IN with a subquery."""

    query: ast.Query
    value: exp.Expression | None
    """The value before IN, None for EXISTS."""
    is_negated: bool
    span: Span

    @property
    def words(self) -> str:
        """The construct as messages call it."""
        return f"{'NOT ' * self.is_negated}{'EXISTS' if self.value is None else 'IN'} (SELECT …)"

    def refuse(self, what: str, hint: str) -> CompileError:
        """The error that the construct is not supported; `what` describes the unsupported part."""
        return CompileError([B002.at(self.span, "", construct=f"{self.words} {what}").with_hint(hint)])


def read_membership(part: exp.Expression) -> Membership | None:
    """The part of WHERE as EXISTS or IN with a subquery, else None."""
    node, is_negated = bare(part), False
    while isinstance(node, exp.Not):
        node, is_negated = bare(node.this), not is_negated
    if not isinstance(node, exp.In | exp.Exists):
        return None
    query = node.args.get("query") if isinstance(node, exp.In) else node.this
    if not isinstance(query, ast.Query):
        return None
    return Membership(query, node.this if isinstance(node, exp.In) else None, is_negated, part.meta["span"])


def is_plain(query: ast.Select) -> bool:
    """Whether the subquery has no clauses but WHERE and DISTINCT, and no aggregates, OVER or subqueries in it."""
    clauses = (
        *(query.stream, query.deduplicate, query.group_by, query.having, query.windows, query.qualify),
        *(query.partition_by, query.emit, query.grace, query.retention, query.late, query.order_by, query.limit),
    )
    values = [each.value for each in query.items]
    return (
        not any(clauses)
        and not any(has_aggregate(each) or has_over(each) for each in values)
        and not any(True for each in (*values, *conjuncts(query.where)) for _ in list_subqueries(each))
    )
