"""What messages call operators and kinds of relations."""

from __future__ import annotations

from penstock.planner.plan import (
    Distinct,
    ForeignKeyJoin,
    GroupAggregate,
    IntervalJoin,
    KStream,
    KTable,
    Latest,
    Node,
    Over,
    OverRows,
    Ranked,
    Shape,
    TableJoin,
    TableLookup,
    WindowAggregate,
    WTable,
)


def operator_name(node: Node) -> str:
    """The operator as messages call it."""
    match node:
        case WindowAggregate():
            return "a window aggregation"
        case GroupAggregate():
            return "a GROUP BY"
        case IntervalJoin():
            return "a stream-stream join"
        case Distinct():
            return "SELECT DISTINCT"
        case Over() | OverRows():
            return "OVER"
        case Ranked():
            return "a ranking"
        case TableJoin() | ForeignKeyJoin():
            return "a join of tables"
        case TableLookup():
            return "a stream-table join"
        case Latest():
            return "a table"
        case _:
            return "a relation"


def kind_text(shape: Shape) -> str:
    """What messages call a relation of that shape."""
    match shape:
        case KStream():
            return "stream"
        case KTable():
            return "table"
        case WTable():
            return "windowed table"
