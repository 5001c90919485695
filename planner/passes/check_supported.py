"""Finds what this version cannot run yet. The planner can plan more than codegen can lower.

To support an operator: write its lowering, and take its case out of `find_unsupported`.
"""

from __future__ import annotations

from collections.abc import Iterator

from penstock.diagnostics import Diagnostic
from penstock.diagnostics.codes.building import B002, B003
from penstock.planner.functions import clock_calls
from penstock.planner.lower.from_rows import explain_unchained
from penstock.planner.plan import (
    Filter,
    ForeignKeyJoin,
    Intermediate,
    JoinType,
    KStream,
    Node,
    RunningQuery,
    Scan,
    Stateful,
    TableJoin,
    TableLookup,
    TableRanked,
    WindowAggregate,
    WTable,
    find_columns,
)
from penstock.planner.plan.texts import kind_text
from penstock.planner.plan.walk import is_changing, stateful, walk


def check_supported(query: RunningQuery) -> Iterator[Diagnostic]:
    """Finds operators that this version does not lower. Operators that are computed first come first."""
    for node in reversed(list(walk(query.root))):
        found = find_unsupported(node)
        if found is not None:
            yield found


def find_unsupported(node: Node) -> Diagnostic | None:
    """Why the operator does not run, None if it does."""
    if isinstance(node, TableJoin) and node.is_windowed:
        return find_unsupported_windows(node)
    if isinstance(node, ForeignKeyJoin) and node.kept is not None:
        return find_unsupported_references(node)
    if isinstance(node, TableLookup):
        if node.as_of is not None and any(has_sequence(each) for each in walk(node.table)):
            return B002.at(node.span, "", construct="FOR SYSTEM_TIME AS OF of a table with a sequence")
        if node.kept is not None and not is_of_windows(node.table):
            right = kind_text(node.table.shape)
            return B003.at(node.span, "", kind=node.type.value.upper(), left="stream", right=right)
    of_windows = isinstance(node, Filter) and isinstance(node.shape, WTable) and not is_of_key(node, node.shape)
    if of_windows and is_changing(node):
        found = B002.at(node.span, "", construct="a condition on a windowed table that keeps changing")
        reason, hint = "A row that passed may have to be deleted.", "EMIT FINAL behind GROUP BY: each row comes once"
        return found.because(reason).with_hint(hint)
    of_table = any(not isinstance(below.shape, KStream) for below in node.inputs)
    if of_table and not node.TAKES_TABLES:
        return B002.at(node.span, "", construct=f"{node.NOUN} of a table")
    if isinstance(node, Stateful):
        for below in find_intermediates(node):
            if not isinstance(below.shape, WTable) or isinstance(node, TableLookup):
                continue
            if not isinstance(node, TableRanked):
                return explain_unchained(node.NOUN, below.input, node.span)
            if is_changing(below.input) and not is_of_windows(below.input):
                found = B002.at(node.span, "", construct="a ranking of joined windows that change")
                return found.also(below.span).with_hint("rank the windows in a subquery, and join what it gives")
            if is_changing(below.input) and len(find_sources(below.input)) > 1:
                # How far the ends of their windows lie apart is not known.
                found = B002.at(node.span, "", construct="a ranking of windows that change, of several streams")
                return found.also(below.span).with_hint("EMIT FINAL in the SELECT with the windows, or SELECT STREAM")
    return None


def is_of_key(node: Filter, shape: WTable) -> bool:
    """Whether the condition is the same for all rows that a window of a key ever has, whenever they come."""
    by_clock = any(clock_calls(node.condition))
    return not by_clock and find_columns(node.condition) <= set(shape.identity)


def find_unsupported_windows(node: TableJoin) -> Diagnostic | None:
    """Why a join of windowed tables does not run, None if it does."""
    tables = [below.input for below in find_intermediates(node)]
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
        if len(find_sources(each)) > 1:
            # How far the ends of their windows lie apart is not known.
            construct = "a join of windowed tables that change, of several streams"
            return B002.at(node.span, "", construct=construct).also(each.span).with_hint(hint)
    return None


def find_unsupported_references(node: ForeignKeyJoin) -> Diagnostic | None:
    """Why a join of a windowed table with a table does not run, None if it does."""
    side = node.left if isinstance(node.left.shape, WTable) else node.right
    windows = next(below.input for below in find_intermediates(node) if isinstance(below.shape, WTable))
    if not is_of_windows(side):
        left, right = kind_text(node.left.shape), kind_text(node.right.shape)
        return B003.at(node.span, "", kind=node.type.value.upper(), left=left, right=right)
    hint = "EMIT FINAL in the SELECT with the windows"
    if is_changing(windows) and len(find_sources(windows)) > 1:
        # How far the ends of their windows lie apart is not known.
        construct = "a join with a windowed table that changes, of several streams"
        return B002.at(node.span, "", construct=construct).with_hint(hint)
    referring = find_columns(*(one for one, _ in node.equalities))
    shape = node.left.shape
    if isinstance(shape, WTable) and is_changing(windows) and not referring <= set(shape.identity):
        construct = "a windowed table that refers to rows by what changes in its windows"
        return B002.at(node.span, "", construct=construct).with_hint(hint)
    return None


def find_sources(node: Node) -> set[Node]:
    """What the query that computes the node reads."""
    if isinstance(node, Scan | Intermediate):
        return {node}
    return set().union(*map(find_sources, node.inputs))


def is_of_windows(table: Node) -> bool:
    """Whether the windowed table is what one aggregation comes to, so that all its windows are kept for one time."""
    return isinstance([each for each in walk(table) if isinstance(each, Stateful)][-1], WindowAggregate)


def has_sequence(node: Node) -> bool:
    """Whether it reads a table whose newest record is not told by the event time."""
    return isinstance(node, Scan) and node.origin.sequence is not None


def find_intermediates(node: Node) -> Iterator[Intermediate]:
    """The intermediate streams and changelogs that the operator's query reads."""
    for below in node.inputs:
        if isinstance(below, Intermediate):
            yield below
        else:
            yield from find_intermediates(below)
