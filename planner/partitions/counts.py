"""Streams and the joins that they meet in -> the number of partitions of each, and the rule that gave it.

What meets in one join has one count. A stream that PARTITION BY makes has one count in all joins that it meets in, and
so ties these together; a stream that can be spread anew ties nothing. The joins so tied together are a *group*, and all
counts of a group come from its members, whatever order they are looked at in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from penstock.planner.partitions.graph import Graph, Role, Stream, meetings, reached

LARGEST = 256
"""At most so many partitions are given to a stream because others have as many."""


class Rule(Enum):
    """Why a stream or a join has as many partitions as it has."""

    DECLARED = "declared"
    JOINED = "as a stream that it is joined with"
    INTO = "INTO n PARTITIONS"
    SETTING = "SET intermediate_partitions"
    WIDEST = "as the input or output with the most"
    DEFAULT = "SET state_partitions"
    SPREAD = "spread anew for each join"
    OPEN = "undecided between different counts"


@dataclass(frozen=True, slots=True)
class Count:
    """A number of partitions, None where nothing can decide it; `giver` is the stream that it was taken from."""

    partitions: int | None
    rule: Rule
    giver: str | None = None


@dataclass(frozen=True, slots=True)
class Defaults:
    """`intermediate`: what SET gives to re-keyed streams, if anything. `state`: partitions where nothing says more."""

    intermediate: int | None
    state: int


@dataclass(frozen=True, slots=True)
class Counts:
    """`met`: the streams of each join. `of`: the count of each stream on its own; `joins`: that of each join's state.

    `tied`: the joins of each join's group. `conflicts`: joins in which different known counts meet, and chains of
    joins, each tied to the next, at whose ends they do.
    """

    met: Mapping[str, tuple[str, ...]]
    of: Mapping[str, Count]
    joins: Mapping[str, Count]
    tied: Mapping[str, tuple[str, ...]]
    conflicts: tuple[tuple[str, ...], ...]

    def within(self, join: str, stream: str) -> Count:
        """The count of a stream in a join that it meets in."""
        own = self.of[stream]
        return Count(self.joins[join].partitions, Rule.SPREAD) if own.rule is Rule.SPREAD else own


def infer(graph: Graph, defaults: Defaults) -> Counts:
    """The counts of all streams and joins."""
    met = meetings(graph)
    joins_of: dict[str, list[str]] = {}
    for join, streams in met.items():
        for stream in streams:
            joins_of.setdefault(stream, []).append(join)
    rekeyed = dict.fromkeys(name for name, stream in graph.streams.items() if stream.role is Role.REKEYED)

    def tied(vertex: str) -> Sequence[str]:
        """From a join to the streams that have one count everywhere, from one of those to its joins."""
        return [each for each in met[vertex] if each in rekeyed] if vertex in met else joins_of.get(vertex, ())

    of = {name: own_count(stream) for name, stream in graph.streams.items() if name not in rekeyed}
    unasked = fallback(graph, defaults)
    groups: dict[str, tuple[str, ...]] = {}
    conflicts: list[tuple[str, ...]] = []
    settled: set[str] = set()
    for start in [*rekeyed, *met]:
        if start in settled:
            continue
        group = reached([start], tied)
        settled.update(group)
        joins, members = [each for each in group if each in met], [each for each in group if each not in met]
        groups.update(dict.fromkeys(joins, tuple(joins)))
        known = {one: count for join in joins for one in met[join] if (count := graph.streams[one].partitions)}
        known = known or {one: into for one in members if (into := graph.streams[one].into)}
        conflicts += disagreeing(joins, met, known, tied)
        of.update({one: member_count(one, graph, known, unasked) for one in members})
    by_join = {join: join_count(streams, of, defaults) for join, streams in met.items()}
    return Counts(met, of, by_join, groups, tuple(sorted(conflicts)))


def own_count(stream: Stream) -> Count:
    """The count of a stream that no join can give one to."""
    return Count(stream.partitions, Rule.SPREAD if stream.partitions is None else Rule.DECLARED)


def fallback(graph: Graph, defaults: Defaults) -> Count:
    """The count of a re-keyed stream where neither INTO nor a join says one."""
    if defaults.intermediate is not None:
        return Count(defaults.intermediate, Rule.SETTING)
    counts = [(-each.partitions, each.name) for each in graph.streams.values() if each.partitions is not None]
    if not counts:
        return Count(defaults.state, Rule.DEFAULT)
    most, widest = min(counts)
    return Count(min(-most, LARGEST), Rule.WIDEST, widest)


def member_count(name: str, graph: Graph, known: Mapping[str, int], unasked: Count) -> Count:
    """The count of a re-keyed stream in a group with these known counts."""
    if not known:
        return unasked
    if name in known:
        return Count(known[name], Rule.INTO)
    if len(set(known.values())) > 1:
        return Count(None, Rule.OPEN)
    giver = min(known, key=lambda each: graph.streams[each].name)
    return Count(known[giver], Rule.JOINED, graph.streams[giver].name)


def join_count(streams: Sequence[str], of: Mapping[str, Count], defaults: Defaults) -> Count:
    """The count of a join: the one of all that meet in it and have one."""
    counts = {of[each].partitions for each in streams if of[each].rule is not Rule.SPREAD}
    if not counts:
        return Count(defaults.state, Rule.DEFAULT)
    return Count(counts.pop(), Rule.JOINED) if len(counts) == 1 and None not in counts else Count(None, Rule.OPEN)


def disagreeing(
    joins: Sequence[str],
    met: Mapping[str, tuple[str, ...]],
    known: Mapping[str, int],
    tied: Callable[[str], Sequence[str]],
) -> list[tuple[str, ...]]:
    """The joins of a group in which different counts meet; where there is none, a shortest chain with such ends."""
    if len(set(known.values())) < 2:
        return []
    counts = {join: {known[each] for each in met[join] if each in known} for join in joins}
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

    for each in reached([start], onward):
        if counts.get(each) and counts[each] != counts[start]:
            chain: list[str] = []
            step: str | None = each
            while step is not None:
                chain += [step] if step in counts else []
                step = before[step]
            yield tuple(reversed(chain))
