"""What a checkpoint's state depends on -> one digest."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence

from penstock.codegen.program import Input, View

_VIEW = re.compile(r"`(?:[^`]|``)*`")
# The options that say which data an input is; others (batch sizes, rates) may change from run to run.
_PLACE = ("path", "format")


def fingerprint(
    query: str, inputs: Sequence[Input], views: Sequence[View], stateful: Iterable[str], mode: str, partitions: int
) -> str:
    """SHA-256 over the inputs (a checkpoint holds their offsets) and all that determines the state of `stateful` views.

    Names of views are left out by their query's part, so that renaming a query, and any change above its stateful
    operators, leaves the digest as it is. Without stateful views only the inputs count.
    """
    below = _closure(views, stateful)
    facts = {
        "inputs": [[each.connector, [option for option in each.options if option[0] in _PLACE]] for each in inputs],
        "state": [
            [_anonymous(view.sql, query), view.watermark and [view.watermark.column, view.watermark.delay]]
            for view in below
        ],
        "columns": [each.columns for each in inputs] if below else [],
        "mode": mode if below else "",
        "partitions": partitions if below else 0,
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def _closure(views: Sequence[View], stateful: Iterable[str]) -> list[View]:
    """The stateful views and all that they read, in order."""
    needed = set(stateful)
    result = []
    for view in reversed(views):
        if view.name in needed:
            result.append(view)
            needed.update(name.strip("`") for name in _VIEW.findall(view.sql))
    return result[::-1]


def _anonymous(sql: str, query: str) -> str:
    return sql.replace(f"`{query}_", "`_")
