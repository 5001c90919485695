"""An intermediate stream -> without the files that every query which reads it is done with."""

from __future__ import annotations

import json
from collections.abc import Iterable

from penstock.runtime.storage import Storage


def sweep(storage: Storage, rows: str, readers: Iterable[str]) -> None:
    """Deletes the files in the folder `rows` that are part of finished micro-batches of all `readers`.

    `readers` are the checkpoint folders of the queries that read the stream. Neither Spark's sink nor its source looks
    at a file again once the reader's batch is committed; both keep its name in their logs.
    """
    done = {name for name in storage.names(rows) if name.startswith("part-")}
    for place in readers:
        done &= _finished(storage, place)
    for name in done:
        storage.delete(f"{rows}/{name}")


def _finished(storage: Storage, place: str) -> set[str]:
    """The names of the files that the file sources of a query have read in committed micro-batches."""
    committed = storage.newest(f"{place}/commits")
    names: set[str] = set()
    for source in storage.names(f"{place}/sources"):
        log = f"{place}/sources/{source}"
        for batch in storage.names(log):
            if batch.split(".")[0].isdigit():
                entries = map(json.loads, (storage.read(f"{log}/{batch}") or "").splitlines()[1:])
                names |= {each["path"].rpartition("/")[2] for each in entries if each["batchId"] <= committed}
    return names
