"""The rejected rows of a query -> a query of its own that writes them beside the result.

Whether a row is rejected depends only on the row and its file. So this query may start late and read the input from the
beginning: it finds exactly the rows that the first query counted.
"""

from __future__ import annotations

from penstock.codegen import folder_name
from penstock.codegen.program import QueryOutput, Rejects, SparkQuery
from penstock.runtime.checkpoint import place_of

_COLUMNS = (("reason", "STRING"), ("record", "STRING"), ("file", "STRING"))


def rejects_query(query: SparkQuery, rejects: Rejects, folder: str | None) -> SparkQuery:
    """The query that writes the rows of one input that `query` sets aside.

    They go to `<place>_rejected/<input>`, where the place is the folder of a files sink, else the query's in the
    checkpoint `folder`; where neither is kept, to a memory sink of the name `<query>_rejected/<input>`.
    """
    if query.output.connector == "files":
        place = str(dict(query.output.options)["path"])
    elif folder is not None:
        place = place_of(query.name, folder)
    kept = query.output.connector == "files" or folder is not None
    name = f"{place}_rejected/{folder_name(rejects.name)}" if kept else f"{query.name}_rejected/{rejects.name}"
    return SparkQuery(
        name=f"{query.name}_rejected/{rejects.name}",
        inputs=(rejects.input,),
        views=rejects.views,
        result=rejects.view,
        output=QueryOutput(
            name=name,
            connector="files" if kept else "memory",
            options=(("path", name), ("format", "json")) if kept else (),
            columns=_COLUMNS,
        ),
        mode="append",
        timed=False,
        key=(),
        rejects=(),
        fingerprint=query.fingerprint,
        checked=query.checked,
    )
