"""The records of a changelog -> the rows of the table: the newest record of each key that does not delete it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from penstock.codegen.program import LocalTable


def keep_newest(table: LocalTable, records: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows. The records come in the order of their files and lines."""
    newest: dict[tuple[Any, ...], dict[str, Any]] = {}
    for record in records:
        key = tuple(record[each] for each in table.key or ())
        known = newest.get(key)
        if known is None or table.sequence is None or record[table.sequence] >= known[table.sequence]:
            newest[key] = record
    return [record for record in newest.values() if not _deletes(table, record)]


def _deletes(table: LocalTable, record: dict[str, Any]) -> bool:
    word = None if table.operation is None else record[table.operation]
    return word is not None and word.lower() in table.deletes
