"""Joins of two streams: pairs one by one as rows are read, or the pairs of a pane together."""

from __future__ import annotations

from typing import ClassVar

from penstock.planner.physical.bound_texts import kept_text
from penstock.planner.physical.estimates import (
    PANE_BUCKETS,
    Load,
    PackedSide,
    StateEstimate,
    UnknownFlow,
    list_streams,
    list_types,
    packed_size,
    seconds,
)
from penstock.planner.physical.open_windows import sum_windows
from penstock.planner.physical.physical_operator import Contract, Ending, PhysicalOperator
from penstock.planner.physical.state_bytes import ENTRY, row_bytes
from penstock.planner.plan import Emission, IntervalJoin, JoinType, Node
from penstock.planner.scalars.find_type import find_type
from penstock.planner.state import find_delay, min_distance
from penstock.planner.types import BIGINT, BOOLEAN, Struct

_REACHES = 4
"""How many times as long as the bound a bucket of time is.

On average a row is spread into 1 + 1 / _REACHES buckets, and tried against the rows of _REACHES reaches.
"""
_SECOND = 1_000


class _StreamJoin(PhysicalOperator, frozen=True):
    node: IntervalJoin

    @property
    def reach(self) -> tuple[int, int]:
        """Time range, before and after a row, in which its partners lie."""
        return self.node.bound.reach(self.node.type)

    @property
    def delay(self) -> int:
        """How far the watermark is behind the newest row of either side."""
        return max(find_delay(self.node.left), find_delay(self.node.right)) + self.node.grace

    @property
    def grace(self) -> int:
        return self.node.grace

    @property
    def screened(self) -> tuple[Node, ...]:
        return self.node.inputs

    def _find_side(self, time: str) -> tuple[bool, int]:
        """Whether a column is of the left side, and how far it is at least behind the event time of its side."""
        node = self.node
        is_left = any(each.name == time for each in node.left.schema)
        side, own = (node.left, node.left_time) if is_left else (node.right, node.right_time)
        return is_left, min_distance(side, own, time)


class PairJoin(_StreamJoin, frozen=True):
    """Spark's join: a row meets its partners one by one."""

    REASON: ClassVar[str] = "the bound is far from the time of the rows, and a pane would keep all rows in between"

    @property
    def bucket_length(self) -> int:
        """The length of the buckets of time into which Spark's state is spread."""
        return max(_SECOND, _REACHES * self.node.bound.width)

    @property
    def horizon(self) -> int | None:
        return sum(self.reach) + self.delay

    @property
    def bound(self) -> str:
        node = self.node
        lower, upper = node.bound.lower.milliseconds, node.bound.upper.milliseconds
        kept = (node.left, max(upper, 0)), (node.right, max(-lower, 0))
        return "; ".join(kept_text(side, reach, self.delay) for side, reach in kept)

    def estimate(self, load: Load) -> StateEstimate | UnknownFlow:
        """Spark keeps rows of each side, by key and number, and the number of rows of each key."""
        node = self.node
        reaches = node.bound.upper.milliseconds, -node.bound.lower.milliseconds
        left, right = (max(seconds(reach) + load.lag, 0) for reach in reaches)
        # Rows that can meet rows of two buckets are kept in both.
        if node.type is JoinType.RIGHT:
            left += self._sum_shared(left)
        elif node.type is not JoinType.FULL:
            right += self._sum_shared(right)
        left, right = left * load.flows[0].rate, right * load.flows[1].rate
        size = 0.0
        compared = [find_type(one, node.left) or BIGINT for one, _ in node.equalities]
        key = row_bytes([*compared, BIGINT])
        for rows, side in zip((left, right), node.inputs, strict=True):
            stored = row_bytes([*list_types(side), BIGINT, BIGINT])
            size += rows * (2 * ENTRY * load.on_heap + 2 * key + stored + row_bytes([BIGINT]))
        is_exact = all(each.is_exact for each in load.flows)
        return StateEstimate(left + right, size, is_exact, list_streams(load.flows))

    def find_ending(self, emission: Emission) -> Ending | None:
        """A pair is sent at once, a row without a partner when none can come any more."""
        pads = self.node.type not in (JoinType.INNER, JoinType.SEMI)
        return Ending("row without a partner", 0, self.reach[1]) if pads else None

    def find_lag(self, time: str) -> int:
        """One row of a pair is new, and so not behind the watermark."""
        is_left, distance = self._find_side(time)
        bound = self.node.bound
        return max(0, bound.upper.milliseconds if is_left else -bound.lower.milliseconds) - distance

    def _sum_shared(self, held: float) -> float:
        """The most seconds, among the `held` ones, whose rows are in two buckets. Each bucket has a stretch of them."""
        length, width = seconds(self.bucket_length), seconds(self.node.bound.width)
        whole = held // length
        return whole * width + min(width, held - whole * length)


