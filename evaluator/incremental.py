"""The operators again, micro-batch by micro-batch, with state that is let go as soon as the watermark allows it.

Answering the same as `evaluate` over the accepted rows, for every history, shows that the state bounds keep enough and
that micro-batch borders do not matter. Everything sent is final (CHANGES: the newest row per key counts). The watermark
is a lower limit, itself included, of the event times that can still be accepted.
At most one operator with state on any path.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from penstock.evaluator.evaluate import apply
from penstock.evaluator.expression_values import evaluate_scalar
from penstock.evaluator.held_tables import found_remotely, table_join, table_shape
from penstock.evaluator.history import DRAINED, History, Tables, accepted, clocks, watermarks
from penstock.evaluator.row_frames import order_of, over_row, partition_of
from penstock.evaluator.row_groups import Key, Span, key_of, window_row, windows_of
from penstock.evaluator.row_pairs import LEFT_KEPT, RIGHT_KEPT, interval_join, matches, padded
from penstock.evaluator.typed_values import EPOCH, Row, Unsupported, columns, milliseconds
from penstock.planner.plan import (
    BoundEnd,
    Distinct,
    Emission,
    IntervalJoin,
    JoinType,
    KStream,
    Node,
    Over,
    OverRows,
    Ranked,
    RemoteLookup,
    Scan,
    SessionWindow,
    TableJoin,
    WindowAggregate,
    WithLate,
)
from penstock.planner.plan.walk import walk


class State(Protocol):
    """An operator with memory."""

    def step(self, tables: list[list[Row]], watermark: datetime) -> Iterator[Row]:
        """Takes the accepted rows of one micro-batch, gives what is final now and forgets what is not needed."""

    def size(self) -> int:
        """How many things are remembered: rows of a join or OVER, (key, window) pairs of an aggregate."""


@dataclass(slots=True)
class WaitingRow:
    """A row in a join's buffer."""

    row: Row
    matched: bool = False


def reachable(end: datetime, limit: BoundEnd, watermark: datetime) -> bool:
    """Whether a row that is still to come can lie at or (open limit) before `end`."""
    return end > watermark or (limit.closed and end == watermark)


class JoinState:
    """A left row waits while a right one at its time + upper can come, a right one for a left at its time − lower."""

    def __init__(self, node: IntervalJoin) -> None:
        self.node = node
        self.lefts: list[WaitingRow] = []
        self.rights: list[WaitingRow] = []

    def size(self) -> int:
        return len(self.lefts) + len(self.rights)

    def step(self, tables: list[list[Row]], watermark: datetime) -> Iterator[Row]:
        for row in tables[0]:
            left = WaitingRow(row)
            for right in self.rights:
                yield from self.meet(left, right)
            self.lefts.append(left)
        for row in tables[1]:
            right = WaitingRow(row)
            for left in self.lefts:
                yield from self.meet(left, right)
            self.rights.append(right)
        yield from self.evict(watermark)

    def meet(self, left: WaitingRow, right: WaitingRow) -> Iterator[Row]:
        if not matches(self.node, left.row, right.row):
            return
        first = not left.matched
        left.matched = right.matched = True
        if self.node.type is JoinType.SEMI:
            if first:
                yield left.row
        elif self.node.type is not JoinType.ANTI:
            yield padded(self.node, left.row, right.row)

    def evict(self, watermark: datetime) -> Iterator[Row]:
        for left in self.lefts:
            if not left.matched and not self.left_needed(left, watermark):
                if self.node.type is JoinType.ANTI:
                    yield left.row
                elif self.node.type in LEFT_KEPT:
                    yield padded(self.node, left.row, None)
        for right in self.rights:
            if not right.matched and not self.right_needed(right, watermark) and self.node.type in RIGHT_KEPT:
                yield padded(self.node, None, right.row)
        self.lefts = [left for left in self.lefts if self.left_needed(left, watermark)]
        self.rights = [right for right in self.rights if self.right_needed(right, watermark)]

    def left_needed(self, left: WaitingRow, watermark: datetime) -> bool:
        if left.matched and self.node.type in (JoinType.SEMI, JoinType.ANTI):
            return False  # one match decides
        keys = [evaluate_scalar(key, left.row, columns(self.node.left.schema)) for key, _ in self.node.equalities]
        upper = self.node.bound.upper
        end = left.row[self.node.left_time] + milliseconds(upper.milliseconds)
        return None not in keys and reachable(end, upper, watermark)

    def right_needed(self, right: WaitingRow, watermark: datetime) -> bool:
        keys = [evaluate_scalar(key, right.row, columns(self.node.right.schema)) for _, key in self.node.equalities]
        lower = self.node.bound.lower
        end = right.row[self.node.right_time] - milliseconds(lower.milliseconds)
        return None not in keys and reachable(end, lower, watermark)


