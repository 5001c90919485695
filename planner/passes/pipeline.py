"""A finished plan -> a query that can run: rewrites change the plan, checks find what is wrong with it.

A rewrite keeps the schema and the meaning of a plan and finds nothing. A check changes nothing. To add one: write its
module here and name its function in the tuple.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from msgspec.structs import replace

from penstock.diagnostics import CompileError, Diagnostic, Span
from penstock.planner.lower.intermediates import compute_changes
from penstock.planner.lower.plan_limits import check_expressions, check_size
from penstock.planner.passes.check_clock import check_clock
from penstock.planner.passes.check_intermediates import check_intermediates
from penstock.planner.passes.check_names import check_names
from penstock.planner.passes.check_real_time import check_real_time
from penstock.planner.passes.check_row_errors import check_row_errors
from penstock.planner.passes.check_sink import check_sink
from penstock.planner.passes.check_sources import check_sources
from penstock.planner.passes.check_supported import check_supported
from penstock.planner.passes.check_types import check_types
from penstock.planner.passes.limit_ranks import limit_ranks
from penstock.planner.passes.merge_partials import merge_partials
from penstock.planner.passes.prune_columns import prune_columns
from penstock.planner.passes.rank_extremes import rank_extremes
from penstock.planner.passes.reject_rows import reject_failing_rows
from penstock.planner.passes.split_branches import split_stateful_branches
from penstock.planner.plan import Emission, KStream, Node, RowChange, RunningQuery, Settings, Sink, WindowAggregate
from penstock.planner.plan.walk import is_changing, walk

Rewrite: TypeAlias = Callable[[Node], Node]
QueryRewrite: TypeAlias = Callable[[RunningQuery, Settings], RunningQuery]
Check: TypeAlias = Callable[[RunningQuery], Iterator[Diagnostic]]
QueryCheck: TypeAlias = Callable[[RunningQuery, Settings], Iterator[Diagnostic]]

REWRITES: tuple[Rewrite, ...] = (split_stateful_branches, compute_changes, limit_ranks, rank_extremes, prune_columns)
CHECKS: tuple[Check, ...] = (
    *(check_supported, check_sources, check_types, check_names, check_intermediates, check_clock, check_sink),
)
# For a whole script, because a query that others read may run inside them.
SCRIPT_CHECKS: tuple[QueryCheck, ...] = (check_row_errors, check_real_time)
SCRIPT_REWRITES: tuple[QueryRewrite, ...] = (reject_failing_rows, merge_partials)


def plan_query(name: str, root: Node, sink: Sink, span: Span, change: RowChange | None = None) -> RunningQuery:
    """A query of `root` into `sink`; raises CompileError where this version cannot run it or the sink not take it."""
    check_size(root, span)  # first, because rewriting a larger plan would take minutes
    check_expressions(root)
    _, plan = list(rewrite_plan(root))[-1]
    query = replace(describe_query(name, plan, sink, span), change=change)
    for check in CHECKS:
        for finding in check(query):
            raise CompileError([finding])  # what is found later often follows from it
    return query


def rewrite_plan(root: Node) -> Iterator[tuple[str, Node]]:
    """Each rewrite by its name, with the plan that it gives."""
    for rewrite in REWRITES:
        root = rewrite(root)
        yield rewrite.__name__, root


def complete_query(query: RunningQuery, settings: Settings) -> RunningQuery:
    """The query as the settings of its script want it; raises CompileError where it cannot be so."""
    for check in SCRIPT_CHECKS:
        for finding in check(query, settings):
            raise CompileError([finding])
    for rewrite in SCRIPT_REWRITES:
        query = rewrite(query, settings)
    return query


def describe_query(name: str, root: Node, sink: Sink, span: Span) -> RunningQuery:
    """The query of a rewritten plan: whether its rows change, by which key, and how often it runs."""
    emission = Emission.CHANGES if is_changing(root) else Emission.FINAL
    is_stream = isinstance(root.shape, KStream)
    pauses = (node.every for node in walk(root) if isinstance(node, WindowAggregate) and node.every)
    key = root.shape.identity if emission is Emission.CHANGES and not isinstance(root.shape, KStream) else ()
    return RunningQuery(name, root, sink, emission, key, span, None if is_stream else next(pauses, None))