class PaneJoin(_StreamJoin, frozen=True):
    """The rows of a pane wait for all that they can meet. DuckDB joins them."""

    REASON: ClassVar[str] = "the bound is short, so that panes keep each row about twice"
    CONTRACT: ClassVar[Contract] = Contract.OPERATOR

    @property
    def pane(self) -> int:
        """The length of a pane."""
        assert self.node.pane is not None
        return self.node.pane

    @property
    def horizon(self) -> int | None:
        return sum(self.reach) + self.pane + self.delay

    @property
    def bound(self) -> str:
        back, forward = self.reach
        own, met = self.pane + forward, back + self.pane + forward
        reaches = {JoinType.RIGHT: (met, own), JoinType.FULL: (met, met)}.get(self.node.type, (own, met))
        kept = zip(self.node.inputs, reaches, strict=True)
        return "; ".join(kept_text(side, reach, self.delay) for side, reach in kept)

    def estimate(self, load: Load) -> StateEstimate | UnknownFlow:
        """Rows are in windows that reach beyond a pane. The side of the panes is in one window, the other in all."""
        node = self.node
        pane, (back, forward) = self.pane, self.reach
        length, step = seconds(back + pane + forward), seconds(pane)
        in_all = sum_windows(length, step, load.lag)
        in_own = sum_windows(length, step, load.lag, begin=seconds(back), own=step)
        held_for = {JoinType.RIGHT: (in_all, in_own), JoinType.FULL: (in_all, in_all)}.get(node.type, (in_own, in_all))
        cuts = len({0, -back % pane, forward % pane}) / step
        keys = [find_type(one, node.left) or BIGINT for one, _ in node.equalities]
        both = [Struct(tuple((each.name, each.type) for each in side.schema)) for side in node.inputs]
        size = 0.0
        for place, flow in enumerate(load.flows):
            # A row has the columns of the other side, too. They are NULL, and take only their part of the table.
            held = [BIGINT, BOOLEAN, BOOLEAN, *keys, both[place]]
            side = PackedSide(flow, held, held_for[place], (*held, both[1 - place]))
            size += packed_size(side, load, PANE_BUCKETS if keys else 1, cuts)
        own, other = step + seconds(forward) + load.lag, length + load.lag
        reaches = {JoinType.RIGHT: (other, own), JoinType.FULL: (other, other)}.get(node.type, (own, other))
        rows = sum(flow.rate * reach for flow, reach in zip(load.flows, reaches, strict=True))
        is_exact = all(each.is_exact for each in load.flows)
        return StateEstimate(rows, size, is_exact, list_streams(load.flows), is_packed=True)

    def find_ending(self, emission: Emission) -> Ending | None:
        return Ending("pane of the join", self.pane, self.reach[1])

    def find_lag(self, time: str) -> int:
        """A pane that is still held ends, with all that its own rows can meet, after the watermark."""
        is_left, distance = self._find_side(time)
        own, bound = self.pane + self.reach[1] - distance, self.node.bound
        if is_left == (self.node.type is not JoinType.RIGHT):
            return own
        return own + bound.upper.milliseconds if is_left else own - bound.lower.milliseconds
