"""Warnings of groups without a window whose keys are times: there are ever more of them, and each is kept forever."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp

from penstock.diagnostics import Diagnostic, Span
from penstock.diagnostics.codes.event_time import W050
from penstock.parser import ast
from penstock.planner.functions.facts import Collecting
from penstock.planner.plan import Expression, GroupAggregate, GroupingSets, KStream, Node, Project, RunningQuery, Scan
from penstock.planner.plan.walk import fold_plan
from penstock.planner.script.growing import is_growing, measure_step, window_text
from penstock.planner.types import TIMESTAMP

Growing = Mapping[str, Expression]
"""The columns with ever new values, each with what it is computed by."""


def find_growth(query: RunningQuery, statements: Sequence[ast.Statement]) -> list[Diagnostic]:
    """W050 for each such key, and for each set of different times. A fix is not known to be accepted."""
    findings: dict[tuple[Span, str], Diagnostic] = {}

    def follow(node: Node, below: tuple[Growing, ...]) -> Growing:
        known = {name: value for each in below for name, value in each.items()}
        if isinstance(node, GroupAggregate):
            for found in explain_groups(node, known, statements):
                findings.setdefault((found.labels[0].span, found.message), found)
        return find_growing(node, known)

    fold_plan(query.root, follow)
    return list(findings.values())


def find_growing(node: Node, known: Growing) -> Growing:
    """The columns of a node with ever new values. `known`: the growing columns of its inputs."""
    shown = {each.name for each in node.schema}
    growing = {name: value for name, value in known.items() if name in shown}
    if isinstance(node, Scan):
        growing |= list_times(node)
    elif isinstance(node, Project | GroupingSets):
        items = node.items if isinstance(node, Project) else node.keys
        computed = {each.name: each.value for each in items if is_growing(each.value, known)}
        passed = growing if isinstance(node, GroupingSets) else {}
        growing = passed | {
            name: known[value.name] if isinstance(value, exp.Column) else value for name, value in computed.items()
        }
    if isinstance(node.shape, KStream):
        times = (each.column for each in (*node.shape.times, *node.shape.near_times))
        growing |= {each: exp.column(each, quoted=True) for each in times if each not in growing}
    return growing


def list_times(scan: Scan) -> Growing:
    """The columns of a declared stream that hold times.

    If the event time is computed, its input columns stand for it.
    """
    origin, names = scan.origin, set[str]()
    if isinstance(scan.shape, KStream):
        names = {each.name for each in scan.schema if each.type == TIMESTAMP}
    times = {name: exp.column(name, quoted=True) for name in names}
    if origin.time is not None:
        inputs = [] if origin.computed_time is None else list(origin.computed_time.find_all(exp.Column))
        times |= {name: exp.column(origin.time, quoted=True) for name in (origin.time, *(each.name for each in inputs))}
    return times


def explain_groups(node: GroupAggregate, known: Growing, statements: Sequence[ast.Statement]) -> Iterator[Diagnostic]:
    """The findings for one GROUP BY or DISTINCT."""
    for key in node.keys:
        if is_growing(key.value, known):
            yield explain_key(key.value, node, known, statements)
    for aggregate in node.aggregates:
        is_set = aggregate.distinct or (aggregate.entry.collecting is Collecting.LIST and not aggregate.keeps_values)
        growing = [each for each in aggregate.arguments if is_growing(each, known)]
        if is_set and growing and isinstance(node.input.shape, KStream):
            span = aggregate.span or node.span
            found = W050.at(span, "", what=f"the different values of {span.text}")
            yield found.with_hint("GROUP BY a window, too")


def explain_key(
    value: Expression, node: GroupAggregate, known: Growing, statements: Sequence[ast.Statement]
) -> Diagnostic:
    """The finding for one key, with the window that it may stand for."""
    computed = known[value.name] if isinstance(value, exp.Column) else value
    span: Span = value.meta.get("span") or computed.meta.get("span") or node.span
    found = W050.at(span, "", what=f"groups by {shorten(span.text)}")
    reason = "A group without a window is kept forever. Each new time is a new group."
    times = [each for each in computed.find_all(exp.Column) if each.name in known] or [exp.column("time")]
    written = times[0].meta.get("span")
    shown = times[0].name if written is None else written.text
    own = known.get(times[0].name)
    if isinstance(node.input.shape, KStream) and isinstance(own, exp.Column) and node.input.shape.has_time(own.name):
        shown = own.name if not node.input.shape.has_time(times[0].name) else shown
    window = window_text(shown, measure_step(computed))
    hint = f"GROUP BY {window} in its place, and window_start in the SELECT list"
    if isinstance(node.input.shape, KStream):
        return found.because(reason).with_hint(hint, fix=write_fix(span, window, statements))
    return found.because(reason).with_hint("GROUP BY it in a stream with a window, or leave it out")


def write_fix(key: Span, window: str, statements: Sequence[ast.Statement]) -> str | None:
    """The statement with the window for the key in GROUP BY, and window_start for what is equal to it elsewhere."""
    around = next(
        (each.span for each in statements if each.span.source is key.source and each.span.to(key) == each.span), None
    )
    if around is None:
        return None
    text = around.source.text
    before = text[around.start : key.start].replace(key.text, "window_start")
    behind = text[key.end : around.end].replace(key.text, "window_start")
    return f"{before}{window}{behind}"


def shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:59] + "…"
