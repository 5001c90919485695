"""Plans -> the text of EXPLAIN PLAN: one line a relation, `r0 := operator => kind`, then the sink."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from penstock.planner.durations import duration_text
from penstock.planner.explain.estimate_text import NO_RUN, LastRun, list_estimates
from penstock.planner.explain.state import lookup_cost, state_bound, state_of_changes, store_text
from penstock.planner.physical.fuse import find_fused
from penstock.planner.plan import (
    Aggregate,
    AssignWindows,
    BoundEnd,
    Cumulate,
    DeleteRows,
    Distinct,
    Expression,
    Filter,
    ForeignKeyJoin,
    Frame,
    GroupAggregate,
    GroupingSets,
    Hop,
    Intermediate,
    IntervalJoin,
    KStream,
    KTable,
    Latest,
    Named,
    Node,
    Operator,
    Over,
    OverRows,
    Project,
    PutRows,
    Ranked,
    Ranking,
    Rekey,
    RemoteLookup,
    RowChange,
    RowsFrame,
    RunningQuery,
    Scan,
    SessionWindow,
    Settings,
    Shape,
    Sorting,
    Stateful,
    TableJoin,
    TableLookup,
    TableRanked,
    TimeBound,
    Tumble,
    UnionAll,
    Unnest,
    UpdateRows,
    Window,
    WindowAggregate,
    WithLate,
    WTable,
)
from penstock.planner.plan.texts import expression_text
from penstock.planner.plan.walk import walk


def plan_text(queries: Iterable[RunningQuery]) -> str:
    """All queries, each with its relations numbered in the order in which they are computed."""
    return "\n\n".join(query_text(query) for query in queries)


def state_text(queries: Iterable[RunningQuery], settings: Settings, last_run: LastRun = NO_RUN) -> str:
    """EXPLAIN STATE: the bound on what each operator keeps, an estimate of it, and where it is kept, per query."""
    blocks = []
    for place, query in enumerate(queries):
        names = number_nodes(query.root)
        lines = []
        bounds = list_bounds(query, names, settings)
        bounds |= {node: [*lookup_cost(node, names[node.input])] for node in names if isinstance(node, RemoteLookup)}
        for node in sorted(bounds, key=list(names).index):
            *parts, last = bounds[node]
            if isinstance(node, Stateful):
                parts += list_estimates(node, query, settings, last_run.rates, last_run.find(place, node))
            parts.append(last)
            lines += [f"{names[node]}: {operator_text(node, names)}", *(f"    {part}" for part in parts)]
        blocks.append("\n".join([f"{query.name} -> {query.sink.connector}", *(lines or ["none"])]))
    return "\n\n".join(blocks)


def list_bounds(query: RunningQuery, nodes: Iterable[Node], settings: Settings) -> dict[Node, list[str]]:
    """For each stateful operator: the bound on its state, what it keeps for its changes, and where."""
    changes, tables = state_of_changes(query), set(find_fused(query.root).values())
    return {
        node: [
            state_bound(node),
            *([changes[node]] if node in changes else []),
            store_text(node, settings, has_table=node in tables),
        ]
        for node in nodes
        if isinstance(node, Stateful)
    }


def query_text(query: RunningQuery) -> str:
    names, fused = number_nodes(query.root), find_fused(query.root)
    heads = [
        f"{names[node]} := {operator_text(node, names)}" + ", in the same Spark query" * (node in fused)
        for node in names
    ]
    width = max(len(head) for head in heads)
    lines = []
    for head, node in zip(heads, names, strict=True):
        state = state_bound(node)
        suffix = "" if state == "none" else f"\n      state: {state}"
        if isinstance(node, RemoteLookup):
            suffix = f"\n      lookup: {'; '.join(lookup_cost(node, names[node.input]))}"
        lines.append(f"{head.ljust(min(width, 100))}  => {shape_text(node.shape)}{suffix}")
    return "\n".join([*lines, f"{query.name} := {sink_text(query, names)}"])


def sink_text(query: RunningQuery, names: dict[Node, str]) -> str:
    """`final of r3 -> console`: what is sent, and where it goes."""
    emission = query.emission.value.lower() + (f" every {duration_text(query.every)}" if query.every else "")
    key = f" by {', '.join(query.key)}" if query.key else ""
    change = "" if query.change is None else change_text(query.change)
    return f"{emission}{key} of {names[query.root]} -> {query.sink.connector}{change}"


def change_text(change: RowChange) -> str:
    """What each row does to the row of its key."""
    key = ", ".join(change.table.key)
    match change:
        case PutRows():
            return f": put by {key}" if key else ": put the one row"
        case DeleteRows():
            return f": delete by {key}"
        case UpdateRows():
            columns = ", ".join(f"{each.name} = {expression_text(each.value)}" for each in change.assignments)
            default = change.default
            absent = "" if default is None else ", else insert "
            values = ", ".join(f"{each.name} = {expression_text(each.value)}" for each in default or ())
            return f": update by {key}, set {columns}{absent}{values}"
        case _:
            assert_never(change)


def number_nodes(root: Node) -> dict[Node, str]:
    """Names r0, r1 … of the relations; equal relations share one."""
    names: dict[Node, str] = {}
    for node in walk(root):
        names.setdefault(node, f"r{len(names)}")
    return names


def operator_text(node: Node, names: dict[Node, str]) -> str:
    below = [names[each] for each in node.inputs]
    assert isinstance(node, Operator)
    match node:
        case Scan():
            idle = node.origin.idle
            return f"Scan {node.origin.name}" + ("" if idle is None else f", idle after {duration_text(idle)}")
        case WithLate():
            scans = ", ".join(scan.origin.name for scan, _ in node.late)
            return f"WithLate {below[0]} and late rows of {scans}"
        case Intermediate():
            return f"Intermediate {below[0]}"
        case Filter():
            return f"Filter {below[0]} where {expression_text(node.condition)}"
        case Project():
            return f"Project {below[0]} to {', '.join(named_text(item) for item in node.items)}"
        case AssignWindows():
            return f"AssignWindows {below[0]} {window_text(node.window)} of {node.time}"
        case GroupingSets():
            return f"GroupingSets {below[0]} of {', '.join(map(named_text, node.keys))}: {sets_text(node)}"
        case Unnest():
            kept = "outer " if node.outer else ""
            return f"Unnest {below[0]} {kept}{expression_text(node.value)} as {', '.join(node.given_names)}"
        case Rekey():
            into = "" if node.into is None else f" into {node.into} partitions"
            why = ", as SET auto_repartition says" if node.inserted else ""
            return f"Rekey {below[0]} by {', '.join(map(expression_text, node.keys))}{into}{why}"
        case UnionAll():
            return f"UnionAll {' '.join(below)}"
        case WindowAggregate():
            by = f"{keys_text(node.keys)}{window_text(node.window)} of {node.time}"
            panes = ", from partial aggregates" if node.merges_partials else ""
            return f"WindowAggregate {below[0]} by {by}{panes}: {aggregates_text(node.aggregates)}"
        case GroupAggregate():
            by = keys_text(node.keys)[:-2] or "nothing"
            return f"GroupAggregate {below[0]} by {by}: {aggregates_text(node.aggregates)}"
        case Distinct():
            return f"Distinct {below[0]} along {node.time}"
        case ForeignKeyJoin() | TableLookup():
            equal, residual = equalities_text(node.equalities), condition_text(node.condition)
            name = type(node).__name__
            as_of = f", as of {node.as_of}" if isinstance(node, TableLookup) and node.as_of is not None else ""
            return f"{name} {node.type.value} {below[0]} {below[1]} on {equal}{residual}{as_of}{spread_text(node)}"
        case RemoteLookup():
            keys = " and ".join(f"{each.column} = {expression_text(each.value)}" for each in node.keys)
            shown = [f"{each.column} as {each.name}" for each in node.columns]
            shown += [] if node.any_row is None else [f"whether it has any row as {node.any_row}"]
            columns = ", ".join(shown) or "nothing"
            return f"RemoteLookup {node.type.value} {below[0]} in {node.origin.name} by {keys}: {columns}"
        case Latest():
            return f"Latest {below[0]} by {', '.join(node.shape.key)}"
        case TableJoin():
            return f"TableJoin {joined_text(node, below)}{spread_text(node)}"
        case Ranked():
            by = ", ".join([*([node.time] if node.pane is None else []), *map(expression_text, node.partition_by)])
            panes = "" if node.pane is None else f", in panes of {duration_text(node.pane)}"
            return f"Ranked {below[0]} by {by}: {', '.join(map(ranking_text, node.rankings))}{panes}"
        case TableRanked():
            by = ", ".join(map(expression_text, node.partition_by)) or "nothing"
            most = "" if node.most is None else f", the first {node.most}"
            return f"TableRanked {below[0]} by {by}: {', '.join(map(ranking_text, node.rankings))}{most}"
        case IntervalJoin():
            equal, residual = equalities_text(node.equalities), condition_text(node.residual)
            difference = bound_text(node.bound, f"{node.right_time} - {node.left_time}")
            panes = "one by one" if node.pane is None else f"in panes of {duration_text(node.pane)}"
            met = f"{below[0]} {below[1]} on {equal}, {difference}{residual}"
            grace = f", grace {duration_text(node.grace)}" if node.grace else ""
            return f"Join {node.type.value} {met}, {panes}{grace}{spread_text(node)}"
        case Over() | OverRows():
            by = ", ".join(expression_text(key) for key in node.partition_by) or "nothing"
            frames = (f"{aggregate_text(each.aggregate)} over {frame_text(each.frame)}" for each in node.aggregates)
            return f"{type(node).__name__} {below[0]} by {by} along {node.time}: {', '.join(frames)}"
        case _:
            assert_never(node)


def equalities_text(equalities: Iterable[tuple[Expression, Expression]]) -> str:
    return " and ".join(f"{expression_text(one)} = {expression_text(other)}" for one, other in equalities)


def condition_text(condition: Expression | None) -> str:
    """What is said of a condition behind others."""
    return "" if condition is None else f" and {expression_text(condition)}"


def spread_text(node: Node) -> str:
    """The partitions of a join's state, where its streams and tables say how many."""
    return "" if node.partitions is None else f", in {node.partitions} partitions"


