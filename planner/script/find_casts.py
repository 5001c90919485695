"""Warnings of implicit casts that fail for some rows."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from penstock.diagnostics import Diagnostic
from penstock.diagnostics.codes.expression_types import T018
from penstock.planner.plan import RunningQuery
from penstock.planner.plan.walk import walk
from penstock.planner.scalars.implicit import MARK


def find_casts(query: RunningQuery) -> Iterator[Diagnostic]:
    """T018 once for each place in the script."""
    found = set()
    for node in dict.fromkeys(walk(query.root)):
        for expression in node.expressions:
            for cast in expression.find_all(exp.Cast):
                span, written = cast.meta.get("span"), cast.this.meta.get("span")
                text = cast.this.name if written is None else written.text
                if MARK not in cast.meta or (span, text, cast.to) in found:
                    continue
                found.add((span, text, cast.to))
                type_ = cast.to.sql("spark")
                warning = T018.at(span, source=cast.meta[MARK], type=type_)
                reason = "A row for which it fails stops the query; TRY_CAST gives NULL instead."
                form = f"TRY_CAST({text} AS {type_})"
                told = warning.because(reason)
                is_there = span is not None and (written == span or span.text == text)
                yield told.with_sql(form) if is_there else told.with_hint(form)
