"""Files of SQLite, by sqlite3. Statements are run for each row: a stage would only write everything twice."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from penstock.kit.databases.engine import FileEngine
from penstock.kit.databases.faults import DatabaseFault
from penstock.kit.databases.found_table import FoundTable
from penstock.kit.databases.operations import list_names, raw_cursor, resolve_conflict
from penstock.kit.databases.row_values import read_tuples, write_tuples
from penstock.kit.databases.spark_types import quote_identifier

if TYPE_CHECKING:
    from penstock.kit.databases.address import Address
    from penstock.kit.databases.operations import Operations
    from penstock.kit.databases.reads import ColumnCondition
    from penstock.kit.databases.target_table import TargetTable

SQLITE_TYPES = {
    pa.bool_(): "BOOLEAN",
    pa.int8(): "INTEGER",
    pa.int16(): "INTEGER",
    pa.int32(): "INTEGER",
    pa.int64(): "INTEGER",
    pa.float32(): "REAL",
    pa.float64(): "REAL",
    pa.string(): "TEXT",
    pa.binary(): "BLOB",
    pa.date32(): "TEXT",
    pa.timestamp("us", "UTC"): "TEXT",
    pa.time64("ns"): "TEXT",
}
SQLITE_HOLDS: dict[pa.DataType, tuple[type[sa.types.TypeEngine[Any]], ...]] = {
    pa.bool_(): (sa.Integer, sa.Boolean),
    pa.int8(): (sa.Integer,),
    pa.int16(): (sa.Integer,),
    pa.int32(): (sa.Integer,),
    pa.int64(): (sa.Integer,),
    pa.float32(): (sa.Float,),
    pa.float64(): (sa.Float,),
    pa.string(): (sa.String,),
    pa.binary(): (sa.LargeBinary, sa.types.NullType),
    pa.date32(): (sa.String, sa.Date),
    pa.timestamp("us", "UTC"): (sa.String, sa.DateTime),
    pa.time64("ns"): (sa.String, sa.Time),
}
"""The affinities that keep all values as they are."""
SQLITE_CODES: dict[int, tuple[str, Literal["retry", "refuse", "stop"]]] = {
    3: ("permission", "stop"),
    5: ("timeout", "retry"),
    6: ("timeout", "retry"),
    8: ("permission", "stop"),
    10: ("other", "retry"),
    13: ("full", "retry"),
    14: ("connect", "stop"),
    18: ("rejected", "refuse"),
    19: ("rejected", "refuse"),
    20: ("rejected", "refuse"),
    26: ("connect", "stop"),
}
"""Primary result codes: PERM, BUSY, LOCKED, READONLY, IOERR, FULL, CANTOPEN, TOOBIG, CONSTRAINT, MISMATCH, NOTADB."""


class SqliteEngine(FileEngine):
    """SQLite."""

    title = "SQLite"
    magic = (0, b"SQLite format 3\0")
    column_types = SQLITE_TYPES

    def connect(self, address: Address, create: bool, read_only: bool) -> sa.Connection:
        """A connection by sqlite3, in WAL mode, so that others can read meanwhile.

        Transactions that write lock when they begin.
        """
        path = f"file:{os.path.abspath(address.url).replace('%', '%25').replace('?', '%3f').replace('#', '%23')}"

        def connect() -> sqlite3.Connection:
            mode = "ro" if read_only else "rwc" if create else "rw"
            timeout = address.connect_timeout
            connection = sqlite3.connect(
                f"{path}?mode={mode}", uri=True, timeout=timeout, isolation_level=None, check_same_thread=False
            )
            if read_only:
                return connection
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            return connection

        engine = sa.create_engine("sqlite://", creator=connect, poolclass=sa.NullPool, hide_parameters=True)

        @sa.event.listens_for(engine, "begin")
        def begin(connection: sa.Connection) -> None:
            connection.exec_driver_sql("BEGIN" if read_only else "BEGIN IMMEDIATE")

        connection = engine.connect()
        file = os.stat(address.url)
        connection.info["file"] = (file.st_dev, file.st_ino)
        return connection

    def is_replaced(self, address: Address, connection: sa.Connection) -> bool:
        try:
            file = os.stat(address.url)
        except FileNotFoundError:
            return True
        return bool(connection.info["file"] != (file.st_dev, file.st_ino))

    def release(self, connection: sa.Connection) -> None:
        """A statement that an exception's traceback still knows keeps a closed connection, and its lock."""
        if not connection.invalidated:
            connection.connection.rollback()

    def explain_error(self, error: BaseException) -> DatabaseFault | None:
        """What an error of sqlite3 means."""
        if not isinstance(error, sqlite3.Error):
            return None
        text = str(error)
        kind, action = SQLITE_CODES.get(getattr(error, "sqlite_errorcode", 1) & 255, ("other", "stop"))
        if text.startswith("no such table"):
            kind = "missing_table"
        elif "no such column" in text or "has no column" in text:
            kind = "columns"
        return DatabaseFault(kind, text, action)

    def holds(self, type_: pa.DataType, column: Any) -> bool:
        return isinstance(column, SQLITE_HOLDS.get(type_, ()))

    def find_unfit_values(self, name: str, values: pa.ChunkedArray) -> Iterator[tuple[pa.Array, str]]:
        if pa.types.is_floating(values.type):
            mask = pc.is_nan(values)
            if pc.any(mask).as_py():
                yield mask, f"{name} is NaN, which SQLite does not have"

    def has_one_row(self, connection: sa.Connection, table: TargetTable) -> bool:
        schema = quote_identifier(table.schema or "main")
        asked = (
            f"SELECT count(*) FROM {schema}.sqlite_master WHERE type = 'index' AND lower(tbl_name) = lower(:name) "
            "AND upper(sql) LIKE 'CREATE UNIQUE INDEX%((TRUE))'"
        )
        return bool(connection.scalar(sa.text(asked), {"name": table.bare_name}))

    def list_collated(self, connection: sa.Connection, table: TargetTable) -> Collection[str]:
        """The columns that have another collation in a unique index over the key."""
        cursor, collated = raw_cursor(connection), set()
        indexes = 'SELECT name FROM pragma_index_list(?, ?) WHERE "unique"'
        for index in cursor.execute(indexes, (table.bare_name, table.schema or "main")).fetchall():
            found = cursor.execute("SELECT name, coll FROM pragma_index_xinfo(?) WHERE key", index).fetchall()
            if {name for name, _ in found} == set(table.key):
                collated |= {name for name, collation in found if collation != "BINARY"}
        return collated

    def start_operations(self, connection: sa.Connection, table: TargetTable, found: FoundTable) -> Operations:
        return SqliteOperations(connection, table, found)

    def find_rows(
        self, connection: sa.Connection, table: TargetTable, names: Sequence[str], batches: Sequence[pa.Table]
    ) -> pa.Table:
        """As `DatabaseEngine.find_rows`. A statement finds one key, as this takes no time to send."""
        where = " AND ".join(f"{quote_identifier(name)} = ?" for name in table.key)
        asked = f"SELECT {list_names(names)} FROM {table.quoted_name} WHERE {where}"
        cursor = raw_cursor(connection)
        keys = (values for batch in batches for values in write_tuples(batch.select(table.key), "Z"))
        rows = [row for values in keys for row in cursor.execute(asked, values).fetchall()]
        return read_tuples(rows, table, names)

    def select_rows(
        self, connection: sa.Connection, table: TargetTable, names: Sequence[str], conditions: Sequence[ColumnCondition]
    ) -> pa.Table:
        values = [value for each in conditions for value in each.values]
        values = [value.isoformat() if isinstance(value, date) else value for value in values]
        where = f" WHERE {' AND '.join(each.write('?') for each in conditions)}" if conditions else ""
        asked = f"SELECT {list_names(names)} FROM {table.quoted_name}{where}"
        return read_tuples(raw_cursor(connection).execute(asked, values).fetchall(), table, names)


