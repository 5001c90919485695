"""The records of a changelog -> changes with the row before and the row after, where an operator needs both."""

from __future__ import annotations

from penstock.diagnostics import Span
from penstock.planner.lower.rows import staged
from penstock.planner.plan import KStream, Latest, Node, Stateful
from penstock.planner.plan.walk import walk


def as_changes(node: Node) -> Node:
    """The table's changes; a stream is left as it is. What operators with state send are changes already."""
    if isinstance(node.shape, KStream) or any(isinstance(each, Stateful) for each in walk(node)):
        return node
    return Latest(schema=node.schema, shape=node.shape, span=node.span, input=node)


def staged_changes(node: Node, span: Span) -> Node:
    """The input of an operator that needs the row before: a table's changes, from a query of their own."""
    return staged(as_changes(node), span)