def joined_text(node: TableJoin, below: list[str]) -> str:
    """`r1 left r3 on b.id = a.id`: the sides in order, each behind the first with what has to be equal."""
    text = below[0]
    for number, (name, step) in enumerate(zip(below[1:], node.steps, strict=True), start=1):
        pairs = []
        for place, key in enumerate(node.sides[number].keys):
            keys = [expression_text(node.sides[each].keys[place]) for each in sorted(step.through[place])]
            value = keys[0] if len(keys) == 1 else f"COALESCE({', '.join(keys)})"
            pairs.append(f"{value} = {expression_text(key)}")
        condition = condition_text(step.condition)
        shift = node.sides[number].shift
        if node.is_windowed:
            apart = f", {duration_text(abs(shift))} {'later' if shift > 0 else 'earlier'}" if shift else ""
            condition = f" and same window{apart}{condition}"
        text += f" {step.type.value} {name} on {' and '.join(pairs)}{condition}"
    return text


def sets_text(node: GroupingSets) -> str:
    """The names of the keys in each set."""
    bits = [(1 << place, expression_text(key.value)) for place, key in enumerate(reversed(node.keys))][::-1]
    return " ".join("(" + ", ".join(name for bit, name in bits if not each & bit) + ")" for each in node.ids)


def shape_text(shape: Shape) -> str:
    key = ", ".join(shape.key) or "-"
    match shape:
        case KStream():
            time = "" if shape.time is None else f" time={shape.time} (watermark {duration_text(shape.delay or 0)})"
            return f"KStream key={key}{time}"
        case KTable():
            return f"KTable  key={key}"
        case WTable():
            return f"WTable  key={key}, window"
        case _:
            assert_never(shape)


