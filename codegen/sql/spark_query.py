"""RunningQuery -> SparkQuery: one view per plan node, inputs first, and what belongs to the query as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from typing import Literal, assert_never

from penstock.codegen.checkpoint_contract import CheckpointContract, find_contract
from penstock.codegen.column_names import name_output, number_columns
from penstock.codegen.cut_queries import is_intermediate
from penstock.codegen.fingerprint import describe_computation, fingerprint
from penstock.codegen.program import AnyView, Closing, QueryOutput, Rejects, SparkQuery, View, WatermarkInput
from penstock.codegen.sql import row_forms
from penstock.codegen.sql.assign_windows import assign_windows_views
from penstock.codegen.sql.expression_places import record_places
from penstock.codegen.sql.late_view import late_view
from penstock.codegen.sql.lower_change import is_ordered_by_arrival, lower_change
from penstock.codegen.sql.own_columns import find_own_columns
from penstock.codegen.sql.parsed import complete_output, list_items
from penstock.codegen.sql.printing import print_inline
from penstock.codegen.sql.remote_views import remote_views
from penstock.codegen.sql.row_accounts import count_left_out, find_wanted_rows
from penstock.codegen.sql.scan_views import Reading, input_of, rejects_of, scan_views
from penstock.codegen.sql.stateful_views import stateful_views
from penstock.codegen.sql.stateless_views import (
    filter_view,
    grouping_sets_views,
    project_view,
    rekey_view,
    union_view,
    unnest_view,
)
from penstock.kit.watermark import HOLD_BACK_MS
from penstock.planner import sends_changes
from penstock.planner.connectors import connector_of
from penstock.planner.physical.choose import choose
from penstock.planner.physical.state_place import state_store
from penstock.planner.plan import (
    AssignWindows,
    Filter,
    GroupingSets,
    Intermediate,
    Node,
    Project,
    Rekey,
    RemoteLookup,
    RunningQuery,
    Scan,
    Settings,
    Stateful,
    Stateless,
    TableLookup,
    UnionAll,
    Unnest,
    WithLate,
    WTable,
)
from penstock.planner.plan.walk import fold_plan, list_nodes
from penstock.planner.types import BIGINT


def lower_query(query: RunningQuery, settings: Settings, *, takes_heartbeats: bool = False) -> SparkQuery:
    """A query without intermediate streams. Its name is a plain identifier, and unique in the program.

    `takes_heartbeats`: an input of the program may be idle, so that others need to know how far its inputs are.
    """
    name, tracked = query.name, sends_changes(query.root, upserts=connector_of(query.sink.connector).upserts)
    root = number_columns(query.root) if tracked else name_output(number_columns(query.root), query.root)
    nodes = list_nodes(root)
    names = {node: f"{name}_r{place}" for place, node in enumerate(nodes)}
    delays = _delays(nodes, timed=query.timed)
    scans = [node for node in nodes if isinstance(node, Scan)]
    at_once = _find_read_at_once(nodes)
    by_arrival = is_ordered_by_arrival(query)
    sources = tuple(
        input_of(scan, f"{names[scan]}_raw", at_once=scan in at_once, by_arrival=by_arrival) for scan in scans
    )
    timed = [scan for scan in scans if scan in delays]
    takes_heartbeats |= any(scan.origin.idle is not None or scan.origin.lag is not None for scan in timed)
    # For a single input, Spark itself reports the newest event time.
    reports_newest = len(timed) > 1 or takes_heartbeats
    operation = _operation(query) if tracked else None
    rejects = [rejects_of(scan, names[scan]) for scan in scans]
    output = _output(query, operation)
    stateful = [node for node in nodes if isinstance(node, Stateful)]
    refers = any(choose(node).READS_ORDER for node in stateful)
    assert len(stateful) <= 1 or Intermediate in map(type, nodes), "stateful operators without changes between them"
    hold_back = _hold_back(nodes)
    store = max((state_store(node, settings) for node in stateful), key=lambda each: each.on_disk, default=None)
    told = next((node.partitions for node in stateful if node.partitions), settings.state_partitions)
    partitions = told if stateful else None
    ending = next((choose(node).find_ending(query.emission) for node in stateful), None)
    # Tables that change are sent as updates, everything else once and for all.
    is_updating = [choose(node).is_updating(query.emission) for node in stateful]
    mode: Literal["append", "update"] = "update" if any(is_updating) else "append"
    own = find_own_columns(nodes, tracked=tracked, numbered=_sends_windows(query), by_arrival=by_arrival)
    with record_places() as printed:
        views = _lower_nodes(query, names, delays, own, settings, reports_newest=reports_newest)
        if tracked:
            views[root] += row_forms.sent_changes_views(root, name, names[root], own[root])
        sent = () if operation is None else (row_forms.sent_view(query.root.schema, name, operation),)
        change = lower_change(query, operation)
    part = CheckpointContract(root) if output.holds_rows else find_contract(root)
    held = [] if part.root is None else list_nodes(part.root)
    filters = (names[each] for each in part.filters)
    facts, numbered = _describe_contract(part, held, views, None if tracked else root)
    if change is not None:
        facts.append([change.kind, change.key, change.assigned, change.inserted, change.current, change.fold])
    state = [mode, partitions, store and store.value]
    return SparkQuery(
        name=name,
        inputs=sources,
        views=(*chain.from_iterable(views.values()), *sent),
        result=f"{name}_sent" if sent else f"{name}_changes" if tracked else names[root],
        output=output,
        mode=mode,
        timed=bool(delays),
        key=query.key,
        rejects=tuple(each for each in rejects if each is not None),
        fingerprint=fingerprint(name, sources, _describe_reading(root, names), facts, output, state, numbered),
        interval=query.every or settings.trigger_interval,
        store=store,
        watermark_inputs=tuple(_watermark_input(scan, names[scan], delays[scan] + hold_back) for scan in timed),
        takes_heartbeats=bool(timed) and takes_heartbeats,
        closing=None if ending is None else Closing(ending.noun, ending.every, ending.offset),
        partitions=partitions,
        operation=operation,
        numbered=refers,
        change=change,
        real_time=settings.realtime_batch if settings.real_time else None,
        checked=not (tracked or refers or len(stateful) > 1 or any(source.numbers_records for source in sources)),
        message_items=list_items(output, operation),
        contract_views=(*(view.name for node in held for view in views[node]), *filters),
        printed=tuple(printed),
        span=query.span,
    )


def _lower_nodes(
    query: RunningQuery,
    names: Mapping[Node, str],
    delays: Mapping[Node, int],
    own: Mapping[Node, tuple[str, ...]],
    settings: Settings,
    *,
    reports_newest: bool,
) -> dict[Node, tuple[AnyView, ...]]:
    """The views of each node. `names`: what the last view of each is called, inputs before what reads them."""
    nodes = list(names)
    wanted = find_wanted_rows(nodes)
    hold_back = _hold_back(nodes)
    keeps_late = any(isinstance(node, WithLate) for node in nodes)
    unwanted = count_left_out(nodes, wanted)
    uses_late = not query.timed and any(isinstance(node, TableLookup) and node.kept is not None for node in nodes)
    views: dict[Node, tuple[AnyView, ...]] = {}
    for node in nodes:
        reading = Reading(
            wanted.get(node), delays.get(node), hold_back, keeps_late, reports_newest, own[node], uses_late
        )
        *steps, last = _views(node, query.name, names, reading, own[node], settings.state_partitions)
        if node in unwanted:
            assert isinstance(last, View)
            last = replace(last, metrics=(*last.metrics, *unwanted[node]))
        views[node] = (*steps, last)
    return views


def _describe_contract(
    part: CheckpointContract, held: list[Node], views: Mapping[Node, tuple[AnyView, ...]], output: Node | None
) -> tuple[list[object], set[str]]:
    """What the nodes `held` compute, and their columns that have numbers.

    `output`: the node whose columns have the names of the output, which are no part of the contract.
    """
    facts: list[object] = []
    numbered: set[str] = set()
    for node in held:
        if node is output and isinstance(node, Project):
            facts += [print_inline(item.value) for item in node.items]
        else:
            facts += map(describe_computation, views[node])
            numbered.update(node.given_names)
    return [*facts, *sorted(map(print_inline, part.conditions))], numbered


def _describe_reading(root: Node, names: Mapping[Node, str]) -> list[object]:
    """How inputs are read: what is rejected of each, in any words, in what order, and how often, Spark reads them."""
    # Spark numbers its sources by their places in the whole query.
    scans = [node for node in names if isinstance(node, Scan)]
    rejects = (rejects_of(scan, names[scan], explains=False) for scan in scans)

    def places(node: Node, below: tuple[object, ...]) -> object:
        if isinstance(node, Scan):
            return scans.index(node)
        return below[0] if len(below) == 1 else below

    def texts(each: Rejects) -> list[str]:
        return [other.sql.replace(f"`{each.input.view.removesuffix('raw')}", "`") for other in each.views]

    return [fold_plan(root, places), *(each and texts(each) for each in rejects)]


def _operation(query: RunningQuery) -> str | None:
    """The column that says what a row of the output does; intermediate streams have no such column."""
    if is_intermediate(query.sink):
        return None
    return str(dict(query.sink.options).get("operation", row_forms.OPERATION))


def _sends_windows(query: RunningQuery) -> bool:
    """Whether rows of windows go to another query, which has to know the newest one of each."""
    return is_intermediate(query.sink) and isinstance(query.root.shape, WTable)


def _delays(nodes: list[Node], *, timed: bool) -> dict[Node, int]:
    """The watermark delay of each scan below an operator that needs one; `timed`: the query as a whole does.

    Spark has one delay per input, so a window's grace is added to the delay of the streams that feed it.
    """
    operators = (choose(node) for node in nodes if isinstance(node, Stateful))
    grace = {each: 0 for operator in operators for each in operator.list_followed(is_timed=timed)}
    for node in reversed(nodes):
        if node.is_timed or node in grace:
            passed = max(grace.get(node, 0), choose(node).grace if isinstance(node, Stateful) else 0)
            for below in node.inputs:
                grace[below] = max(grace.get(below, 0), passed)
    return {node: _delay(node) + extra for node, extra in grace.items() if isinstance(node, Scan)}


def _delay(scan: Scan) -> int:
    assert scan.origin.delay is not None, f"{scan.origin.name} has no watermark, but an operator above it needs one"
    return scan.origin.delay


def _watermark_input(scan: Scan, name: str, behind: int) -> WatermarkInput:
    """`behind`: how far Spark's watermark of the scan is behind its newest event time."""
    origin, delay = scan.origin, _delay(scan)
    return WatermarkInput(origin.name, f"{name}_split", delay, origin.idle, origin.lag, behind - delay)


