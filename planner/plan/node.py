"""What every relation of a plan has: columns with types, and its kind (KStream, KTable, WTable)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from threading import local
from typing import ClassVar, Self, TypeAlias

import msgspec
from msgspec.structs import force_setattr, replace

from penstock.diagnostics.source import Placed, Span
from penstock.planner.plan.expressions import Expression, find_columns
from penstock.planner.types import Type


class Column(msgspec.Struct, frozen=True):
    """A column of a relation. Names are unique within a relation, without regard to case."""

    name: str
    type: Type
    nullable: bool = True
    hidden: bool = False
    """Whether it is there only because it is part of the key of a table. A subquery or view does not show it."""


class EventTime(msgspec.Struct, frozen=True):
    """A column that can serve as event time. It is never NULL. Times are in milliseconds."""

    column: str
    delay: int
    """How far its watermark stays behind its newest value."""
    offset_min: int = 0
    """In every row, its least distance from the stream's first event time; negative where it is earlier."""
    offset_max: int = 0
    """In every row, its greatest distance from the stream's first event time."""

    @property
    def spread(self) -> int:
        """By how much its distance from the first event time differs from row to row, in milliseconds."""
        return self.offset_max - self.offset_min

    def measure_from(self, first: EventTime) -> EventTime:
        """The event time, measured from `first`, the first event time of a stream."""
        lower, upper = self.offset_min - first.offset_max, self.offset_max - first.offset_min
        return EventTime(self.column, self.delay, lower, upper)


def anchor_times(times: Iterable[EventTime]) -> tuple[EventTime, ...]:
    """Event times of one stream, their distances counted from the first of these."""
    times = tuple(times)
    return tuple(
        each.measure_from(times[0]) if place else EventTime(each.column, each.delay) for place, each in enumerate(times)
    )


class KStream(msgspec.Struct, frozen=True):
    """An append-only stream of facts."""

    key: tuple[str, ...] = ()
    """The columns that it is partitioned by, empty if none is known."""
    times: tuple[EventTime, ...] = ()
    """The columns that can serve as event time. The first is the default. Empty if there is none."""
    near_times: tuple[EventTime, ...] = ()
    """Columns that may be NULL, and otherwise lie within their offsets of the first event time. Delays mean nothing."""

    @property
    def time(self) -> str | None:
        """The event-time column where nothing else is said."""
        return self.times[0].column if self.times else None

    @property
    def delay(self) -> int | None:
        """The watermark delay of that column in milliseconds."""
        return self.times[0].delay if self.times else None

    def has_time(self, column: str) -> bool:
        """Whether the column can be the event time."""
        return any(time.column == column for time in self.times)

    def rename(self, names: Mapping[str, str]) -> KStream:
        """The stream with its columns under the names given. Columns without a name are gone."""
        key = tuple(names[name] for name in self.key if name in names)
        times = anchor_times(each for each in self.times if each.column in names)
        anchor = next((each for each in self.times if each.column in names), None)
        kept = [each for each in self.near_times if each.column in names]
        near = () if anchor is None else tuple(each.measure_from(anchor) for each in kept)
        times, near = (tuple(replace(each, column=names[each.column]) for each in part) for part in (times, near))
        return KStream(key if len(key) == len(self.key) else (), times, near)


class KTable(msgspec.Struct, frozen=True):
    """The changelog of a table: the newest row per key.

    `same`: for each key column, the groups of other columns that have its value. In each group, the first column that
    is not NULL is the key, whatever their order. Rows of a join have such columns.
    """

    key: tuple[str, ...]
    same: tuple[tuple[frozenset[str], ...], ...] = ()

    @property
    def identity(self) -> tuple[str, ...]:
        """The columns that tell its rows apart."""
        return self.key


class WTable(msgspec.Struct, frozen=True):
    """One table per window. Partitioned by `key` only; a row is identified by key and window.

    `start` and `end` are what the window's columns are called. `same` as in KTable, for all columns of `identity`.
    """

    key: tuple[str, ...]
    start: str = "window_start"
    end: str = "window_end"
    same: tuple[tuple[frozenset[str], ...], ...] = ()

    @property
    def identity(self) -> tuple[str, ...]:
        """The columns that tell its rows apart."""
        return (*self.key, self.start, self.end)


