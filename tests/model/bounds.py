"""How large the stated bounds let a plan's state become, counted from the accepted rows and not from any state.

join    rows of the left whose time + upper, and of the right whose time − lower, is not behind the watermark
window  keys times windows whose end is not behind the watermark
OVER    rows of the longest frame behind the watermark, and those after it
"""

from __future__ import annotations

from datetime import datetime

from penstock.planner.plan import IntervalJoin, Node, Over, WindowAggregate

from tests.model.evaluate import evaluate, inputs
from tests.model.history import Tables
from tests.model.values import milliseconds


def state_bound(node: Node, tables: Tables, watermark: datetime) -> int:
    """The most that the operators may remember when `tables` is what has been accepted so far."""
    below = sum(state_bound(child, tables, watermark) for child in inputs(node))
    rows = [evaluate(child, tables) for child in inputs(node)]
    match node:
        case IntervalJoin():
            upper, lower = (milliseconds(end.milliseconds) for end in (node.bound.upper, node.bound.lower))
            lefts = [row for row in rows[0] if row[node.left_time] + upper >= watermark]
            rights = [row for row in rows[1] if row[node.right_time] - lower >= watermark]
            return below + len(lefts) + len(rights)
        case WindowAggregate():
            return below + sum(row["window_end"] >= watermark for row in evaluate(node, tables))
        case Over():
            longest = milliseconds(max(each.preceding for each in node.aggregates))
            return below + sum(row[node.time] + longest >= watermark for row in rows[0])
        case _:
            return below
