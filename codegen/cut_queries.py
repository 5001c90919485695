"""RunningQuery -> the queries that compute it: its plan, cut at its intermediate streams.

An `Intermediate` becomes the sink of one query and a scan in another. Both use the same name. Tables that
the query which reads them computes, too, stay in its plan (`planner/physical/fuse.py`).
"""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from penstock.planner.connectors import INTERMEDIATE
from penstock.planner.physical.fuse import find_fused
from penstock.planner.physical.lag import max_disorder, max_lag
from penstock.planner.plan import (
    Emission,
    Intermediate,
    KStream,
    KTable,
    Node,
    Origin,
    RunningQuery,
    Scan,
    Sink,
    TableLookup,
    WindowAggregate,
    WTable,
)
from penstock.planner.plan.walk import fold_plan, is_changing, stateful, walk


def is_intermediate(place: Origin | Sink) -> bool:
    """Whether queries of the program write and read it."""
    return place.connector == INTERMEDIATE.name


def cut_at_intermediates(
    query: RunningQuery,
    name: str,
    taken: Collection[str],
    shared: dict[Node, Scan] | None = None,
    streams: dict[Intermediate, str] | None = None,
) -> list[RunningQuery]:
    """The query as queries without `Intermediate` nodes, except the nodes of `find_fused`. Writers come before
    readers.

    `name` is the name of the whole query as a plain identifier. The other queries, and the streams that they write, are
    called `<name>_intermediate1` and so on. None of these names is in `taken`. `shared` holds the streams that earlier
    queries write for several readers; this call adds its own. `streams` gets the name of what each node becomes.
    """
    known = {} if shared is None else shared
    nodes = set(walk(query.root))
    fused = find_fused(query.root)
    timed = {below for node in nodes if node.is_timed for below in walk(node)}
    lookups = (node for node in nodes if isinstance(node, TableLookup) and node.kept is not None)
    followed = {below for node in lookups for below in walk(node.stream)}
    scans: dict[Node, Node] = {}
    above: list[RunningQuery] = []

    def cut_node(node: Node, below: tuple[Node, ...]) -> Node:
        if node not in scans:
            remade = node.with_inputs(below)
            if isinstance(remade, Intermediate) and node not in fused:
                remade = read_intermediate(remade, node)
            scans[node] = remade
        return scans[node]

    def read_intermediate(node: Intermediate, uncut: Node) -> Node:
        if node.shared and node not in known:
            known[node] = write_intermediate(node, uncut)
        return known[node] if node.shared else write_intermediate(node, uncut)

    def write_intermediate(node: Intermediate, uncut: Node) -> Scan:
        number = len(above) + 1
        stream = f"{name}_intermediate{number}"
        while stream in taken:
            stream += "_"
        sink = Sink(stream, INTERMEDIATE.name, ())
        shape = node.shape
        if isinstance(shape, KTable):
            above.append(RunningQuery(stream, node.input, sink, Emission.CHANGES, shape.key, node.span))
            origin = Origin(stream, INTERMEDIATE.name, (), node.schema, shape.key, None, None, None)
            return Scan(schema=node.schema, shape=shape, span=node.span, origin=origin)
        (writer,) = uncut.inputs  # with all its event times
        if isinstance(shape, WTable):
            emission = Emission.CHANGES if is_changing(writer) else Emission.FINAL
            windows = stateful(node.input)
            every = windows.every if isinstance(windows, WindowAggregate) else None
            above.append(RunningQuery(stream, node.input, sink, emission, shape.identity, node.span, every))
            delay, late = max_disorder(writer), max_lag(writer, shape.end)
            origin = Origin(stream, INTERMEDIATE.name, (), node.schema, shape.key, shape.end, delay, None, lag=late)
            return Scan(schema=node.schema, shape=shape, span=node.span, origin=origin)
        is_timed = shape.time is not None and (node.shared or uncut in timed)
        above.append(RunningQuery(stream, node.input, sink, Emission.FINAL, (), node.span, timed=is_timed))
        if not (is_timed or uncut in followed):
            shape = KStream(shape.key, ())
        of_time = None if shape.time is None else max_lag(writer, shape.time)
        origin = Origin(
            stream, INTERMEDIATE.name, (), node.schema, shape.key, shape.time, shape.delay, None, lag=of_time
        )
        return Scan(schema=node.schema, shape=shape, span=node.span, origin=origin)

    root = fold_plan(query.root, cut_node)
    if streams is not None:
        read = ((node, scan) for node, scan in scans.items() if isinstance(node, Intermediate))
        streams |= {node: scan.origin.name for node, scan in read if isinstance(scan, Scan)}
    return [*above, replace(query, name=name, root=root)]
