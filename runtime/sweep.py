"""An intermediate stream -> without the files that every query which reads it is done with."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from penstock.runtime.storage import Storage

_HEAD = 2  # lines of an offset file before those of the sources


def sweep(storage: Storage, rows: str, readers: Iterable[str]) -> None:
    """Deletes the files in the folder `rows` that all `readers` have read, and read others after.

    `readers` are the checkpoint folders of the queries that read the stream. Neither Spark's sink nor its source looks
    at a file again once the reader's micro-batch is committed; both keep its name in their logs.
    """
    done = {name for name in storage.names(rows) if name.startswith("part-")}
    for place in readers:
        sources = list(_finished(storage, place, rows))
        done = done.intersection(*sources) if sources else set()
    for name in done:
        storage.delete(f"{rows}/{name}")


def _finished(storage: Storage, place: str, rows: str) -> Iterator[set[str]]:
    """For each source of a query that has read in the folder: the names of the files that it will not read again.

    A stream that is joined with itself is read by two sources, which list the folder one after the other; the second
    may not know yet of the newest files that the first has read. So these stay.
    """
    committed = storage.newest(f"{place}/commits")
    offsets = (storage.read(f"{place}/offsets/{committed}") or "").splitlines()[_HEAD:]
    for source, offset in enumerate(offsets):
        entries = list(_entries(storage, f"{place}/sources/{source}", rows))
        if entries:
            # The log of a source has numbers of its own; the offset is the one that the committed batches have reached.
            reached = json.loads(offset)["logOffset"] if offset != "-" else -1
            yield {name for name, number in entries if number < reached}


def _entries(storage: Storage, log: str, rows: str) -> Iterator[tuple[str, int]]:
    """The files of the folder in a source's log, each with the number under which it is logged."""
    folder = "/".join(["", *rows.rstrip("/").split("/")[-2:]])  # the log has the whole path, with its scheme
    for batch in storage.names(log):
        if batch.split(".")[0].isdigit():
            for line in (storage.read(f"{log}/{batch}") or "").splitlines()[1:]:
                entry = json.loads(line)
                parent, _, name = entry["path"].rpartition("/")
                if parent.endswith(folder):
                    yield name, entry["batchId"]
