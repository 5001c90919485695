"""The columns of a place -> what may be the key of its records."""

from __future__ import annotations

from penstock.describe.found_place import FoundPlace
from penstock.describe.infer import Described
from penstock.describe.text_forms import speaks_of_key
from penstock.describe.type_text import type_text
from penstock.parser import name_text
from penstock.planner.types import BIGINT, INT, STRING


def find_key(found: FoundPlace) -> str | None:
    """What is told of the column that is most likely the key; None if none is."""
    columns = [each for each in found.columns if _can_be_key(each, found.records)]
    unique = [each for each in columns if each.observed is not None and each.observed.values is not None]
    chosen = min(unique, key=_rank, default=None)
    if chosen is not None and found.records > 1:
        column = f"{name_text(chosen.name)} {type_text(chosen.type)} KEY"
        return f"key: {chosen.name} is different in each record; {column} partitions by it"
    chosen = min(columns, key=_rank, default=None)
    if chosen is None:
        return None
    column = f"{name_text(chosen.name)} {type_text(chosen.type)} KEY"
    return f"key: {chosen.name} is in each record; {column} partitions by it"


def _can_be_key(column: Described, records: int) -> bool:
    if column.type not in (STRING, INT, BIGINT) or column.observed is None or column.form is not None:
        return False
    return 0 < column.observed.count == records and speaks_of_key(column.name)


def _rank(column: Described) -> tuple[int, int]:
    """An id that has no other word in its name comes first."""
    name = column.name.lower()
    return (0 if name == "id" else 1 if name in ("uuid", "guid", "key") else 2, len(name))
