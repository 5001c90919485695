"""Writes to DuckDB: Arrow rows are registered as a view, and one statement merges them."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import sqlalchemy as sa

from penstock.kit.databases.faults import TableError
from penstock.kit.databases.operations import assign_columns, list_names, match_key, resolve_conflict
from penstock.kit.databases.spark_types import find_unfit
from penstock.kit.databases.target_table import FoundTable, TargetTable

STAGED = "penstock_stage"


class DuckdbOperations:
    """The operations of one transaction of DuckDB."""

    def __init__(self, connection: sa.Connection, table: TargetTable, found: FoundTable) -> None:
        self._duckdb: Any = connection.connection.driver_connection
        self._table, self._found = table, found

    def prepare(self, names: Sequence[str], numbered: bool) -> None:
        """As `Operations.prepare`."""

    def upsert(self, rows: pa.Table) -> None:
        """As `Operations.upsert`."""
        if not self._found.required <= set(rows.column_names):
            # An INSERT would be refused before it finds that the row is there.
            rows = rows.take(pa.array(self.update(rows), pa.int64()))
        self._insert(rows, resolve_conflict(self._table, rows.column_names))

    def insert(self, rows: pa.Table) -> int:
        """As `Operations.insert`."""
        return self._insert(rows, resolve_conflict(self._table, self._table.key))

    def can_add(self, columns: pa.Schema) -> bool:
        """As `Operations.can_add`."""
        return False

    def update(self, rows: pa.Table, added: Collection[str] = ()) -> Sequence[int]:
        """As `Operations.update`."""
        assert not added, "can_add comes before sums"
        table, assigned = self._table, assign_columns(self._table, rows.column_names)
        key = match_key(table, "t.", "s.")
        if assigned:
            text = f"UPDATE {table.quoted_name} AS t SET {assigned} FROM {STAGED} AS s WHERE {key}"
            if self._run(rows, text).fetchone()[0] == rows.num_rows:
                return []
        numbered = rows.select(table.key).append_column(
            "penstock_row", pa.array(np.arange(rows.num_rows, dtype=np.int32))
        )
        there = f"SELECT 1 FROM {table.quoted_name} AS t WHERE {key}"
        asked = f"SELECT penstock_row FROM {STAGED} AS s WHERE NOT EXISTS ({there}) ORDER BY 1"
        return [number for (number,) in self._run(numbered, asked).fetchall()]

    def delete(self, keys: pa.Table) -> None:
        """As `Operations.delete`."""
        key = match_key(self._table, "t.", "s.")
        self._run(keys, f"DELETE FROM {self._table.quoted_name} AS t USING {STAGED} AS s WHERE {key}")

    def fetch(self, keys: pa.Table, columns: Sequence[str]) -> pa.Table:
        """As `Operations.fetch`; the file is locked."""
        table = self._table
        names = [*table.key, *columns]
        asked = f"SELECT {list_names(names, 't.')} FROM {STAGED} AS s JOIN {table.quoted_name} AS t "
        self._duckdb.register(STAGED, keys)
        rows = self._duckdb.sql(asked + f"ON {match_key(table, 't.', 's.')}").to_arrow_table()
        try:
            rows = rows.cast(table.arrow_schema(names))
            for _, reason in find_unfit("duckdb", (), rows):
                raise pa.ArrowInvalid(reason)
        except pa.ArrowInvalid as error:
            message = f"{table.place} has a value that its declaration does not allow: {error}"
            raise TableError("types", message) from None
        return rows

    def _insert(self, rows: pa.Table, conflict: str) -> int:
        columns = list_names(rows.column_names)
        text = f"INSERT INTO {self._table.quoted_name} ({columns}) SELECT {columns} FROM {STAGED} {conflict}"
        return int(self._run(rows, text).fetchone()[0])

    def _run(self, rows: pa.Table, text: str) -> Any:
        self._duckdb.register(STAGED, rows)
        return self._duckdb.execute(text)
