"""Streams and the joins that they meet in -> the number of partitions of each, and the rule that gave it.

What meets in one join has one count. A stream that PARTITION BY makes has one count in all its joins, and so ties these
joins together. A stream that can be spread anew ties nothing. The joins so tied together are a *group*, and all counts
of a group come from its members, whatever order they are looked at in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum

import msgspec

from penstock.planner.partitions.graph import Graph, Role, Stream, find_join_streams, reach_from

LARGEST = 256
"""At most so many partitions are given to a stream because others have as many."""


class CountRule(Enum):
    """Why a stream or a join has as many partitions as it has."""

    DECLARED = "declared"
    JOINED = "as a stream that it is joined with"
    INTO = "INTO n PARTITIONS"
    SETTING = "SET intermediate_partitions"
    WIDEST = "as the input or output with the most"
    DEFAULT = "SET state_partitions"
    SPREAD = "spread anew for each join"
    OPEN = "undecided between different counts"


class Count(msgspec.Struct, frozen=True):
    """A number of partitions, None where nothing can decide it; `giver` is the stream that it was taken from."""

    partitions: int | None
    rule: CountRule
    giver: str | None = None


class Defaults(msgspec.Struct, frozen=True):
    """`intermediate`: what SET gives to re-keyed streams, if anything. `state`: partitions where nothing says more."""

    intermediate: int | None
    state: int


class Counts(msgspec.Struct, frozen=True):
    """The counts of all streams and joins of a script."""

    join_streams: Mapping[str, tuple[str, ...]]
    """The streams that meet in each join."""
    of: Mapping[str, Count]
    """The count of each stream on its own."""
    joins: Mapping[str, Count]
    """The count of each join's state."""
    tied: Mapping[str, tuple[str, ...]]
    """The joins of each join's group."""
    conflicts: tuple[tuple[str, ...], ...]
    """Joins in which different known counts meet, and chains of tied joins at whose ends they do."""

    def within(self, join: str, stream: str) -> Count:
        """The count of a stream in a join that it meets in."""
        own = self.of[stream]
        return Count(self.joins[join].partitions, CountRule.SPREAD) if own.rule is CountRule.SPREAD else own


def infer(graph: Graph, defaults: Defaults) -> Counts:
    """The counts of all streams and joins."""
    join_streams = find_join_streams(graph)
    joins_of: dict[str, list[str]] = {}
    for join, streams in join_streams.items():
        for stream in streams:
            joins_of.setdefault(stream, []).append(join)
    rekeyed = dict.fromkeys(name for name, stream in graph.streams.items() if stream.role is Role.REKEYED)

    def tied(vertex: str) -> Sequence[str]:
        """From a join to its streams that have one count everywhere, or from such a stream to its joins."""
        return (
            [each for each in join_streams[vertex] if each in rekeyed]
            if vertex in join_streams
            else joins_of.get(vertex, ())
        )

    of = {name: own_count(stream) for name, stream in graph.streams.items() if name not in rekeyed}
    unasked = fallback(graph, defaults)
    groups: dict[str, tuple[str, ...]] = {}
    conflicts: list[tuple[str, ...]] = []
    settled: set[str] = set()
    for start in [*rekeyed, *join_streams]:
        if start in settled:
            continue
        group = reach_from([start], tied)
        settled.update(group)
        joins, members = (
            [each for each in group if each in join_streams],
            [each for each in group if each not in join_streams],
        )
        groups.update(dict.fromkeys(joins, tuple(joins)))
        known = {one: count for join in joins for one in join_streams[join] if (count := graph.streams[one].partitions)}
        known = known or {one: into for one in members if (into := graph.streams[one].into)}
        conflicts += find_conflicts(joins, join_streams, known, tied)
        of.update({one: member_count(one, graph, known, unasked) for one in members})
    by_join = {join: join_count(streams, of, defaults) for join, streams in join_streams.items()}
    return Counts(join_streams, of, by_join, groups, tuple(sorted(conflicts)))


def own_count(stream: Stream) -> Count:
    """The count of a stream that no join can give one to."""
    return Count(stream.partitions, CountRule.SPREAD if stream.partitions is None else CountRule.DECLARED)


def fallback(graph: Graph, defaults: Defaults) -> Count:
    """The count of a re-keyed stream where neither INTO nor a join says one."""
    if defaults.intermediate is not None:
        return Count(defaults.intermediate, CountRule.SETTING)
    counts = [(-each.partitions, each.name) for each in graph.streams.values() if each.partitions is not None]
    if not counts:
        return Count(defaults.state, CountRule.DEFAULT)
    most, widest = min(counts)
    return Count(min(-most, LARGEST), CountRule.WIDEST, widest)


def member_count(name: str, graph: Graph, known: Mapping[str, int], unasked: Count) -> Count:
    """The count of a re-keyed stream in a group with these known counts."""
    if not known:
        return unasked
    if name in known:
        return Count(known[name], CountRule.INTO)
    if len(set(known.values())) > 1:
        return Count(None, CountRule.OPEN)
    giver = min(known, key=lambda each: graph.streams[each].name)
    return Count(known[giver], CountRule.JOINED, graph.streams[giver].name)


def join_count(streams: Sequence[str], of: Mapping[str, Count], defaults: Defaults) -> Count:
    """The count of a join: the one of all that meet in it and have one."""
    counts = {of[each].partitions for each in streams if of[each].rule is not CountRule.SPREAD}
    if not counts:
        return Count(defaults.state, CountRule.DEFAULT)
    return (
        Count(counts.pop(), CountRule.JOINED)
        if len(counts) == 1 and None not in counts
        else Count(None, CountRule.OPEN)
    )


def find_conflicts(
    joins: Sequence[str],
    join_streams: Mapping[str, tuple[str, ...]],
    known: Mapping[str, int],
    tied: Callable[[str], Sequence[str]],
) -> list[tuple[str, ...]]:
    """The joins of a group in which different counts meet; where there is none, a shortest chain with such ends."""
    if len(set(known.values())) < 2:
        return []
    counts = {join: {known[each] for each in join_streams[join] if each in known} for join in joins}
    alone: list[tuple[str, ...]] = [(join,) for join in joins if len(counts[join]) > 1]
    chains = (chain for join in joins if counts[join] for chain in chains_from(join, counts, tied))
    return alone or [min(chains, key=lambda chain: (len(chain), chain))]


def chains_from(
    start: str, counts: Mapping[str, set[int]], tied: Callable[[str], Sequence[str]]
) -> Iterator[tuple[str, ...]]:
    """From a join with a known count the joins on a shortest way to each with another one."""
    before: dict[str, str | None] = {start: None}

    def onward(vertex: str) -> Iterator[str]:
        for each in tied(vertex):
            before.setdefault(each, vertex)
            yield each

    for each in reach_from([start], onward):
        if counts.get(each) and counts[each] != counts[start]:
            chain: list[str] = []
            step: str | None = each
            while step is not None:
                chain += [step] if step in counts else []
                step = before[step]
            yield tuple(reversed(chain))
