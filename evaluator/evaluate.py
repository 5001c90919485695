"""A plan and the rows of its streams -> the rows of its answer, as if all input had been there at once.

This is the meaning that streaming has to meet; nothing here is fast or incremental. The order of rows means nothing.
What a KTable or WTable holds is its state after the last change. See each operator's file for what is not modelled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from penstock.evaluator.held_tables import found_remotely, materialised, referring, table_join
from penstock.evaluator.operator_words import describe_operator
from penstock.evaluator.row_frames import over
from penstock.evaluator.row_groups import assign_windows, group_aggregate, window_aggregate
from penstock.evaluator.row_pairs import interval_join
from penstock.evaluator.row_places import ranked
from penstock.evaluator.single_rows import distinct, filter_rows, grouping_sets, project, result_rows, union_all, unnest
from penstock.evaluator.typed_values import Row, Unsupported
from penstock.planner.plan import (
    AssignWindows,
    Distinct,
    Filter,
    ForeignKeyJoin,
    GroupAggregate,
    GroupingSets,
    Intermediate,
    IntervalJoin,
    KTable,
    Latest,
    Node,
    Over,
    OverRows,
    Project,
    Ranked,
    Rekey,
    RemoteLookup,
    Scan,
    TableJoin,
    TableLookup,
    TableRanked,
    UnionAll,
    Unnest,
    WindowAggregate,
    WithLate,
)
from penstock.planner.plan.walk import walk


def apply(node: Node, tables: Sequence[list[Row]]) -> list[Row]:
    """One operator over the rows of its inputs."""
    match node:
        case Intermediate() | Rekey() | Latest():
            return tables[0]
        case TableJoin():
            return table_join(node, tables)
        case ForeignKeyJoin():
            return referring(node, (tables[0], tables[1]), (node.left, node.right))
        case TableLookup():
            return referring(node, (tables[0], tables[1]), (node.stream, node.table))
        case Filter():
            return filter_rows(node, *tables)
        case Project():
            return project(node, *tables)
        case AssignWindows():
            return assign_windows(node, *tables)
        case GroupingSets():
            return grouping_sets(node, *tables)
        case Unnest():
            return unnest(node, *tables)
        case UnionAll():
            return union_all(node, list(tables))
        case WindowAggregate():
            return window_aggregate(node, *tables)
        case GroupAggregate():
            return group_aggregate(node, *tables)
        case Distinct():
            return distinct(*tables)
        case IntervalJoin():
            return interval_join(node, *tables)
        case Over() | OverRows():
            return over(node, *tables)
        case Ranked() | TableRanked():
            return ranked(node, *tables)
        case WithLate():
            return result_rows(node, *tables)  # no row is late where all are there at once
        case _:
            raise Unsupported(describe_operator(node))


def until(node: TableLookup, row: Row, tables: Mapping[str, list[Row]]) -> Mapping[str, list[Row]]:
    """The records of the tables that are looked up which are not after the row in event time."""
    known = dict(tables)
    assert node.as_of is not None
    now = row[node.as_of]
    for scan in walk(node.table):
        if isinstance(scan, Scan):
            time = scan.origin.time or ""
            records = (each for each in tables[scan.origin.name] if each[time] is not None)
            known[scan.origin.name] = [each for each in records if each[time] <= now]
    return known


def evaluate(node: Node, tables: Mapping[str, list[Row]]) -> list[Row]:
    """The rows of `node`, given the rows of every declared stream and the records of every table by name.

    Every row has all columns of its Scan. A stream that looks up a table meets the table as it is here: `tables` is
    what is known when those rows are processed. For a table in a database it has the rows.
    """
    if isinstance(node, Scan) and isinstance(node.shape, KTable):
        return materialised(node, tables[node.origin.name])
    if isinstance(node, Scan):
        return [{column.name: row[column.name] for column in node.schema} for row in tables[node.origin.name]]
    if isinstance(node, RemoteLookup):
        return found_remotely(node, evaluate(node.input, tables), tables[node.origin.name])
    if isinstance(node, TableLookup) and node.as_of is not None:
        rows = evaluate(node.stream, tables)
        return [each for row in rows for each in apply(node, [[row], evaluate(node.table, until(node, row, tables))])]
    return apply(node, [evaluate(child, tables) for child in node.inputs])
