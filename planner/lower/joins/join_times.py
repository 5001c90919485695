"""Two streams and the bound of their join -> the event times of the joined rows, and how late each may come."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from penstock.planner.plan import EventTime, JoinType, KStream, TimeBound, anchor_times

_PADDED = {JoinType.LEFT: ("right",), JoinType.RIGHT: ("left",), JoinType.FULL: ("left", "right")}
_ONE_SIDED = (JoinType.SEMI, JoinType.ANTI)


class JoinTimes(msgspec.Struct, frozen=True):
    """The join of two streams by their columns `left_time` and `right_time`; `pane` as in the plan's join."""

    type: JoinType
    bound: TimeBound
    pane: int | None
    left: KStream
    right: KStream
    left_time: str
    right_time: str

    def times(self) -> tuple[EventTime, ...]:
        """The event times of the joined rows: the event times of the sides that are not padded.

        Panes come out in the order of their own rows, whose partners are spread over the width of the bound. Without
        panes a pair comes out when the second of its rows is read. This second row is not behind the watermark. The
        other row is behind it by the reach of the bound at most. No earlier pair was ahead of the watermark by more
        than a delay and that reach.
        """
        if self.pane is None and self.type not in (JoinType.INNER, JoinType.SEMI):
            return ()  # a row without a partner may come out long after later ones
        padded = _PADDED.get(self.type, ())
        times: list[EventTime] = []
        if "left" not in padded:
            delay = self._delay("left") + self._left_event.spread
            times += (replace(each, delay=delay + each.spread) for each in self.left.times)
        if "right" not in padded and self.type not in _ONE_SIDED:
            delay = self._delay("right") + self._right_event.spread
            beside = self._measure_from_left(self.right.times)
            times += (
                replace(each, delay=delay + own.spread) for each, own in zip(beside, self.right.times, strict=True)
            )
        return anchor_times(times)

    def near_times(self) -> tuple[EventTime, ...]:
        """The columns of the joined rows that are NULL or near to the left event time: a right side's in panes."""
        if self.type is JoinType.LEFT and self.pane is not None:
            return (*self.left.near_times, *self._measure_from_left((*self.right.times, *self.right.near_times)))
        return self.left.near_times if self.type is JoinType.INNER else ()

    @property
    def _left_event(self) -> EventTime:
        return next(time for time in self.left.times if time.column == self.left_time)

    @property
    def _right_event(self) -> EventTime:
        return next(time for time in self.right.times if time.column == self.right_time)

    def _delay(self, side: str) -> int:
        if self.pane is not None:
            return 0 if side == "left" or self.type is JoinType.RIGHT else self.bound.width
        reach = max(abs(self.bound.lower.milliseconds), abs(self.bound.upper.milliseconds))
        return max(self._left_event.delay, self._right_event.delay) + 2 * reach

    def _measure_from_left(self, times: Iterable[EventTime]) -> tuple[EventTime, ...]:
        """Times of the right rows with their distances from the first event time of the left rows beside them."""
        lower = self.bound.lower.milliseconds + self._left_event.offset_min
        upper = self.bound.upper.milliseconds + self._left_event.offset_max
        measured = (each.measure_from(self._right_event) for each in times)
        return tuple(EventTime(each.column, 0, each.offset_min + lower, each.offset_max + upper) for each in measured)
