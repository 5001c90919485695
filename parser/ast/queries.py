"""Queries: SELECT with its clauses, UNION and its kin, WITH."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from sqlglot import exp

from penstock.diagnostics.source import Span
from penstock.parser.ast.base import Name, Scalar
from penstock.parser.ast.intervals import Duration
from penstock.parser.ast.relations import Relation
from penstock.parser.ast.windows import NamedWindow


@dataclass(frozen=True, slots=True)
class Item:
    """One column of a SELECT list; `*` is `exp.Star`, `t.*` is `exp.Column` over it, and `t.s.*` is `exp.Dot` over it.

    `excluded`: the columns that a star leaves out.
    """

    value: Scalar
    alias: Name | None
    span: Span = field(compare=False, repr=False)
    excluded: tuple[Name, ...] = ()


def is_star(value: Scalar) -> bool:
    """Whether an item is `*`, `relation.*` or `struct.*`."""
    last = value.expression if isinstance(value, exp.Dot) else value.this if isinstance(value, exp.Column) else value
    return isinstance(last, exp.Star)


@dataclass(frozen=True, slots=True)
class Deduplicate:
    """`DEDUPLICATE ON (exprs) WITHIN interval`: of rows with equal keys, those soon after another are left out."""

    keys: tuple[Scalar, ...]
    within: Duration
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class PartitionBy:
    """`PARTITION BY exprs [INTO n PARTITIONS]`: the re-keying that makes an intermediate stream."""

    keys: tuple[Scalar, ...]
    into: int | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class EmitFinal:
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class EmitChanges:
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class EmitEarly:
    every: Duration
    span: Span = field(compare=False, repr=False)


Emit: TypeAlias = EmitFinal | EmitChanges | EmitEarly


@dataclass(frozen=True, slots=True)
class Late:
    """`LATE DROP` (`into` is None) or `LATE INTO stream`."""

    into: Name | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class OrderBy:
    """`ORDER BY keys`, each an `exp.Ordered`."""

    keys: tuple[Scalar, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Limit:
    """`LIMIT count OFFSET skipped`, in rows; None where there is no LIMIT."""

    count: int | None
    skipped: int
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Select:
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
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class UnionQuery:
    """UNION ALL: two or more branches, flat."""

    branches: tuple[Query, ...]
    span: Span = field(compare=False, repr=False)


class SetOperation(Enum):
    UNION = "UNION"
    INTERSECT = "INTERSECT"
    EXCEPT = "EXCEPT"


@dataclass(frozen=True, slots=True)
class SetQuery:
    """The different rows of both, of either, or of `left` alone."""

    operation: SetOperation
    left: Query
    right: Query
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CommonTable:
    """One `name (columns) AS (query)` of a WITH clause. Without `columns` they have the names of the query's."""

    name: Name
    columns: tuple[Name, ...]
    query: Query


@dataclass(frozen=True, slots=True)
class With:
    tables: tuple[CommonTable, ...]
    body: Query
    span: Span = field(compare=False, repr=False)


Query: TypeAlias = Select | UnionQuery | SetQuery | With
