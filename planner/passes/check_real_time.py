"""SET trigger = 'realtime': Spark runs every operator of the query in its real-time mode."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.diagnostics import Diagnostic
from penstock.diagnostics.codes.connectors import C026
from penstock.planner.connectors import connector_of
from penstock.planner.functions import clock_calls
from penstock.planner.plan import (
    AssignWindows,
    Filter,
    GroupAggregate,
    GroupingSets,
    Intermediate,
    KStream,
    Node,
    Project,
    Rekey,
    RunningQuery,
    Scan,
    Settings,
    StateStore,
    UnionAll,
    Unnest,
    WithLate,
)
from penstock.planner.plan.node import Waiting
from penstock.planner.plan.walk import walk

ROW_BY_ROW = (AssignWindows, Filter, GroupingSets, Project, Rekey, Scan, UnionAll, Unnest)
"""Operators that look at one row at a time, and that Spark runs in real time."""
_BY_WATERMARK = "Its rows follow from the watermark, which Spark moves only between two batches."
_MICRO_BATCHES = "SET trigger = 'micro_batch'"


def check_real_time(query: RunningQuery, settings: Settings) -> Iterator[Diagnostic]:
    """Finds what Spark does not run in real time, what is computed first before other things."""
    if not settings.real_time:
        return
    read: dict[str, Scan] = {}
    for node in walk(query.root):
        if isinstance(node, GroupAggregate):
            yield from _check_group(node, query.root, settings)
        else:
            yield from _check_operator(node)
        yield from _check_clock(node)
        if isinstance(node, Scan):
            yield from _check_scan(node, read)
    yield from _check_target(query)


def _check_operator(node: Node) -> Iterator[Diagnostic]:
    if not isinstance(node, ROW_BY_ROW):
        noun, reason = node.NOUN, "Only filters, projections, UNNEST, UNION ALL and GROUP BY without a window are."
        if isinstance(node, WithLate):
            noun = "keeping late rows"
        elif isinstance(node, Intermediate):
            noun, reason = "an intermediate stream", "Each micro-batch of one query is files for the next one."
        elif isinstance(node, Waiting):
            reason = _BY_WATERMARK
        yield C026.at(node.span, construct=noun).because(reason).with_hint(_MICRO_BATCHES)


def _check_group(node: GroupAggregate, root: Node, settings: Settings) -> Iterator[Diagnostic]:
    """Each row of a stream sends the row of its group, and nothing above asks which one was sent before."""
    if not isinstance(node.input.shape, KStream):
        found = C026.at(node.span, construct="a GROUP BY of a table")
        yield found.because("The rows of a table change, and so leave their groups.").with_hint(_MICRO_BATCHES)
    while isinstance(root, Project):
        root = root.input
    if isinstance(root, Filter):
        found = C026.at(root.span, construct="HAVING, WHERE or LIMIT over groups")
        reason = "A group that is no longer in the table is found by a second aggregation, which reads whole batches."
        yield found.because(reason).with_hint("leave it to the readers of the table")
    if settings.state_store is StateStore.MEMORY:
        found = C026.at(node.span, construct="state in memory")
        yield found.because("Spark keeps the state in RocksDB there.").with_hint("SET state_store = 'rocksdb'")


def _check_clock(node: Node) -> Iterator[Diagnostic]:
    for call in (call for expression in node.expressions for call in clock_calls(expression)):
        found = C026.at(call.meta.get("span", node.span), construct=f"{call.this}")
        yield found.because("Spark gives all rows of a batch the time of its beginning, seconds ago.").with_hint(
            "METADATA FROM 'timestamp' is the time of each message"
        )


def _check_scan(node: Scan, read: dict[str, Scan]) -> Iterator[Diagnostic]:
    """`read`: the scans before this one by their places."""
    origin = node.origin
    connector = connector_of(origin.connector)
    reason = connector.real_time(origin.options)
    if not isinstance(node.shape, KStream):
        found = C026.at(node.span, construct=f"reading the table {origin.name}")
        yield found.because("Which row of a key is the newest would have to be kept.").with_hint(_MICRO_BATCHES)
    elif reason is not None:
        found = C026.at(node.span, construct=f"reading {origin.name} through {connector.name}")
        yield found.because(reason).with_hint("connector = 'kafka', format = 'json', without max_offsets_per_batch")
    place = connector.place(origin.options)
    if place is not None and place in read:
        found = C026.at(node.span, construct="reading one topic twice").also(read[place].span, "first read here")
        hint = "one SELECT with OR in its condition, or CASE in its list"
        yield found.because("Spark would mix up how far each of the two has read.").with_hint(hint)
    if place is not None:
        read[place] = node


def _check_target(query: RunningQuery) -> Iterator[Diagnostic]:
    sink = query.sink
    connector = connector_of(sink.connector)
    reason = connector.real_time(sink.options)
    if reason is not None:
        found = C026.at(query.span, construct=f"writing {sink.name} through {connector.name}")
        yield found.because(reason).with_hint("connector = 'kafka', format = 'json', delivery = 'at_least_once'")
    elif not connector.spark_writes(sink.options):
        found = C026.at(query.span, construct=f"writing {sink.name} exactly once")
        yield found.because("The transaction of a batch would last as long as the batch.").with_hint(
            "delivery = 'at_least_once', in the WITH list of the topic"
        )
