"""SET on_row_error = 'reject': every expression that can fail is computed of rows that can be set aside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from penstock.diagnostics import Diagnostic, Span
from penstock.diagnostics.codes.connectors import C015
from penstock.planner.passes.reject_rows import RowByRow, find_failures, find_runs
from penstock.planner.plan import Expression, Node, RunningQuery, Scan, Settings
from penstock.planner.plan.walk import walk
from penstock.planner.scalars.failing import TOO_LARGE, NoExactFormError, are_too_large, try_expression

_ELSEWHERE = "It is not computed of single rows of one declared files stream, read once."


def check_row_errors(query: RunningQuery, settings: Settings) -> Iterator[Diagnostic]:
    """Finds expressions that can fail where no condition on the rows of a scan tells for which of them."""
    if not settings.rejects_failing:
        return
    runs = find_runs(query.root)
    for scan, run in runs.items():
        yield from _check_time(scan)
        yield from _check_run(scan, run)
    above = {node for run in runs.values() for node in run}
    for node in dict.fromkeys(walk(query.root)):
        if node not in above:
            yield from _check_operator(node)


def _check_time(scan: Scan) -> Iterator[Diagnostic]:
    """A computed event time has the form that gives NULL, if there is one."""
    try:
        if scan.origin.computed_time is not None:
            try_expression(scan.origin.computed_time)
    except NoExactFormError as unknown:
        yield _explain_unknown(unknown)


def _check_run(scan: Scan, run: Sequence[RowByRow]) -> Iterator[Diagnostic]:
    try:
        failures = find_failures(scan, run)
    except NoExactFormError as unknown:
        yield _explain_unknown(unknown)
        return
    if are_too_large(failures):
        yield _make_finding((run[-1] if run else scan).span, failures[-1].text, TOO_LARGE)


def _check_operator(node: Node) -> Iterator[Diagnostic]:
    for expression in node.expressions:
        try:
            failures = try_expression(expression).failures
        except NoExactFormError as unknown:
            yield _explain_unknown(unknown)
            continue
        if failures:
            yield _make_finding(_find_span(expression) or node.span, failures[0].text, _ELSEWHERE)


def _explain_unknown(unknown: NoExactFormError) -> Diagnostic:
    span = _find_span(unknown.part)
    text = " ".join(span.text.split()) if span is not None else unknown.part.sql("spark")
    return _make_finding(span, text, unknown.reason)


def _find_span(expression: Expression) -> Span | None:
    span: Span | None = expression.meta.get("span")
    return span


def _make_finding(span: Span | None, text: str, reason: str) -> Diagnostic:
    shown = text if len(text) <= 60 else text[:59] + "…"
    hint = "a form that gives NULL, such as TRY_DIVIDE, TRY_CAST or GET, fails for no row; or SET on_row_error = 'fail'"
    return C015.at(span, text=shown).because(reason).with_hint(hint)
