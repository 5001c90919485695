"""The rows per second that reach an operator, from the rates of the streams below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import assert_never

import msgspec
from msgspec.structs import replace

from penstock.planner.connectors import connector_of
from penstock.planner.physical.choose import choose
from penstock.planner.physical.estimates import Flow, UnknownFlow
from penstock.planner.plan import (
    AssignWindows,
    Cumulate,
    Filter,
    GroupingSets,
    Hop,
    Intermediate,
    KStream,
    Node,
    Operator,
    Project,
    Rekey,
    RemoteLookup,
    RunningQuery,
    Scan,
    Stateful,
    TableLookup,
    UnionAll,
    Unnest,
    WithLate,
)
from penstock.planner.plan.walk import fold_plan, walk


class Rates(msgspec.Struct, frozen=True):
    """Rows per second of event time by the names of streams. A declared rate is taken before an observed one."""

    declared: Mapping[str, float]
    observed: Mapping[str, float]

    def find(self, stream: str) -> float | None:
        """The rate of a stream, None if nothing is known of it."""
        return self.declared.get(stream, self.observed.get(stream))

    def describe(self, streams: tuple[str, ...]) -> str:
        """`200 rows per second of orders, 50 of payments as in the last run`."""
        parts = []
        for place, stream in enumerate(streams):
            rate = self.find(stream) or 0
            unit = "" if place else " row per second" if rate == 1 else " rows per second"
            origin = "" if stream in self.declared else " as in the last run"
            parts.append(f"{rate_text(rate)}{unit} of {stream}{origin}")
        return ", ".join(parts)


def find_rates(query: RunningQuery, observed: Mapping[str, float]) -> Rates:
    """The rates of the streams that the query reads: declared in the script, or observed, by name."""
    declared = {}
    for node in walk(query.root):
        if isinstance(node, Scan) and isinstance(node.shape, KStream):
            connector = connector_of(node.origin.connector)
            value = {**connector.defaults, **dict(node.origin.options)}.get(connector.rate_option)
            if isinstance(value, int):
                declared[node.origin.name] = float(value)
    return Rates(declared, observed)


def find_flow(root: Node, rates: Rates) -> Flow | UnknownFlow:
    """The rows per second that come out of a node."""

    def follow(node: Node, below: tuple[Flow | UnknownFlow, ...]) -> Flow | UnknownFlow:
        assert isinstance(node, Operator)
        if not isinstance(node.shape, KStream) and not isinstance(node, Scan):
            return UnknownFlow("the number of changes of a table does not follow from rates")
        # The table of a lookup has no rate, and needs none.
        read = below[:1] if isinstance(node, TableLookup) else below
        known = [each for each in read if isinstance(each, Flow)]
        if len(known) < len(read):
            return next(each for each in read if isinstance(each, UnknownFlow))
        return _send(node, known, rates)

    return fold_plan(root, follow)


def _send(node: Operator, known: Sequence[Flow], rates: Rates) -> Flow | UnknownFlow:
    """What comes out of an operator if these rows reach it."""
    if isinstance(node, Stateful):
        return choose(node).find_flow(known[0])
    match node:
        case Scan():
            return _read(node, rates)
        case UnionAll():
            streams = tuple(dict.fromkeys(stream for each in known for stream in each.streams))
            exact, tasks = all(each.is_exact for each in known), sum(each.tasks for each in known)
            return Flow(sum(each.rate for each in known), exact, streams, tasks)
        case AssignWindows():
            return replace(known[0], rate=known[0].rate * _count_windows(node))
        case GroupingSets():
            return replace(known[0], rate=known[0].rate * len(node.ids))
        case Project() | Rekey() | WithLate() | Intermediate():
            return known[0]
        case Filter() | RemoteLookup():
            # A row that is looked up meets one row of the table, or none.
            return replace(known[0], is_exact=False)
        case Unnest():
            return UnknownFlow(f"how many rows come out of {node.NOUN} does not follow from rates")
        case _:
            assert_never(node)


def rate_text(rate: float) -> str:
    """Rows per second, fractions to three digits."""
    return f"{rate:,.0f}" if rate >= 100 or rate == int(rate) else f"{rate:.3g}"


def _read(scan: Scan, rates: Rates) -> Flow | UnknownFlow:
    name = scan.origin.name
    rate = rates.find(name)
    if not isinstance(scan.shape, KStream):
        return UnknownFlow(f"{name} is a table, and the number of its keys is not known")
    if rate is None:
        return UnknownFlow(f"{name} has no rate")
    return Flow(rate, True, (name,), scan.origin.partitions or 1)


def _count_windows(node: AssignWindows) -> float:
    """How many windows hold a row on average."""
    match node.window:
        case Hop(slide, size):
            return size / slide
        case Cumulate(step, size):
            return (size / step + 1) / 2
        case _:
            return 1
