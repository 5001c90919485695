"""Operators -> the bound on the state that each keeps, as text. A plan has one for every operator."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from sqlglot import exp

from penstock.planner.connectors import connector_of
from penstock.planner.durations import duration_text
from penstock.planner.functions.facts import Collecting
from penstock.planner.fuse import find_fused
from penstock.planner.physical.choose import choose
from penstock.planner.physical.row_form import RowForm
from penstock.planner.physical.state_place import LONGEST_ON_HEAP, state_store
from penstock.planner.plan import (
    Aggregate,
    Cumulate,
    Distinct,
    Expression,
    ForeignKeyJoin,
    GroupAggregate,
    Hop,
    Intermediate,
    IntervalJoin,
    JoinType,
    KStream,
    KTable,
    Latest,
    Node,
    Over,
    OverRows,
    Ranked,
    RemoteLookup,
    RunningQuery,
    Scan,
    SessionWindow,
    Settings,
    Stateful,
    StateStore,
    TableJoin,
    TableLookup,
    TableRanked,
    Tumble,
    WindowAggregate,
    WTable,
)
from penstock.planner.plan.texts import expression_text, relation_text
from penstock.planner.plan.walk import is_retracting, stateful, walk
from penstock.planner.state import (
    find_delay,
    find_windows_span,
    sends_changes,
)

ROWS_AT_ONCE = 10_000
"""A lookup asks for the keys of one Arrow batch at once, which has so many rows unless --conf says otherwise."""


def state_bound(node: Node) -> str:
    """What the operator keeps at most; `none` for an operator that looks at single rows.

    A row is kept while rows that it may still meet can arrive: the reach of the operator plus the watermark's delay.
    """
    if not isinstance(node, Stateful):
        return "none"
    match node:
        case IntervalJoin() if node.pane is not None:
            back, forward = node.bound.reach(node.type)
            delay = max(find_delay(node.left), find_delay(node.right)) + node.grace
            own, met = node.pane + forward, back + node.pane + forward
            reaches = {JoinType.RIGHT: (met, own), JoinType.FULL: (met, met)}.get(node.type, (own, met))
            return "; ".join(
                kept_text(side, reach, delay) for side, reach in zip((node.left, node.right), reaches, strict=True)
            )
        case IntervalJoin():
            lower, upper = node.bound.lower.milliseconds, node.bound.upper.milliseconds
            delay = max(find_delay(node.left), find_delay(node.right)) + node.grace
            return f"{kept_text(node.left, max(upper, 0), delay)}; {kept_text(node.right, max(-lower, 0), delay)}"
        case WindowAggregate() if node.merges_partials:
            keys = ", ".join(each.name for each in node.keys)
            row = f"one row per {keys} and micro-batch" if keys else "one row per micro-batch"
            return f"partial aggregates, {row} in each open window: {windows_text(node)}"
        case WindowAggregate():
            key = ", ".join([*(each.name for each in node.keys), "open window"])
            row = f"one row per ({key})"
            if node.keeps_values:
                return f"{row}, and one per {values_text(node)} that its rows have: {windows_text(node)}"
            return f"{row}{distinct_text(node)}: {windows_text(node)}"
        case GroupAggregate():
            keys = ", ".join(key.name for key in node.keys)
            there = f"{keys} that there has been" if is_retracting(node) else keys
            row = f"one row per {there}" if keys else "one row"
            if node.keeps_values:
                return (
                    f"{row}, forever, and one per {values_text(node)} that rows of {'it' if keys else 'the table'} have"
                )
            return f"{row}{distinct_text(node)}, forever" if keys or distinct_text(node) else row
        case Distinct():
            return f"different {newest_text(node.input, node.time)}"
        case Ranked() if node.pane is not None:
            return kept_text(node.input, node.pane, find_delay(node.input))
        case Ranked():
            return newest_text(node.input, node.time)
        case Latest():
            key = ", ".join(node.shape.key)
            return f"one row per {key} of {relation_text(node)}, and the key of each deleted one, forever"
        case TableJoin() if node.is_windowed:
            keys = ", ".join(expression_text(key) for key in node.sides[0].keys)
            span = duration_text(find_windows_span(node))
            return f"one row per ({keys}, window) of each of {relation_text(node)}: windows of the last {span}"
        case ForeignKeyJoin():
            shown = f" and windows that rows of {relation_text(node.left)} show" * isinstance(node.right.shape, WTable)
            return f"{held_text(node.left)}; {held_text(node.right)}{shown}"
        case TableLookup() if node.as_of is not None:
            delay = max(find_delay(node.stream), *(each.origin.delay or 0 for each in find_scans(node.table)))
            last = f"with time in the last {duration_text(delay)}"
            return f"rows of {relation_text(node.stream)} {last}; {held_text(node.table)}, and records {last}"
        case TableLookup() if node.kept is not None and isinstance(node.table.shape, WTable):
            key, last = (
                ", ".join((*node.table.shape.key, "window")),
                duration_text(node.kept + find_followed_delay(node.stream)),
            )
            return f"one row per ({key}) of {relation_text(node.table)}: windows that end in the last {last}, and later"
        case TableLookup():
            return held_text(node.table)
        case TableRanked():
            assert isinstance(node.shape, KTable)
            last = f": windows of the last {duration_text(find_windows_span(node))}" if node.end is not None else ""
            return f"one row per {', '.join(node.shape.key) or 'table'} of {relation_text(node)}{last}"
        case TableJoin():
            keys = ", ".join(expression_text(key) for key in node.sides[0].keys)
            return f"one row per {keys} of each of {relation_text(node)}, and each deleted key, forever"
        case Over():
            return kept_text(node.input, node.back + node.pane + node.forward, find_delay(node.input))
        case OverRows():
            rows = f"the last {node.back} rows" if node.back != 1 else "the last row"
            return f"{rows} of {partitions_text(node)}, and {newest_text(node.input, node.time)}"
        case _:
            assert_never(node)


def state_of_changes(query: RunningQuery) -> dict[Node, str]:
    """What each operator of a query keeps beside its state, so that rows before and after can be sent."""
    fused = find_fused(query.root)
    # A join in the same query takes the rows of its sides as they are.
    below = [
        node.input
        for node in walk(query.root)
        if isinstance(node, Intermediate) and not isinstance(fused.get(node), TableJoin)
    ]
    kept: dict[Node, str] = {}
    upserts = connector_of(query.sink.connector).upserts
    for root, replaces in ((query.root, upserts), *((each, False) for each in below)):
        node = stateful(root)
        if isinstance(node, Stateful) and sends_changes(root, upserts=replaces) and not _knows_rows_before(node):
            kept[node] = "for its changes the last two rows" + " per key, forever" * bool(root.shape.key)
    return kept


def _knows_rows_before(node: Stateful) -> bool:
    """Whether the operator itself keeps the rows that it has sent."""
    return choose(node).find_form(is_kept=True, is_numbered=False) is RowForm.CHANGES


def lookup_cost(node: RemoteLookup, below: str) -> tuple[str, str]:
    """What the lookup asks the database in a micro-batch, and what it keeps. `below`: the relation of its rows."""
    options = {**connector_of(node.origin.connector).defaults, **dict(node.origin.options)}
    keys, size, time = (options.get(name) for name in ("batch_size", "cache_size", "cache_ttl"))
    assert isinstance(keys, int)
    assert isinstance(size, int)
    statement = count_text(min(keys, ROWS_AT_ONCE), "key")
    asked = f"≤ one key per row of {below}: one statement per {statement}, at least one per task"
    if not isinstance(time, int):
        return asked, "nothing is kept"
    return asked, f"≤ {count_text(size, 'answer')} in the cache of each worker, for {duration_text(time)}"


def count_text(number: int, noun: str) -> str:
    """`1 key`, `2 keys`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def store_text(node: Stateful, settings: Settings, *, has_table: bool) -> str:
    """The store and the reason for it. `has_table`: the same query computes a table that the operator reads."""
    where = {StateStore.MEMORY: "in memory", StateStore.ROCKSDB: "in RocksDB"}[state_store(node, settings)]
    if settings.state_store is not None:
        return f"{where}, as SET state_store says"
    reach = choose(node).horizon
    if has_table and reach is not None:
        return "in RocksDB, as the table that it reads"
    if reach is None:
        return f"{where}, as it grows with the keys"
    relation = "at most" if reach <= LONGEST_ON_HEAP else "more than"
    return f"{where}, as it spans {relation} {duration_text(LONGEST_ON_HEAP)}"


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
