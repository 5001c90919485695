"""The columns that views have beside the columns of their nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import assert_never

from penstock.codegen.cut_queries import is_intermediate
from penstock.codegen.sql import row_forms
from penstock.planner.physical.choose import choose
from penstock.planner.physical.row_form import RowForm
from penstock.planner.plan import (
    AssignWindows,
    Filter,
    GroupingSets,
    Intermediate,
    KTable,
    Node,
    Project,
    Rekey,
    RemoteLookup,
    Scan,
    Stateful,
    Stateless,
    UnionAll,
    Unnest,
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
    forms: dict[Node, RowForm] = {}
    deltas = _find_inputs(nodes, is_retracting)
    inner = _find_inputs(nodes, lambda node: isinstance(node, Intermediate))
    refers = any(choose(node).READS_ORDER for node in nodes if isinstance(node, Stateful))
    for node in nodes:
        if isinstance(node, Stateful):
            forms[node] = choose(node).find_form(is_kept=tracked or node in inner, is_numbered=numbered)
            continue
        assert isinstance(node, Stateless)
        match node:
            case Scan() if isinstance(node.shape, KTable) and refers and is_intermediate(node.origin):
                forms[node] = RowForm.ORDERED_DELTAS
            case Scan() if isinstance(node.shape, KTable):
                forms[node] = RowForm.DELTAS if node in deltas else RowForm.UPSERTS
            case Scan() if isinstance(node.shape, WTable):
                forms[node] = RowForm.UPSERTS
            case Filter() | Project() | GroupingSets() | Unnest():
                forms[node] = forms[node.input]
            case UnionAll() if isinstance(node.shape, KTable):
                forms[node] = forms[node.inputs[0]]
            case Intermediate():
                forms[node] = RowForm.DELTAS if node in deltas else RowForm.UPSERTS
            case Scan() | AssignWindows() | Rekey() | UnionAll() | WithLate() | RemoteLookup():
                forms[node] = RowForm.ROWS
            case _:
                assert_never(node)
    return {node: row_forms.COLUMNS[form] for node, form in forms.items()}


def _find_inputs(nodes: Sequence[Node], reads: Callable[[Node], bool]) -> set[Node]:
    """The nodes whose rows come to a node that `reads` says, down to what keeps state. Inputs are before readers."""
    found: set[Node] = set()
    for node in reversed(nodes):
        if reads(node) or (node in found and not isinstance(node, Stateful | Intermediate)):
            found.update(node.inputs)
    return found
