"""Writes to SQLite: prepared statements, run for each row. A stage would only write everything twice."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from penstock.kit.databases.faults import TableError
from penstock.kit.databases.operations import list_names, raw_cursor, resolve_conflict
from penstock.kit.databases.spark_types import quote_identifier
from penstock.kit.databases.target_table import FoundTable, TargetTable


class SqliteOperations:
    """The operations of one transaction of SQLite."""

    def __init__(self, connection: sa.Connection, table: TargetTable, found: FoundTable) -> None:
        self._cursor = raw_cursor(connection)
        self._table, self._found = table, found
        self._where = " AND ".join(f"{quote_identifier(name)} = ?" for name in table.key)

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
        return False  # what is too large becomes a REAL

    def update(self, rows: pa.Table, added: Collection[str] = ()) -> Sequence[int]:
        """As `Operations.update`."""
        assert not added, "can_add comes before sums"
        key = self._table.key
        others = [name for name in rows.column_names if name not in key]
        if others:
            sets = ", ".join(f"{quote_identifier(name)} = ?" for name in others)
            statement = f"UPDATE {self._table.quoted_name} SET {sets} WHERE {self._where}"
            self._cursor.executemany(statement, sqlite_tuples(rows.select([*others, *key])))
            if self._cursor.rowcount == rows.num_rows:
                return []
        asked = f"SELECT 1 FROM {self._table.quoted_name} WHERE {self._where}"
        keys = enumerate(sqlite_tuples(rows.select(key)))
        return [number for number, values in keys if self._cursor.execute(asked, values).fetchone() is None]

    def delete(self, keys: pa.Table) -> None:
        """As `Operations.delete`."""
        if not self._table.key:
            self._cursor.execute(f"DELETE FROM {self._table.quoted_name}")
            return
        statement = f"DELETE FROM {self._table.quoted_name} WHERE {self._where}"
        self._cursor.executemany(statement, sqlite_tuples(keys.select(self._table.key)))

    def fetch(self, keys: pa.Table, columns: Sequence[str]) -> pa.Table:
        """As `Operations.fetch`; the transaction has locked the whole file."""
        names = [*self._table.key, *columns]
        asked = f"SELECT {list_names(names)} FROM {self._table.quoted_name} WHERE {self._where}"
        found = (
            self._cursor.execute(asked, values).fetchone() for values in sqlite_tuples(keys.select(self._table.key))
        )
        rows = [row for row in found if row is not None]
        schema = self._table.arrow_schema(names)
        arrays = [read_sqlite([row[place] for row in rows], field, self._table) for place, field in enumerate(schema)]
        return pa.Table.from_arrays(arrays, schema=schema)

    def _insert(self, rows: pa.Table, conflict: str) -> int:
        marks = ", ".join("?" * rows.num_columns)
        columns = list_names(rows.column_names)
        statement = f"INSERT INTO {self._table.quoted_name} ({columns}) VALUES ({marks}) {conflict}"
        self._cursor.executemany(statement, sqlite_tuples(rows))
        return int(self._cursor.rowcount)


def sqlite_tuples(rows: pa.Table) -> Iterable[tuple[Any, ...]]:
    """Rows as sqlite3 takes them: times as text in UTC."""
    columns = []
    for field in rows.schema:
        values = rows[field.name]
        if pa.types.is_timestamp(field.type):
            values = pc.strftime(values, "%Y-%m-%dT%H:%M:%SZ")
        elif pa.types.is_date32(field.type):
            values = values.cast(pa.string())
        elif pa.types.is_time64(field.type):
            values = values.cast(pa.time64("us")).cast(pa.string())
        elif pa.types.is_boolean(field.type):
            values = values.cast(pa.int8())
        columns.append(values.to_pylist())
    return zip(*columns, strict=True)


def read_sqlite(values: Sequence[Any], field: pa.Field, table: TargetTable) -> pa.Array:
    """Values of a column of SQLite, which may have values of any type, as Arrow.

    Raises TableError (types): a value is none of the declared type.
    """
    try:
        if pa.types.is_boolean(field.type):
            return (
                pa.array(values, pa.int8()).cast(pa.bool_())
                if set(values) <= {0, 1, None}
                else pa.array(["?"], pa.bool_())
            )
        if pa.types.is_timestamp(field.type) or pa.types.is_date32(field.type):
            return pa.array(values, pa.string()).cast(field.type)
        if pa.types.is_time64(field.type):
            begin = pa.scalar("1970-01-01T")
            texts = pc.binary_join_element_wise(begin, pa.array(values, pa.string()), "")
            return texts.cast(pa.timestamp("us")).cast(pa.time64("us")).cast(field.type)
        return pa.array(values, field.type)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
        message = f"column {field.name} of {table.place} has a value that its declaration does not allow: {error}"
        raise TableError("types", message) from None
