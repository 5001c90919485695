"""Ranking functions over rows of one event time, or over tables -> Ranked and TableRanked nodes.

With QUALIFY, or WHERE above them, they give a Top-N for each window, or for a table that changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import replace
from sqlglot import exp

from penstock.diagnostics import CompileError, Diagnostic, Span
from penstock.diagnostics.codes.building import B002
from penstock.diagnostics.codes.event_time import W031
from penstock.diagnostics.codes.kinds import K018
from penstock.parser import ast, name_text
from penstock.planner.functions import FUNCTIONS
from penstock.planner.lower.context import collect_findings, resolve_key, resolve_scalar
from penstock.planner.lower.from_rows import FromRows, order_times
from penstock.planner.lower.grouped import find_topmost, strip_filter, swap_node
from penstock.planner.lower.intermediates import materialise_changes, materialise_input
from penstock.planner.lower.over import find_over_clause
from penstock.planner.lower.select_items import (
    WINDOW_COLUMNS,
    OutputColumn,
    find_numbered,
    find_window_columns,
    has_value,
)
from penstock.planner.plan import (
    Column,
    EventTime,
    Hop,
    KStream,
    KTable,
    Node,
    Ranked,
    Ranking,
    Sorting,
    TableRanked,
    Tumble,
    WindowAggregate,
    WTable,
    make_column,
)
from penstock.planner.plan.reserved import choose_unused_name
from penstock.planner.plan.walk import find_assigned_windows, walk
from penstock.planner.scalars.literals import bare
from penstock.planner.scalars.scopes import Scope, ScopeColumn
from penstock.planner.types import INT, INTERVAL, Array, Map, Struct

PLACES = tuple(each.name for each in FUNCTIONS if each.framing is not None and each.framing.is_place)


class RankTime(msgspec.Struct, frozen=True):
    """The event time by which it is known that all rows of a partition are there: when they all have the same one.

    `pane`: or when it lies in one [k·pane, (k+1)·pane), in milliseconds, for rows that are assigned to windows.
    """

    column: str
    pane: int | None = None


class Partition(msgspec.Struct, frozen=True):
    """The event time of an OVER, and what it is partitioned by beside that. Tables are ranked without a time."""

    time: RankTime | None
    keys: tuple[exp.Expression, ...]


def is_ranked(select: ast.Select, rows: FromRows, outputs: Iterable[OutputColumn]) -> bool:
    """Whether an OVER of the SELECT needs no frame: it is partitioned by an event time, or ranks a table."""
    if not isinstance(rows.node.shape, KStream):
        return any(find_place_function(call) is not None for call in list_calls(outputs))
    return any(find_rank_time(call, select, rows) is not None for call in list_calls(outputs))


def list_calls(outputs: Iterable[OutputColumn]) -> Iterator[exp.Window]:
    for output in outputs:
        yield from output.value.find_all(exp.Window)


def find_place_function(call: exp.Window) -> str | None:
    """The function that gives a place among rows, None if it is another one."""
    function = strip_filter(call.this)
    name = str(function.this).upper() if isinstance(function, exp.Anonymous) else ""
    return name if name in PLACES else None


def find_rank_time(call: exp.Window, select: ast.Select, rows: FromRows) -> RankTime | None:
    """The event time that the call is partitioned by.

    The one known soonest if there are several, None if there is none.
    """
    shape = rows.node.shape
    times = sorted(shape.times, key=lambda each: each.delay) if isinstance(shape, KStream) else []
    over = find_over_clause(call, select)
    keys = () if over is None else over.partition_by
    found = (rows.scope.find(each, []) for each in keys if isinstance(each, exp.Column))
    columns = [column.column for column in found if column is not None]
    time = next((each.column for each in times if each.column in columns), None)
    if time is not None or over is None or over.frame is not None or find_place_function(call) is None:
        return None if time is None else RankTime(time)
    assigned, names = find_assigned_windows(rows.node)
    if assigned is None or not {names.get(each) for each in WINDOW_COLUMNS} & {*columns}:
        return None
    if isinstance(assigned.window, Hop):
        found_hop = B002.at(call.meta["span"], "", construct="a ranking of rows in HOP windows")
        raise CompileError([found_hop.because("Groups of windows that overlap can be ranked: GROUP BY the window.")])
    shown = names.get(assigned.time)
    return None if shown is None else RankTime(shown, assigned.window.size)


def lower_ranked(
    select: ast.Select, rows: FromRows, outputs: list[OutputColumn]
) -> tuple[Node, list[OutputColumn], Scope]:
    """The rows with their places beside them, and the SELECT list over these rows; raises CompileError."""
    partitions: dict[Partition, list[Ranking]] = {}
    rewritten: list[OutputColumn] = []
    findings: list[Diagnostic] = []
    span = next(list_calls(outputs)).meta["span"]
    for output in outputs:
        holder = exp.Paren(this=output.value.copy())
        with collect_findings(findings):
            for call in list(find_topmost(holder, lambda node: isinstance(node, exp.Window))):
                assert isinstance(call, exp.Window)
                ranking, partition = read_ranking(call, select, rows)
                name = add_ranking(
                    partitions, partition, ranking, output.name if call.parent is holder else "rank", rows
                )
                swap_node(call, exp.column(name))
            rewritten.append(replace(output, value=holder.this))
    if findings:
        raise CompileError(findings)
    node = rows.node
    for partition, rankings in partitions.items():
        schema = (*node.schema, *(Column(each.name, INT, nullable=False) for each in rankings))
        if partition.time is None:
            assert not isinstance(node.shape, KStream)
            node = TableRanked(
                schema=schema,
                shape=KTable(node.shape.identity, node.shape.same),
                span=span,
                input=materialise_changes(node),
                partition_by=partition.keys,
                rankings=tuple(rankings),
                end=find_window_end(node, partition.keys) if isinstance(node.shape, WTable) else None,
            )
            continue
        assert isinstance(rows.node.shape, KStream)
        time, pane = partition.time.column, partition.time.pane
        node = Ranked(
            schema=schema,
            shape=KStream(rows.node.shape.key, order_times(node, time) if pane is None else (EventTime(time, 0),)),
            span=span,
            input=materialise_input(node, time),
            time=time,
            partition_by=partition.keys,
            rankings=tuple(rankings),
            pane=pane,
        )
    added = (ScopeColumn(None, c.name, c.name, c.type) for c in node.schema[len(rows.node.schema) :])
    return node, rewritten, replace(rows.scope, columns=(*rows.scope.columns, *added))


def find_window_end(node: Node, keys: Sequence[exp.Expression]) -> str | None:
    """The end of the window, where rows of windows that agree in the keys have one window."""
    window = find_window_columns(node)
    if window is None:
        return None
    start, end = window
    windows = (each.window for each in walk(node) if isinstance(each, WindowAggregate))
    telling = (start, end) if all(isinstance(each, Tumble | Hop) for each in windows) else (end,)
    return end if any(has_value(key, node, name) for key in keys for name in telling) else None


def read_ranking(call: exp.Window, select: ast.Select, rows: FromRows) -> tuple[Ranking, Partition]:
    """A call as a ranking without a name, and what it is partitioned by."""
    span: Span = call.meta["span"]
    time, over = find_rank_time(call, select, rows), find_over_clause(call, select)
    is_table = not isinstance(rows.node.shape, KStream)
    if over is None or (time is None and not is_table):
        found = B002.at(span, "", construct="OVER with a frame beside one partitioned by the event time")
        raise CompileError([found.with_hint("compute one of them in a subquery")])
    name, by_window = find_place_function(call), time is not None and time.pane is not None
    shown = "window_start" if time is None or by_window else time.column
    if name is None or isinstance(call.this, exp.Filter) or strip_filter(call.this).expressions:
        ranked = "a table" if is_table else "all rows of a window" if by_window else f"all rows of one {shown}"
        found = B002.at(span, "", construct=f"{span.text.split('(')[0].strip()} over {ranked}")
        raise CompileError([found.because("Over these there are " + ", ".join(PLACES) + ".")])
    if over.frame is not None:
        beside = "a frame over a table" if is_table else f"a frame beside PARTITION BY {shown}"
        raise CompileError([B002.at(span, "", construct=beside)])
    if not over.order_by:
        found = W031.at(span, "", function=name)
        partition = "" if is_table else f"PARTITION BY {name_text(shown)} "
        order = name_text(rows.scope.columns[0].name)
        raise CompileError([found.with_sql(f"{name}() OVER ({partition}ORDER BY {order})")])
    keys = (resolve_key(each, rows.scope) for each in over.partition_by)
    own = None if time is None or by_window else make_column(time.column)
    others = tuple(key for key in keys if key != own)
    return Ranking("", name, tuple(read_sorting(each, rows) for each in over.order_by)), Partition(time, others)


def read_sorting(ordered: exp.Expression, rows: FromRows) -> Sorting:
    """An expression to sort by; raises CompileError for values that have no order."""
    typed = resolve_scalar(ordered.this, rows.scope)
    if isinstance(typed.type, Array | Map | Struct) or typed.type == INTERVAL:
        raise CompileError([K018.at(ordered.this.meta["span"], "", type=typed.type)])
    return make_sorting(ordered, typed.expression)


def make_sorting(ordered: exp.Expression, value: exp.Expression) -> Sorting:
    """The order that is asked for. As in Spark, NULL comes first going up and last going down."""
    descending, nulls_first = bool(ordered.args.get("desc")), ordered.args.get("nulls_first")
    return Sorting(value, descending, (not descending) if nulls_first is None else bool(nulls_first))


def add_ranking(
    partitions: dict[Partition, list[Ranking]], partition: Partition, ranking: Ranking, name: str, rows: FromRows
) -> str:
    """The name of the ranking's column.

    The ranking is added to the rankings of its partition if it is not there yet.
    """
    rankings = partitions.setdefault(partition, [])
    for known in rankings:
        if replace(known, name="") == ranking:
            return known.name
    taken = [each.name for others in partitions.values() for each in others]
    name = choose_unused_name(name, [*(column.name for column in rows.node.schema), *taken])
    rankings.append(replace(ranking, name=name))
    return name


def keep_first_rows(
    select: ast.Select, order_by: ast.OrderBy, limit: ast.Limit, outputs: Sequence[OutputColumn]
) -> ast.Select:
    """ORDER BY, LIMIT and OFFSET of a table as QUALIFY ROW_NUMBER() OVER (ORDER BY …) <= …; raises CompileError.

    A name means a column of the SELECT list first. A whole number is a place in that list.
    """
    beside = next((name for name, there in (("DISTINCT", select.distinct), ("QUALIFY", select.qualify)) if there), None)
    if beside is not None:
        found = B002.at(order_by.span, "", construct=f"ORDER BY and LIMIT beside {beside}")
        raise CompileError([found.with_hint("compute one of them in a subquery")])
    values = {output.name.casefold(): output.value for output in outputs}
    keys = []
    for ordered in order_by.keys:
        value = bare(ordered.this)
        item = find_numbered(value, outputs, "ORDER BY")
        if item is not None:
            value = item.value
        elif isinstance(value, exp.Column) and not value.table:
            value = values.get(value.name.casefold(), value)
        key = ordered.copy()
        key.set("this", value.copy())
        keys.append(key)
    number = exp.Anonymous(this="ROW_NUMBER", expressions=[])
    ranked = exp.Window(this=number, order=exp.Order(expressions=keys), over="OVER")
    conditions: list[exp.Expression] = []
    if limit.skipped:
        conditions.append(exp.GT(this=ranked, expression=exp.Literal.number(limit.skipped)))
    if limit.count is not None:
        last = exp.Literal.number(limit.skipped + limit.count)
        conditions.append(exp.LTE(this=ranked.copy(), expression=last))
    condition = conditions[0] if len(conditions) == 1 else exp.And(this=conditions[0], expression=conditions[1])
    for node in condition.walk():
        node.meta.setdefault("span", order_by.span)
    return replace(select, order_by=None, limit=None, qualify=condition)
