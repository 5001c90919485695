"""What a run leaves in the checkpoint of each query with state, for EXPLAIN STATE: how fast rows came, what it kept."""

from __future__ import annotations

from typing import Annotated

import msgspec

from penstock.codegen.folders import checkpoint_name

RECORD_FILE = "last_run.json"
_LIMITS = msgspec.Meta(ge=0, le=10**18)


class RunRecord(msgspec.Struct, frozen=True):
    """The last run of a query, from its start to its end or to the last minute.

    rates: by input, rows per second of event time, without rejected rows. seconds: the event time of all rows. entries
    and bytes: the most that Spark reported of the state after a micro-batch.
    """

    rates: dict[str, Annotated[float, _LIMITS]]
    seconds: Annotated[float, _LIMITS]
    entries: Annotated[int, _LIMITS]
    bytes: Annotated[int, _LIMITS]


def record_path(folder: str, query: str) -> str:
    """The file of a query in the folder of all checkpoints."""
    return f"{folder.rstrip('/')}/{checkpoint_name(query)}/{RECORD_FILE}"
