"""Warnings of calls whose arguments stand as ksqlDB has them: the pattern first, and then the text."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from penstock.diagnostics import Diagnostic
from penstock.diagnostics.codes.expression_types import T019
from penstock.planner.plan import RunningQuery
from penstock.planner.plan.walk import walk

_TEXT_FIRST = ("REGEXP_EXTRACT", "REGEXP_EXTRACT_ALL")


def find_swapped(query: RunningQuery) -> Iterator[Diagnostic]:
    """T019 once for each place in the script: the text is a constant, and the pattern varies."""
    found = set()
    for node in dict.fromkeys(walk(query.root)):
        for expression in node.expressions:
            for call in expression.find_all(exp.Anonymous):
                function, span = call.name.upper(), call.meta.get("span")
                if function not in _TEXT_FIRST or span is None or span in found:
                    continue
                text, pattern, *rest = call.expressions
                spans = [each.meta.get("span") for each in (pattern, text, *rest)]
                if not isinstance(text, exp.Literal) or isinstance(pattern, exp.Literal) or None in spans:
                    continue
                found.add(span)
                shown = ", ".join(each.text for each in spans)
                reason = "ksqlDB has the pattern first."
                yield T019.at(span, function=function).because(reason).with_sql(f"{function}({shown})")