class PaneJoinState:
    """Both sides wait until the watermark has passed a pane and what its rows can meet; then all its rows come out."""

    def __init__(self, node: IntervalJoin, pane: int) -> None:
        self.node = node
        self.pane = milliseconds(pane)
        back, forward = node.bound.reach(node.type)
        self.back, self.forward = milliseconds(back), milliseconds(forward)
        self.lefts: list[Row] = []
        self.rights: list[Row] = []
        self.answered = EPOCH

    def size(self) -> int:
        return len(self.lefts) + len(self.rights)

    def step(self, tables: list[list[Row]], watermark: datetime) -> Iterator[Row]:
        self.lefts += tables[0]
        self.rights += tables[1]
        past = watermark - self.forward
        past = max(self.answered, past - (past - EPOCH) % self.pane)
        for row in interval_join(self.node, self.lefts, self.rights):
            if self.answered <= self.own_time(row) < past:
                yield row
        self.answered = past
        self.lefts = [row for row in self.lefts if row[self.node.left_time] >= past - self.back]
        self.rights = [row for row in self.rights if row[self.node.right_time] >= past - self.back]

    def own_time(self, row: Row) -> datetime:
        """The time of the row whose pane a joined row belongs to."""
        of_right = self.node.type is JoinType.RIGHT or row[self.node.left_time] is None
        time: datetime = row[self.node.right_time if of_right else self.node.left_time]
        return time


class WindowState:
    """A TUMBLE or HOP window's rows wait until the watermark reaches the window's end."""

    def __init__(self, node: WindowAggregate) -> None:
        self.node = node
        self.rows: dict[tuple[Key, Span], list[Row]] = {}

    def size(self) -> int:
        return len(self.rows)

    def step(self, tables: list[list[Row]], watermark: datetime) -> Iterator[Row]:
        assert not isinstance(self.node.window, SessionWindow)
        touched = {}
        for row in tables[0]:
            key = key_of(self.node.keys, row, columns(self.node.input.schema))
            for span in windows_of(self.node.window, row[self.node.time]):
                self.rows.setdefault((key, span), []).append(row)
                touched[key, span] = True
        closed = [(key, span) for key, span in self.rows if span[1] <= watermark]
        for key, span in touched if self.node.emission is Emission.CHANGES else closed:
            yield window_row(self.node, key, span, self.rows[key, span])
        for each in closed:
            del self.rows[each]


