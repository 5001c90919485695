"""An intermediate stream -> the deletion of the files that all of its readers have finished."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from urllib.parse import unquote

from penstock.runtime.checkpoint.preflight import refuse_damaged
from penstock.runtime.checkpoint.spark_logs import SOURCE_ENTRY, entries, number_files, offsets_of, read_required, span
from penstock.runtime.checkpoint.storage import Damaged, Storage


def sweep(storage: Storage, rows: str, readers: Iterable[str]) -> None:
    """Deletes the files in the folder `rows` that all `readers` have read, and read others after.

    `readers` are the checkpoint folders of the queries that read the stream. Neither Spark's sink nor its source looks
    at a file again once the reader's micro-batch is committed; both keep its name in their logs.
    """
    done = {name for name in storage.names(rows) if name.startswith("part-")}
    for place in readers:
        sources = list(_list_read_files(storage, place, rows, behind=1))
        done = done.intersection(*sources) if sources else set()
    for name in done:
        storage.delete(f"{rows}/{name}")


def list_finished(storage: Storage, place: str, rows: str) -> set[str]:
    """The files in the folder `rows` that a query reads no more, even where a micro-batch of it is run again.

    Raises:
        RunError: a log of its checkpoint is damaged.
    """
    sources = list(_list_read_files(storage, place, rows, behind=0))
    return set.intersection(*sources) if sources else set()


def _list_read_files(storage: Storage, place: str, rows: str, *, behind: int) -> Iterator[set[str]]:
    """For each source of a query that has read in the folder: the names of the files that it has read.

    A stream that is joined with itself is read by two sources, which list the folder one after the other. The second
    may not know yet of the newest files that the first has read. So `behind` numbers of files are taken as not read.
    """
    committed = storage.newest(f"{place}/commits")
    if committed < 0:
        return
    try:
        path = f"{place}/offsets/{committed}"
        offsets = offsets_of(path, read_required(storage, path))
        # A named source that has listed files and not read any has no offset.
        for source in sorted({*offsets, *storage.names(f"{place}/sources")}):
            offset = offsets.get(source)
            is_of_files = offset is None or (isinstance(offset, dict) and "logOffset" in offset)
            read = list(_entries(storage, f"{place}/sources/{source}", rows)) if is_of_files else []
            if read:
                # The log of a source has numbers of its own; the offset is the one that committed batches have reached.
                reached = -1 if offset is None else offset["logOffset"]
                yield {name for name, number in read if number <= reached - behind}
    except Damaged as damage:
        raise refuse_damaged(damage) from None


def _entries(storage: Storage, log: str, rows: str) -> Iterator[tuple[str, int]]:
    """The files of the folder in a source's log, each with the number under which it is logged."""
    folder = "/".join(["", *rows.rstrip("/").split("/")[-2:]])  # the log has the whole path, with its scheme
    files = number_files(storage.names(log))
    for batch in span(files, max(files, default=-1)):
        path = f"{log}/{files.get(batch, batch)}"
        for entry in entries(path, read_required(storage, path), SOURCE_ENTRY):
            parent, _, name = unquote(entry["path"]).rpartition("/")
            if parent.endswith(folder):
                yield name, entry["batchId"]
