"""The forms in which operators hand on rows."""

from __future__ import annotations

from enum import Enum, auto

from penstock.planner.plan import Node


class RowForm(Enum):
    """What a view has beside the columns of its node. `codegen/sql/row_forms.py` has the columns."""

    ROWS = auto()
    """Nothing."""
    ORDERED_ROWS = auto()
    """The order of the row among the rows of its window."""
    UPSERTS = auto()
    """The order of the row among the rows of its key, and whether the key is deleted."""
    KEY_RESULTS = auto()
    """Upserts with the operator's own key."""
    DELTAS = auto()
    """Whether the row is inserted or deleted."""
    ORDERED_DELTAS = auto()
    """Deltas with their order."""
    CHANGES = auto()
    """The row before, the row after, and their order, in place of the columns of the node."""


def find_keyed_form(node: Node, *, is_kept: bool) -> RowForm:
    """The form of the rows of an aggregation by key."""
    if not is_kept:
        return RowForm.ROWS
    return RowForm.KEY_RESULTS if node.shape.key else RowForm.UPSERTS