def _find_read_at_once(nodes: list[Node]) -> set[Node]:
    """Tables that are looked up for rows of another query: all of their files that are there are read together.

    A row has been sent on when the files before it had been read. It must find here what had arrived by then, and not
    what a table comes to that this query replays at a pace of its own.
    """
    lookups = (node for node in nodes if isinstance(node, TableLookup) and node.as_of is None)
    chained = (each for each in lookups if any(is_intermediate(scan.origin) for scan in _scans(each.stream)))
    return {scan for each in chained for scan in _scans(each.table)}


def _scans(root: Node) -> list[Scan]:
    return [node for node in list_nodes(root) if isinstance(node, Scan)]


def _hold_back(nodes: list[Node]) -> int:
    """How many milliseconds Spark's watermark is held back beyond the delays."""
    return HOLD_BACK_MS * any(choose(node).HOLDS_BACK for node in nodes if isinstance(node, Stateful))


def _views(
    node: Node, query: str, names: Mapping[Node, str], reading: Reading, own: tuple[str, ...], state_partitions: int
) -> tuple[AnyView, ...]:
    name = names[node]
    below = tuple(names[each] for each in node.inputs)
    if isinstance(node, Stateful):
        return stateful_views(choose(node), name, below, own, state_partitions, f"{query}_clock")
    assert isinstance(node, Stateless)
    match node:
        case Scan():
            return scan_views(node, name, query, reading)
        case Filter() if own:
            return (row_forms.filter_view(node, name, below[0], own),)
        case Filter():
            return (filter_view(node, name, *below),)
        case Project() if own:
            return (row_forms.project_view(node, name, below[0], own),)
        case Project():
            return (project_view(node, name, *below),)
        case AssignWindows():
            return assign_windows_views(node, name, *below)
        case GroupingSets():
            return grouping_sets_views(node, name, below[0], own)
        case Unnest():
            return (unnest_view(node, name, below[0], own),)
        case Rekey():
            return (rekey_view(node, name, *below),)
        case RemoteLookup():
            return remote_views(node, name, below[0], own)
        case UnionAll():
            return (union_view(node, name, below, own),)
        case WithLate():
            return (late_view(node, name, below[0], names),)
        case Intermediate():
            return row_forms.inner_table_views(node, name, below[0], own)
        case _:
            assert_never(node)


def _output(query: RunningQuery, operation: str | None) -> QueryOutput:
    columns = tuple((each.name, str(each.type)) for each in query.root.schema)
    if _sends_windows(query):
        columns += ((row_forms.ORDER, str(BIGINT)),)
    if operation is not None and not connector_of(query.sink.connector).upserts:
        columns += ((operation, "STRING"),)
    to = query.sink
    output = QueryOutput(to.name, to.connector, to.options, columns, to.partitions, to.key, to.time, to.table)
    return complete_output(output)
