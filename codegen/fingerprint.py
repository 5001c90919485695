"""What a checkpoint depends on -> a fingerprint. A checkpoint accepts only queries with its own fingerprint."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from penstock.codegen.program import AnyView, BucketView, Input, LookupView, PackedView, PaneView, QueryOutput


def fingerprint(
    query: str, inputs: Sequence[Input], reading: object, views: Sequence[object], output: QueryOutput, state: object
) -> str:
    """SHA-256 of the inputs and how they are read, the checkpoint contract of the views, the output, and the state.

    The name of the query, with which the names of its views begin, is left out.
    """
    facts = {
        "inputs": [_input(each) for each in inputs],
        "reading": _remove_query_name(reading, query),
        "views": _remove_query_name(views, query),
        "output": _output(output) if output.holds_rows else None,
        "state": state,
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def describe_computation(view: AnyView) -> list[object]:
    """What the view computes, without its name, the names of its sources, and its metrics."""
    if isinstance(view, PackedView):
        return [view.length, *view.cuts, view.schema]
    if isinstance(view, PaneView):
        return [view.order, view.sql, view.given, view.kept, view.picked, view.schema]
    if isinstance(view, BucketView):
        facts = [view.order, view.sql, view.time, view.back, view.only]
        return [*facts, view.given, view.kept, view.picked, view.schema]
    if isinstance(view, LookupView):
        return [view.newest, view.sql, view.given, view.kept, view.picked, view.schema]
    mark = view.watermark
    return [view.sql, mark and [mark.column, mark.delay]]


def _input(source: Input) -> list[object]:
    return [source.connector, source.name if source.is_intermediate else None, source.columns, list(source.identity)]


def _output(output: QueryOutput) -> list[object]:
    return [output.connector, output.columns, list(output.identity)]


def _remove_query_name(facts: object, query: str) -> object:
    if isinstance(facts, str):
        return facts.replace(f"`{query}_", "`_")
    return [_remove_query_name(each, query) for each in facts] if isinstance(facts, list | tuple) else facts
