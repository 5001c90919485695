"""What a query computes -> one digest, by which a checkpoint knows the query that it was made for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from penstock.codegen.program import BucketView, Input, LookupView, Output, PackedView, PaneView, Step

# The options that say which data an input is; others (batch sizes, rates) may change from run to run.
_PLACE = ("path", "format")


def fingerprint(
    query: str, inputs: Sequence[Input], views: Sequence[Step], output: Output, mode: str, state: Sequence[int | str]
) -> str:
    """SHA-256 over the inputs, the views, the output, the mode, and the partitions and the store of the state.

    The query's own name, with which those of its views begin, does not count. Every other change does, also one that
    the state would survive: Spark itself accepts any, and computes nonsense from most.
    """
    facts = {
        "inputs": [
            [each.connector, each.columns, [option for option in each.options if option[0] in _PLACE]]
            for each in inputs
        ],
        "views": [_computed(view, query) for view in views],
        "output": [output.connector, output.columns, [each for each in output.options if each[0] in _PLACE]],
        "mode": mode,
        "state": state,
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def _computed(view: Step, query: str) -> Sequence[object]:
    if isinstance(view, PackedView):
        return [view.length, *view.cuts, view.schema.replace(f"`{query}_", "`_")]
    if isinstance(view, PaneView):
        return [view.order, view.sql, view.given, view.kept, view.picked, view.schema.replace(f"`{query}_", "`_")]
    if isinstance(view, BucketView):
        facts = [view.order, view.sql, view.time, view.back, view.lasting, view.given, view.kept, view.picked]
        return [*facts, view.schema.replace(f"`{query}_", "`_")]
    if isinstance(view, LookupView):
        facts = [view.newest, view.sql, view.given, view.kept, view.picked]
        return [*facts, view.schema.replace(f"`{query}_", "`_")]
    mark = view.watermark
    return [view.sql.replace(f"`{query}_", "`_"), mark and [mark.column, mark.delay]]
