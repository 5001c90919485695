"""How long operators keep rows, where they keep them, and whether they keep what they have sent."""

from __future__ import annotations

from typing import assert_never

from penstock.planner.plan import (
    Distinct,
    ForeignKeyJoin,
    GroupAggregate,
    IntervalJoin,
    KStream,
    KTable,
    Latest,
    Node,
    Over,
    OverRows,
    Ranked,
    SessionWindow,
    Settings,
    Stateful,
    StateStore,
    TableJoin,
    TableLookup,
    TableRanked,
    WindowAggregate,
)
from penstock.planner.plan.walk import rows_leave, walk

LONGEST_ON_HEAP = 7_200_000
"""If operators keep rows for at most so many milliseconds of event time, their state is on the heap."""


def sends_changes(root: Node, *, upserts: bool) -> bool:
    """Whether a query of `root` keeps what it has sent: rows of its table can cease to exist, or are asked for again.

    `upserts`: whether a row replaces the one of its key where it is written; in a changelog it does not.
    """
    return isinstance(root.shape, KTable) and (rows_leave(root) or not upserts)


def state_store(node: Node, settings: Settings) -> StateStore:
    """Where the operator keeps its state: where SET says, else on the heap what two hours fill, in RocksDB the rest.

    On the heap a micro-batch costs less, but takes a copy of the whole map of keys; in RocksDB it touches what changed.
    """
    if settings.state_store is not None:
        return settings.state_store
    reach = find_horizon(node)
    return StateStore.MEMORY if reach is not None and reach <= LONGEST_ON_HEAP else StateStore.ROCKSDB


def find_horizon(node: Node) -> int | None:
    """How long the operator may keep a row, in milliseconds of event time; None: forever."""
    if not isinstance(node, Stateful):
        return 0
    match node:
        case IntervalJoin():
            back, forward = node.bound.reach(node.type)
            return back + (node.pane or 0) + forward + max(find_delay(node.left), find_delay(node.right)) + node.grace
        case WindowAggregate():
            length = node.window.gap if isinstance(node.window, SessionWindow) else node.window.size
            return length + find_delay(node.input) + node.grace
        case Over():
            return node.back + node.pane + node.forward + find_delay(node.input)
        case Ranked():
            return find_delay(node.input) + (node.pane or 0)
        case Distinct():
            return find_delay(node.input)
        case OverRows():
            return None if node.partition_by else find_delay(node.input)
        case TableJoin() if node.is_windowed:
            return find_windows_span(node)
        case TableRanked() if node.end is not None and node.is_by_key:
            return find_windows_span(node)
        case Latest() | TableJoin() | ForeignKeyJoin() | TableLookup() | TableRanked():
            return None
        case GroupAggregate():
            return None if node.keys or node.keeps_values or any(each.distinct for each in node.aggregates) else 0
        case _:
            assert_never(node)


def find_windows_span(node: Node) -> int:
    """How far behind the newest row a window may begin that is still kept, in milliseconds.

    Windows that can still change are kept, and windows that a shift brings together with them.
    """
    spans = [0]
    for below in walk(node):
        if isinstance(below, WindowAggregate):
            length = below.window.gap if isinstance(below.window, SessionWindow) else below.window.size
            spans.append(length + find_delay(below.input) + below.grace)
    shifts = [abs(side.shift) for below in walk(node) if isinstance(below, TableJoin) for side in below.sides]
    return max(spans) + sum(shifts)


def find_delay(node: Node) -> int:
    """The watermark delay of a stream in milliseconds."""
    return node.shape.delay or 0 if isinstance(node.shape, KStream) else 0
