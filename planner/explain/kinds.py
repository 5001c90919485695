"""What messages call kinds of relations."""

from __future__ import annotations

from penstock.planner.plan import KStream, KTable, Shape, WTable


def kind_text(shape: Shape) -> str:
    """What messages call a relation of that shape."""
    match shape:
        case KStream():
            return "stream"
        case KTable():
            return "table"
        case WTable():
            return "windowed table"
