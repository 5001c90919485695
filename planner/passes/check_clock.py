"""Results of operators with state do not depend on when their rows are processed."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.diagnostics import Diagnostic
from penstock.diagnostics.codes.event_time import W014
from penstock.planner.functions import clock_calls
from penstock.planner.plan import RunningQuery, Stateful
from penstock.planner.plan.walk import rows_leave, walk


def check_clock(query: RunningQuery) -> Iterator[Diagnostic]:
    """Finds calls of the clock in stateful operators and in what these read.

    Their results would depend on when rows are processed, and so on micro-batch borders. So would a table whose rows
    can leave: it is compared with what it was before.
    """
    root = query.root
    for node in walk(root):
        if isinstance(node, Stateful) or (node is root and rows_leave(root)):
            name = node.NOUN if isinstance(node, Stateful) else "a table"
            for below in walk(node):
                for call in (call for expression in below.expressions for call in clock_calls(expression)):
                    found = W014.at(call.meta.get("span", below.span), "", operator=name)
                    yield found.with_hint("compare event times, or filter the result")
