"""What is kept of tables that are computed from changes: the newest rows by key, and the sides of their joins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from penstock.evaluator.expression_values import evaluate_scalar, holds
from penstock.evaluator.row_pairs import LEFT_KEPT, RIGHT_KEPT
from penstock.evaluator.typed_values import Row, Value, columns
from penstock.planner.plan import ForeignKeyJoin, JoinType, KTable, Node, TableJoin, TableLookup, WTable

Key = tuple[Value, ...]
Place = tuple[Value, ...]
"""Where a record stands in the order of its source. Places of different sources are not compared."""


@dataclass(frozen=True, slots=True)
class Change:
    """What became of the row of one key in a micro-batch. None: there is no such row."""

    key: Key
    old: Row | None
    new: Row | None


@dataclass(frozen=True, slots=True)
class Record:
    """The newest record of one key in a micro-batch: the row, None for a tombstone, and its place."""

    key: Key
    row: Row | None
    place: Place


def identity(node: Node) -> tuple[str, ...]:
    """The columns that tell a table's rows apart."""
    assert isinstance(node.shape, KTable | WTable)
    return node.shape.identity


def key_of(node: Node, row: Row) -> Key:
    return tuple(row[name] for name in identity(node))


def combined(changes: Iterable[Change]) -> list[Change]:
    """At most one change per key: from the row before the first to the row after the last."""
    ends: dict[Key, Change] = {}
    for change in changes:
        first = ends.get(change.key)
        ends[change.key] = change if first is None else Change(change.key, first.old, change.new)
    return [change for change in ends.values() if change.old != change.new]


@dataclass(slots=True)
class Materialised:
    """The newest row of each key and its place; a deleted key keeps its place."""

    rows: dict[Key, tuple[Row | None, Place]] = field(default_factory=dict)

    def put(self, record: Record) -> Change | None:
        """Takes a record unless a newer one of the key is known."""
        old, place = self.rows.get(record.key, (None, None))
        if place is not None and record.place < place:
            return None
        self.rows[record.key] = (record.row, record.place)
        return None if old == record.row else Change(record.key, old, record.row)


@dataclass(slots=True)
class Fused:
    """The rows of all sides of a join of tables, by key.

    A row with NULL in its key has no partner, so it is kept apart from the rows of the other sides.
    """

    node: TableJoin
    rows: dict[tuple[Key, int | None], list[tuple[Row | None, Place | None]]] = field(default_factory=dict)

    def step(self, records: Sequence[Sequence[Record]]) -> list[Change]:
        touched: dict[tuple[Key, int | None], Row | None] = {}
        for number, side in enumerate(records):
            for record in side:
                group = (record.key, number if None in record.key else None)
                known = self.rows.setdefault(group, [(None, None)] * len(self.node.sides))
                touched.setdefault(group, self.shown(group))
                _, place = known[number]
                if place is None or place <= record.place:
                    known[number] = (record.row, record.place)
        changes = [Change(group[0], old, self.shown(group)) for group, old in touched.items()]
        return [change for change in changes if change.old != change.new]

    def shown(self, group: tuple[Key, int | None]) -> Row | None:
        """The joined row of a key, None if there is none: which sides it has is decided step by step."""
        rows = [row for row, _ in self.rows[group]]
        visible = [rows[0] is not None]
        for number, step in enumerate(self.node.steps, start=1):
            exists, there = any(visible) if number > 1 else visible[0], rows[number] is not None
            found = there and all(any(visible[each] for each in through) for through in step.through)
            if found and step.condition is not None:
                found = self.holds(step.condition, rows, [*visible, True])
            keeps_left = step.type in (JoinType.LEFT, JoinType.FULL)
            keeps_right = step.type in (JoinType.RIGHT, JoinType.FULL)
            if not found and not (keeps_left and exists):
                visible = [False] * number
            visible.append(found or (there and keeps_right))
        if not any(visible):
            return None
        return dict(zip(identity(self.node), group[0], strict=True)) | self.side_by_side(rows, visible)

    def holds(self, condition: Value, rows: list[Row | None], visible: list[bool]) -> bool:
        types = {name: t for side in self.node.sides for name, t in columns(side.input.schema).items()}
        return holds(condition, self.side_by_side(rows, visible), types)

    def side_by_side(self, rows: list[Row | None], visible: list[bool]) -> Row:
        whole: Row = {}
        for side, row, shows in zip(self.node.sides, rows, visible, strict=False):
            names = [column.name for column in side.input.schema]
            whole |= {name: row[name] if shows and row is not None else None for name in names}
        return whole


