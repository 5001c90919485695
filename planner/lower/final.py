"""A windowed table -> the stream of its final rows: each comes once, when the watermark has passed its window."""

from __future__ import annotations

from dataclasses import replace

from penstock.planner.lower.items import WINDOW_COLUMNS, projected_shape
from penstock.planner.lower.table_join import key_column, shown_groups, table_shape
from penstock.planner.lower.windows import final_times
from penstock.planner.plan import (
    Emission,
    EventTime,
    Filter,
    KStream,
    KTable,
    Node,
    Project,
    TableJoin,
    WindowAggregate,
)
from penstock.planner.plan.walk import fold_plan, walk, with_inputs


def final_rows(root: Node) -> Node:
    """The rows of a windowed table as a stream; itself where a table without windows has a part in it."""
    if any(isinstance(node.shape, KTable) for node in walk(root)):
        return root

    def streamed(node: Node) -> Node:
        match node:
            case Filter():
                below = streamed(node.input)
                return replace(node, input=below, shape=below.shape)
            case Project():
                below = streamed(node.input)
                return replace(node, input=below, shape=projected_shape(below, node.items, node.span))
            case WindowAggregate():
                names = tuple(key.name for key in node.keys)
                return replace(final(node), shape=KStream(names, final_times(node.window)))
            case TableJoin():
                return replace(final(node), shape=joined_stream(node))
            case _:
                raise AssertionError(f"{type(node).__name__} gives no windowed table")

    return streamed(root)


def joined_stream(join: TableJoin) -> KStream:
    """The shape of joined windows, which come out in the order of their ends. Sides that are never padded have both."""
    keys = [join.identity[: len(join.sides[0].keys)]]
    names = [join.identity[len(keys[0]) :]]
    shown = shown_groups(join.steps)
    for number, side in enumerate(join.sides):
        if frozenset([number]) in shown and not side.shift:
            keys.append(tuple(key_column(side, place) for place in range(len(side.keys))))
            names.append(table_shape(side.input).identity[len(side.keys) :])
    window = next(node.window for node in walk(join) if isinstance(node, WindowAggregate))
    times: list[EventTime] = []
    for start, end in reversed(names):
        own = dict(zip(WINDOW_COLUMNS, (start, end), strict=True))
        times += (replace(each, column=own[each.column]) for each in final_times(window))
    return KStream(keys[-1], tuple(times))


def final(root: Node) -> Node:
    """The windowed table with none but final rows."""

    def sent_once(node: Node, below: tuple[Node, ...]) -> Node:
        node = with_inputs(node, below)
        if isinstance(node, WindowAggregate):
            return replace(node, emission=Emission.FINAL, every=None)
        return node

    return fold_plan(root, sent_once)
