"""A program and the folder of its checkpoints -> the checkpoints are deleted, so that its queries begin anew.

Either all checkpoints are deleted or none. None is deleted if a query could not start afterwards, because the rows that
it would write again still exist. To overwrite means to delete these rows, too, where Penstock has written them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from urllib.parse import unquote

from pyspark.sql import SparkSession

from penstock.codegen.program import Program, SparkQuery, is_intermediate
from penstock.runtime.checkpoint.check_places import qualify_paths
from penstock.runtime.checkpoint.checkpoint import (
    DESCRIPTION,
    check_is_checkpoint,
    description_in,
    is_begun,
    place_of,
    remove,
)
from penstock.runtime.checkpoint.lock import lock
from penstock.runtime.checkpoint.storage import Storage, absolute
from penstock.runtime.connectors import sink_of, source_of
from penstock.runtime.failure.errors import RunError, check_all
from penstock.runtime.query.rejects import rejects_query


@dataclass(frozen=True, slots=True)
class RemovedOutput:
    """What was removed so that queries begin anew, and what was left.

    checkpoints: folders of checkpoints. rows: folders whose rows were removed. kept: what still has rows, because
    others may have written them: tables of databases, and topics.
    """

    checkpoints: tuple[str, ...]
    rows: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


def reset(spark: SparkSession, program: Program, folder: str | None, *, overwrite: bool = False) -> RemovedOutput:
    """Removes the checkpoints of the program's queries from the folder; with `overwrite` also the rows in files.

    Raises:
        RunError: one is no checkpoint, or in use; an input is missing, or an output holds rows. With `overwrite`, an
            output holds rows that another program has written, or another process writes.
    """
    storage = Storage(spark)
    queries = [qualify_paths(storage, query) for query in program.queries]
    begun = [] if folder is None else [*_find_begun(storage, queries, folder)]
    with ExitStack() as locks:
        for place in begun:
            check_is_checkpoint(storage, place)
            locks.enter_context(lock(spark, storage, f"{place}/lock", _ignore))
        removed = {query.output.folder for query in queries} if overwrite else set()
        for source in (source for query in queries for source in query.inputs):
            if source.folder is None or source.folder not in removed:
                source_of(source).check(storage, None)
        sinks = [sink_of(each) for query in queries for each in _list_writing(query, folder)]
        if not overwrite:
            check_all([partial(each.check, storage, None, -1) for each in sinks])
            remove(storage, begun)
            return RemovedOutput(tuple(begun))
        check_all([partial(each.check_removable, storage) for each in sinks])
        remove(storage, begun)
        rows = [path for each in sinks if (path := each.remove_rows(storage)) is not None]
        kept = [each.kept_rows for each in sinks if each.kept_rows is not None]
        return RemovedOutput(tuple(begun), tuple(rows), tuple(kept))


def _find_begun(storage: Storage, queries: list[SparkQuery], folder: str) -> Iterator[str]:
    names = dict.fromkeys(
        name for query in queries for name in (query.name, *_find_former_writers(storage, query, folder))
    )
    for place in (place_of(name, folder) for name in names):
        if is_begun(storage, place):
            yield place


def _find_former_writers(storage: Storage, query: SparkQuery, folder: str) -> Iterator[str]:
    """The queries that have written intermediate streams for a query of this name, which may have had more of them."""
    if query.output.is_intermediate:
        return
    for each in storage.names(absolute(folder)):
        if re.fullmatch(rf"{re.escape(query.name)}_intermediate\d+_*", unquote(each)):
            place = f"{absolute(folder)}/{each}"
            is_described = DESCRIPTION in storage.names(place)
            if is_described and is_intermediate(description_in(storage, place)["output"].partition(" ")[0]):
                yield unquote(each)


def _list_writing(query: SparkQuery, folder: str | None) -> Iterator[SparkQuery]:
    """The queries that write outside of the checkpoints: the query, and the queries of what it rejects."""
    if not query.output.is_intermediate:
        yield query
    for rejects in query.rejects:
        yield rejects_query(query, rejects, folder)


def _ignore(loss: RunError) -> None:
    """What a lost lock means while checkpoints are removed: they are removed with it."""
