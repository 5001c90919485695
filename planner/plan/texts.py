"""Parts of plans as text for people: expressions, kinds of relations, and the relations that are read."""

from __future__ import annotations

from sqlglot import exp

from penstock.planner.plan.node import KStream, KTable, Node, Shape, WTable
from penstock.planner.plan.scan import Scan
from penstock.planner.plan.walk import walk


def expression_text(expression: exp.Expression) -> str:
    """The expression as Spark writes it, with plain names unquoted."""
    copy = expression.copy()
    for identifier in copy.find_all(exp.Identifier):
        if all(part.isidentifier() for part in identifier.name.split(".")):
            identifier.set("quoted", False)
    return copy.sql(dialect="spark")


def kind_text(shape: Shape) -> str:
    """The word of messages for a relation of that shape."""
    match shape:
        case KStream():
            return "stream"
        case KTable():
            return "table"
        case WTable():
            return "windowed table"


def relation_text(node: Node) -> str:
    """The names of the declared relations that the node reads."""
    scans = (each for each in walk(node) if isinstance(each, Scan))
    return " and ".join(dict.fromkeys(each.origin.name for each in scans))
