"""Where the streams of a join do not agree in count or key, and which sides of joins to re-key so that they do."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from penstock.planner.catalog import Catalog
from penstock.planner.partitions.build import Joined, Meeting, Script, build, equalities, in_common
from penstock.planner.partitions.counts import Counts, Defaults, infer
from penstock.planner.partitions.graph import Role
from penstock.planner.plan import Expression, KStream, RunningQuery, Settings
from penstock.planner.plan.walk import inputs


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
    """Keys first, join by join; then the counts of those joins whose keys agree."""
    script = found.script
    wrong: set[str] = set()
    for join in script.joins:
        meetings = tuple(each for each in script.meetings if each.join == join)
        if meetings and common_way(meetings) is None:
            wrong.add(join)
            yield Disagreement((join,), meetings, key_mendings(join, meetings, script))
    for joins in found.counts.conflicts:
        if not wrong & set(joins):
            yield Disagreement(joins, (), count_mendings(joins, found))


def common_way(meetings: Collection[Meeting]) -> tuple[int, ...] | None:
    """The equalities by which all these streams can go, one for each column of their keys; None if there are none."""
    if any(each.problem is not None for each in meetings):
        return None
    shared = in_common([each.equalities for each in meetings])
    return None if shared is None else tuple(map(min, shared))


def key_mendings(join: str, meetings: Collection[Meeting], script: Script) -> tuple[Mending, ...]:
    """Each side that has a key which the join can not go by is re-keyed the way another is, or by all equalities."""
    node = script.joins[join]
    sides = range(len(inputs(node)))
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
    return [side for side, each in enumerate(inputs(node)) if isinstance(each.shape, KStream)]


def count_mendings(joins: Sequence[str], found: Partitions) -> tuple[Mending, ...]:
    """The fewest sides to re-key at the two ends of a chain of joins; of several choices, those that keep the most."""
    script = found.script
    arriving = {
        (join, side): known_counts(join, side, found)
        for join in dict.fromkeys((joins[0], joins[-1]))
        for side in range(len(inputs(script.joins[join])))
    }
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


def known_counts(join: str, side: int, found: Partitions) -> set[int]:
    """The counts that are known of the streams which reach a side of the join, declared ones or else those of INTO."""
    streams = found.script.graph.streams
    met = [each.stream for each in found.script.meetings if each.join == join and each.side == side]
    declared = {count for each in met if (count := streams[each].partitions)}
    intos = {into for each in met if streams[each].role is Role.REKEYED and (into := streams[each].into)}
    anywhere = any(streams[each.stream].partitions for each in found.script.meetings if each.join == join)
    return declared if anywhere else intos


def mending(join: str, side: int, way: Sequence[int], script: Script) -> Mending:
    compared = equalities(script.joins[join])
    return Mending(join, side, tuple(compared[each][side] for each in way))
