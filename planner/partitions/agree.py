"""Where the streams of a join do not agree in count or key, and which sides of joins to re-key so that they do."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

import msgspec

from penstock.planner.catalog import Catalog
from penstock.planner.partitions.build import Joined, JoinInput, PartitionGraph, build, intersect_keys, list_equalities
from penstock.planner.partitions.counts import Counts, Defaults, infer
from penstock.planner.partitions.graph import reach_from
from penstock.planner.plan import Expression, KStream, RunningQuery, Settings


class Partitions(msgspec.Struct, frozen=True):
    """The graph of a script and its counts."""

    script: PartitionGraph
    counts: Counts


class RekeyFix(msgspec.Struct, frozen=True):
    """A side of a join, its number, that PARTITION BY `keys` would mend: a stream."""

    join: str
    side: int
    keys: tuple[Expression, ...]


class Disagreement(msgspec.Struct, frozen=True):
    """Joins whose streams do not agree: in their counts, or (`join_inputs`) in the keys by which they are partitioned.

    `fixes` together mend it; there are none where a table would have to be re-keyed.
    """

    joins: tuple[str, ...]
    join_inputs: tuple[JoinInput, ...]
    fixes: tuple[RekeyFix, ...]


def find_partitions(queries: Sequence[RunningQuery], settings: Settings, catalog: Catalog) -> Partitions:
    """The streams, joins and counts of all queries of a script."""
    script = build(queries, catalog)
    return Partitions(
        script, infer(script.graph, Defaults(settings.intermediate_partitions, settings.state_partitions))
    )


def find_disagreements(partitions: Partitions) -> Iterator[Disagreement]:
    """Keys first, join by join; then the counts of joins whose keys agree. What may follow from another is left out."""
    script = partitions.script
    wrong: list[tuple[str, ...]] = []
    for join in script.joins:
        join_inputs = tuple(each for each in script.join_inputs if each.join == join)
        if join_inputs and common_way(join_inputs) is None:
            wrong.append((join,))
            yield Disagreement((join,), join_inputs, find_key_fixes(join, join_inputs, script))
    unlike = [
        each for each in partitions.counts.conflicts if not any(j in list_group(each, partitions) for (j,) in wrong)
    ]
    reach = {joins: set(onward(joins, script)) for joins in (*wrong, *unlike)}
    for place, joins in enumerate(unlike):
        above = [other for other in reach if set(joins) & reach[other]]
        if all(other in unlike[place:] and set(other) & reach[joins] for other in above):  # the first of a cycle
            fixes = find_count_fixes(joins, partitions)
            yield Disagreement(tuple(dict.fromkeys((*joins, *(each.join for each in fixes)))), (), fixes)


def list_group(joins: tuple[str, ...], partitions: Partitions) -> tuple[str, ...]:
    """The join, if it disagrees alone. In a chain, all joins that are tied to one number of partitions with it."""
    return joins if len(joins) == 1 else partitions.counts.tied[joins[0]]


def onward(joins: Iterable[str], script: PartitionGraph) -> list[str]:
    """The joins that the joined rows reach before they are partitioned anew."""
    following = script.graph.onward
    return reach_from([each for join in joins for each in following(join)], following)


def common_way(join_inputs: Collection[JoinInput]) -> tuple[int, ...] | None:
    """The equalities by which all these streams can go, one for each column of their keys; None if there are none."""
    if any(each.problem is not None for each in join_inputs):
        return None
    shared = intersect_keys([each.equalities for each in join_inputs])
    return None if shared is None else tuple(map(min, shared))


def find_key_fixes(join: str, join_inputs: Collection[JoinInput], script: PartitionGraph) -> tuple[RekeyFix, ...]:
    """Each side that has a key which the join cannot go by is re-keyed the way another is, or by all equalities."""
    node = script.joins[join]
    sides = range(len(node.inputs))
    arriving = {side: [each for each in join_inputs if each.side == side] for side in sides}
    ways = {side: common_way(met) for side, met in arriving.items() if met}
    wrong = [side for side, way in ways.items() if way is None] or streams_of(node)[-1:]
    if not set(wrong) <= set(streams_of(node)):
        return ()
    kept = [way for side, way in ways.items() if side not in wrong and way is not None]
    way = kept[0] if kept else range(len(list_equalities(node)))
    return tuple(make_fix(join, side, way, script) for side in wrong)


def streams_of(node: Joined) -> list[int]:
    """The sides that can be re-keyed: a table is what it is by its key."""
    return [side for side, each in enumerate(node.inputs) if isinstance(each.shape, KStream)]


def find_count_fixes(joins: tuple[str, ...], partitions: Partitions) -> tuple[RekeyFix, ...]:
    """The fewest sides to re-key. Between equal numbers of sides, the larger number of partitions wins."""
    script = partitions.script
    arriving = collect_known_counts(list_group(joins, partitions), partitions)
    choices = []
    for kept in {count for counts in arriving.values() for count in counts}:
        sides = [place for place, counts in arriving.items() if counts - {kept}]
        if all(side in streams_of(script.joins[join]) for join, side in sides):
            choices.append((len(sides), -kept, sides))
    fixes = []
    for join, side in min(choices)[-1] if choices else ():
        way = common_way([each for each in script.join_inputs if each.join == join])
        assert way, "the keys of the join agree"
        fixes.append(make_fix(join, side, way, script))
    return tuple(fixes)


def collect_known_counts(joins: Collection[str], partitions: Partitions) -> dict[tuple[str, int], set[int]]:
    """The known counts of the streams that reach each side of joins. Declared counts come first, then INTO."""
    declared: dict[tuple[str, int], set[int]] = {}
    intos: dict[tuple[str, int], set[int]] = {}
    for each in partitions.script.join_inputs:
        stream = partitions.script.graph.streams[each.stream]
        for count, known in ((stream.partitions, declared), (stream.into, intos)):
            if each.join in joins and count is not None:
                known.setdefault((each.join, each.side), set()).add(count)
    return declared or intos


def make_fix(join: str, side: int, way: Sequence[int], script: PartitionGraph) -> RekeyFix:
    compared = list_equalities(script.joins[join])
    return RekeyFix(join, side, tuple(compared[each][side] for each in way))