class SessionState:
    """A session waits while a row can come that is not more than the gap after its last one. FINAL only."""

    def __init__(self, node: WindowAggregate) -> None:
        if node.emission is not Emission.FINAL:
            raise Unsupported("changes of sessions: their rows leave, as evaluator/changes.py computes")
        assert isinstance(node.window, SessionWindow)
        self.node = node
        self.gap = milliseconds(node.window.gap)
        self.open: list[tuple[Key, Span, list[Row]]] = []

    def size(self) -> int:
        return len(self.open)

    def step(self, tables: list[list[Row]], watermark: datetime) -> Iterator[Row]:
        for row in tables[0]:
            self.add(row)
        closed = [each for each in self.open if each[1][1] < watermark]
        self.open = [each for each in self.open if each[1][1] >= watermark]
        for key, span, rows in closed:
            yield window_row(self.node, key, span, rows)

    def add(self, row: Row) -> None:
        key, start = key_of(self.node.keys, row, columns(self.node.input.schema)), row[self.node.time]
        end = start + self.gap
        touching = [each for each in self.open if each[0] == key and each[1][0] <= end and start <= each[1][1]]
        self.open = [each for each in self.open if each not in touching]
        span = (min([start, *(each[1][0] for each in touching)]), max([end, *(each[1][1] for each in touching)]))
        self.open.append((key, span, [*(old for each in touching for old in each[2]), row]))


class OverState:
    """The rows of a pane are answered when none can come that their frames reach; they stay while in frames to come."""

    def __init__(self, node: Over) -> None:
        self.node = node
        self.pane = milliseconds(node.pane)
        self.back, self.forward = milliseconds(node.back), milliseconds(node.forward)
        self.rows: list[Row] = []
        self.answered = EPOCH

    def size(self) -> int:
        return len(self.rows)

    def step(self, tables: list[list[Row]], watermark: datetime) -> Iterator[Row]:
        self.rows += tables[0]
        past = watermark - self.forward
        past = max(self.answered, past - (past - EPOCH) % self.pane)
        for row in self.rows:
            if self.answered <= row[self.node.time] < past:
                mine = partition_of(self.node, row)
                yield over_row(self.node, row, [each for each in self.rows if partition_of(self.node, each) == mine])
        self.answered = past
        self.rows = [row for row in self.rows if row[self.node.time] >= past - self.back]


class OverRowsState:
    """A row is answered when the watermark has passed its time; the last ones of each partition stay forever."""

    def __init__(self, node: OverRows) -> None:
        self.node = node
        self.remembered: list[Row] = []
        self.waiting: list[Row] = []

    def size(self) -> int:
        return len(self.remembered) + len(self.waiting)

    def step(self, tables: list[list[Row]], watermark: datetime) -> Iterator[Row]:
        waiting = [*self.waiting, *tables[0]]
        final = [row for row in waiting if row[self.node.time] < watermark]
        self.waiting = [row for row in waiting if row[self.node.time] >= watermark]
        partitions: dict[Key, list[Row]] = {}
        for row in (*self.remembered, *final):
            partitions.setdefault(partition_of(self.node, row), []).append(row)
        for row in final:
            yield over_row(self.node, row, partitions[partition_of(self.node, row)])
        last = (sorted(rows, key=lambda row: order_of(self.node, row)) for rows in partitions.values())
        self.remembered = [row for rows in last for row in rows[max(len(rows) - self.node.back, 0) :]]


class MomentState:
    """All rows of an event time, or of a pane of times, wait until the watermark has passed it."""

    def __init__(self, node: Ranked | Distinct) -> None:
        self.node = node
        self.rows: list[Row] = []

    def size(self) -> int:
        return len(self.rows)

    def step(self, tables: list[list[Row]], watermark: datetime) -> Iterator[Row]:
        self.rows += tables[0]
        pane = self.node.pane if isinstance(self.node, Ranked) else None
        past = watermark if pane is None else watermark - (watermark - EPOCH) % milliseconds(pane)
        yield from apply(self.node, [[row for row in self.rows if row[self.node.time] < past]])
        self.rows = [row for row in self.rows if row[self.node.time] >= past]


