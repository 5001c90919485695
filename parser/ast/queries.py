"""Queries: SELECT with its clauses, UNION and its kin, WITH."""

from __future__ import annotations

from enum import Enum
from typing import TypeAlias

import msgspec
from sqlglot import exp

from penstock.diagnostics.source import Placed, Span
from penstock.parser.ast.base import Name, Scalar
from penstock.parser.ast.intervals import Duration
from penstock.parser.ast.relations import Relation
from penstock.parser.ast.windows import NamedWindow


class Item(Placed, frozen=True):
    """One column of a SELECT list; `*` is `exp.Star`, `t.*` is `exp.Column` over it, and `t.s.*` is `exp.Dot` over it.

    `excluded`: the columns that a star leaves out. `columns`: names of all that EXPLODE or a sister of it makes.
    """

    value: Scalar
    alias: Name | None
    span: Span
    excluded: tuple[Name, ...] = ()
    columns: tuple[Name, ...] = ()


def is_star(value: Scalar) -> bool:
    """Whether an item is `*`, `relation.*` or `struct.*`."""
    last = value.expression if isinstance(value, exp.Dot) else value.this if isinstance(value, exp.Column) else value
    return isinstance(last, exp.Star)


class Deduplicate(Placed, frozen=True):
    """`DEDUPLICATE ON (exprs) WITHIN interval`: a row with the keys of another row that came soon before is
    left out.
    """

    keys: tuple[Scalar, ...]
    within: Duration
    span: Span


class PartitionBy(Placed, frozen=True):
    """`PARTITION BY exprs [INTO n PARTITIONS]`: the re-keying that makes an intermediate stream."""

    keys: tuple[Scalar, ...]
    into: int | None
    span: Span


class EmitFinal(Placed, frozen=True):
    span: Span


class EmitChanges(Placed, frozen=True):
    span: Span


class EmitEarly(Placed, frozen=True):
    every: Duration
    span: Span


Emit: TypeAlias = EmitFinal | EmitChanges | EmitEarly


class Late(Placed, frozen=True):
    """`LATE DROP` (`into` is None) or `LATE INTO stream`."""

    into: Name | None
    span: Span


class OrderBy(Placed, frozen=True):
    """`ORDER BY keys`, each an `exp.Ordered`."""

    keys: tuple[Scalar, ...]
    span: Span


class Limit(Placed, frozen=True):
    """`LIMIT count OFFSET skipped`, in rows; None where there is no LIMIT."""

    count: int | None
    skipped: int
    span: Span


class Select(Placed, frozen=True):
    """`group_by` holds scalars; TUMBLE, ROLLUP and their kin among them are function calls.

    GROUPING SETS among them is an `exp.GroupingSets` over one `exp.Tuple` a set. GROUP BY ALL is an `exp.Var`.
    """

    stream: bool
    distinct: bool
    items: tuple[Item, ...]
    relation: Relation
    where: Scalar | None
    deduplicate: Deduplicate | None
    group_by: tuple[Scalar, ...]
    having: Scalar | None
    windows: tuple[NamedWindow, ...]
    qualify: Scalar | None
    partition_by: PartitionBy | None
    emit: Emit | None
    grace: Duration | None
    retention: Duration | None
    late: Late | None
    order_by: OrderBy | None
    limit: Limit | None
    span: Span


class UnionQuery(Placed, frozen=True):
    """UNION ALL: two or more branches, flat."""

    branches: tuple[Query, ...]
    span: Span


class SetOperation(Enum):
    UNION = "UNION"
    INTERSECT = "INTERSECT"
    EXCEPT = "EXCEPT"


class SetQuery(Placed, frozen=True):
    """The different rows of both, of either, or of `left` alone."""

    operation: SetOperation
    left: Query
    right: Query
    span: Span


class CommonTable(msgspec.Struct, frozen=True):
    """One `name (columns) AS (query)` of a WITH clause. Without `columns` they have the names of the query's."""

    name: Name
    columns: tuple[Name, ...]
    query: Query


class With(Placed, frozen=True):
    tables: tuple[CommonTable, ...]
    body: Query
    span: Span


Query: TypeAlias = Select | UnionQuery | SetQuery | With
