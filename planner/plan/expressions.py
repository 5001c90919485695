"""Scalar expressions of a plan: sqlglot nodes with names resolved and types known.

In a plan every `exp.Column` has no table part. Its name is a column of the operator's input, spelled as there. Above a
join, the input columns are the columns of the join's schema, whose names are `alias.column`. Implicit casts have been
written out. The node's type is kept in `Named.type` and recomputed by `planner.scalars` where needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import msgspec
from sqlglot import exp

from penstock.diagnostics.source import Placed, Span
from penstock.planner.functions import Function, require_function
from penstock.planner.types import Type

Expression: TypeAlias = exp.Expression


class Named(msgspec.Struct, frozen=True):
    """An output column and the expression that computes it."""

    name: str
    value: Expression
    type: Type


class Sorting(msgspec.Struct, frozen=True):
    """One expression of an ORDER BY."""

    value: Expression
    descending: bool
    nulls_first: bool


class Aggregate(Placed, frozen=True):
    """An output column computed over a group or a frame.

    `function` is the upper-case name. `arguments` are over the input's columns, and COUNT(*) has none. With
    `distinct` equal argument rows count once. `condition` comes from FILTER (WHERE …). `keeps_values`: it is over a
    table, or over sessions that change, and the arguments' different values are kept, because no counts or sums give
    its value.
    """

    name: str
    function: str
    arguments: tuple[Expression, ...]
    distinct: bool
    condition: Expression | None
    type: Type
    span: Span | None = None
    keeps_values: bool = False
    order_by: tuple[Sorting, ...] = ()
    """The order in which values are collected. Values that are equal in it are in their own order."""

    @property
    def entry(self) -> Function:
        """What is known of the function."""
        return require_function(self.function)

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The arguments, what they are ordered by, and the condition."""
        parts = (*self.arguments, *(each.value for each in self.order_by))
        return parts if self.condition is None else (*parts, self.condition)


def make_column(name: str) -> exp.Column:
    """A reference to a column of the operator's input."""
    return exp.Column(this=exp.to_identifier(name, quoted=True))


def find_columns(*expressions: Expression) -> set[str]:
    """The names of the columns in the expressions."""
    return {column.name for expression in expressions for column in expression.find_all(exp.Column)}


def list_compared(
    equalities: Iterable[tuple[Expression, Expression]], other: Expression | None
) -> tuple[Expression, ...]:
    """The sides of a join's equalities, and its other condition."""
    sides = (side for equality in equalities for side in equality)
    return (*sides, *(() if other is None else (other,)))


def conjuncts(condition: Expression | None) -> list[Expression]:
    """The parts of a condition that must all be true, in the order of the text."""
    parts: list[Expression] = []
    pending = [] if condition is None else [condition]
    while pending:
        node = pending.pop()
        inner = node
        while isinstance(inner, exp.Paren):
            inner = inner.this
        if isinstance(inner, exp.And):
            pending += [inner.expression, inner.this]
        else:
            parts.append(node)
    return parts


def conjunction(parts: Sequence[Expression]) -> Expression | None:
    """All of the conditions as one, a balanced tree; None of none."""
    if len(parts) <= 1:
        return parts[0] if parts else None
    half = len(parts) // 2
    return exp.And(this=conjunction(parts[:half]), expression=conjunction(parts[half:]))
