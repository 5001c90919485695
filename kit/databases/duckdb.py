"""Files of DuckDB, by duckdb and its dialect of SQLAlchemy. Arrow rows are a view, and one statement merges them."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import sqlalchemy as sa

from penstock.kit.databases.engine import FileEngine, holds_decimal
from penstock.kit.databases.faults import DatabaseFault, TableError
from penstock.kit.databases.found_table import FoundColumn, FoundTable
from penstock.kit.databases.operations import (
    assign_columns,
    describe_unfit,
    list_names,
    match_key,
    resolve_conflict,
)
from penstock.kit.databases.spark_types import find_unfit, quote_identifier

if TYPE_CHECKING:
    from penstock.kit.databases.address import Address
    from penstock.kit.databases.operations import Operations
    from penstock.kit.databases.reads import ColumnCondition
    from penstock.kit.databases.target_table import TargetTable

DUCKDB_TYPES = {
    pa.bool_(): "BOOLEAN",
    pa.int8(): "TINYINT",
    pa.int16(): "SMALLINT",
    pa.int32(): "INTEGER",
    pa.int64(): "BIGINT",
    pa.float32(): "FLOAT",
    pa.float64(): "DOUBLE",
    pa.string(): "VARCHAR",
    pa.binary(): "BLOB",
    pa.date32(): "DATE",
    pa.timestamp("us", "UTC"): "TIMESTAMP WITH TIME ZONE",
    pa.time64("ns"): "TIME",
}
STAGED = "penstock_stage"


class DuckdbEngine(FileEngine):
    """DuckDB. It has no timeouts."""

    title = "DuckDB"
    magic = (8, b"DUCK")
    column_types = DUCKDB_TYPES
    has_savepoints = False
    keeps_connections = False  # no other process can open the file meanwhile

    def connect(self, address: Address, create: bool, read_only: bool) -> sa.Connection:
        """A connection to a file, which no other process can open meanwhile, or only to read."""
        if not create and not os.path.exists(address.url):
            raise TableError("connect", f"there is no file {address.url}", "create it, or set create = 'if_missing'")
        url = sa.URL.create("duckdb", database=address.url)
        arguments = {"read_only": read_only}
        return sa.create_engine(url, poolclass=sa.NullPool, hide_parameters=True, connect_args=arguments).connect()

    def explain_error(self, error: BaseException) -> DatabaseFault | None:
        """What an error of DuckDB means."""
        import duckdb

        if not isinstance(error, duckdb.Error):
            return None
        text = str(error).partition("\n")[0]
        busy = ("Could not set lock", "different configuration", "Unique file handle conflict")
        refused: tuple[Any, ...] = (duckdb.ConstraintException, duckdb.ConversionException, duckdb.OutOfRangeException)
        if any(part in text for part in busy):
            return DatabaseFault("timeout", text, "retry")
        if isinstance(error, duckdb.TransactionException) or "write-write conflict" in text or "Conflict on" in text:
            return DatabaseFault("conflict", text, "retry")
        if isinstance(error, (*refused, duckdb.InvalidInputException)):
            return DatabaseFault("rejected", text, "refuse")
        if "No space left" in text:
            return DatabaseFault("full", text, "retry")
        if "Permission denied" in text or "read-only" in text:
            return DatabaseFault("permission", text, "stop")
        if isinstance(error, duckdb.IOException):
            return DatabaseFault("connect", text, "stop")
        if isinstance(error, duckdb.CatalogException):
            return DatabaseFault("missing_table", text, "stop")
        return DatabaseFault("columns" if isinstance(error, duckdb.BinderException) else "other", text, "stop")

    def column_type(self, type_: pa.DataType) -> str:
        if pa.types.is_decimal(type_):
            return f"DECIMAL({type_.precision},{type_.scale})"
        if pa.types.is_list(type_):
            return self.column_type(type_.value_type) + "[]"
        if pa.types.is_map(type_):
            return f"MAP({self.column_type(type_.key_type)}, {self.column_type(type_.item_type)})"
        if pa.types.is_struct(type_):
            fields = (f"{quote_identifier(field.name)} {self.column_type(field.type)}" for field in type_)
            return f"STRUCT({', '.join(fields)})"
        return super().column_type(type_)

    def holds(self, type_: pa.DataType, column: Any) -> bool:
        """As `DatabaseEngine.holds`. The type of the column is given as DuckDB writes it."""
        if pa.types.is_signed_integer(type_):
            names = [self.column_type(each) for each in (pa.int8(), pa.int16(), pa.int32(), pa.int64())]
            return column in names[names.index(self.column_type(type_)) :]
        decimal = re.fullmatch(r"DECIMAL\((\d+),(\d+)\)", column)
        if decimal and pa.types.is_decimal(type_):
            return holds_decimal(type_, int(decimal[1]), int(decimal[2]))
        plain = (text.replace('"', "").replace(" ", "").upper() for text in (column, self.column_type(type_)))
        return len(set(plain)) == 1

    def inspect(self, connection: sa.Connection, table: TargetTable) -> FoundTable | None:
        """As `DatabaseEngine.inspect`; what SQLAlchemy's dialect asks, DuckDB 2 does not answer."""
        place = {"schema": table.schema or "main", "name": table.bare_name}
        asked = sa.text(
            "SELECT column_name, data_type, is_nullable = 'YES', column_default IS NOT NULL "
            "FROM information_schema.columns "
            "WHERE table_catalog = current_database() AND table_schema = :schema AND table_name = :name"
        )
        columns = {
            name: FoundColumn(name, type_, nullable, default, False)
            for name, type_, nullable, default in connection.execute(asked, place)
        }
        if not columns:
            return None
        unique = sa.text(
            "SELECT constraint_column_names FROM duckdb_constraints() "
            "WHERE constraint_type IN ('PRIMARY KEY', 'UNIQUE') "
            "AND database_name = current_database() AND schema_name = :schema AND table_name = :name"
        )
        return FoundTable(columns, [frozenset(key) for (key,) in connection.execute(unique, place)])

    def has_table(self, connection: sa.Connection, schema: str | None, name: str) -> bool:
        asked = sa.text(
            "SELECT count(*) FROM information_schema.tables "
            "WHERE table_catalog = current_database() AND table_schema = :schema AND table_name = :name"
        )
        return bool(connection.scalar(asked, {"schema": schema or "main", "name": name}))

    def start_operations(self, connection: sa.Connection, table: TargetTable, found: FoundTable) -> Operations:
        return DuckdbOperations(connection, table, found)

    def find_rows(
        self, connection: sa.Connection, table: TargetTable, names: Sequence[str], batches: Sequence[pa.Table]
    ) -> pa.Table:
        duckdb: Any = connection.connection.driver_connection
        asked = (
            f"SELECT {list_names(names, 't.')} FROM {table.quoted_name} AS t "
            f"JOIN {STAGED} AS s ON {match_key(table, 't.', 's.')}"
        )
        found = []
        for batch in batches:
            duckdb.register(STAGED, batch)
            found.append(conform_rows(duckdb.sql(asked).to_arrow_table(), table, names))
        return pa.concat_tables(found)

    def list_first_rows(
        self, connection: sa.Connection, table: TargetTable, names: Sequence[str], count: int
    ) -> Sequence[Sequence[Any]]:
        duckdb: Any = connection.connection.driver_connection
        asked = f"SELECT {list_names(names)} FROM {table.quoted_name} LIMIT {int(count)}"
        rows = duckdb.sql(asked).to_arrow_table()  # its cursor would need pytz for times
        return [*zip(*(column.to_pylist() for column in rows.columns), strict=True)]

    def select_rows(
        self, connection: sa.Connection, table: TargetTable, names: Sequence[str], conditions: Sequence[ColumnCondition]
    ) -> pa.Table:
        duckdb: Any = connection.connection.driver_connection
        where = f" WHERE {' AND '.join(each.write('?') for each in conditions)}" if conditions else ""
        values = [value for each in conditions for value in each.values]
        asked = f"SELECT {list_names(names)} FROM {table.quoted_name}{where}"
        return conform_rows(duckdb.sql(asked, params=values).to_arrow_table(), table, names)


DUCKDB = DuckdbEngine()


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
        rows = conform_rows(rows, table, names)
        for _, reason in find_unfit((), rows):
            raise TableError("types", describe_unfit(table, reason))
        return rows

    def _insert(self, rows: pa.Table, conflict: str) -> int:
        columns = list_names(rows.column_names)
        text = f"INSERT INTO {self._table.quoted_name} ({columns}) SELECT {columns} FROM {STAGED} {conflict}"
        return int(self._run(rows, text).fetchone()[0])

    def _run(self, rows: pa.Table, text: str) -> Any:
        self._duckdb.register(STAGED, rows)
        return self._duckdb.execute(text)


def conform_rows(rows: pa.Table, table: TargetTable, names: Sequence[str]) -> pa.Table:
    """Rows of DuckDB in the types of the declaration.

    Raises TableError (types): a value is none of the declared type.
    """
    try:
        return rows.cast(table.arrow_schema(names))
    except pa.ArrowInvalid as error:
        raise TableError("types", describe_unfit(table, error)) from None