SQLITE = SqliteEngine()


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
            self._cursor.executemany(statement, write_tuples(rows.select([*others, *key]), "Z"))
            if self._cursor.rowcount == rows.num_rows:
                return []
        asked = f"SELECT 1 FROM {self._table.quoted_name} WHERE {self._where}"
        keys = enumerate(write_tuples(rows.select(key), "Z"))
        return [number for number, values in keys if self._cursor.execute(asked, values).fetchone() is None]

    def delete(self, keys: pa.Table) -> None:
        """As `Operations.delete`."""
        if not self._table.key:
            self._cursor.execute(f"DELETE FROM {self._table.quoted_name}")
            return
        statement = f"DELETE FROM {self._table.quoted_name} WHERE {self._where}"
        self._cursor.executemany(statement, write_tuples(keys.select(self._table.key), "Z"))

    def fetch(self, keys: pa.Table, columns: Sequence[str]) -> pa.Table:
        """As `Operations.fetch`; the transaction has locked the whole file."""
        names = [*self._table.key, *columns]
        asked = f"SELECT {list_names(names)} FROM {self._table.quoted_name} WHERE {self._where}"
        found = (
            self._cursor.execute(asked, values).fetchone() for values in write_tuples(keys.select(self._table.key), "Z")
        )
        rows = [row for row in found if row is not None]
        return read_tuples(rows, self._table, names)

    def _insert(self, rows: pa.Table, conflict: str) -> int:
        marks = ", ".join("?" * rows.num_columns)
        columns = list_names(rows.column_names)
        statement = f"INSERT INTO {self._table.quoted_name} ({columns}) VALUES ({marks}) {conflict}"
        self._cursor.executemany(statement, write_tuples(rows, "Z"))
        return int(self._cursor.rowcount)
