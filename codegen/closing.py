"""The stateful operator of a query -> when it sends the rows that it holds back, if it waits for the watermark."""

from __future__ import annotations

from typing import assert_never

from penstock.codegen.program import Closing
from penstock.planner.plan import (
    Cumulate,
    Distinct,
    Emission,
    ForeignKeyJoin,
    GroupAggregate,
    Hop,
    IntervalJoin,
    JoinType,
    Latest,
    Over,
    OverRows,
    Ranked,
    SessionWindow,
    Stateful,
    TableJoin,
    TableLookup,
    TableRanked,
    Tumble,
    Window,
    WindowAggregate,
)


def find_closing(node: Stateful, emission: Emission) -> Closing | None:
    """When rows of the operator come out; None if they do not wait. `emission`: the emission of the query."""
    match node:
        case WindowAggregate():
            return _closing_of_window(node.window) if node.emission is Emission.FINAL else None
        case IntervalJoin() if node.pane is not None:
            return Closing("pane of the join", node.pane, node.bound.reach(node.type)[1])
        case IntervalJoin():
            # A pair is sent at once, a row without a partner when none can come any more.
            pads = node.type not in (JoinType.INNER, JoinType.SEMI)
            return Closing("row without a partner", 0, node.bound.reach(node.type)[1]) if pads else None
        case Over():
            return Closing("pane of OVER", node.pane, node.forward)
        case Ranked() if node.pane is not None:
            return Closing("window", node.pane, 0)
        case OverRows() | Ranked() | Distinct():
            return Closing("row", 0, 0)
        case TableLookup():
            return None if node.as_of is None else Closing("row", 0, 0)
        case TableJoin():
            return Closing("joined window", 0, 0) if node.is_windowed and emission is Emission.FINAL else None
        case GroupAggregate() | Latest() | ForeignKeyJoin() | TableRanked():
            return None
        case _:
            assert_never(node)


def _closing_of_window(window: Window) -> Closing:
    match window:
        case Tumble():
            return Closing("window", window.size, 0)
        case Hop():
            return Closing("window", window.slide, window.size % window.slide)
        case Cumulate():
            return Closing("window", window.step, 0)
        case SessionWindow():
            return Closing("session", 0, window.gap)
        case _:
            assert_never(window)
