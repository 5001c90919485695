"""A table as the database has it."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class FoundColumn:
    """A column as the database has it. `type`: SQLAlchemy's type; for DuckDB its text."""

    name: str
    type: Any
    nullable: bool
    has_default: bool
    is_generated: bool


@dataclass(frozen=True, slots=True)
class FoundTable:
    """A table as the database has it.

    keys: the column sets that are unique, the empty one of a table that cannot have more than one row. null_keys: the
    sets in which NULL is a value like any other.
    """

    columns: dict[str, FoundColumn]
    keys: list[frozenset[str]]
    null_keys: tuple[frozenset[str], ...] = ()

    @property
    def required(self) -> frozenset[str]:
        """The columns that every new row must have a value for."""
        return frozenset(each.name for each in self.columns.values() if not each.nullable and not each.has_default)
