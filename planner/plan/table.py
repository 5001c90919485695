"""Operators over tables. They send changes: for each key, the row before and the row after. Either may be missing.

A `Scan` of a table reads the upserts and tombstones of its changelog. The newest one of each key counts. Filters and
projections of tables look at single rows. A micro-batch has at most one change of a key, whose two rows differ.
"""

from __future__ import annotations

from typing import ClassVar, Self

import msgspec
from msgspec.structs import replace

from penstock.planner.plan.expressions import Expression, list_compared
from penstock.planner.plan.join import JoinType
from penstock.planner.plan.node import Binary, KStream, Node, Unary, WTable


class Latest(Unary, frozen=True, kw_only=True, eq=False):
    """The newest upsert of each key, as changes. `input` is a scan of a changelog, maybe filtered and projected.

    A deleted key is kept, because an older upsert that arrives later must not bring it back.
    """

    NOUN: ClassVar[str] = "a table"
    TAKES_TABLES: ClassVar[bool] = True


class Side(msgspec.Struct, frozen=True):
    """One of several tables that are joined on their keys. `keys` are over the input's columns, in a common order.

    Rows of windowed tables meet if they have the same window. Windows of this side count as beginning `shift`
    milliseconds later.
    """

    input: Node
    keys: tuple[Expression, ...]
    shift: int = 0


class Step(msgspec.Struct, frozen=True):
    """The join of one more side with the sides before it, taken together.

    A row of the sides before and a row of the new side match on two conditions. Both have the same key (and window).
    In each group of `through`, at least one side shows a row. `through` has numbers of sides; its first groups are
    for the key columns. If there is a `condition` over all their columns, it has to be true, too.
    """

    type: JoinType
    through: tuple[frozenset[int], ...]
    condition: Expression | None


class TableJoin(Node, frozen=True, kw_only=True, eq=False):
    """Tables joined on their primary keys, one after the other: at most one row per key, from one state for all.

    `steps[i]` joins `sides[i + 1]`. NULL in a key equals nothing. The schema: the key columns, the window of windowed
    tables, then the columns of the sides, whose names are disjoint (`alias.column`). A side may be a changelog's
    upserts or changes. All sides are tables, or all are windowed ones. `partitions` as in IntervalJoin.

    For windowed tables the shape is a KStream where the joined rows are asked for once they are final.
    """

    NOUN: ClassVar[str] = "a join of tables"
    TAKES_TABLES: ClassVar[bool] = True

    sides: tuple[Side, ...]
    steps: tuple[Step, ...]
    partitions: int | None = None

    @property
    def is_windowed(self) -> bool:
        """Whether it joins windowed tables."""
        return isinstance(self.sides[0].input.shape, WTable)

    @property
    def identity(self) -> tuple[str, ...]:
        """Its first columns, which tell its rows apart: the key, and the window of windowed tables."""
        shape = self.sides[0].input.shape
        assert not isinstance(shape, KStream)
        return tuple(each.name for each in self.schema[: len(shape.identity)])

    @property
    def inputs(self) -> tuple[Node, ...]:
        return tuple(side.input for side in self.sides)

    def _over(self, below: tuple[Node, ...]) -> Self:
        sides = (replace(side, input=each) for side, each in zip(self.sides, below, strict=True))
        return replace(self, sides=tuple(sides))

    @property
    def expressions(self) -> tuple[Expression, ...]:
        conditions = (step.condition for step in self.steps if step.condition is not None)
        return (*(key for side in self.sides for key in side.keys), *conditions)

    @property
    def is_timed(self) -> bool:
        return self.is_windowed


class ForeignKeyJoin(Binary, frozen=True, kw_only=True, eq=False):
    """Each row of the table `left` beside the row of the table `right` that it refers to; there is at most one.

    `equalities` pair expressions over the left with key columns of the right. They cover its whole key, and one of the
    window's columns of a windowed table. NULL refers to nothing. `condition`, over both, has to be true, too. LEFT and
    FULL pad left rows without a partner with NULL, RIGHT and FULL right ones. RIGHT and FULL have no condition, and
    their key has the keys of both sides. Driven by both sides. `left` sends changes. `kept`: for how many milliseconds
    a window is kept behind its end, by the watermark of the windowed table; None of tables without windows.
    """

    NOUN: ClassVar[str] = "a join of tables"
    TAKES_TABLES: ClassVar[bool] = True

    type: JoinType
    equalities: tuple[tuple[Expression, Expression], ...]
    condition: Expression | None
    kept: int | None = None

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return list_compared(self.equalities, self.condition)


class TableLookup(Node, frozen=True, kw_only=True, eq=False):
    """Each row of a stream beside the row of a table that it refers to; changes of the table send nothing.

    `equalities`, `condition` and `type` as in ForeignKeyJoin. `as_of` None: the table as it is known when the row is
    processed, with all upserts of the same micro-batch. Otherwise it is the stream's event time: the newest upsert
    that is not after it, among the upserts that the table keeps for its retention. `partitions` as in IntervalJoin.
    `kept`: for how many milliseconds after its end a window of a windowed table can be looked up, by the watermark of
    the stream. None for other tables.
    """

    NOUN: ClassVar[str] = "a stream-table join"
    TAKES_TABLES: ClassVar[bool] = True

    stream: Node
    table: Node
    type: JoinType
    equalities: tuple[tuple[Expression, Expression], ...]
    condition: Expression | None
    as_of: str | None
    partitions: int | None = None
    kept: int | None = None

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.stream, self.table)

    def _over(self, below: tuple[Node, ...]) -> Self:
        stream, table = below
        return replace(self, stream=stream, table=table)

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return list_compared(self.equalities, self.condition)

    @property
    def event_times(self) -> tuple[str, ...]:
        return () if self.as_of is None else (self.as_of,)

    @property
    def is_timed(self) -> bool:
        return self.as_of is not None
