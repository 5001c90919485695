"""How the rows of a query change a table that others own, as the runtime is told of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from penstock.planner.plan.column_sums import ColumnSums


@dataclass(frozen=True, slots=True)
class TableChange:
    """How the rows of a query change a table that others own, too: each row by the primary key of the table."""

    kind: Literal["put", "update", "delete"]
    table: tuple[tuple[str, str, bool], ...]
    """The columns of the table: name, Spark type, and whether it may be NULL."""
    key: tuple[str, ...]
    order: str | None = None
    """A column beside the columns of the rows. The last row of a key is the one with its greatest value."""
    operation: str | None = None
    """For a put: a column beside the columns of the rows that says which rows delete. None if none does."""
    assigned: tuple[str, ...] = ()
    """For an update: the columns that it sets."""
    inserted: tuple[str, ...] | None = None
    """For an update: the columns that a new row begins with. None if there are no new rows."""
    current: tuple[str, ...] = ()
    """For an update: the columns that it reads of the row as it is."""
    fold: str | None = None
    """The SELECT that computes `assigned` and `inserted` where `current` is read. It is described in codegen/sql.

    Without it the query has these values as columns `set.<name>` and `else.<name>`.
    """
    sums: ColumnSums | None = None
    """How the same update can be done to most rows without reading them. The rows do not have its columns."""