@dataclass(slots=True)
class Referring:
    """The rows of both sides of a join on a foreign key, by what the left rows refer to."""

    node: ForeignKeyJoin
    lefts: dict[Key, dict[Key, Row]] = field(default_factory=dict)
    rights: Materialised = field(default_factory=Materialised)

    def step(self, changes: Sequence[Change], records: Sequence[Record]) -> list[Change]:
        references = {record.key for record in records}
        references |= {self.reference(row) for each in changes for row in (each.old, each.new) if row is not None}
        alone = {key: self.unreferred(key) for key in references}
        sent = self.step_lefts(changes, records)
        if self.node.type not in RIGHT_KEPT:
            return sent
        deltas = [(each.old, each.new) for each in sent]
        deltas += [(row, self.unreferred(key)) for key, row in alone.items()]
        rows: dict[Key, list[Row | None]] = {}
        for place in (0, 1):
            for delta in deltas:
                row = delta[place]
                if row is not None:
                    rows.setdefault(key_of(self.node, row), [None, None])[place] = row
        return [Change(key, old, new) for key, (old, new) in rows.items() if old != new]

    def unreferred(self, key: Key) -> Row | None:
        """The padded right row of a key to which no left row refers."""
        row, _ = self.rights.rows.get(key, (None, None))
        if row is None or (self.lefts.get(key) and None not in key):
            return None
        return dict.fromkeys(columns(self.node.left.schema)) | row

    def step_lefts(self, changes: Sequence[Change], records: Sequence[Record]) -> list[Change]:
        moved = {change.key: change for change in changes}
        before = {change.key: (change.old, self.shown(change.old)) for change in changes}
        for record in records:
            for key, row in self.lefts.get(record.key, {}).items():
                before.setdefault(key, (row, self.shown(row)))
        for change in changes:
            if change.old is not None:
                del self.lefts[self.reference(change.old)][change.key]
            if change.new is not None:
                self.lefts.setdefault(self.reference(change.new), {})[change.key] = change.new
        for record in records:
            self.rights.put(record)
        sent = (
            Change(key, old, self.shown(moved[key].new if key in moved else row)) for key, (row, old) in before.items()
        )
        return [change for change in sent if change.old != change.new]

    def reference(self, left: Row) -> Key:
        types = columns(self.node.left.schema)
        return tuple(evaluate_scalar(one, left, types) for one, _ in self.node.equalities)

    def shown(self, left: Row | None) -> Row | None:
        """The joined row of a left one."""
        return None if left is None else beside(self.node, left, self.rights, self.reference(left), self.node.right)


def beside(
    node: ForeignKeyJoin | TableLookup, left: Row, rights: Materialised, reference: Key, right: Node
) -> Row | None:
    """The left row beside what it refers to, padded, or None."""
    row, _ = rights.rows.get(reference, (None, None)) if None not in reference else (None, None)
    types = {
        **columns((node.left if isinstance(node, ForeignKeyJoin) else node.stream).schema),
        **columns(right.schema),
    }
    if row is not None and holds(node.condition, left | row, types):
        return left | row
    return left | dict.fromkeys(columns(right.schema)) if node.type in LEFT_KEPT else None
