"""What differs from one database to the other. Each has a class of its own, in a module of its name."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa
import sqlalchemy as sa
from sqlalchemy.schema import CreateTable

from penstock.kit.databases.faults import ConflictError, DatabaseFault, TableError
from penstock.kit.databases.found_table import FoundColumn, FoundTable
from penstock.kit.databases.spark_types import find_unfit, quote_identifier

if TYPE_CHECKING:
    from penstock.kit.databases.address import Address
    from penstock.kit.databases.operations import Operations
    from penstock.kit.databases.reads import ColumnCondition
    from penstock.kit.databases.target_table import TargetTable


class DatabaseEngine(ABC):
    """A database. It has no state: an `Address` says where the database is."""

    title: ClassVar[str]
    """Its name in messages."""
    column_types: ClassVar[Mapping[pa.DataType, str]]
    """The column type that a new table gets."""
    key_text: ClassVar[sa.types.TypeEngine[Any]] = sa.Text()
    """The type of texts in the key of the ledger."""
    long_text: ClassVar[sa.types.TypeEngine[Any]] = sa.Text()
    has_savepoints: ClassVar[bool] = True
    commits_tables: ClassVar[bool] = False
    """Whether CREATE TABLE ends the transaction."""
    keeps_connections: ClassVar[bool] = True
    """Whether a connection stays open between two transactions."""

    @abstractmethod
    def name_place(self, url: str) -> str:
        """The database as messages name it."""

    @abstractmethod
    def parse_url(self, url: str) -> sa.URL:
        """The URL of a server.

        Raises TableError: it is none, or has a password.
        """

    @abstractmethod
    def complete_url(self, url: str) -> str:
        """The URL as a process elsewhere needs it.

        Raises TableError as `parse_url`.
        """

    @abstractmethod
    def connect(self, address: Address, create: bool, read_only: bool) -> sa.Connection:
        """A new connection. `create` makes a missing file."""

    def is_replaced(self, address: Address, connection: sa.Connection) -> bool:
        """Whether the file of the address is another one than the connection has open: its rows would go nowhere."""
        return False

    def release(self, connection: sa.Connection) -> None:
        """Is called before a connection is closed."""
        return None

    def find_fault(self, error: BaseException) -> DatabaseFault | None:
        """What an error of the driver or of SQLAlchemy means; None if it is no error of a database."""
        if isinstance(error, ConflictError):
            return DatabaseFault("conflict", str(error), "retry")
        if isinstance(error, sa.exc.DBAPIError) and error.orig is not None:
            error = error.orig
        fault = self.explain_error(error)
        if fault is None and isinstance(error, sa.exc.SQLAlchemyError):
            # The only ones left say that a connection has broken between two statements.
            return DatabaseFault("connect", str(error).splitlines()[0], "retry")
        return fault

    @abstractmethod
    def explain_error(self, error: BaseException) -> DatabaseFault | None:
        """What an error of the driver means; None if it is none."""

    def describe_holders(self, cursor: Any, tables: Sequence[str]) -> str:
        """Who holds locks on these tables, whose names are quoted; empty if unknown."""
        return ""

    def column_type(self, type_: pa.DataType) -> str:
        """The type of a new column for values of an Arrow type.

        Raises TableError (types) if the database has none that holds all of them.
        """
        if type_ not in self.column_types:
            raise TableError("types", f"{self.title} has no column type that holds all values of {type_}")
        return self.column_types[type_]

    def key_type(self, type_: pa.DataType) -> str:
        """As `column_type`, for a column of the key."""
        return self.column_type(type_)

    @abstractmethod
    def holds(self, type_: pa.DataType, column: Any) -> bool:
        """Whether a column keeps all values of an Arrow type as they are. Its type is the type of a FoundColumn."""

    def find_unfit(self, key: Collection[str], rows: pa.Table) -> Iterator[tuple[pa.Array, str]]:
        """Which rows the database must not get, as a mask, and why: it would refuse the values, or change them.

        `key`: the columns in which NULL is no value.
        """
        return find_unfit(key, rows, self.find_unfit_values)

    def find_unfit_values(self, name: str, values: pa.ChunkedArray) -> Iterator[tuple[pa.Array, str]]:
        """As `find_unfit`: the values of a column that other databases have."""
        return iter(())

    def list_table_options(self, connection: sa.Connection) -> dict[str, str]:
        """What each new table says beside its columns."""
        return {}

    def make_table(self, connection: sa.Connection, table: sa.Table) -> None:
        """Makes a table of Penstock's own if it is missing."""
        text = CreateTable(table, if_not_exists=True).compile(dialect=connection.dialect)
        options = "".join(f" {name} = {value}" for name, value in self.list_table_options(connection).items())
        connection.exec_driver_sql(f"{str(text).rstrip()}{options}")

    def inspect(self, connection: sa.Connection, table: TargetTable) -> FoundTable | None:
        """The table as the database has it, None if it is missing."""
        inspector = sa.inspect(connection)
        if not inspector.has_table(table.bare_name, schema=table.schema):
            return None
        place: dict[str, Any] = {"table_name": table.bare_name, "schema": table.schema}
        columns = {}
        for each in inspector.get_columns(**place):
            generated = "computed" in each or each.get("identity", {}).get("always", False)
            # A single INTEGER PRIMARY KEY of SQLite numbers its rows by itself, but a script always names the key.
            has_default = each.get("default") is not None or "computed" in each or "identity" in each
            columns[each["name"]] = FoundColumn(each["name"], each["type"], each["nullable"], has_default, generated)
        if not table.key:
            return FoundTable(columns, [frozenset()] if self.has_one_row(connection, table) else [])
        keys = [frozenset(inspector.get_pk_constraint(**place)["constrained_columns"])]
        null_keys = []
        unique: list[Any] = [*inspector.get_unique_constraints(**place)]
        unique += [each for each in inspector.get_indexes(**place) if each["unique"]]
        for each in unique:
            options = each.get("dialect_options", {})
            is_partial = any(name.endswith("_where") for name in options)
            if not is_partial and None not in each["column_names"]:
                keys.append(frozenset(map(str, each["column_names"])))
                null_keys += keys[-1:] if options.get("postgresql_nulls_not_distinct") else []
        return FoundTable(columns, [key for key in keys if key], tuple(null_keys))

    def has_one_row(self, connection: sa.Connection, table: TargetTable) -> bool:
        """Whether an index keeps a table from having more than one row."""
        return False

    def write_one_row_index(self, table: TargetTable) -> str:
        """The statement that keeps a table from having more than one row."""
        schema = f"{quote_identifier(table.schema)}." if table.schema else ""
        name = quote_identifier(f"{table.bare_name}_one_row")
        return f"CREATE UNIQUE INDEX IF NOT EXISTS {schema}{name} ON {quote_identifier(table.bare_name)} ((true))"

    def has_table(self, connection: sa.Connection, schema: str | None, name: str) -> bool:
        """Whether there is a table of this name."""
        return sa.inspect(connection).has_table(name, schema=schema)

    def takes_null_keys(self, connection: sa.Connection) -> bool:
        """Whether the database has keys in which NULL is a value like any other."""
        return False

    def list_collated(self, connection: sa.Connection, table: TargetTable) -> Collection[str]:
        """The columns whose collation a unique index over the key does not take."""
        return ()

    def check_privileges(self, connection: sa.Connection, table: TargetTable, beside: Sequence[str]) -> None:
        """Whether the user may write the table, and make the tables `beside` it that are missing.

        Raises TableError (permission). Files have no privileges; one that cannot be written is noticed later.
        """
        return None

    def begin_batch(self, connection: sa.Connection, batch: int) -> None:
        """Is called first in the transaction of a batch."""
        return None

    @abstractmethod
    def start_operations(self, connection: sa.Connection, table: TargetTable, found: FoundTable) -> Operations:
        """What can be done to a table in the transaction of a batch."""

    @abstractmethod
    def find_rows(
        self, connection: sa.Connection, table: TargetTable, names: Sequence[str], batches: Sequence[pa.Table]
    ) -> pa.Table:
        """These columns of the rows of some keys, in any order. There is a statement for each batch of distinct keys.

        A collation may find more rows.

        Raises TableError (types): the table has a value that the declaration does not allow.
        """

    def list_first_rows(
        self, connection: sa.Connection, table: TargetTable, names: Sequence[str], count: int
    ) -> Sequence[Sequence[Any]]:
        """These columns of so many rows, for people to look at."""
        cursor = connection.connection.cursor()
        columns = ", ".join(map(quote_identifier, names))
        cursor.execute(f"SELECT {columns} FROM {table.quoted_name} LIMIT {int(count)}")
        rows: Sequence[Sequence[Any]] = cursor.fetchall()
        cursor.close()
        return rows

    @abstractmethod
    def select_rows(
        self, connection: sa.Connection, table: TargetTable, names: Sequence[str], conditions: Sequence[ColumnCondition]
    ) -> pa.Table:
        """These columns of all rows for which the conditions hold.

        Raises TableError (types): the table has a value that the declaration does not allow.
        """


