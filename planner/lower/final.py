"""A windowed table -> the stream of its final rows: each comes once, when the watermark has passed its window."""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace
from sqlglot import exp

from penstock.planner.lower.from_rows import order_times
from penstock.planner.lower.intermediates import materialise_input
from penstock.planner.lower.joins.primary_joins import find_shown_groups, key_column, table_shape
from penstock.planner.lower.rank import find_window_end
from penstock.planner.lower.select_items import WINDOW_COLUMNS, derive_projected_shape
from penstock.planner.lower.time_windows import list_final_times
from penstock.planner.plan import (
    Emission,
    EventTime,
    Filter,
    Intermediate,
    KStream,
    KTable,
    Node,
    Project,
    Ranked,
    Sorting,
    TableJoin,
    TableRanked,
    WindowAggregate,
    make_column,
)
from penstock.planner.plan.walk import fold_plan, has_window_key, walk


def stream_final_rows(root: Node) -> Node:
    """Turns a windowed table into the stream of its final rows. A plan with a table without windows stays as it is."""
    nodes = list(walk(root))
    if any(isinstance(node.shape, KTable) and not has_window_key(node) for node in nodes):
        return root
    ranked = (node for node in nodes if isinstance(node, TableRanked))
    if any(find_window_end(each.input, each.partition_by) is None for each in ranked):
        return root

    def stream_node(node: Node) -> Node:
        known = Filter | Project | Intermediate | WindowAggregate | TableJoin | TableRanked
        assert isinstance(node, known), "gives no windowed table"
        match node:
            case Intermediate():
                return stream_node(node.input)
            case TableRanked():
                return rank_final_rows(node, stream_node(node.input))
            case Filter():
                below = stream_node(node.input)
                return replace(node, input=below, shape=below.shape)
            case Project():
                below = stream_node(node.input)
                return replace(node, input=below, shape=derive_projected_shape(below, node.items, node.span))
            case WindowAggregate():
                names = tuple(key.name for key in node.keys)
                return replace(send_final_rows(node), shape=KStream(names, list_final_times(node.window)))
            case TableJoin():
                return replace(send_final_rows(node), shape=derive_joined_stream(node))
            case _:
                assert_never(node)

    return stream_node(root)


def rank_final_rows(node: TableRanked, rows: Node) -> Node:
    """The places of the rows of a windowed table among all final rows of their window."""
    assert isinstance(rows.shape, KStream)
    assert not isinstance(node.shape, KStream)
    names = [each.name for each in node.partition_by if isinstance(each, exp.Column)]
    times = (each.column for each in sorted(rows.shape.times, key=lambda each: each.delay) if each.column in names)
    time = next(times, node.shape.identity[-1])
    own = (make_column(each) for each in node.shape.identity if each not in names)
    key = tuple(Sorting(each, descending=False, nulls_first=True) for each in own)
    rankings = (
        replace(each, order_by=(*each.order_by, *key)) if each.numbers_equal_rows else each for each in node.rankings
    )
    return Ranked(
        schema=node.schema,
        shape=KStream(rows.shape.key, order_times(rows, time)),
        span=node.span,
        input=materialise_input(rows, time),
        time=time,
        partition_by=tuple(each for each in node.partition_by if each != make_column(time)),
        rankings=tuple(rankings),
    )


def derive_joined_stream(join: TableJoin) -> KStream:
    """The shape of the stream of joined windows, which come out in the order of their ends.

    The window columns of a side that is never padded are event times, too. The last such side gives the key.
    """
    keys = [join.identity[: len(join.sides[0].keys)]]
    bounds = [join.identity[len(keys[0]) :]]
    shown = find_shown_groups(join.steps)
    for number, side in enumerate(join.sides):
        if frozenset([number]) in shown and not side.shift:
            keys.append(tuple(key_column(side, place) for place in range(len(side.keys))))
            bounds.append(table_shape(side.input).identity[len(side.keys) :])
    window = next(node.window for node in walk(join) if isinstance(node, WindowAggregate))
    times: list[EventTime] = []
    for start, end in reversed(bounds):
        renamed = dict(zip(WINDOW_COLUMNS, (start, end), strict=True))
        times += (replace(each, column=renamed[each.column]) for each in list_final_times(window))
    return KStream(keys[-1], tuple(times))


def send_final_rows(root: Node) -> Node:
    """The windowed table with its final rows only."""

    def emit_final(node: Node, below: tuple[Node, ...]) -> Node:
        node = node.with_inputs(below)
        if isinstance(node, WindowAggregate):
            aggregates = tuple(replace(each, keeps_values=False) for each in node.aggregates)
            return replace(node, emission=Emission.FINAL, every=None, aggregates=aggregates)
        return node

    return fold_plan(root, emit_final)