Shape: TypeAlias = KStream | KTable | WTable


class _Comparison(local):
    """The pairs of nodes that the comparison under way has found equal, by their ids; None where none is under way."""

    equal: set[tuple[int, int]] | None = None


_comparison = _Comparison()


class Node(Placed, frozen=True, kw_only=True, eq=False):
    """The part that all plan nodes share. `span` is the text that asked for the node.

    Nodes of one class are equal if their fields are; spans do not count. Each node stores its hash and its size,
    because plans are deep and share parts: computing them anew would visit all nodes below.
    """

    schema: tuple[Column, ...]
    shape: Shape
    span: Span
    _hash: int = 0
    _size: int = 0

    UNCOUNTED: ClassVar[frozenset[str]] = frozenset({"span", "_hash", "_size"})
    NOUN: ClassVar[str] = "a relation"
    """The operator as messages call it."""
    TAKES_TABLES: ClassVar[bool] = False
    """Whether its inputs can be tables."""

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The relations that the operator reads, in order."""
        return ()

    def with_inputs(self, below: tuple[Node, ...]) -> Self:
        """The operator over other inputs of the same schemas; itself where they are the same."""
        same = all(one is other for one, other in zip(below, self.inputs, strict=True))
        return self if same else self._over(below)

    def _over(self, below: tuple[Node, ...]) -> Self:
        raise AssertionError(f"{type(self).__name__} has no inputs")

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """All scalar expressions that the operator itself evaluates."""
        return ()

    @property
    def event_times(self) -> tuple[str, ...]:
        """The event-time columns of its inputs that the operator goes by."""
        return ()

    @property
    def used_columns(self) -> frozenset[str]:
        """The columns of its inputs that the operator itself looks at."""
        return frozenset([*find_columns(*self.expressions), *self.event_times])

    @property
    def given_names(self) -> tuple[str, ...]:
        """The names that the operator gives to columns, and that a script has chosen."""
        return ()

    def name_below(self, name: str, place: int) -> str:
        """What its input at `place` calls a column that the operator passes on."""
        return name

    @property
    def partitions(self) -> int | None:
        """The number of partitions of its state, None where none of its inputs says one."""
        return None

    @property
    def is_timed(self) -> bool:
        """Whether it waits for the watermark. A table without windows is kept forever."""
        return False

    @property
    def size(self) -> int:
        """The number of operators of the plan, a shared one as often as it is read: so many does Spark plan."""
        return self._size

    def __post_init__(self) -> None:
        force_setattr(self, "_hash", hash((type(self), self._content())))
        force_setattr(self, "_size", 1 + sum(each._size for each in self.inputs))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other or not isinstance(other, Node) or type(self) is not type(other):
            return self is other
        return self._hash == other._hash and self._has_content_of(other)

    def _has_content_of(self, other: Node) -> bool:
        """Whether all fields are equal. Each pair of nodes below is compared once, however often it is met."""
        equal, pair = _comparison.equal, (id(self), id(other))
        if equal is not None and pair in equal:
            return True
        if equal is None:
            _comparison.equal = set()
        try:
            same = self._content() == other._content()
            if same and equal is not None:
                equal.add(pair)
            return same
        finally:
            if equal is None:
                _comparison.equal = None

    def column(self, name: str) -> Column:
        """The column of that exact name; the planner has resolved it before."""
        return next(column for column in self.schema if column.name == name)


class Unary(Node, frozen=True, kw_only=True, eq=False):
    """An operator that reads one relation."""

    input: Node

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.input,)

    def _over(self, below: tuple[Node, ...]) -> Self:
        (only,) = below
        return replace(self, input=only)


class Waiting(Unary, frozen=True, kw_only=True, eq=False):
    """An operator that keeps rows until the watermark has passed them. `time` is its input's event-time column."""

    time: str

    @property
    def event_times(self) -> tuple[str, ...]:
        return (self.time,)

    @property
    def is_timed(self) -> bool:
        return True


class Binary(Node, frozen=True, kw_only=True, eq=False):
    """An operator that reads two relations."""

    left: Node
    right: Node

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.left, self.right)

    def _over(self, below: tuple[Node, ...]) -> Self:
        left, right = below
        return replace(self, left=left, right=right)
