"""Reads: the rows of tables as they are at one moment, and what SQL makes of them. Nothing here waits or changes.

The rows of a read are facts: the shape of its nodes is KStream, without a key and without a time. Above snapshots there
are also OneRow, Filter, Project, GroupAggregate, GroupingSets and UnionAll, which mean what they mean over any rows.
"""

from __future__ import annotations

from penstock.planner.plan.column_filter import ColumnFilter
from penstock.planner.plan.expressions import Expression, Sorting
from penstock.planner.plan.join import JoinType
from penstock.planner.plan.node import Binary, Node, Unary
from penstock.planner.plan.scan import Origin


class Snapshot(Node, frozen=True, kw_only=True, eq=False):
    """The rows of a table. With a `key`, its place holds records, and the newest record of each key is the row.

    Without one (None) the rows themselves are there. A table of one row has an empty key. Records whose key is NULL
    are set aside where the key is the origin's, too; among what queries write there are groups of NULL.
    """

    origin: Origin
    key: tuple[str, ...] | None
    filters: tuple[ColumnFilter, ...] = ()
    """Rows for which one of these is not true need not be read."""


class OneRow(Node, frozen=True, kw_only=True, eq=False):
    """One row, which reads nothing. Constants are computed of it."""


class PlainJoin(Binary, frozen=True, kw_only=True, eq=False):
    """The join that SQL knows: rows of both sides beside each other where the condition is true.

    The names of the sides' columns are disjoint (`alias.column`).
    """

    type: JoinType
    condition: Expression


class Sort(Unary, frozen=True, kw_only=True, eq=False):
    """The rows in an order, in any if `order_by` is empty, without the first `skipped` of them.

    Only the first `limit` of these if that is not None.
    """

    order_by: tuple[Sorting, ...]
    limit: int | None
    skipped: int = 0
