"""Updates that a database computes by itself, as plain data."""

from __future__ import annotations

import msgspec


class ColumnSums(msgspec.Struct, frozen=True):
    """An update that sets columns and adds to what others have, which a database can do.

    Each pair is a column of the table, and the column of the query with its value.
    """

    added: tuple[tuple[str, str], ...] = ()
    subtracted: tuple[tuple[str, str], ...] = ()
    assigned: tuple[tuple[str, str], ...] = ()
    inserted: tuple[tuple[str, str], ...] = ()
    """For the row that is put where there is none, if one is put."""
    computed: tuple[str, ...] = ()
    """The columns of the query that are there for nothing else. Rejected rows do not show them."""
