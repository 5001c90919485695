"""OVER specifications outside scalar expressions: on a relation, and named by WINDOW."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from penstock.diagnostics.source import Span
from penstock.parser.ast.base import Name, Scalar


@dataclass(frozen=True, slots=True)
class OverClause:
    """`(PARTITION BY … ORDER BY … frame)`. Inside a scalar the same parts are those of `exp.Window`."""

    partition_by: tuple[Scalar, ...]
    order_by: tuple[exp.Ordered, ...]
    frame: exp.WindowSpec | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class NamedWindow:
    """One `name AS (…)` of a WINDOW clause."""

    name: Name
    over: OverClause
