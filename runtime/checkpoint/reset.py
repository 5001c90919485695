"""A program and the folder of its checkpoints -> the checkpoints are deleted, so that its queries begin anew.

Either all checkpoints are deleted or none. None is deleted if a query could not start afterwards, because the rows that
it would write again still exist.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
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


def reset(spark: SparkSession, program: Program, folder: str) -> list[str]:
    """Removes the checkpoints of the program's queries from the folder, and returns what their folders were.

    Raises:
        RunError: one is no checkpoint, or in use; an input is missing, or an output holds rows.
    """
    storage = Storage(spark)
    queries = [qualify_paths(storage, query) for query in program.queries]
    names = dict.fromkeys(
        name for query in program.queries for name in (query.name, *_find_former_writers(storage, query, folder))
    )
    begun = [place for place in (place_of(name, folder) for name in names) if is_begun(storage, place)]
    with ExitStack() as locks:
        for place in begun:
            check_is_checkpoint(storage, place)
            locks.enter_context(lock(spark, storage, f"{place}/lock", _ignore))
        for query in queries:
            for source in query.inputs:
                source_of(source).check(storage, None)
        writing = (each for query in queries for each in _writing(query, folder))
        check_all([partial(sink_of(each).check, storage, None, -1) for each in writing])
        remove(storage, begun)
    return begun


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


def _writing(query: SparkQuery, folder: str) -> Iterator[SparkQuery]:
    """The queries that write outside of the checkpoints: the query, and the queries of what it rejects."""
    if not query.output.is_intermediate:
        yield query
    for rejects in query.rejects:
        yield rejects_query(query, rejects, folder)


def _ignore(loss: RunError) -> None:
    """What a lost lock means while checkpoints are removed: they are removed with it."""
