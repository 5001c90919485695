"""Reads of tables in databases ask for the columns and the rows that are used, as far as a database can tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import assert_never

from msgspec.structs import replace

from penstock.planner.connectors import connector_of
from penstock.planner.plan import (
    ColumnFilter,
    Expression,
    Filter,
    GroupAggregate,
    GroupingSets,
    Node,
    OneRow,
    PlainJoin,
    Project,
    ReadOperator,
    Snapshot,
    Sort,
    UnionAll,
    Unnest,
    conjuncts,
    find_columns,
    make_column,
)
from penstock.planner.plan.substitute import substitute
from penstock.planner.plan.walk import fold_plan, list_nodes
from penstock.planner.reads.filters import find_column_filters


def narrow_snapshots(root: Node) -> Node:
    """The plan of a read with the schema that it had. Its filters stay: databases only leave rows out early."""
    wanted = find_wanted_columns(root)

    def narrow(node: Node, below: tuple[Node, ...]) -> Node:
        remade = node.with_inputs(below)
        assert isinstance(remade, ReadOperator)
        match remade:
            case Filter():
                return push_filter(replace(remade, schema=remade.input.schema))
            case Project():
                items = tuple(item for item in remade.items if item.name in wanted[node]) or remade.items[:1]
                return replace(remade, items=items, schema=tuple(remade.column(item.name) for item in items))
            case Snapshot():
                if not asks_database(remade):
                    return remade
                kept = tuple(each for each in remade.schema if each.name in wanted[node]) or remade.schema[:1]
                return replace(remade, schema=kept)
            case PlainJoin():
                names = {each.name for side in below for each in side.schema}
                return replace(remade, schema=tuple(each for each in remade.schema if each.name in names))
            case Sort():
                return replace(remade, schema=remade.input.schema)
            case Unnest():
                return replace(remade, schema=(*remade.input.schema, *remade.schema[-len(remade.given_names) :]))
            case OneRow() | GroupAggregate() | GroupingSets() | UnionAll():
                return remade
            case _:
                assert_never(remade)

    return fold_plan(root, narrow)


def asks_database(node: Snapshot) -> bool:
    """Whether the place of the table can choose columns and rows."""
    return connector_of(node.origin.connector).looks_up


def find_wanted_columns(root: Node) -> Mapping[Node, set[str]]:
    """The columns of each node that the nodes above use."""
    wanted: dict[Node, set[str]] = {root: {each.name for each in root.schema}}
    for node in reversed(list_nodes(root)):
        for below in node.inputs:
            names = {each.name for each in below.schema}
            wanted.setdefault(below, set()).update(find_used(node, wanted[node], names) & names)
    return wanted


def find_used(node: Node, wanted: set[str], names: set[str]) -> set[str]:
    """The columns of an input with these `names` that a node of a read uses.

    `wanted`: the columns used of the node itself.
    """
    assert isinstance(node, ReadOperator)
    match node:
        case Project():
            shown = [item for item in node.items if item.name in wanted] or node.items[:1]
            return find_columns(*(item.value for item in shown))
        case Filter() | PlainJoin():
            return wanted | find_columns(node.condition)
        case Sort():
            return wanted | find_columns(*(each.value for each in node.order_by))
        case Unnest():
            return wanted | set(node.used_columns)
        case GroupAggregate():
            return set(node.used_columns)
        case Snapshot() | OneRow() | GroupingSets() | UnionAll():
            return names
        case _:
            assert_never(node)


def push_filter(node: Filter) -> Node:
    """The filter over a snapshot that leaves out rows for which it cannot be true."""
    above: list[Filter | Project] = [node]
    while isinstance(above[-1].input, Filter | Project):
        above.append(above[-1].input)
    snapshot = above[-1].input
    if not (isinstance(snapshot, Snapshot) and asks_database(snapshot)):
        return node
    found = tuple(dict.fromkeys([*snapshot.filters, *find_pushed(above, snapshot)]))
    remade: Node = replace(snapshot, filters=found)
    for each in reversed(above):
        remade = each.with_inputs((remade,))
    return remade


def find_pushed(above: list[Filter | Project], snapshot: Snapshot) -> Iterator[ColumnFilter]:
    """What the first of the nodes, which is a filter, asks of the snapshot's columns."""
    top, *below = above
    assert isinstance(top, Filter)
    values: dict[str, Expression] = {each.name: make_column(each.name) for each in snapshot.schema}
    for node in reversed(below):
        if isinstance(node, Project):
            values = {item.name: substitute(item.value, values) for item in node.items}
    for part in conjuncts(top.condition):
        yield from find_column_filters(substitute(part, values), {each.name: each.type for each in snapshot.schema})
