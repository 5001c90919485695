"""A query and a folder -> a checkpoint that only this query, and only one process, can use.

`<folder>/<query name>/` holds Spark's own files and `penstock.json`: what the query was when its state was made. Spark
would go on with the state of another query and compute nonsense.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

from pyspark.sql import SparkSession

from penstock.codegen.program import Output, PackedView, SparkQuery, Step, View
from penstock.diagnostics import Diagnostic
from penstock.diagnostics.codes.running import R010, R011
from penstock.runtime.errors import RunError
from penstock.runtime.lock import lock
from penstock.runtime.storage import Storage, absolute

_BEFORE = ("lock", "penstock.json")
"""What a checkpoint holds until its query is started, which it is not if another one of the script is refused."""


@contextmanager
def checkpoint(spark: SparkSession, query: SparkQuery, folder: str | None) -> Iterator[str]:
    """The query's checkpoint folder, locked; without `folder` a temporary one, which is removed at the end.

    Raises:
        RunError: the folder is in use, or is that of another query, or of something else.
    """
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="penstock-", ignore_cleanup_errors=True) as temporary:
            yield temporary
        return
    storage = Storage(spark)
    place = f"{absolute(folder)}/{quote(query.name, safe='')}"
    with lock(spark, storage, f"{place}/lock"):
        _admit(storage, query, place)
        yield place


def _admit(storage: Storage, query: SparkQuery, place: str) -> None:
    """Writes what the query is into a new checkpoint, and compares it with what an old one was made for."""
    present, description = described(query), f"{place}/penstock.json"
    if all(name in _BEFORE or name.startswith(".") for name in storage.names(place)):
        storage.folder(place)
        storage.delete(description)
        storage.publish(description, json.dumps(present, indent=1) + "\n")
        return
    stored = storage.read(description)
    if stored is None:
        raise RunError([R011.at(None, path=place).because("it holds files, but not those of a checkpoint")])
    found = refusal(json.loads(stored), present, place)
    if found is not None:
        raise RunError([found])


def described(query: SparkQuery) -> dict[str, Any]:
    """What is kept of a query in its checkpoint."""
    return {
        "fingerprint": query.fingerprint,
        "views": {view.name: _text(view) for view in query.views},
        "output": _text(query.output),
        "partitions": query.partitions,
    }


def refusal(past: dict[str, Any], present: dict[str, Any], place: str) -> Diagnostic | None:
    """Why a checkpoint that was made for the query `past` does not fit the query `present`; None if it does."""
    if past["fingerprint"] == present["fingerprint"]:
        return None
    changes = "; ".join(_changes(past, present))
    hint = "take a new --checkpoint folder, or undo the change"
    if _other_partitions(past, present):
        hint += "; EXPLAIN PARTITIONS says what gives a join its number, of other operators it is SET state_partitions"
    return R010.at(None, path=place).because(f"changed since it was made: {changes}").with_hint(hint)


def _text(part: Step | Output) -> str:
    if isinstance(part, Output):
        columns = ", ".join(f"{name} {type_}" for name, type_ in part.columns)
        return f"{part.connector} ({columns})"
    if isinstance(part, PackedView):
        return f"tables cut every {part.length} us from {', '.join(map(str, part.cuts))}"
    if not isinstance(part, View):
        return part.sql
    mark = part.watermark
    return part.sql if mark is None else f"{part.sql} WATERMARK {mark.column} {mark.delay} ms"


def _changes(past: dict[str, Any], present: dict[str, Any]) -> Iterator[str]:
    if past["output"] != present["output"]:
        yield f"output was {past['output']} and is {present['output']}"
    if _other_partitions(past, present):
        yield f"its state had {past['partitions']} partitions and would have {present['partitions']}"
    before, now = past["views"], present["views"]
    for name in dict.fromkeys((*before, *now)):
        if before.get(name) != now.get(name):
            yield f"{name} was {before.get(name, 'not there')} and is {now.get(name, 'not there')}"
    if before == now and not _other_partitions(past, present):
        yield "inputs, output place or the store of the state"


def _other_partitions(past: dict[str, Any], present: dict[str, Any]) -> bool:
    """Checkpoints of earlier versions do not say how many partitions there are."""
    return bool(past.get("partitions", present["partitions"]) != present["partitions"])
