"""METADATA columns -> Spark SQL over what is known of each record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from penstock.codegen.record_parsing import HEADERS
from penstock.codegen.sql.printing import print_inline
from penstock.codegen.sql.trees import alias, call, column, number, text
from penstock.planner.plan import Expression

SIZE = "_size"
"""Beside `_file` and `_arrived`: the size of the record's file, where a column asks for it."""


def read_origin(metadata: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """What has to be known of a file beside its path and its time."""
    return (f"_metadata.file_size AS {SIZE}",) if "file.size" in dict(metadata).values() else ()


def make_metadata_items(metadata: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """The columns, each with the connector's name for what it holds."""
    return tuple(print_inline(alias(_VALUES[key](), name)) for name, key in metadata)


def _decode(name: Expression) -> Expression:
    """What an URI calls a file, as people write it. The function that decodes would take `+` for a space."""
    return call("URL_DECODE", call("REPLACE", name, text("+"), text("%2B")))


_VALUES: dict[str, Callable[[], Expression]] = {
    "file.path": lambda: _decode(column("_file")),
    "file.name": lambda: _decode(call("SUBSTRING_INDEX", column("_file"), text("/"), number(-1))),
    "file.size": lambda: column(SIZE),
    "file.modification-time": lambda: column("_arrived"),
    **{key: partial(column, "_metadata", key) for key in ("topic", "partition", "offset", "timestamp", "key", HEADERS)},
}
