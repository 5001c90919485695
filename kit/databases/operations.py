"""What is done to a table inside of one transaction; each database has a class of its own."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa
import sqlalchemy as sa

from penstock.kit.databases.spark_types import quote_identifier

if TYPE_CHECKING:
    from penstock.kit.databases.target_table import TargetTable

FEW_KEYS = 1_000
"""Up to so many keys a statement costs more to send than to answer."""


class Operations(Protocol):
    """The statements of one transaction. Rows have distinct keys, and the Arrow types of the declaration.

    Errors of the driver come as they are.
    """

    def prepare(self, names: Sequence[str], numbered: bool) -> None:
        """Is called before the first savepoint of rows with these columns; `numbered`: they are for updates."""

    def upsert(self, rows: pa.Table) -> None:
        """Inserts rows, or sets their columns where the key is there."""

    def insert(self, rows: pa.Table) -> int:
        """Inserts rows whose key is not there; gives their number."""

    def can_add(self, columns: pa.Schema) -> bool:
        """Whether `update` can add to these columns, and refuses sums that are too large for their types."""

    def update(self, rows: pa.Table, added: Collection[str] = ()) -> Sequence[int]:
        """Sets columns where the key is there, or adds to those `added`; gives the numbers of the other rows."""

    def delete(self, keys: pa.Table) -> None:
        """Deletes the rows of these keys."""

    def fetch(self, keys: pa.Table, columns: Sequence[str]) -> pa.Table:
        """The columns of the rows of these keys."""


def raw_cursor(connection: sa.Connection) -> Any:
    """A cursor of the driver."""
    return connection.connection.cursor()


def escape_marks(text: str) -> str:
    """SQL in which percent signs are what they are for a driver whose marks begin with one."""
    return text.replace("%", "%%")


def list_names(names: Sequence[str], before: str = "") -> str:
    """Columns as SQL lists them, each with a qualifier `before` it."""
    return ", ".join(before + quote_identifier(name) for name in names)


def match_key(table: TargetTable, left: str, right: str, nulls: Collection[str] = ()) -> str:
    """The condition that two rows have the same key, in which these columns are NULL.

    PostgreSQL finds no row by an index for IS NOT DISTINCT FROM.
    """
    names = {name: quote_identifier(name) for name in table.key}
    return " AND ".join(
        f"{left}{quoted} IS NULL AND {right}{quoted} IS NULL" if name in nulls else f"{left}{quoted} = {right}{quoted}"
        for name, quoted in names.items()
    )


def resolve_conflict(table: TargetTable, names: Sequence[str]) -> str:
    """The clause that makes an INSERT an upsert."""
    others = [quote_identifier(name) for name in names if name not in table.key]
    action = "UPDATE SET " + ", ".join(f"{name} = EXCLUDED.{name}" for name in others) if others else "NOTHING"
    return f"ON CONFLICT ({list_names(table.key) or '(true)'}) DO {action}"


def assign_columns(table: TargetTable, names: Sequence[str], added: Collection[str] = ()) -> str:
    """The assignments of an UPDATE of the rows `t` from the rows `s`, which are added to some columns."""
    others = {name: quote_identifier(name) for name in names if name not in table.key}
    return ", ".join(
        f"{quoted} = {f't.{quoted} + ' if name in added else ''}s.{quoted}" for name, quoted in others.items()
    )


def describe_unfit(table: TargetTable, reason: object) -> str:
    """What is wrong with a value that Arrow does not take."""
    return f"{table.place} has a value that its declaration does not allow: {reason}"