def keys_text(keys: tuple[Named, ...]) -> str:
    return "".join(f"{named_text(key)}, " for key in keys)


def named_text(item: Named) -> str:
    text = expression_text(item.value)
    return text if text == item.name else f"{text} as {item.name}"


def aggregates_text(aggregates: tuple[Aggregate, ...]) -> str:
    return ", ".join(aggregate_text(each) for each in aggregates) or "nothing"


def aggregate_text(aggregate: Aggregate) -> str:
    arguments = ", ".join(expression_text(argument) for argument in aggregate.arguments)
    arguments = arguments or ("*" if aggregate.function == "COUNT" else "")
    distinct = "distinct " if aggregate.distinct else ""
    where = "" if aggregate.condition is None else f" where {expression_text(aggregate.condition)}"
    arguments += f" order by {order_text(aggregate.order_by)}" * bool(aggregate.order_by)
    return f"{aggregate.function}({distinct}{arguments}){where} as {aggregate.name}"


def window_text(window: Window) -> str:
    match window:
        case Tumble():
            return f"tumble {duration_text(window.size)}"
        case Hop():
            return f"hop {duration_text(window.slide)} size {duration_text(window.size)}"
        case Cumulate():
            return f"cumulate {duration_text(window.step)} up to {duration_text(window.size)}"
        case SessionWindow():
            return f"session gap {duration_text(window.gap)}"
        case _:
            assert_never(window)


def frame_text(frame: Frame | RowsFrame) -> str:
    """`10 min`, or `-10 min to -1 min` for a frame that does not end at the row's time; `3 rows`, `-3 to -1 rows`."""
    if isinstance(frame, RowsFrame):
        reach = str(-frame.start) if frame.end == 0 else f"{frame.start} to {frame.end}"
        return f"{reach} row" if reach == "1" else f"{reach} rows"
    if frame.end == 0:
        return duration_text(-frame.start)
    return f"{duration_text(frame.start)} to {duration_text(frame.end)}"


def ranking_text(ranking: Ranking) -> str:
    return f"{ranking.function} along {order_text(ranking.order_by)} as {ranking.name}"


def order_text(order_by: tuple[Sorting, ...]) -> str:
    return ", ".join(
        expression_text(each.value)
        + (" desc" if each.descending else "")
        + ("" if each.nulls_first != each.descending else f" nulls {'first' if each.nulls_first else 'last'}")
        for each in order_by
    )


def bound_text(bound: TimeBound, difference: str) -> str:
    """`0 s <= b.time - a.time < 5 min`."""

    def sign(limit: BoundEnd) -> str:
        return "<=" if limit.closed else "<"

    lower, upper = duration_text(bound.lower.milliseconds), duration_text(bound.upper.milliseconds)
    return f"{lower} {sign(bound.lower)} {difference} {sign(bound.upper)} {upper}"
