"""The rejected rows of a query -> a query of its own that writes them beside the result.

Whether a row is rejected depends only on the row and its file. So this query may start late and read the input from the
beginning: it finds exactly the rows that the first query counted.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.codegen.folders import folder_name
from penstock.codegen.program import Input, Rejects, SparkQuery
from penstock.runtime.checkpoint.checkpoint import place_of
from penstock.runtime.checkpoint.storage import Storage
from penstock.runtime.connectors import source_of
from penstock.runtime.connectors.files import folder_output
from penstock.runtime.connectors.memory import memory_output


def settle_inputs(query: SparkQuery, storage: Storage, place: str) -> SparkQuery:
    """The query with what is decided once for its checkpoint folder `place`, for its rejected rows, too.

    Raises:
        RunError: it cannot be decided.
    """

    def settle(source: Input) -> Input:
        settled = source_of(source).settle(storage, place)
        return replace(source, options=tuple({**dict(source.options), **settled}.items())) if settled else source

    return replace(
        query,
        inputs=tuple(map(settle, query.inputs)),
        rejects=tuple(replace(each, input=settle(each.input)) for each in query.rejects),
    )


def rejects_query(query: SparkQuery, rejects: Rejects, folder: str | None) -> SparkQuery:
    """The query that writes the rows of one input that `query` sets aside.

    They go to `<place>_rejected/<input>`. The place is the folder of a files sink, else the query's in the checkpoint
    `folder`. Where neither is kept, they go to a memory sink of the name `<query>_rejected/<input>`. If the query
    writes an intermediate stream, they go beside the sink at the end of the chain: `<place>_rejected/<query>/<input>`.
    """
    place = query.rejects_folder or (None if folder is None else f"{place_of(query.name, folder)}_rejected")
    if place is None:
        output = memory_output(f"{query.name}_rejected/{rejects.name}", rejects.columns)
    else:
        path = f"{place}/{folder_name(rejects.name)}"
        output = folder_output(path, path, "json", rejects.columns)
    return SparkQuery(
        name=f"{query.name}_rejected/{rejects.name}",
        inputs=(rejects.input,),
        views=rejects.views,
        result=rejects.view,
        output=output,
        mode="append",
        timed=False,
        key=(),
        rejects=(),
        fingerprint=query.fingerprint,
        checked=query.checked,
    )
