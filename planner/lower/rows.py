"""What a FROM clause gives to the other clauses."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.diagnostics import CompileError, Span
from penstock.diagnostics.codes.building import B001
from penstock.diagnostics.codes.limits import L004
from penstock.diagnostics.codes.windows import W001
from penstock.parser import ast
from penstock.planner.names import Scope
from penstock.planner.plan import GroupAggregate, IntervalJoin, KStream, Node, Over, Window, WindowAggregate
from penstock.planner.plan.walk import inputs, stateful

# Far above what people write, and still planned within a second.
LARGEST_PLAN = 500


@dataclass(frozen=True, slots=True)
class Rows:
    """A relation under construction: the plan so far, the names in sight, and what FROM said about windows.

    `window` is set by `FROM TUMBLE(…)` and its kin, `over` by `FROM relation OVER (…)`.
    """

    node: Node
    scope: Scope
    name: str
    window: Window | None = None
    over: ast.Over | None = None


def operator_name(node: Node) -> str:
    """The operator as messages call it."""
    match node:
        case WindowAggregate():
            return "a window aggregation"
        case GroupAggregate():
            return "a GROUP BY"
        case IntervalJoin():
            return "a stream-stream join"
        case Over():
            return "OVER"
        case _:
            return "a relation"


def check_size(root: Node, span: Span) -> None:
    """Raises CompileError for a plan so large, by views over views, that working on it would take minutes."""
    count = 0
    pending = [root]
    while pending:
        count += 1
        if count > LARGEST_PLAN:
            found = L004.at(span, "", limit=LARGEST_PLAN)
            raise CompileError([found.with_hint("write what others read to a place of its own with INSERT INTO")])
        pending += inputs(pending.pop())


def require_stateless(node: Node, operator: str, span: Span) -> None:
    """Raises CompileError where `operator` would stand over another operator that keeps state."""
    below = stateful(node)
    if below is not None:
        found = B001.at(span, "", above=operator, below=operator_name(below))
        found = found.also(below.span, "its input is computed here")
        hint = "write the inner result to files with INSERT INTO, and read those in a second script"
        raise CompileError([found.with_hint(hint)])


def event_time(rows: Rows, operator: str, span: Span) -> str:
    """The event-time column of a stream; raises CompileError where it has none."""
    require_stateless(rows.node, operator, span)
    shape = rows.node.shape
    if not isinstance(shape, KStream) or shape.time is None:
        found = W001.at(span, "", operator=operator, relation=rows.name)
        hint = (
            f"declare it with {rows.name}: WATERMARK FOR time AS time - INTERVAL '10' SECOND, and select it unchanged"
        )
        raise CompileError([found.with_hint(hint)])
    return shape.time
