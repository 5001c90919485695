"""Rows of a table by their keys, or by conditions on their columns. Nothing is locked or written."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import sqlalchemy as sa

from penstock.kit.databases.operations import raw_cursor
from penstock.kit.databases.spark_types import quote_identifier
from penstock.kit.databases.target_table import TargetTable


@dataclass(frozen=True, slots=True)
class ColumnCondition:
    """A comparison of a column with values: any number of them for IN, none for IS NULL and IS NOT NULL, else one."""

    column: str
    operator: str
    """One of =, <, <=, >, >=, IN, IS NULL, IS NOT NULL."""
    values: tuple[Any, ...] = ()

    def write(self, mark: str) -> str:
        """The condition as SQL, with a mark for each value."""
        marks = ", ".join([mark] * len(self.values))
        text = f"{quote_identifier(self.column)} {self.operator}"
        return f"{text} ({marks})" if self.operator == "IN" else f"{text} {marks}"


def find_rows(
    connection: sa.Connection, table: TargetTable, names: Sequence[str], batches: Sequence[pa.Table]
) -> pa.Table:
    """As `DatabaseEngine.find_rows`."""
    return table.address.engine.find_rows(connection, table, names, batches)


def has_rows(connection: sa.Connection, table: TargetTable) -> bool:
    """Whether the table has any row."""
    cursor = raw_cursor(connection)
    cursor.execute(f"SELECT 1 FROM {table.quoted_name} LIMIT 1")
    return cursor.fetchone() is not None