class FileEngine(DatabaseEngine):
    """A database that is a file on this machine. Its URL is the path."""

    magic: ClassVar[tuple[int, bytes]]
    """Bytes that all of its files have, and where."""

    def name_place(self, url: str) -> str:
        return f"{url} ({self.title})"

    def parse_url(self, url: str) -> sa.URL:
        raise AssertionError(f"{self.title} has no server")

    def complete_url(self, url: str) -> str:
        return os.path.abspath(url)


class ServerEngine(DatabaseEngine):
    """A database that a server keeps."""

    schemes: ClassVar[tuple[str, ...]]
    """What its URLs begin with. Messages show the first one."""

    def complete_url(self, url: str) -> str:
        return self.parse_url(url).render_as_string()

    def name_place(self, url: str) -> str:
        parts = self.parse_url(url)
        host = parts.host or parts.query.get("host") or "this machine"
        return f"database {parts.database} at {host}{f':{parts.port}' if parts.port else ''} ({self.title})"

    def parse_url(self, url: str) -> sa.URL:
        scheme = self.schemes[0]
        try:
            parts = sa.make_url(url)
        except (sa.exc.ArgumentError, ValueError):
            raise TableError("connect", f"the url is not of the form {scheme}://user@host:port/database") from None
        if parts.password is not None or "password" in parts.query:
            raise TableError("password", "the url has a password", "use password = ENV('NAME') or FILE('path')")
        if parts.drivername not in self.schemes:
            raise TableError("connect", f"the url begins with {parts.drivername}://, not with {scheme}://")
        return parts


def holds_decimal(type_: pa.DataType, precision: int, scale: int) -> bool:
    """Whether a column of decimals has all digits of an Arrow type."""
    return bool(scale >= type_.scale and precision - scale >= type_.precision - type_.scale)
