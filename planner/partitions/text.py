"""Counts -> EXPLAIN PARTITIONS: the streams that meet in each join, and the graph for Mermaid to draw."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from penstock.planner.catalog import Catalog
from penstock.planner.partitions.agree import Partitions, find_partitions
from penstock.planner.partitions.build import JOINED, place_text
from penstock.planner.partitions.check_joins import count_text
from penstock.planner.partitions.counts import Count, CountRule
from penstock.planner.partitions.graph import Role, Stream
from penstock.planner.plan import Rekey, RunningQuery, Settings
from penstock.planner.plan.walk import walk

STREAMS = {Role.OUTSIDE: "([{}])", Role.OUTPUT: "([{}])", Role.REKEYED: "[[{}]]", Role.GROUPED: "[{}]"}
JOIN = "{{{{{}}}}}"
"""What Mermaid draws around a label."""
ENTITIES = {ord(each): f"#{ord(each)};" for each in '#&<>"`'}


def partitions_text(
    queries: Sequence[RunningQuery], settings: Settings, catalog: Catalog, beside: Iterable[RunningQuery] = ()
) -> str:
    """Each join of the queries, which run `beside` others, with its streams; and the re-keyed streams that meet none.

    The count of each, the rule that gave it and its place.
    """
    partitions = find_partitions([*beside, *queries], settings, catalog)
    shown = {node.span for query in queries for node in walk(query.root) if isinstance(node, (*JOINED, Rekey))}
    blocks = []
    for name, join in partitions.script.joins.items():
        if join.span in shown:
            head = f"{partitions.script.graph.joins[name]}: {join_text(partitions.counts.joins[name])}"
            blocks.append(block(head, partitions, name, partitions.counts.join_streams[name]))
    rekeyed = (name for name, stream in partitions.script.graph.streams.items() if stream.role is Role.REKEYED)
    join_streams = {name for streams in partitions.counts.join_streams.values() for name in streams}
    rest = [
        name for name in rekeyed if name not in join_streams and partitions.script.graph.streams[name].span in shown
    ]
    if rest:
        blocks.append(block("in no join, so no rows move", partitions, None, rest))
    return "\n\n".join(blocks) or "no join, and no PARTITION BY"


def block(head: str, partitions: Partitions, join: str | None, names: Sequence[str]) -> str:
    """The head, and a line for each stream: name, count and rule, place."""
    streams = [partitions.script.graph.streams[name] for name in names]
    counts = [partitions.counts.of[name] if join is None else partitions.counts.within(join, name) for name in names]
    texts = [stream_text(count, stream, partitions, join) for count, stream in zip(counts, streams, strict=True)]
    width = max(len(stream.name) for stream in streams)
    length = max(map(len, texts))
    lines = [
        f"    {stream.name.ljust(width)}  {text.ljust(length)}  {place_text(stream.span)}"
        for stream, text in zip(streams, texts, strict=True)
    ]
    return "\n".join([head, *lines])


def stream_text(count: Count, stream: Stream, partitions: Partitions, join: str | None) -> str:
    """A stream's count in a join. What has none of its own is spread by what the join compares."""
    if count.rule is CountRule.SPREAD and join is not None:
        return f"{count.partitions} partitions, spread anew for this join"
    inserted = any(partitions.script.graph.streams[name] is stream for name in partitions.script.inserted)
    return count_text(count, stream) + (", inserted by SET auto_repartition" if inserted else "")


def join_text(count: Count) -> str:
    """The partitions of a join's state."""
    default = ", as SET state_partitions says" if count.rule is CountRule.DEFAULT else ""
    return f"{count.partitions} state partitions{default}"


def mermaid(queries: Sequence[RunningQuery], settings: Settings, catalog: Catalog) -> str:
    """The streams and joins as a Mermaid flowchart."""
    partitions = find_partitions(queries, settings, catalog)
    graph, counts, lines = partitions.script.graph, partitions.counts, ["flowchart LR"]
    for name, stream in graph.streams.items():
        lines.append(vertex(name, STREAMS[stream.role].format(label(stream.name, counts.of[name].partitions))))
    for name, text in graph.joins.items():
        lines.append(vertex(name, JOIN.format(label(text, counts.joins[name].partitions))))
    drawn = graph.streams.keys() | graph.joins.keys()
    for above, readers in graph.readers.items():
        for below in readers if above in drawn else ():
            arrow = "-->" if below in drawn else "-- fills -->"
            lines += [
                vertex(above, f" {arrow} {each.replace(' ', '_')}") for each in onward(below, graph.readers, drawn)
            ]
    return "\n".join(lines)


def onward(below: str, readers: Mapping[str, Iterable[str]], drawn: Collection[str]) -> list[str]:
    """Where rows come to. A statement that fills a table has no box: its rows go on to where the table is read."""
    reached = [below]
    for name in reached:
        if name not in drawn:
            reached += [each for each in readers.get(name, ()) if each not in reached]
    return [name for name in reached if name in drawn]


def vertex(name: str, behind: str) -> str:
    return f"    {name.replace(' ', '_')}{behind}"


def label(name: str, partitions: int | None) -> str:
    """A quoted label. Mermaid reads it as HTML, with entities of its own."""
    count = "" if partitions is None else f"<br/>{partitions} partitions"
    return f'"{name.translate(ENTITIES)}{count}"'
