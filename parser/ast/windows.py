"""OVER specifications outside scalar expressions: on a relation, and named by WINDOW."""

from __future__ import annotations

import msgspec
from sqlglot import exp

from penstock.diagnostics.source import Placed, Span
from penstock.parser.ast.base import Name, Scalar


class OverClause(Placed, frozen=True):
    """`(PARTITION BY … ORDER BY … frame)`. Inside a scalar the same parts belong to `exp.Window`."""

    partition_by: tuple[Scalar, ...]
    order_by: tuple[exp.Ordered, ...]
    frame: exp.WindowSpec | None
    span: Span


class NamedWindow(msgspec.Struct, frozen=True):
    """One `name AS (…)` of a WINDOW clause."""

    name: Name
    over: OverClause
