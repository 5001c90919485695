"""A plan and the rows of its streams -> the rows of its answer, as if all input had been there at once.

This is the meaning that streaming has to meet; nothing here is fast or incremental. The order of rows means nothing.
What a KTable or WTable holds is its state after the last change. See each operator's file for what is not modelled.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from penstock.planner.plan import (
    AssignWindows,
    Distinct,
    Filter,
    GroupAggregate,
    GroupingSets,
    Intermediate,
    IntervalJoin,
    Node,
    Over,
    OverRows,
    Project,
    Ranked,
    Rekey,
    Scan,
    UnionAll,
    WindowAggregate,
)
from penstock.planner.plan.walk import inputs
from tests.model.aggregate import assign_windows, group_aggregate, window_aggregate
from tests.model.join import interval_join
from tests.model.over import over
from tests.model.rank import ranked
from tests.model.stateless import distinct, filter_rows, grouping_sets, project, union_all
from tests.model.values import Row, Unsupported


def walk(node: Node) -> Iterator[Node]:
    """The node and everything below it."""
    yield node
    for child in inputs(node):
        yield from walk(child)


def apply(node: Node, tables: Sequence[list[Row]]) -> list[Row]:
    """One operator over the rows of its inputs."""
    match node:
        case Intermediate() | Rekey():
            return tables[0]
        case Filter():
            return filter_rows(node, *tables)
        case Project():
            return project(node, *tables)
        case AssignWindows():
            return assign_windows(node, *tables)
        case GroupingSets():
            return grouping_sets(node, *tables)
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
        case Ranked():
            return ranked(node, *tables)
        case _:
            raise Unsupported(f"operator {type(node).__name__}")


def evaluate(node: Node, tables: Mapping[str, list[Row]]) -> list[Row]:
    """The rows of `node`, given the rows of every declared stream by name. Every row has all columns of its Scan."""
    if isinstance(node, Scan):
        return [{column.name: row[column.name] for column in node.schema} for row in tables[node.origin.name]]
    return apply(node, [evaluate(child, tables) for child in inputs(node)])
