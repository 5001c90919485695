"""Classes of windows: rows at their borders, windows without rows, and sessions that meet."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterator
from datetime import datetime, timedelta
from itertools import pairwise

from penstock.evaluator import Row
from penstock.planner import duration_text
from penstock.planner.plan import AssignWindows, Cumulate, Hop, Node, Over, SessionWindow, Tumble, WindowAggregate
from penstock.testing.coverage_classes import CoveredClass, Watched, name_sides, values_of, want
from penstock.testing.coverage_joins import plain_keys
from penstock.testing.given_values import START
from penstock.testing.solved_values import MILLISECOND

EPOCH = datetime(1970, 1, 1)


def list_window_classes(node: WindowAggregate | AssignWindows) -> Iterator[CoveredClass]:
    """Classes of windows, whatever their rows are grouped by."""
    window = node.window
    if isinstance(window, SessionWindow):
        if isinstance(node, WindowAggregate):
            yield from list_session_classes(node, window)
    else:
        yield from list_border_classes(node, window)


def border_length(window: Tumble | Hop | Cumulate) -> int:
    """How far the borders of windows are from each other."""
    match window:
        case Tumble(size):
            return size
        case Hop(slide, _):
            return slide
        case Cumulate(step, _):
            return step


def list_border_classes(
    node: WindowAggregate | AssignWindows, window: Tumble | Hop | Cumulate
) -> Iterator[CoveredClass]:
    (name,) = name_sides(node.input)
    length = border_length(window) * MILLISECOND
    border = EPOCH + -(-(START - EPOCH) // length) * length

    def times(watched: Watched) -> list[datetime]:
        return sorted(row[node.time] for row in watched.rows(node.input))

    keys = [each.value for each in node.keys] if isinstance(node, WindowAggregate) else []
    same = plain_keys(node.input, keys)

    def rows_at(*moments: datetime) -> tuple[tuple[Node, Row], ...]:
        return tuple((node.input, same | {node.time: each}) for each in moments)

    yield CoveredClass(
        f"a row of {name} exactly where a window begins",
        lambda each: any((time - EPOCH) % length == timedelta() for time in times(each)),
        (want(*rows_at(border)),),
    )
    yield CoveredClass(
        f"a row of {name} one millisecond before a window ends",
        lambda each: any((time - EPOCH + MILLISECOND) % length == timedelta() for time in times(each)),
        (want(*rows_at(border + length - MILLISECOND)),),
    )
    yield CoveredClass(
        "a window with several rows",
        lambda each: has_pair(times(each), lambda one, two: (one - EPOCH) // length == (two - EPOCH) // length),
        (want(*rows_at(border, border + min(length / 2, length - MILLISECOND))),),
    )
    yield CoveredClass(
        "rows in three windows that follow each other",
        lambda each: has_run({(time - EPOCH) // length for time in times(each)}),
        (want(*rows_at(border + length - MILLISECOND, border + length, border + 2 * length)),),
    )
    size = (window.size if isinstance(window, Hop | Cumulate) else border_length(window)) * MILLISECOND
    yield CoveredClass(
        "a window without rows between others",
        lambda each: has_pair(times(each), lambda one, two: two - one >= size + 2 * length),
        (want(*rows_at(border, border + size + 2 * length)),),
    )


def has_run(numbers: set[int]) -> bool:
    """Whether three numbers follow each other."""
    return any({number + 1, number + 2} <= numbers for number in numbers)


def has_pair(times: list[datetime], test: Callable[[datetime, datetime], bool]) -> bool:
    """Whether two times that follow each other pass a test."""
    return any(test(one, two) for one, two in pairwise(times))


def list_session_classes(node: WindowAggregate, window: SessionWindow) -> Iterator[CoveredClass]:
    gap, text = window.gap * MILLISECOND, duration_text(window.gap)
    keys = [each.value for each in node.keys]

    def runs(watched: Watched) -> list[list[datetime]]:
        """The times of each key, in the order of arrival."""
        found: dict[tuple[object, ...], list[datetime]] = defaultdict(list)
        for row in watched.rows(node.input):
            found[values_of(keys, row, node.input)].append(row[node.time])
        return list(found.values())

    same = plain_keys(node.input, keys)

    def rows_at(*moments: datetime) -> tuple[tuple[Node, Row], ...]:
        return tuple((node.input, same | {node.time: each}) for each in moments)

    def sorted_pair(watched: Watched, distance: timedelta) -> bool:
        return any(has_pair(sorted(times), lambda one, two: two - one == distance) for times in runs(watched))

    for distance, words in (
        (gap, f"rows exactly {text} apart"),
        (gap + MILLISECOND, f"rows one millisecond more than {text} apart"),
    ):
        yield CoveredClass(
            words,
            lambda each, distance=distance: sorted_pair(each, distance),  # type: ignore[misc]
            (want(*rows_at(START, START + distance)),),
        )
    yield CoveredClass(
        "a session of one row",
        lambda each: any(has_lonely(sorted(times), gap) for times in runs(each)),
        (want(*rows_at(START)),),
    )
    yield CoveredClass(
        "two sessions that a later row makes one",
        lambda each: any(merges(times, gap) for times in runs(each)),
        (want(*rows_at(START, START + gap + gap / 2, START + gap * 3 / 4)),),
    )


def has_lonely(times: list[datetime], gap: timedelta) -> bool:
    """Whether one of the sorted times has no other within the gap."""
    are_far = [True, *(two - one > gap for one, two in pairwise(times)), True]
    return bool(times) and any(before and behind for before, behind in pairwise(are_far))


def merges(times: list[datetime], gap: timedelta) -> bool:
    """Whether a time has, among the ones before it, one on each side within the gap, and these are further apart."""
    earlier: list[datetime] = []
    for time in times:
        before, behind = bisect_right(earlier, time) - 1, bisect_left(earlier, time)
        if before >= 0 and behind < len(earlier):
            last, following = earlier[before], earlier[behind]
            if time - last <= gap and following - time <= gap and following - last > gap:
                return True
        insort(earlier, time)
    return False


def has_distance(places: Collection[tuple[Hashable, timedelta]], distance: timedelta) -> bool:
    """Whether two of the places in partitions are so far from each other."""
    return any((key, time + distance) in places for key, time in places)


def list_frame_classes(node: Over) -> Iterator[CoveredClass]:
    """Rows exactly at the ends of frames, and one millisecond beyond them."""
    ends = sorted({end for each in node.aggregates for end in (each.frame.start, each.frame.end) if end})

    def places(watched: Watched) -> set[tuple[Hashable, timedelta]]:
        rows = watched.rows(node.input)
        return {(values_of(node.partition_by, row, node.input), row[node.time] - EPOCH) for row in rows}

    for end in ends:
        beyond = end + (1 if end > 0 else -1)
        place = "behind" if end > 0 else "before"
        for distance, words in (
            (end, f"a row {duration_text(abs(end))} {place} another one, where a frame ends"),
            (beyond, f"a row {duration_text(abs(beyond))} {place} another one, where it is in no frame"),
        ):
            later = START + abs(distance) * MILLISECOND
            yield CoveredClass(
                words,
                lambda each, distance=distance: has_distance(places(each), distance * MILLISECOND),  # type: ignore[misc]
                (want((node.input, {node.time: START}), (node.input, {node.time: later})),),
            )
