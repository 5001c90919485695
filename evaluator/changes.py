"""Plans over tables again, micro-batch by micro-batch, on changes: the row before and the row after of each key.

This is how Spark is to compute them, with the least state that does: no operator sees its input as a whole. `evaluate`
says what the changes sent so far have to add up to. An `Intermediate` lies between two queries. Each has
micro-batches of its own. What the lower one has sent waits there, and several of its micro-batches may be read as one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from penstock.evaluator.accumulate import GroupState
from penstock.evaluator.evaluate import apply
from penstock.evaluator.expression_values import evaluate_scalar
from penstock.evaluator.held import (
    Change,
    Fused,
    Key,
    Materialised,
    Record,
    Referring,
    beside,
    combined,
    identity,
    key_of,
)
from penstock.evaluator.held_tables import deletes, is_rejected
from penstock.evaluator.history import Tables
from penstock.evaluator.operator_words import describe_operator
from penstock.evaluator.row_groups import Span, group_rows, same_nan, window_aggregate, window_row, windows_of
from penstock.evaluator.row_places import partition_of, ranked
from penstock.evaluator.typed_values import Row, Unsupported, columns, milliseconds
from penstock.planner.plan import (
    Expression,
    Filter,
    ForeignKeyJoin,
    GroupAggregate,
    GroupingSets,
    Intermediate,
    KStream,
    Latest,
    Node,
    Project,
    Scan,
    SessionWindow,
    Side,
    Stateful,
    TableJoin,
    TableLookup,
    TableRanked,
    UnionAll,
    WindowAggregate,
    WTable,
)
from penstock.planner.plan.walk import walk


def is_changes(node: Node) -> bool:
    """Whether the table sends changes; if not, it sends records."""
    return any(isinstance(each, Stateful) for each in walk(node))


@dataclass(slots=True)
class WaitingChanges:
    """What an intermediate changelog holds that has not been read: the changes of one micro-batch after the other."""

    batches: list[list[Change]] = field(default_factory=list)


Reads = Callable[[int], int]
"""How many micro-batches of an intermediate changelog the query above reads in its next one, given how many wait."""


class ChangeRun:
    """A plan over tables being run."""

    def __init__(self, plan: Node) -> None:
        self.plan = plan
        self.batch = 0
        self.tables = {i: Materialised() for i, node in enumerate(self.nodes()) if isinstance(node, Latest)}
        self.joins = {i: Fused(node) for i, node in enumerate(self.nodes()) if isinstance(node, TableJoin)}
        self.groups: dict[int, dict[Key, GroupState]] = {
            i: {} for i, node in enumerate(self.nodes()) if isinstance(node, GroupAggregate)
        }
        self.references = {
            i: Referring(node) for i, node in enumerate(self.nodes()) if isinstance(node, ForeignKeyJoin)
        }
        self.lookups = {i: Materialised() for i, node in enumerate(self.nodes()) if isinstance(node, TableLookup)}
        self.windows: dict[int, dict[tuple[Key, Span], list[Row]]] = {
            i: {} for i, node in enumerate(self.nodes()) if isinstance(node, WindowAggregate)
        }
        self.sessions: dict[int, dict[Key, list[Row]]] = {i: {} for i in self.windows}
        self.ranks: dict[int, dict[Key, Row]] = {
            i: {} for i, node in enumerate(self.nodes()) if isinstance(node, TableRanked)
        }
        self.waiting = {i: WaitingChanges() for i, node in enumerate(self.nodes()) if isinstance(node, Intermediate)}

    def nodes(self) -> list[Node]:
        """The operators of the plan, each once; state is kept by their places in this list."""
        return list(dict.fromkeys(walk(self.plan)))

    def step(self, batch: Tables, reads: Reads = lambda waiting: waiting) -> list[Change]:
        """The changes that one micro-batch sends. Every query of the plan runs one, the lower ones first."""
        return self._step(batch, reads)[0](self.plan)

    def send(self, batch: Tables, reads: Reads = lambda waiting: waiting) -> list[Row]:
        """The rows that one micro-batch sends, of a plan that gives a stream: one with a table that it looks up."""
        changes, records = self._step(batch, reads)
        places = {node: place for place, node in enumerate(self.nodes())}

        def rows(node: Node) -> list[Row]:
            if not isinstance(node, TableLookup):
                is_source = not any(isinstance(each, TableLookup) for each in walk(node))
                return stream_rows(node, batch) if is_source else apply(node, [rows(each) for each in node.inputs])
            table, types = self.lookups[places[node]], columns(node.stream.schema)
            for record in keyed(node.table, [other for _, other in node.equalities], changes, records, self.batch):
                table.put(record)
            found = []
            for row in rows(node.stream):
                reference = tuple(evaluate_scalar(one, row, types) for one, _ in node.equalities)
                found.append(beside(node, row, table, reference, node.table))
            return [row for row in found if row is not None]

        return rows(self.plan)

    def _step(
        self, batch: Tables, reads: Reads
    ) -> tuple[Callable[[Node], list[Change]], Callable[[Node], list[Record]]]:
        self.batch += 1
        places = {node: place for place, node in enumerate(self.nodes())}
        done: dict[Node, list[Change]] = {}
        records: dict[Node, list[Record]] = {}

        def changes(node: Node) -> list[Change]:
            if node not in done:
                done[node] = self._changes(node, places[node], changes, of_records, batch, reads)
            return done[node]

        def of_records(node: Node) -> list[Record]:
            if node not in records:
                records[node] = self._records(node, of_records, batch)
            return records[node]

        return changes, of_records

    def idle(self) -> bool:
        """Whether nothing waits between the queries."""
        return not any(each.batches for each in self.waiting.values())

    def _records(self, node: Node, below: Callable[[Node], list[Record]], batch: Tables) -> list[Record]:
        """What a changelog brings in a micro-batch: the newest record of each key."""
        match node:
            case Scan():
                return self._read(node, batch[node.origin.name])
            case Filter() | Project():
                return [
                    Record(mapped_key(node, each.key), mapped(node, each.row), each.place) for each in below(node.input)
                ]
            case _:
                raise Unsupported(f"records of a table behind {describe_operator(node)}")

    def _read(self, scan: Scan, rows: Sequence[Row]) -> list[Record]:
        newest: dict[Key, Record] = {}
        order = scan.origin.newest
        for number, row in enumerate(rows):
            if is_rejected(scan, row):
                continue
            key = tuple(row[name] for name in scan.origin.key)
            place = (*([row[order]] if order is not None else []), self.batch, number)
            shown = None if deletes(scan, row) else {column.name: row[column.name] for column in scan.schema}
            if key not in newest or newest[key].place <= place:
                newest[key] = Record(key, shown, place)
        return list(newest.values())

    def _changes(
        self,
        node: Node,
        place: int,
        below: Callable[[Node], list[Change]],
        records: Callable[[Node], list[Record]],
        batch: Tables,
        reads: Reads,
    ) -> list[Change]:
        match node:
            case Latest():
                sent = keyed(node.input, [column(each) for each in identity(node)], below, records, self.batch)
                put = (self.tables[place].put(record) for record in sent)
                return [change for change in put if change is not None]
            case Intermediate():
                waiting = self.waiting[place].batches
                waiting.append(below(node.input))
                number = reads(len(waiting))
                taken, waiting[:] = waiting[:number], waiting[number:]
                return combined(change for each in taken for change in each)
            case UnionAll():
                return [change for each in node.inputs for change in below(each)]
            case Filter() | Project():
                return [each for each in (through(node, change) for change in below(node.input)) if each is not None]
            case GroupingSets():
                return [each for change in below(node.input) for each in in_sets(node, change)]
            case TableJoin():
                sides = []
                for side in node.sides:
                    shape = side.input.shape
                    windows = [column(shape.start), column(shape.end)] if isinstance(shape, WTable) else []
                    sent = keyed(side.input, [*side.keys, *windows], below, records, self.batch)
                    sides.append([shifted(each, side) for each in sent])
                return self.joins[place].step(sides)
            case ForeignKeyJoin():
                keys = [other for _, other in node.equalities]
                rights = keyed(node.right, keys, below, records, self.batch)
                return self.references[place].step(below(node.left), rights)
            case TableRanked():
                return self._ranked(node, place, below)
            case WindowAggregate() if node.rows_leave:
                return self._sessions(node, place, batch)
            case WindowAggregate():
                return self._windowed(node, place, batch)
            case GroupAggregate():
                return self._grouped(node, place, below, batch)
            case _:
                raise Unsupported(f"changes of {describe_operator(node)}")

    def _grouped(
        self, node: GroupAggregate, place: int, below: Callable[[Node], list[Change]], batch: Tables
    ) -> list[Change]:
        """Rows are taken out of their groups and put into them; then each group that was touched is looked at."""
        if isinstance(node.input.shape, KStream):
            moves = [(1, row) for row in stream_rows(node.input, batch)]
        else:
            sent = below(node.input)
            moves = [(-1, each.old) for each in sent if each.old is not None]
            moves += [(1, each.new) for each in sent if each.new is not None]
        groups, types = self.groups[place], columns(node.input.schema)
        before: dict[Key, Row | None] = {}
        for sign, row in moves:
            key = tuple(same_nan(evaluate_scalar(each.value, row, types)) for each in node.keys)
            group = groups.setdefault(key, GroupState(node))
            before.setdefault(key, group.row(key))
            group.add(row, sign)
        changes = [Change(key, old, groups[key].row(key)) for key, old in before.items()]
        for key in before:
            if groups[key].rows == 0 and node.keys:
                del groups[key]
        return [change for change in changes if change.old != change.new]

    def _ranked(self, node: TableRanked, place: int, below: Callable[[Node], list[Change]]) -> list[Change]:
        """Rows are taken out of their partitions and put into them; then all rows of these are ranked anew."""
        sent, rows = below(node.input), self.ranks[place]
        touched = {partition_of(node, row) for each in sent for row in (each.old, each.new) if row is not None}

        def shown() -> dict[Key, Row]:
            there = [row for row in rows.values() if partition_of(node, row) in touched]
            return {key_of(node, row): row for row in ranked(node, there)}

        before = shown()
        for change in sent:
            if change.new is None:
                del rows[change.key]
            else:
                rows[change.key] = change.new
        after = shown()
        keys = dict.fromkeys([*before, *after])
        return [Change(key, before.get(key), after.get(key)) for key in keys if before.get(key) != after.get(key)]

    def _sessions(self, node: WindowAggregate, place: int, batch: Tables) -> list[Change]:
        """The sessions that new rows of a stream begin, extend or make one. Here none is ever closed."""
        types, rows = columns(node.input.schema), self.sessions[place]
        arrived = group_rows(node.keys, stream_rows(node.input, batch), types)

        def there() -> dict[Key, Row]:
            touched = [row for key in arrived for row in rows.get(key, [])]
            return {key_of(node, row): row for row in window_aggregate(node, touched)}

        before = there()
        for key, new in arrived.items():
            rows.setdefault(key, []).extend(new)
        after = there()
        keys = dict.fromkeys([*before, *after])
        return [Change(key, before.get(key), after.get(key)) for key in keys if before.get(key) != after.get(key)]

    def _windowed(self, node: WindowAggregate, place: int, batch: Tables) -> list[Change]:
        """The windows that new rows of a stream change. Here none is ever closed."""
        assert not isinstance(node.window, SessionWindow)
        windows, types = self.windows[place], columns(node.input.schema)
        before: dict[tuple[Key, Span], Row | None] = {}
        for row in stream_rows(node.input, batch):
            key = tuple(evaluate_scalar(each.value, row, types) for each in node.keys)
            for span in windows_of(node.window, row[node.time]):
                rows = windows.setdefault((key, span), [])
                before.setdefault((key, span), window_row(node, key, span, rows) if rows else None)
                rows.append(row)
        return [
            Change((*key, *span), old, new)
            for (key, span), old in before.items()
            if old != (new := window_row(node, key, span, windows[key, span]))
        ]


def stream_rows(node: Node, batch: Mapping[str, list[Row]]) -> list[Row]:
    """The rows of a stream without state in a micro-batch."""
    if isinstance(node, Scan):
        return [{column.name: row[column.name] for column in node.schema} for row in batch[node.origin.name]]
    return apply(node, [stream_rows(each, batch) for each in node.inputs])


def column(name: str) -> Expression:
    """The column of that name."""
    return exp.Column(this=exp.Identifier(this=name, quoted=True))


def mapped(node: Filter | Project, row: Row | None) -> Row | None:
    """What becomes of a row."""
    rows = [] if row is None else apply(node, [[row]])
    return rows[0] if rows else None


def mapped_key(node: Filter | Project, key: Key) -> Key:
    """The key of what a row becomes: the key of the row, with its columns in another order if they are shown so."""
    if isinstance(node, Filter):
        return key
    by_name = dict(zip(identity(node.input), key, strict=True))
    shown = {item.name: str(item.value.name) for item in node.items}
    return tuple(by_name[shown[name]] for name in identity(node))


def through(node: Filter | Project, change: Change) -> Change | None:
    """A change as the one of what its rows become; None if that stays the same."""
    old, new = mapped(node, change.old), mapped(node, change.new)
    row = new if new is not None else old
    return None if old == new or row is None else Change(key_of(node, row), old, new)


def in_sets(node: GroupingSets, change: Change) -> list[Change]:
    """A change once for each set of keys."""
    rows = [None if row is None else apply(node, [[row]]) for row in (change.old, change.new)]
    found = []
    for place, _ in enumerate(node.ids):
        old, new = (None if each is None else each[place] for each in rows)
        row = new if new is not None else old
        assert row is not None
        found.append(Change(key_of(node, row), old, new))
    return found


def keyed(
    node: Node,
    keys: Sequence[Expression],
    changes: Callable[[Node], list[Change]],
    records: Callable[[Node], list[Record]],
    batch: int,
) -> list[Record]:
    """What a table sends, changes or records, as records under the key of a join, made of the columns of its own."""
    sent = [Record(each.key, each.new, (batch,)) for each in changes(node)] if is_changes(node) else records(node)
    types = columns(node.schema)
    own = [dict(zip(identity(node), each.key, strict=True)) for each in sent]
    return [
        Record(tuple(evaluate_scalar(key, row, types) for key in keys), each.row, each.place)
        for each, row in zip(sent, own, strict=True)
    ]


def shifted(record: Record, side: Side) -> Record:
    """The record of a windowed table under the window that it counts as, too."""
    shape = side.input.shape
    if not isinstance(shape, WTable):
        return record
    moved = milliseconds(side.shift)
    return Record((*record.key[:-2], *(each + moved for each in record.key[-2:])), record.row, record.place)
