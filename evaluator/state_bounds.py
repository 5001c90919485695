"""How large the stated bounds let a plan's state become, counted from the accepted rows and not from any state.

- A join keeps left rows whose time + upper is not behind the watermark, and right rows whose time − lower is not.
  For an open end, it has to be ahead of the watermark.
- A join in panes keeps rows of both sides. They lie as far back as a pane is long and its rows reach, back and forward.
- A window keeps one entry for each key and window whose end is not behind the watermark.
- DISTINCT keeps rows whose time is not behind the watermark.
- OVER keeps rows as far back as a pane is long and the frames reach, back and forward.
- OVER by rows keeps as many rows of each partition as the frames reach back, and all rows after the watermark.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from msgspec.structs import replace

from penstock.evaluator.evaluate import evaluate
from penstock.evaluator.history import Tables
from penstock.evaluator.row_frames import partition_of
from penstock.evaluator.typed_values import milliseconds
from penstock.planner.plan import Distinct, IntervalJoin, Node, Over, OverRows, WindowAggregate


def state_bound(node: Node, tables: Tables, watermark: datetime) -> int:
    """The most that the operators may remember when `tables` is what has been accepted so far."""
    below = sum(state_bound(child, tables, watermark) for child in node.inputs)
    rows = [evaluate(child, tables) for child in node.inputs]
    match node:
        case IntervalJoin() if node.pane is not None:
            reach = milliseconds(node.pane + sum(node.bound.reach(node.type)))
            times = [row[node.left_time] for row in rows[0]] + [row[node.right_time] for row in rows[1]]
            return below + len([time for time in times if time + reach >= watermark])
        case IntervalJoin():
            upper, lower = node.bound.upper, node.bound.lower
            lefts = [row[node.left_time] + milliseconds(upper.milliseconds) for row in rows[0]]
            rights = [row[node.right_time] - milliseconds(lower.milliseconds) for row in rows[1]]
            ends = [(time, upper.closed) for time in lefts] + [(time, lower.closed) for time in rights]
            return below + len([time for time, closed in ends if time > watermark or (closed and time == watermark)])
        case WindowAggregate():
            windows = evaluate(replace(node, aggregates=()), tables)
            return below + len([row for row in windows if row["window_end"] >= watermark])
        case Over():
            reach = milliseconds(node.pane + node.back + node.forward)
            return below + len([row for row in rows[0] if row[node.time] + reach >= watermark])
        case OverRows():
            before = Counter(partition_of(node, row) for row in rows[0] if row[node.time] < watermark)
            waiting = [row for row in rows[0] if row[node.time] >= watermark]
            return below + len(waiting) + sum(min(count, node.back) for count in before.values())
        case Distinct():
            return below + len([row for row in rows[0] if row[node.time] >= watermark])
        case _:
            return below
