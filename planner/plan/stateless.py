"""Operators that look at one row at a time. Their state is `none`."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.planner.plan.aggregate import Cumulate, Hop, Tumble
from penstock.planner.plan.expressions import Expression, Named
from penstock.planner.plan.node import Node


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Filter(Node):
    """The rows of `input` for which `condition` is true (not false, not NULL)."""

    input: Node
    condition: Expression


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Project(Node):
    """One output row per row of `input`, with the columns `items`, in order."""

    input: Node
    items: tuple[Named, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AssignWindows(Node):
    """Each row of `input` once for each window that holds it, with `window_start` and `window_end` behind its columns.

    `time` is the input's event-time column; it is still that of the node.
    """

    input: Node
    window: Tumble | Hop | Cumulate
    time: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupingSets(Node):
    """Each row of `input` once for each of `ids`.

    The columns are those of the input, then `id_column`, the grouping set's id, then the keys. The id has a bit for
    each key, the first one's highest; where it is 1 the set does not have the key, and its column is NULL.
    """

    input: Node
    keys: tuple[Named, ...]
    ids: tuple[int, ...]
    id_column: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UnionAll(Node):
    """The rows of all inputs. Columns match by position; names are those of the first input, types are equal."""

    inputs: tuple[Node, ...]
