"""Counts -> EXPLAIN PARTITIONS: the streams that meet in each join, and the graph for Mermaid to draw."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from penstock.planner.catalog import Catalog
from penstock.planner.partitions.agree import Partitions, partitions
from penstock.planner.partitions.build import place_text
from penstock.planner.partitions.check import count_text
from penstock.planner.partitions.counts import Count, Rule
from penstock.planner.partitions.graph import Role, Stream
from penstock.planner.plan import IntervalJoin, Rekey, RunningQuery, Settings
from penstock.planner.plan.walk import walk


def partitions_text(
    queries: Sequence[RunningQuery], settings: Settings, catalog: Catalog, beside: Iterable[RunningQuery] = ()
) -> str:
    """Each join of the queries, which run `beside` others, with its streams; and the re-keyed streams that meet none.

    The count of each, the rule that gave it and its place.
    """
    found = partitions([*beside, *queries], settings, catalog)
    shown = {node.span for query in queries for node in walk(query.root) if isinstance(node, IntervalJoin | Rekey)}
    blocks = []
    for name, join in found.script.joins.items():
        if join.span in shown:
            streams = found.counts.met[name]
            rows = [f"    {line}" for line in aligned(found, name, streams)]
            head = f"{found.script.graph.joins[name].name}: {join_text(found.counts.joins[name])}"
            blocks.append("\n".join([head, *rows]))
    rest = [
        name
        for name, stream in found.script.graph.streams.items()
        if stream.role is Role.REKEYED
        and stream.span in shown
        and not any(name in m for m in found.counts.met.values())
    ]
    if rest:
        blocks.append("\n".join(["in no join", *(f"    {line}" for line in aligned(found, None, rest))]))
    return "\n\n".join(blocks) or "no join, and no PARTITION BY"


def aligned(found: Partitions, join: str | None, names: Sequence[str]) -> list[str]:
    """One line a stream: name, count and rule, place."""
    streams = [found.script.graph.streams[name] for name in names]
    counts = [found.counts.of[name] if join is None else found.counts.within(join, name) for name in names]
    texts = [stream_text(count, stream, found, join) for count, stream in zip(counts, streams, strict=True)]
    width = max(len(stream.name) for stream in streams)
    length = max(map(len, texts))
    return [
        f"{stream.name.ljust(width)}  {text.ljust(length)}  {place_text(stream.span)}"
        for stream, text in zip(streams, texts, strict=True)
    ]


def stream_text(count: Count, stream: Stream, found: Partitions, join: str | None) -> str:
    """A stream's count in a join. What has none of its own is spread by what the join compares."""
    if count.rule is Rule.SPREAD and join is not None:
        return f"{count.partitions} partitions, spread anew for this join"
    inserted = any(found.script.graph.streams[name] is stream for name in found.script.inserted)
    return count_text(count, stream) + (", inserted by SET auto_repartition" if inserted else "")


def join_text(count: Count) -> str:
    """The partitions of a join's state."""
    default = ", as SET state_partitions says" if count.rule is Rule.DEFAULT else ""
    return f"{count.partitions} state partitions{default}"


def mermaid(queries: Sequence[RunningQuery], settings: Settings, catalog: Catalog) -> str:
    """The streams and joins as a Mermaid flowchart."""
    found = partitions(queries, settings, catalog)
    graph, lines = found.script.graph, ["flowchart LR"]
    for name, stream in graph.streams.items():
        own = found.counts.of[name].partitions
        shape = {Role.OUTSIDE: "([{}])", Role.OUTPUT: "([{}])", Role.REKEYED: "[[{}]]", Role.GROUPED: "[{}]"}[
            stream.role
        ]
        count = "" if own is None else f"<br/>{own} partitions"
        lines.append(f"    {vertex(name)}{shape.format(label(stream.name + count))}")
    for name, join in graph.joins.items():
        lines.append(
            f"    {vertex(name)}{{{{{label(f'{join.name}<br/>{found.counts.joins[name].partitions} partitions')}}}}}"
        )
    lines += [
        f"    {vertex(above)} --> {vertex(below)}" for above, readers in graph.readers.items() for below in readers
    ]
    return "\n".join(lines)


def vertex(name: str) -> str:
    return name.replace(" ", "_")


def label(text: str) -> str:
    """A quoted label; quotes in it would end it."""
    return '"' + text.replace('"', "#quot;") + '"'
