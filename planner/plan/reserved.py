"""The names of columns that codegen and the runtime put beside the columns of a script, in lower case.

A column of a script cannot have such a name where both would be columns of one view: K016. A new name belongs here.
"""

from __future__ import annotations

from collections.abc import Iterable

STREAM_COLUMNS = frozenset(
    {"_malformed", "_file", "_arrived", "_reason", "_heartbeat", "_late", "_lateness", "_metadata"}
    | {"_fields", "_why", "_topic", "_partition", "_offset", "_tombstone", "_revision", "_step"}
)
"""Beside the columns of declared and intermediate streams."""
TABLE_COLUMNS = STREAM_COLUMNS | {"_order", "_deleted", "_key", "_delta", "_place", "_operation", "_commit"}
"""Beside the columns of tables, which are also read from where they have been written."""


def choose_unused_name(name: str, taken: Iterable[str]) -> str:
    """The name, or with underscores behind it where a taken one differs from it in case at most."""
    folded = {each.casefold() for each in taken}
    while name.casefold() in folded:
        name += "_"
    return name
