"""Plans -> what of them this version cannot run yet. The planner plans more than is lowered; here the rest is refused.

To build a part: write its lowering, and take its case out of `unlowered`.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from penstock.diagnostics import CompileError, Diagnostic
from penstock.diagnostics.codes.building import B002, B003, B004
from penstock.diagnostics.codes.connectors import C005
from penstock.planner.connectors import connector_of
from penstock.planner.functions import clock_calls
from penstock.planner.lower.rows import operator_name, unchained
from penstock.planner.plan import (
    Filter,
    ForeignKeyJoin,
    GroupAggregate,
    GroupingSets,
    Intermediate,
    JoinType,
    KStream,
    KTable,
    Latest,
    Node,
    Project,
    Scan,
    Shape,
    TableJoin,
    TableLookup,
    WindowAggregate,
    WTable,
)
from penstock.planner.plan.walk import STATEFUL, inputs, is_changing, stateful, walk

KINDS = {KStream: "stream", KTable: "table"}
ON_TABLES = (
    *(Filter, Project, GroupingSets, Latest, TableJoin, ForeignKeyJoin, TableLookup, GroupAggregate),
    Intermediate,
)


def check_built(root: Node) -> None:
    """Raises CompileError for an operator that this version does not lower, or a place that it cannot read."""
    nodes = list(walk(root))
    for node in reversed(nodes):
        found = unlowered(node)
        if found is not None:
            raise CompileError([found])
    for node in nodes:
        if isinstance(node, Scan):
            check_readable(node)


def unlowered(node: Node) -> Diagnostic | None:
    """Why the operator does not run, None if it does."""
    match node:
        case TableJoin() if node.is_windowed:
            return windows_unlowered(node)
        case ForeignKeyJoin() if node.kept is not None:
            return references_unlowered(node)
        case TableLookup() if node.as_of is not None and any(has_sequence(each) for each in walk(node.table)):
            return B002.at(node.span, "", construct="FOR SYSTEM_TIME AS OF of a table with a sequence")
        case TableLookup() if node.kept is not None and not is_of_windows(node.table):
            right = kind_text(node.table.shape)
            return B003.at(node.span, "", kind=node.type.value.upper(), left="stream", right=right)
        case Filter() if is_changing(node) and isinstance(node.shape, WTable) and not of_key(node, node.shape):
            return B002.at(node.span, "", construct="a condition on a windowed table that keeps changing")
    of_table = any(not isinstance(below.shape, KStream) for below in inputs(node))
    if of_table and not isinstance(node, ON_TABLES):
        return B002.at(node.span, "", construct=f"{operator_name(node)} of a table")
    if isinstance(node, STATEFUL):
        for below in stage_inputs(node):
            if isinstance(below.shape, WTable) and not isinstance(node, TableLookup):
                return unchained(operator_name(node), below.input, node.span)
    return None


def of_key(node: Filter, shape: WTable) -> bool:
    """Whether the condition is the same for all rows that a window of a key ever has, whenever they come."""
    by_clock = any(clock_calls(node.condition))
    return not by_clock and {each.name for each in node.condition.find_all(exp.Column)} <= set(shape.identity)


def windows_unlowered(node: TableJoin) -> Diagnostic | None:
    """Why a join of windowed tables does not run, None if it does."""
    tables = [below.input for below in stage_inputs(node)]
    changing = [each for each in tables if is_changing(each)]
    if not changing:
        return None
    hint = "EMIT FINAL in the SELECTs with the windows, or SELECT STREAM of the joined ones"
    if len(changing) < len(tables):
        construct = "a join of windowed tables that are FINAL with others that change"
        return B002.at(node.span, "", construct=construct).with_hint(hint)
    conditions = any(step.condition is not None for step in node.steps)
    if conditions and any(step.type is not JoinType.LEFT for step in node.steps):
        construct = "a condition on the rows of windowed tables that change"
        return B002.at(node.span, "", construct=construct).with_hint(hint)
    for each in changing:
        if isinstance(stateful(each), TableJoin | ForeignKeyJoin):
            return B002.at(node.span, "", construct="a join over a join of windowed tables that change").with_hint(hint)
        if len(sources(each)) > 1:
            # How far the ends of their windows lie apart is not known.
            construct = "a join of windowed tables that change, of several streams"
            return B002.at(node.span, "", construct=construct).also(each.span).with_hint(hint)
    return None


def references_unlowered(node: ForeignKeyJoin) -> Diagnostic | None:
    """Why a join of a windowed table with a table does not run, None if it does."""
    side = node.left if isinstance(node.left.shape, WTable) else node.right
    windows = next(below.input for below in stage_inputs(node) if isinstance(below.shape, WTable))
    if not is_of_windows(side):
        left, right = kind_text(node.left.shape), kind_text(node.right.shape)
        return B003.at(node.span, "", kind=node.type.value.upper(), left=left, right=right)
    hint = "EMIT FINAL in the SELECT with the windows"
    if is_changing(windows) and len(sources(windows)) > 1:
        # How far the ends of their windows lie apart is not known.
        construct = "a join with a windowed table that changes, of several streams"
        return B002.at(node.span, "", construct=construct).with_hint(hint)
    referring = {each.name for one, _ in node.equalities for each in one.find_all(exp.Column)}
    shape = node.left.shape
    if isinstance(shape, WTable) and is_changing(windows) and not referring <= set(shape.identity):
        construct = "a windowed table that refers to rows by what changes in its windows"
        return B002.at(node.span, "", construct=construct).with_hint(hint)
    return None


def sources(node: Node) -> set[Node]:
    """What the query that computes the node reads."""
    if isinstance(node, Scan | Intermediate):
        return {node}
    return set().union(*map(sources, inputs(node)))


def is_of_windows(table: Node) -> bool:
    """Whether the windowed table is what one aggregation comes to, so that all its windows are kept for one time."""
    return isinstance([each for each in walk(table) if isinstance(each, STATEFUL)][-1], WindowAggregate)


def has_sequence(node: Node) -> bool:
    """Whether it reads a table whose newest record is not told by the event time."""
    return isinstance(node, Scan) and node.origin.sequence is not None


def stage_inputs(node: Node) -> Iterator[Intermediate]:
    """The intermediate streams and changelogs that the operator's query reads."""
    for below in inputs(node):
        if isinstance(below, Intermediate):
            yield below
        else:
            yield from stage_inputs(below)


def check_readable(node: Scan) -> None:
    """Raises CompileError for a place that this version cannot read."""
    connector = connector_of(node.origin.connector)
    if not connector.is_source:
        raise CompileError([C005.at(node.span, "", connector=connector.name, used="read")])
    if not connector.built:
        raise CompileError([B004.at(node.span, "", used="reading through", connector=connector.name)])
    if isinstance(node.shape, KTable) and not connector.reads_table:
        raise CompileError([B002.at(node.span, "", construct=f"reading a table through {connector.name}")])


def kind_text(shape: Shape) -> str:
    """What messages call a relation of that shape."""
    return KINDS.get(type(shape), "windowed table")
