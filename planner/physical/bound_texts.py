"""The parts of the texts that say what operators keep at most."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from penstock.planner.durations import duration_text
from penstock.planner.functions.facts import Collecting
from penstock.planner.plan import (
    Aggregate,
    Cumulate,
    Expression,
    GroupAggregate,
    Hop,
    KStream,
    KTable,
    Node,
    OverRows,
    Scan,
    SessionWindow,
    Tumble,
    WindowAggregate,
    WTable,
)
from penstock.planner.plan.texts import expression_text, relation_text
from penstock.planner.plan.walk import walk
from penstock.planner.state import find_delay, find_windows_span


def held_text(node: Node) -> str:
    """What is kept of a table: its rows. A windowed table keeps only windows that can still be looked up."""
    shape = node.shape
    if isinstance(shape, WTable):
        kept = max(each.retention or 0 for each in walk(node) if isinstance(each, WindowAggregate))
        key, span = ", ".join((*shape.key, "window")), duration_text(find_windows_span(node) + kept)
        return f"one row per ({key}) of {relation_text(node)}: windows of the last {span}"
    assert isinstance(shape, KTable)
    if not shape.key:
        return f"one row of {relation_text(node)}"
    return f"one row per {', '.join(shape.key)} of {relation_text(node)}, and each deleted key, forever"


def find_scans(node: Node) -> list[Scan]:
    """What is read below the node."""
    return [below for below in walk(node) if isinstance(below, Scan)]


def kept_text(node: Node, reach: int, delay: int) -> str:
    span = f"{duration_text(reach)} + {duration_text(delay)}" if reach else duration_text(delay)
    return f"rows of {relation_text(node)} with time in the last {span}"


def partitions_text(node: OverRows) -> str:
    keys = [expression_text(key) for key in node.partition_by]
    if not keys:
        return "all"
    return f"each {keys[0]}" if len(keys) == 1 else f"each ({', '.join(keys)})"


def newest_text(node: Node, time: str) -> str:
    """The rows whose time the watermark has not passed."""
    delay = find_delay(node)
    last = f"{time} in the last {duration_text(delay)}" if delay else f"the newest {time}"
    return f"rows of {relation_text(node)} with {last}"


def find_followed_delay(node: Node) -> int:
    """The watermark delay of a stream. If the stream has no event time, its input with an event time decides."""
    while isinstance(node.shape, KStream) and node.shape.time is None and node.inputs:
        node = node.inputs[0]
    return find_delay(node)


def distinct_text(node: WindowAggregate | GroupAggregate) -> str:
    """What DISTINCT, and what aggregates that collect, keep beside each row."""
    kept: dict[str, dict[str, None]] = {}
    for each in node.aggregates:
        noun = collected_noun(each)
        if noun is not None:
            kept.setdefault(noun, {})[f"of {collected_values_text(each)}"] = None
    texts = (f"{noun} {' and '.join(values)}" for noun, values in kept.items())
    return f" with its {', '.join(texts)}" if kept else ""


def collected_noun(aggregate: Aggregate) -> str | None:
    """What one aggregate keeps of the values of a group; None if it keeps a running value."""
    if aggregate.distinct:
        return "distinct values"
    match aggregate.entry.collecting:
        case None:
            return None
        case Collecting.TOP:
            return f"{expression_text(aggregate.arguments[1])} greatest values"
        case Collecting.LIST | Collecting.TEXT:
            return "values"


def values_text(node: WindowAggregate | GroupAggregate) -> str:
    """The values of a table's rows that are kept for aggregates, each combination once."""
    kept = (part for each in node.aggregates if each.keeps_values for part in list_varying(each.expressions))
    values = list(dict.fromkeys(map(expression_text, kept)))
    return f"different {values[0]}" if len(values) == 1 else f"different ({', '.join(values)})"


def collected_values_text(aggregate: Aggregate) -> str:
    ordered = (each.value for each in aggregate.order_by)
    values = list(dict.fromkeys(map(expression_text, list_varying((*aggregate.arguments, *ordered)))))
    return values[0] if len(values) == 1 else f"({', '.join(values)})"


def list_varying(expressions: Iterable[Expression]) -> list[Expression]:
    """Leaves out literals, such as a separator, unless all are literals."""
    parts = list(expressions)
    return [each for each in parts if not isinstance(each, exp.Literal)] or parts[:1]


def windows_text(node: WindowAggregate) -> str:
    """How many windows of a key can be open. They end after the watermark and begin before the newest row."""
    lag = find_delay(node.input) + node.grace
    match node.window:
        case SessionWindow():
            return f"sessions of the last {duration_text(node.window.gap)} + {duration_text(lag)}"
        case Tumble():
            return f"≤ {-(-lag // node.window.size) + 1} windows"
        case Cumulate():
            return f"≤ {-(-(lag + node.window.size) // node.window.step)} windows"
        case Hop():
            return f"≤ {-(-(lag + node.window.size) // node.window.slide)} windows"
