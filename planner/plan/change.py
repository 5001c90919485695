"""How the rows of a query change a table that others own, too: each row by the primary key of the table."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from penstock.planner.plan.column_sums import ColumnSums
from penstock.planner.plan.expressions import Named
from penstock.planner.plan.node import Column


class ChangedTable(msgspec.Struct, frozen=True):
    """The table: its columns, and the names of its key columns."""

    columns: tuple[Column, ...]
    key: tuple[str, ...]


class PutRows(msgspec.Struct, frozen=True):
    """Each row takes the place of the row of its key."""

    table: ChangedTable
    order: str | None = None
    """A column of the query that the table does not have. The last row of a key is the one with the greatest value.
    None: the last one to arrive is.
    """


class DeleteRows(msgspec.Struct, frozen=True):
    """Each row deletes the row of its key. The query has no other columns than the key's."""

    table: ChangedTable


class UpdateRows(msgspec.Struct, frozen=True):
    """Each row sets some columns in the row of its key. Rows of one key count in their order."""

    table: ChangedTable
    assignments: tuple[Named, ...]
    """The columns that are set. Their values are over the columns of the query, and over the columns in `current`."""
    current: tuple[tuple[str, Column], ...] = ()
    """What the assignments read of the row as it is: the name of each column in them, and the column of the table."""
    default: tuple[Named, ...] | None = None
    """The row that is put where there is none, and then updated; over the columns of the query. None: there is none."""
    order: str | None = None
    """As in PutRows."""
    sums: ColumnSums | None = None
    """The same update where all that it reads of the row is what it adds to; else None."""


RowChange: TypeAlias = PutRows | DeleteRows | UpdateRows
