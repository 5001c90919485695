"""Where the streams of a join do not agree in count or key, and which sides of joins to re-key so that they do."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from penstock.planner.catalog import Catalog
from penstock.planner.partitions.build import Joined, Meeting, Script, build, equalities, in_common
from penstock.planner.partitions.counts import Counts, Defaults, infer
from penstock.planner.partitions.graph import reached
from penstock.planner.plan import Expression, KStream, RunningQuery, Settings


@dataclass(frozen=True, slots=True)
class Partitions:
    """The graph of a script and its counts."""

    script: Script
    counts: Counts


@dataclass(frozen=True, slots=True)
class Mending:
    """A side of a join, its number, that PARTITION BY `keys` would mend: a stream."""

    join: str
    side: int
    keys: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Joins whose streams do not agree: in their counts, or (`meetings`) in the keys by which they are partitioned.

    `mendings` together mend it; there are none where a table would have to be re-keyed.
    """

    joins: tuple[str, ...]
    meetings: tuple[Meeting, ...]
    mendings: tuple[Mending, ...]


def partitions(queries: Sequence[RunningQuery], settings: Settings, catalog: Catalog) -> Partitions:
    """The streams, joins and counts of all queries of a script."""
    script = build(queries, catalog)
    return Partitions(
        script, infer(script.graph, Defaults(settings.intermediate_partitions, settings.state_partitions))
    )


def disagreements(found: Partitions) -> Iterator[Disagreement]:
    """Keys first, join by join; then the counts of joins whose keys agree. What may follow from another is left out."""
    script = found.script
    wrong: list[tuple[str, ...]] = []
    for join in script.joins:
        meetings = tuple(each for each in script.meetings if each.join == join)
        if meetings and common_way(meetings) is None:
            wrong.append((join,))
            yield Disagreement((join,), meetings, key_mendings(join, meetings, script))
    unlike = [each for each in found.counts.conflicts if not any(j in concerned(each, found) for (j,) in wrong)]
    reach = {joins: set(onward(joins, script)) for joins in (*wrong, *unlike)}
    for place, joins in enumerate(unlike):
        above = [other for other in reach if set(joins) & reach[other]]
        if all(other in unlike[place:] and set(other) & reach[joins] for other in above):  # the first of a cycle
            mendings = count_mendings(joins, found)
            yield Disagreement(tuple(dict.fromkeys((*joins, *(each.join for each in mendings)))), (), mendings)


def concerned(joins: tuple[str, ...], found: Partitions) -> tuple[str, ...]:
    """A join that disagrees alone; of a chain, all joins that have one number with it."""
    return joins if len(joins) == 1 else found.counts.tied[joins[0]]


def onward(joins: Iterable[str], script: Script) -> list[str]:
    """The joins that the joined rows reach before they are partitioned anew."""
    following = script.graph.onward
    return reached([each for join in joins for each in following(join)], following)


def common_way(meetings: Collection[Meeting]) -> tuple[int, ...] | None:
    """The equalities by which all these streams can go, one for each column of their keys; None if there are none."""
    if any(each.problem is not None for each in meetings):
        return None
    shared = in_common([each.equalities for each in meetings])
    return None if shared is None else tuple(map(min, shared))


def key_mendings(join: str, meetings: Collection[Meeting], script: Script) -> tuple[Mending, ...]:
    """Each side that has a key which the join cannot go by is re-keyed the way another is, or by all equalities."""
    node = script.joins[join]
    sides = range(len(node.inputs))
    arriving = {side: [each for each in meetings if each.side == side] for side in sides}
    ways = {side: common_way(met) for side, met in arriving.items() if met}
    wrong = [side for side, way in ways.items() if way is None] or streams_of(node)[-1:]
    if not set(wrong) <= set(streams_of(node)):
        return ()
    kept = [way for side, way in ways.items() if side not in wrong and way is not None]
    way = kept[0] if kept else range(len(equalities(node)))
    return tuple(mending(join, side, way, script) for side in wrong)


def streams_of(node: Joined) -> list[int]:
    """The sides that can be re-keyed: a table is what it is by its key."""
    return [side for side, each in enumerate(node.inputs) if isinstance(each.shape, KStream)]


def count_mendings(joins: tuple[str, ...], found: Partitions) -> tuple[Mending, ...]:
    """The fewest sides to re-key; of as few, those that leave the larger number of partitions."""
    script = found.script
    arriving = known_counts(concerned(joins, found), found)
    choices = []
    for kept in {count for counts in arriving.values() for count in counts}:
        sides = [place for place, counts in arriving.items() if counts - {kept}]
        if all(side in streams_of(script.joins[join]) for join, side in sides):
            choices.append((len(sides), -kept, sides))
    mendings = []
    for join, side in min(choices)[-1] if choices else ():
        way = common_way([each for each in script.meetings if each.join == join])
        assert way, "the keys of the join agree"
        mendings.append(mending(join, side, way, script))
    return tuple(mendings)


def known_counts(joins: Collection[str], found: Partitions) -> dict[tuple[str, int], set[int]]:
    """The counts known of the streams that reach each side of joins, declared ones or, without any, those of INTO."""
    declared: dict[tuple[str, int], set[int]] = {}
    intos: dict[tuple[str, int], set[int]] = {}
    for each in found.script.meetings:
        stream = found.script.graph.streams[each.stream]
        for count, known in ((stream.partitions, declared), (stream.into, intos)):
            if each.join in joins and count is not None:
                known.setdefault((each.join, each.side), set()).add(count)
    return declared or intos


def mending(join: str, side: int, way: Sequence[int], script: Script) -> Mending:
    compared = equalities(script.joins[join])
    return Mending(join, side, tuple(compared[each][side] for each in way))
