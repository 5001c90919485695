"""The columns that views have beside the columns of their nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import assert_never

from penstock.codegen.cut_queries import is_intermediate
from penstock.codegen.sql import row_forms
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
    Operator,
    Over,
    OverRows,
    Project,
    Ranked,
    Rekey,
    RemoteLookup,
    Scan,
    Stateful,
    TableJoin,
    TableLookup,
    TableRanked,
    UnionAll,
    Unnest,
    WindowAggregate,
    WithLate,
    WTable,
)
from penstock.planner.plan.walk import is_retracting


def find_own_columns(
    nodes: list[Node], *, tracked: bool, numbered: bool, by_arrival: bool
) -> dict[Node, tuple[str, ...]]:
    """The columns by node.

    `numbered`: the columns of windows have an order. `by_arrival`: all rows carry the places of their records.
    """
    if by_arrival:
        return dict.fromkeys(nodes, (row_forms.ORDER,))
    own: dict[Node, tuple[str, ...]] = {}
    deltas = _find_inputs(nodes, is_retracting)
    inner = _find_inputs(nodes, lambda node: isinstance(node, Intermediate))
    refers = any(isinstance(node, ForeignKeyJoin | TableRanked) for node in nodes)
    for node in nodes:
        assert isinstance(node, Operator)
        match node:
            case Scan() if isinstance(node.shape, KTable) and refers and is_intermediate(node.origin):
                own[node] = row_forms.ORDERED_DELTA_ROW
            case Scan() if isinstance(node.shape, KTable):
                own[node] = row_forms.DELTA_ROW if node in deltas else row_forms.UPSERT
            case Scan() if isinstance(node.shape, WTable):
                own[node] = row_forms.UPSERT
            case WindowAggregate() if node.rows_leave:
                own[node] = row_forms.CHANGE_ROW
            case WindowAggregate() if numbered:
                own[node] = (row_forms.ORDER,)
            case TableJoin() if node.is_windowed:
                own[node] = (row_forms.ORDER,) if numbered else ()
            case ForeignKeyJoin():
                own[node] = () if isinstance(node.shape, WTable) else row_forms.DELTA_ROW
            case TableRanked():
                own[node] = row_forms.CHANGE_ROW if node.is_by_key else row_forms.DELTA_ROW
            case Filter() | Project() | GroupingSets() | Unnest():
                own[node] = own[node.input]
            case UnionAll() if isinstance(node.shape, KTable):
                own[node] = own[node.inputs[0]]
            case Latest() | TableJoin() | GroupAggregate():
                keyed = row_forms.KEY_RESULT if node.shape.key else row_forms.UPSERT
                own[node] = keyed if tracked or node in inner else ()
            case Intermediate():
                own[node] = row_forms.DELTA_ROW if node in deltas else row_forms.UPSERT
            case Scan() | WindowAggregate() | AssignWindows() | Rekey() | UnionAll() | WithLate():
                own[node] = ()
            case Distinct() | IntervalJoin() | Over() | OverRows() | Ranked() | TableLookup() | RemoteLookup():
                own[node] = ()
            case _:
                assert_never(node)
    return own


def _find_inputs(nodes: Sequence[Node], reads: Callable[[Node], bool]) -> set[Node]:
    """The nodes whose rows come to a node that `reads` says, down to what keeps state. Inputs are before readers."""
    found: set[Node] = set()
    for node in reversed(nodes):
        if reads(node) or (node in found and not isinstance(node, Stateful | Intermediate)):
            found.update(node.inputs)
    return found
