"""What may stand in FROM."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from penstock.diagnostics.source import Placed, Span
from penstock.parser.ast.base import Name, Scalar
from penstock.parser.ast.intervals import Duration
from penstock.parser.ast.windows import OverClause

if TYPE_CHECKING:
    from penstock.parser.ast.queries import Query


class Table(Placed, frozen=True):
    """A relation by name, with `OVER (…)` and `FOR SYSTEM_TIME AS OF expr` where written.

    Without `columns` its columns have their own names.
    """

    name: Name
    alias: Name | None
    over: OverClause | None
    as_of: Scalar | None
    span: Span
    columns: tuple[Name, ...] = ()


class Subquery(Placed, frozen=True):
    """`( query ) alias (columns)`. Without `columns` they have the names of the query's."""

    query: Query
    alias: Name | None
    columns: tuple[Name, ...]
    over: OverClause | None
    span: Span


class WindowKind(Enum):
    TUMBLE = "TUMBLE"
    HOP = "HOP"
    CUMULATE = "CUMULATE"
    SESSION = "SESSION"


class WindowedTable(Placed, frozen=True):
    """`TUMBLE(rel, time, size)` in FROM, or HOP, CUMULATE, SESSION.

    `durations` are as written: (size), (slide, size), (step, size) or (gap). `keys` are the keys of sessions
    where PARTITION BY may say them. None where GROUP BY alone does.
    """

    kind: WindowKind
    relation: Table | Subquery
    time: Scalar
    durations: tuple[Duration, ...]
    keys: tuple[Scalar, ...] | None
    alias: Name | None
    span: Span


class NoTable(Placed, frozen=True):
    """What a SELECT without FROM reads: one row without columns."""

    span: Span


class Unnesting(Enum):
    UNNEST = "UNNEST"
    EXPLODE = "EXPLODE"
    POSEXPLODE = "POSEXPLODE"
    INLINE = "INLINE"


class UnnestedTable(Placed, frozen=True):
    """`UNNEST(value)`, or LATERAL VIEW of one of Spark's functions: a row for each element. The right side of a join.

    `ordinality`: WITH ORDINALITY, the place of each element. `columns` are the names that are given, maybe none.
    """

    function: Unnesting
    value: Scalar
    ordinality: bool
    alias: Name | None
    columns: tuple[Name, ...]
    span: Span


class JoinKind(Enum):
    INNER = "INNER"
    LEFT = "LEFT"
    RIGHT = "RIGHT"
    FULL = "FULL"
    SEMI = "LEFT SEMI"
    ANTI = "LEFT ANTI"


class Within(Placed, frozen=True):
    """`WITHIN d` (both directions) or `WITHIN (d BEFORE, d AFTER)`: the right row's time relative to the left's.

    `grace` is added to the delays of both sides.
    """

    before: Duration
    after: Duration
    grace: Duration | None
    span: Span


class Join(Placed, frozen=True):
    """`left JOIN right ON condition`, or USING columns. A comma and CROSS JOIN are INNER without a condition."""

    left: Relation
    right: Relation
    kind: JoinKind
    within: Within | None
    on: Scalar | None
    using: tuple[Name, ...]
    natural: bool
    span: Span


Relation: TypeAlias = Table | Subquery | NoTable | WindowedTable | UnnestedTable | Join
