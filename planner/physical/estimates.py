"""What reaches an operator, and what it keeps of that when it keeps most.

Windows and panes keep most at the moment before one closes. A micro-batch is taken to hold the rows of one interval
of the trigger. It is as far behind the watermark, because Spark moves the watermark after it.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from penstock.planner.physical.state_bytes import TABLE_ENTRY, list_kept, packed_bytes, table_bytes
from penstock.planner.plan import GroupAggregate, Node, WindowAggregate
from penstock.planner.types import BIGINT, Struct, Type

PANE_BUCKETS = 16
"""The buckets of rows in panes. A Python worker answers one after the other, so this bounds what it has in memory."""
WINDOW = Struct((("start", BIGINT), ("end", BIGINT)))
"""What Spark keeps of a window in a key."""


class Flow(msgspec.Struct, frozen=True):
    """What reaches an operator.

    rate: rows per second. is_exact: whether it is not merely a limit. streams: where they are from. tasks: how many
    tasks of Spark read them at least.
    """

    rate: float
    is_exact: bool
    streams: tuple[str, ...]
    tasks: int


class UnknownFlow(msgspec.Struct, frozen=True):
    """The reason why it is not known how many rows reach an operator."""

    reason: str


class StateEstimate(msgspec.Struct, frozen=True):
    """What an operator keeps at its peak. `is_exact`: not merely a limit. `is_packed`: in tables of several rows."""

    rows: float
    bytes: float
    is_exact: bool
    streams: tuple[str, ...]
    is_packed: bool = False


class Load(msgspec.Struct, frozen=True):
    """What reaches an operator, and where its state is.

    batch: seconds of event time in a micro-batch. lag: how many seconds the watermark is behind the newest row when a
    micro-batch ends. partitions: the partitions of the state.
    """

    flows: Sequence[Flow]
    batch: float
    lag: float
    on_heap: bool
    partitions: int


class PackedSide(msgspec.Struct, frozen=True):
    """Rows of one stream in tables.

    `seconds`: the event time that the rows cover. It counts once for each window that holds the rows.
    """

    flow: Flow
    types: Sequence[Type]
    seconds: float
    fields: Sequence[Type] = ()
    """The fields of the tables, where rows have more of them than values."""


def packed_size(side: PackedSide, load: Load, buckets: int, cuts: float) -> float:
    """The bytes of all tables. In a micro-batch, each bucket and task has one table. `cuts`: more per second."""
    flow = side.flow
    tables = min(flow.rate, flow.tasks * buckets * (1 / load.batch + cuts))
    each = table_bytes(side.fields or side.types) + TABLE_ENTRY * load.on_heap
    return side.seconds * (flow.rate * packed_bytes(side.types) + tables * each)


def list_types(node: Node) -> list[Type]:
    """The types of the rows of a node."""
    return [each.type for each in node.schema]


def list_kept_types(node: WindowAggregate | GroupAggregate) -> list[Type]:
    """What Spark keeps of each group beside its keys."""
    return [type_ for each in node.aggregates for type_ in list_kept(each, node.input)]


def seconds(milliseconds: int) -> float:
    """Milliseconds as seconds."""
    return milliseconds / 1000


def list_streams(flows: Sequence[Flow]) -> tuple[str, ...]:
    """The streams that the rows come from, each once."""
    return tuple(dict.fromkeys(stream for each in flows for stream in each.streams))
