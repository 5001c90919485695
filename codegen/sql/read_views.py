"""The plan of a read -> views of Spark SQL over what is there now.

Its expressions are computed as in queries that run.
"""

from __future__ import annotations

from typing import assert_never

from sqlglot import exp

from penstock.codegen.program import Input, View
from penstock.codegen.sql.aggregate_views import group_aggregate_view
from penstock.codegen.sql.interval_join import JOIN_WORDS
from penstock.codegen.sql.latest_views import upsert_struct
from penstock.codegen.sql.printing import print_sql
from penstock.codegen.sql.row_forms import DELETED, ORDER
from penstock.codegen.sql.scan_views import input_of, records_now, rows_now
from penstock.codegen.sql.stateless_views import filter_view, grouping_sets_views, project_view, union_view, unnest_view
from penstock.codegen.sql.trees import alias, call, column, columns, number, row_columns, select, table
from penstock.planner.connectors import connector_of
from penstock.planner.plan import (
    Filter,
    GroupAggregate,
    GroupingSets,
    KStream,
    KTable,
    Node,
    OneRow,
    PlainJoin,
    Project,
    ReadOperator,
    Scan,
    Snapshot,
    Sort,
    UnionAll,
    Unnest,
)
from penstock.planner.plan.walk import fold_plan


def read_views(root: Node) -> tuple[tuple[Input, ...], tuple[View, ...], str]:
    """What is read, the views over it, and the last one's name. A table that is named twice is read once."""
    names: dict[Node, str] = {}
    sources: list[Input] = []
    views: list[View] = []

    def lower_node(node: Node, below: tuple[str, ...]) -> str:
        if node not in names:
            names[node] = f"r{len(names)}"
            if isinstance(node, Snapshot):
                sources.append(_input(node, names[node]))
            views.extend(_views(node, names[node], below))
        return names[node]

    result = fold_plan(root, lower_node)
    return tuple(sources), tuple(views), result


def _views(node: Node, name: str, below: tuple[str, ...]) -> tuple[View, ...]:
    assert isinstance(node, ReadOperator), f"the planner let a {type(node).__name__} into a read"
    match node:
        case Snapshot():
            return _snapshot_views(node, name)
        case OneRow():
            row = [alias(exp.Boolean(this=True), each.name) for each in node.schema]
            return (View(name, print_sql(exp.Select(expressions=row))),)
        case Filter():
            return (filter_view(node, name, *below),)
        case Project():
            return (project_view(node, name, *below),)
        case UnionAll():
            return (union_view(node, name, below),)
        case Unnest():
            return (unnest_view(node, name, below[0], ()),)
        case GroupingSets():
            return grouping_sets_views(node, name, below[0], ())
        case GroupAggregate():
            return (group_aggregate_view(node, name, below[0], ()),)
        case PlainJoin():
            return (_join_view(node, name, *below),)
        case Sort():
            return (_sort_view(node, name, *below),)
        case _:
            assert_never(node)


def _input(node: Snapshot, name: str) -> Input:
    if _is_parsed(node):
        return input_of(_scan(node), f"{name}_raw")
    origin, stored = node.origin, tuple((each.name, str(each.type)) for each in node.schema)
    ordered = node.key is not None
    return Input(origin.name, f"{name}_raw", origin.connector, origin.options, stored, node.filters, ordered)


def _is_parsed(node: Snapshot) -> bool:
    """Whether the table is read as records, and not as rows."""
    connector = connector_of(node.origin.connector)
    return connector.parses_records and not connector.changes_rows


def _scan(node: Snapshot) -> Scan:
    """The table as a query that runs would read it."""
    shape = KStream() if node.key is None else KTable(node.key)
    return Scan(schema=node.schema, shape=shape, span=node.span, origin=node.origin)


def _snapshot_views(node: Snapshot, name: str) -> tuple[View, ...]:
    """The newest record of each key, where it is not deleted."""
    if node.key is None and not _is_parsed(node):
        return (View(name, print_sql(select(columns(node.schema), f"{name}_raw"))),)
    if node.key is None:
        return rows_now(_scan(node), name)
    if not _is_parsed(node):
        marks = [alias(column("_place"), ORDER), alias(exp.Boolean(this=False), DELETED)]
        sql = print_sql(select([*columns(node.schema), *marks], f"{name}_raw"))
        records: tuple[View, ...] = (View(f"{name}_records", sql),)
    else:
        records = records_now(_scan(node), name)
    newest = alias(call("MAX_BY", upsert_struct(node), column(ORDER)), "_newest")
    tree = select([newest], records[-1].name).group_by(*map(column, node.key), copy=False)
    last = View(f"{name}_newest", print_sql(tree))
    items = row_columns(node.schema, lambda field: column("_newest", field))
    there = exp.Not(this=column("_newest", DELETED))
    return (*records, last, View(name, print_sql(select(items, last.name).where(there, copy=False))))


def _join_view(node: PlainJoin, name: str, left: str, right: str) -> View:
    tree = select(columns(node.schema), left)
    tree = tree.join(table(right), on=node.condition.copy(), join_type=JOIN_WORDS[node.type], copy=False)
    return View(name, print_sql(tree))


def _sort_view(node: Sort, name: str, source: str) -> View:
    tree = select(columns(node.schema), source)
    for each in node.order_by:
        ordered = exp.Ordered(this=each.value, desc=each.descending, nulls_first=each.nulls_first)
        tree = tree.order_by(ordered, copy=False)
    if node.limit is not None:
        tree = tree.limit(number(node.limit), copy=False)
    if node.skipped:
        tree = tree.offset(number(node.skipped), copy=False)
    return View(name, print_sql(tree))
