"""RunningQuery -> the queries that compute it: a plan cut at its intermediate streams.

Every `Intermediate` becomes the sink of a query of its own and a scan in the one above. Both call it by the same name.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from penstock.codegen.behind import behind, disorder
from penstock.planner import connectors
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
from penstock.planner.plan.walk import folded, inputs, is_changing, is_timed, stateful, walk, with_inputs

STAGE = connectors.STAGE.name
"""The connector of an intermediate stream."""


def stages(
    query: RunningQuery, name: str, taken: Collection[str], shared: dict[Node, Scan] | None = None
) -> list[RunningQuery]:
    """The query as queries without intermediate streams, those that write one before those that read it.

    `name` is that of the whole query as a plain identifier; the others are called `<name>_stage1` and so on, which is
    also the name of what they write. None of them is in `taken`. `shared`: the streams that queries before this one
    write for several; it grows.
    """
    known = {} if shared is None else shared
    nodes = set(walk(query.root))
    timed = {below for node in nodes if is_timed(node) for below in walk(node)}
    lookups = (node for node in nodes if isinstance(node, TableLookup) and node.kept is not None)
    followed = {below for node in lookups for below in walk(node.stream)}
    scans: dict[Node, Node] = {}
    above: list[RunningQuery] = []

    def cut(node: Node, below: tuple[Node, ...]) -> Node:
        if node not in scans:
            remade = with_inputs(node, below)
            scans[node] = read(remade, node) if isinstance(remade, Intermediate) else remade
        return scans[node]

    def read(node: Intermediate, uncut: Node) -> Node:
        if node.shared and node not in known:
            known[node] = written(node, uncut)
        return known[node] if node.shared else written(node, uncut)

    def written(node: Intermediate, uncut: Node) -> Scan:
        number = len(above) + 1
        stage = f"{name}_stage{number}"
        while stage in taken:
            stage += "_"
        sink = Sink(stage, STAGE, ())
        shape = node.shape
        if isinstance(shape, KTable):
            above.append(RunningQuery(stage, node.input, sink, Emission.CHANGES, shape.key, node.span))
            origin = Origin(stage, STAGE, (), node.schema, shape.key, None, None, None)
            return Scan(schema=node.schema, shape=shape, span=node.span, origin=origin)
        (writer,) = inputs(uncut)  # with all its event times
        if isinstance(shape, WTable):
            emission = Emission.CHANGES if is_changing(writer) else Emission.FINAL
            windows = stateful(node.input)
            every = windows.every if isinstance(windows, WindowAggregate) else None
            above.append(RunningQuery(stage, node.input, sink, emission, shape.identity, node.span, every))
            delay, late = disorder(writer), behind(writer, shape.end)
            origin = Origin(stage, STAGE, (), node.schema, shape.key, shape.end, delay, None, behind=late)
            return Scan(schema=node.schema, shape=shape, span=node.span, origin=origin)
        is_timed = shape.time is not None and (node.shared or uncut in timed)
        above.append(RunningQuery(stage, node.input, sink, Emission.FINAL, (), node.span, timed=is_timed))
        if not (is_timed or uncut in followed):
            shape = KStream(shape.key, ())
        of_time = None if shape.time is None else behind(writer, shape.time)
        origin = Origin(stage, STAGE, (), node.schema, shape.key, shape.time, shape.delay, None, behind=of_time)
        return Scan(schema=node.schema, shape=shape, span=node.span, origin=origin)

    root = folded(query.root, cut)
    return [*above, replace(query, name=name, root=root)]