class WindowJoinState:
    """The newest row of each window waits until the watermark has reached the end of the last window that it can meet.

    Joined rows of streams come out then, and of tables whenever one of their windows has changed.
    """

    def __init__(self, node: TableJoin) -> None:
        self.node = node
        self.rows: list[dict[Key, Row]] = [{} for _ in node.sides]

    def size(self) -> int:
        return sum(map(len, self.rows))

    def step(self, tables: list[list[Row]], watermark: datetime) -> Iterator[Row]:
        touched = set()
        for place, (side, table) in enumerate(zip(self.node.sides, tables, strict=True)):
            for row in table:
                self.rows[place][tuple(row[name] for name in table_shape(side.input).identity)] = row
                touched.add(self.end(place, row))
        ends = {self.end(place, row) for place, rows in enumerate(self.rows) for row in rows.values()}
        closed = {end for end in ends if end <= watermark}
        sent = closed if isinstance(self.node.shape, KStream) else touched
        yield from table_join(self.node, [self.ending(place, sent) for place in range(len(self.rows))])
        for place, rows in enumerate(self.rows):
            self.rows[place] = {key: row for key, row in rows.items() if self.end(place, row) not in closed}

    def ending(self, place: int, ends: set[datetime]) -> list[Row]:
        return [row for row in self.rows[place].values() if self.end(place, row) in ends]

    def end(self, place: int, row: Row) -> datetime:
        side, least = self.node.sides[place], min(each.shift for each in self.node.sides)
        end: datetime = row[table_shape(side.input).end]
        return end + milliseconds(side.shift - least)


def state_of(node: Node) -> State | None:
    """The empty state of an operator, None for one that looks at single rows."""
    match node:
        case IntervalJoin():
            return JoinState(node) if node.pane is None else PaneJoinState(node, node.pane)
        case WindowAggregate():
            return SessionState(node) if isinstance(node.window, SessionWindow) else WindowState(node)
        case Over():
            return OverState(node)
        case OverRows():
            return OverRowsState(node)
        case Ranked() | Distinct():
            return MomentState(node)
        case TableJoin() if node.is_windowed:
            return WindowJoinState(node)
        case _:
            return None


class Incremental:
    """A plan being run. GROUP BY without a window is left out: its state is the table that it answers with."""

    def __init__(self, plan: Node) -> None:
        self.plan = plan
        self.states = {id(node): state for node in walk(plan) if (state := state_of(node)) is not None}
        for node in walk(plan):
            if isinstance(node, WithLate):
                raise Unsupported(f"{node.NOUN} without the rows that are late")
            if id(node) in self.states and any(id(below) in self.states for below in walk(node) if below is not node):
                raise Unsupported("an operator with state above another one")

    def size(self) -> int:
        """How much all operators remember."""
        return sum(state.size() for state in self.states.values())

    def step(self, batch: Tables, watermark: datetime) -> list[Row]:
        """The rows that one micro-batch of accepted rows sends, under the watermark in force in it."""
        return self._step(self.plan, batch, watermark)

    def _step(self, node: Node, batch: Tables, watermark: datetime) -> list[Row]:
        if isinstance(node, Scan):
            return [{column.name: row[column.name] for column in node.schema} for row in batch[node.origin.name]]
        if isinstance(node, RemoteLookup):
            return found_remotely(node, self._step(node.input, batch, watermark), batch[node.origin.name])
        tables = [self._step(child, batch, watermark) for child in node.inputs]
        state = self.states.get(id(node))
        return apply(node, tables) if state is None else list(state.step(tables, watermark))


@dataclass(frozen=True, slots=True)
class HistoryRun:
    """What a history gave: the rows sent, and the size of the state after each micro-batch and after the drain."""

    rows: list[Row]
    sizes: list[int]


def run(plan: Node, history: History) -> HistoryRun:
    """The plan over a whole history with drain."""
    times = clocks(plan)
    query = Incremental(plan)
    rows: list[Row] = []
    sizes: list[int] = []
    for batch, watermark in zip(accepted(history, times).batches, watermarks(history, times), strict=False):
        rows += query.step(batch, watermark)
        sizes.append(query.size())
    nothing: Tables = {node.origin.name: [] for node in walk(plan) if isinstance(node, Scan)}
    rows += query.step(nothing, DRAINED)
    return HistoryRun(rows, [*sizes, query.size()])
