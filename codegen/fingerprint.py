"""What a checkpoint depends on -> one digest, by which it knows the queries that can go on from it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from penstock.codegen.program import BucketView, Input, LookupView, Output, PackedView, PaneView, Step


def fingerprint(
    query: str, inputs: Sequence[Input], reading: object, views: Sequence[object], output: Output, state: object
) -> str:
    """SHA-256 over the inputs and how they are read, what must stay of the views, the output, and how state is kept.

    The query's own name, with which those of its views begin, does not count.
    """
    facts = {
        "inputs": [_input(each) for each in inputs],
        "reading": _named_alike(reading, query),
        "views": _named_alike(views, query),
        "output": _output(output) if output.holds_rows else None,
        "state": state,
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def computed(view: Step) -> list[object]:
    """What the view computes: all but its name, those of its sources, and what is counted."""
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


def _output(output: Output) -> list[object]:
    return [output.connector, output.columns, list(output.identity)]


def _named_alike(facts: object, query: str) -> object:
    if isinstance(facts, str):
        return facts.replace(f"`{query}_", "`_")
    return [_named_alike(each, query) for each in facts] if isinstance(facts, list | tuple) else facts
