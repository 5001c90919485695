"""MySQL and MariaDB, by PyMySQL. INSERT loads rows into a temporary table, and a statement merges that.

INSERT … ON DUPLICATE KEY UPDATE is not used: it takes a row of any unique key for the one that is meant.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
import pyarrow.compute as pc
import sqlalchemy as sa

from penstock.kit.databases.engine import ServerEngine, holds_decimal
from penstock.kit.databases.faults import ConflictError, DatabaseFault, TableError
from penstock.kit.databases.found_table import FoundColumn, FoundTable
from penstock.kit.databases.locks import LOCK_SECONDS
from penstock.kit.databases.operations import FEW_KEYS, escape_marks, list_names, match_key, raw_cursor
from penstock.kit.databases.row_values import limit_row, read_tuples, write_tuples
from penstock.kit.databases.spark_types import quote_identifier

if TYPE_CHECKING:
    from penstock.kit.databases.address import Address
    from penstock.kit.databases.operations import Operations
    from penstock.kit.databases.reads import ColumnCondition
    from penstock.kit.databases.target_table import TargetTable

MYSQL_TYPES = {
    pa.bool_(): "tinyint(1)",
    pa.int8(): "tinyint",
    pa.int16(): "smallint",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.float32(): "double",  # what is read of a FLOAT is rounded
    pa.float64(): "double",
    pa.string(): "longtext",
    pa.binary(): "longblob",
    pa.date32(): "date",
    pa.timestamp("us", "UTC"): "datetime(6)",
    pa.time64("ns"): "time(6)",
}
_INTEGERS = ("tinyint", "smallint", "mediumint", "int", "bigint")
MYSQL_HOLDS = {
    pa.bool_(): ("tinyint",),
    pa.int8(): _INTEGERS,
    pa.int16(): _INTEGERS[1:],
    pa.int32(): _INTEGERS[3:],
    pa.int64(): _INTEGERS[4:],
    pa.float32(): ("double",),
    pa.float64(): ("double",),
    pa.string(): ("varchar utf8mb4", "tinytext utf8mb4", "text utf8mb4", "mediumtext utf8mb4", "longtext utf8mb4"),
    pa.binary(): ("varbinary", "tinyblob", "blob", "mediumblob", "longblob"),
    pa.date32(): ("date",),
    pa.timestamp("us", "UTC"): ("datetime(6)",),
    pa.time64("ns"): ("time(6)",),
}
"""Types as `information_schema` has them, without lengths. Texts have their character set behind."""
MYSQL_CODES: dict[tuple[int, ...], tuple[str, Literal["retry", "refuse", "stop"]]] = {
    (1040, 1053, 1129, 1158, 1159, 1160, 1161, 1203, 1226, 1927, 2002, 2003, 2006, 2013, 2055): ("connect", "retry"),
    (1205, 1317, 1969, 3024): ("timeout", "retry"),
    (1020, 1213): ("conflict", "retry"),
    (3, 1021, 1026, 1114): ("full", "retry"),
    (1048, 1062, 1138, 1153, 1216, 1217, 1264, 1265, 1292, 1364, 1365, 1366, 1367, 1406): ("rejected", "refuse"),
    (1411, 1441, 1451, 1452, 1644, 1690, 1748, 3819, 3854, 4025): ("rejected", "refuse"),
    (1045, 1130, 1251, 1524, 1698, 1820, 2059, 3118): ("password", "stop"),
    (1044, 1142, 1143, 1227, 1290, 1370, 1792, 1836): ("permission", "stop"),
    (1049,): ("missing_database", "stop"),
    (1051, 1146): ("missing_table", "stop"),
    (1054,): ("columns", "stop"),
}
"""Numbers of errors: the kind, and what to do."""
LOCK_WAIT, DUPLICATE, TOO_LARGE = 1205, 1062, 1153
MYSQL_STAGE = "penstock_stage"
SQL_MODE = (
    "ANSI_QUOTES,STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ZERO_DATE,NO_ZERO_IN_DATE,NO_ENGINE_SUBSTITUTION"
)
"""Names are quoted as in other databases, and values that do not fit are refused, whatever the server prefers."""


class MysqlEngine(ServerEngine):
    """MySQL and MariaDB."""

    title = "MySQL"
    schemes = ("mysql", "mariadb")
    column_types = MYSQL_TYPES
    key_text = sa.String(255)
    long_text = sa.Text(2**32 - 1)
    commits_tables = True

    def connect(self, address: Address, create: bool, read_only: bool) -> sa.Connection:
        """A connection by PyMySQL. Times are in UTC and texts in UTF-8, whatever the server prefers."""
        url = self.parse_url(address.url).set(drivername="mysql+pymysql")
        settings = f"sql_mode = '{SQL_MODE}', time_zone = '+00:00', innodb_lock_wait_timeout = {LOCK_SECONDS}"
        arguments: dict[str, Any] = {
            "charset": "utf8mb4",
            "init_command": f"SET SESSION {settings}",
            "connect_timeout": address.connect_timeout,
            # A host that vanishes is noticed while an answer is awaited.
            "read_timeout": address.statement_timeout + LOCK_SECONDS,
            "write_timeout": address.statement_timeout + LOCK_SECONDS,
        }
        if address.password is not None:
            arguments["password"] = address.password.read()
        engine = sa.create_engine(
            url,
            poolclass=sa.NullPool,
            hide_parameters=True,
            connect_args=arguments,
            isolation_level="READ COMMITTED",
        )
        connection = engine.connect()
        try:
            prepare_session(connection, address.statement_timeout, read_only)
        except BaseException:
            connection.invalidate()
            connection.close()
            raise
        return connection

    def explain_error(self, error: BaseException) -> DatabaseFault | None:
        """What an error of PyMySQL means."""
        import pymysql

        if not isinstance(error, pymysql.Error):
            return None
        number = error.args[0] if error.args and isinstance(error.args[0], int) else 0
        text = str(error.args[1] if len(error.args) > 1 and error.args[1] else error)
        if "No space left" in text or "Got error 28" in text:
            return DatabaseFault("full", text, "retry")
        for numbers, (kind, action) in MYSQL_CODES.items():
            if number in numbers:
                return DatabaseFault(kind, text, action, is_lock=number == LOCK_WAIT)
        if isinstance(error, pymysql.InterfaceError):
            return DatabaseFault("connect", "the connection is lost", "retry")
        if isinstance(error, pymysql.DataError | pymysql.IntegrityError):
            return DatabaseFault("rejected", text, "refuse")
        return DatabaseFault("other", text, "stop")

    def column_type(self, type_: pa.DataType) -> str:
        if pa.types.is_decimal(type_) and type_.scale <= 30:
            return f"decimal({type_.precision},{type_.scale})"
        return super().column_type(type_)

    def key_type(self, type_: pa.DataType) -> str:
        if pa.types.is_string(type_) or pa.types.is_binary(type_):
            kind = "VARCHAR(255) and a collation that compares bytes" if pa.types.is_string(type_) else "VARBINARY(255)"
            message = "MySQL has no key of texts or binary values without a greatest length"
            raise TableError("types", message, f"create the table before, with a key such as {kind}")
        return self.column_type(type_)

    def holds(self, type_: pa.DataType, column: Any) -> bool:
        """As `DatabaseEngine.holds`. Texts may be too long for the column."""
        decimal = re.fullmatch(r"decimal\((\d+),(\d+)\)", column)
        if decimal and pa.types.is_decimal(type_):
            return holds_decimal(type_, int(decimal[1]), int(decimal[2]))
        return column in MYSQL_HOLDS.get(type_, ())

    def find_unfit_values(self, name: str, values: pa.ChunkedArray) -> Iterator[tuple[pa.Array, str]]:
        if pa.types.is_floating(values.type):
            mask = pc.invert(pc.is_finite(values))
            if pc.any(mask).as_py():
                yield mask, f"{name} is NaN or infinite, which MySQL does not have"

    def list_table_options(self, connection: sa.Connection) -> dict[str, str]:
        """Texts are compared by their bytes, with blanks at the end."""
        collation = "utf8mb4_nopad_bin" if is_mariadb(connection) else "utf8mb4_0900_bin"
        return {"ENGINE": "InnoDB", "CHARSET": "utf8mb4", "COLLATE": collation}

    def inspect(self, connection: sa.Connection, table: TargetTable) -> FoundTable | None:
        """As `DatabaseEngine.inspect`. SQLAlchemy does not know the character sets of columns."""
        where = "table_schema = COALESCE(:schema, DATABASE()) AND table_name = :name"
        place = {"schema": table.schema, "name": table.bare_name}
        asked = (
            "SELECT column_name, column_type, character_set_name, is_nullable, column_default, extra "
            f"FROM information_schema.columns WHERE {where} ORDER BY ordinal_position"
        )
        check_names(table, [table.schema or "", table.bare_name, *(name for name, _, _ in table.columns)])
        columns = {}
        for name, type_, charset, nullable, default, extra in connection.execute(sa.text(asked), place):
            kind = f"{type_} {charset or ''}".lower().strip()
            if not kind.startswith(("decimal", "datetime", "time")):
                kind = re.sub(r"\([^)]*\)", "", kind)
            generated = re.search("(VIRTUAL|STORED|PERSISTENT) GENERATED", extra) is not None
            has_default = default is not None or generated or "auto_increment" in extra
            columns[name] = FoundColumn(name, kind, nullable == "YES", has_default, generated)
        if not columns:
            return None
        asked = (
            f"SELECT index_name, column_name, sub_part FROM information_schema.statistics "
            f"WHERE {where} AND non_unique = 0"
        )
        indexes: dict[str, list[str | None]] = {}
        for index, column, part in connection.execute(sa.text(asked), place):
            # A part of a column, or an expression, does not tell two rows apart as the key of a script does.
            indexes.setdefault(index, []).append(None if part is not None else column)
        keys = [frozenset(map(str, parts)) for parts in indexes.values() if None not in parts]
        return FoundTable(columns, keys if table.key else [])

    def check_privileges(self, connection: sa.Connection, table: TargetTable, beside: Sequence[str]) -> None:
        """As `DatabaseEngine.check_privileges`, by statements that change nothing. Transactions need InnoDB."""
        check_names(table, beside)
        asked = (
            "SELECT engine FROM information_schema.tables "
            "WHERE table_schema = COALESCE(:schema, DATABASE()) AND table_name = :name"
        )
        engine = connection.scalar(sa.text(asked), {"schema": table.schema, "name": table.bare_name})
        if str(engine).lower() != "innodb":
            message = f"{table.place} is kept by {engine or 'no engine'}, which has no transactions"
            raise TableError("types", message, f"ALTER TABLE {table.quoted_name} ENGINE = InnoDB")
        name, columns = table.quoted_name, list_names([each for each, _, _ in table.columns])
        cursor = raw_cursor(connection)
        cursor.execute(f"INSERT INTO {name} ({columns}) SELECT {columns} FROM {name} WHERE FALSE")
        first = quote_identifier(table.columns[0][0])
        cursor.execute(f"UPDATE {name} SET {first} = {first} WHERE FALSE")
        cursor.execute(f"DELETE FROM {name} WHERE FALSE")
        cursor.execute(f"CREATE TEMPORARY TABLE {MYSQL_STAGE} (c INT PRIMARY KEY)")
        cursor.execute(f"DROP TEMPORARY TABLE {MYSQL_STAGE}")

    def start_operations(self, connection: sa.Connection, table: TargetTable, found: FoundTable) -> Operations:
        return MysqlOperations(connection, table)

    def find_rows(
        self, connection: sa.Connection, table: TargetTable, names: Sequence[str], batches: Sequence[pa.Table]
    ) -> pa.Table:
        """As `DatabaseEngine.find_rows`. Servers limit the memory for the keys of a statement, so these are few."""
        cursor, found = raw_cursor(connection), []
        one = f"({', '.join(['%s'] * len(table.key))})"
        asked = escape_marks(f"SELECT {list_texts(table, names)} FROM {table.quoted_name} AS t ")
        where = escape_marks(f"WHERE ({list_names(table.key, 't.')}) IN ")
        for keys in (batch.select(table.key) for batch in batches):
            for begin in range(0, keys.num_rows, FEW_KEYS):
                values = [*write_tuples(keys.slice(begin, FEW_KEYS), "")]
                marks = ", ".join([one] * len(values))
                cursor.execute(f"{asked}{where}({marks})", [value for each in values for value in each])
                found += cursor.fetchall()
        return read_tuples(found, table, names)

    def select_rows(
        self, connection: sa.Connection, table: TargetTable, names: Sequence[str], conditions: Sequence[ColumnCondition]
    ) -> pa.Table:
        texts = [escape_marks(each.write("\0")).replace("\0", "%s") for each in conditions]
        where = f" WHERE {' AND '.join(texts)}" if texts else ""
        cursor = raw_cursor(connection)
        asked = escape_marks(f"SELECT {list_texts(table, names)} FROM {table.quoted_name} AS t")
        cursor.execute(asked + where, [value for each in conditions for value in each.values])
        return read_tuples(cursor.fetchall(), table, names)


MYSQL = MysqlEngine()


def prepare_session(connection: sa.Connection, seconds: int, read_only: bool) -> None:
    """Limits the time of each statement, which the two servers name differently, and asks for the size of packets."""
    cursor = raw_cursor(connection)
    if is_mariadb(connection):
        cursor.execute(f"SET SESSION max_statement_time = {seconds}")
    else:
        cursor.execute(f"SET SESSION max_execution_time = {seconds * 1000}")
    if read_only:
        cursor.execute("SET SESSION TRANSACTION READ ONLY")
    cursor.execute("SELECT @@max_allowed_packet")
    [(connection.info["packet"],)] = cursor.fetchall()


class MysqlOperations:
    """The operations of one transaction of MySQL."""

    def __init__(self, connection: sa.Connection, table: TargetTable) -> None:
        self._cursor, self._table, self._packet = raw_cursor(connection), table, int(connection.info["packet"])
        taken = {name.lower() for name, _, _ in table.columns}
        numbers = (f"penstock_row{number}" for number in range(len(taken) + 1))
        self._number = next(name for name in numbers if name not in taken)
        self._stage = quote_identifier(MYSQL_STAGE)
        self._to = f"{self._stage} AS s STRAIGHT_JOIN {table.quoted_name} AS t ON {match_key(table, 't.', 's.')}"
        self._missing = f"NOT EXISTS (SELECT 1 FROM {table.quoted_name} AS t WHERE {match_key(table, 't.', 's.')})"

    def prepare(self, names: Sequence[str], numbered: bool) -> None:
        """As `Operations.prepare`. Neither statement ends the transaction."""
        self._cursor.execute(f"DROP TEMPORARY TABLE IF EXISTS {self._stage}")
        self._cursor.execute(
            f"CREATE TEMPORARY TABLE {self._stage} ({self._number} INT PRIMARY KEY) ENGINE = InnoDB "
            f"AS SELECT 0 AS {self._number}, {list_names(names)} FROM {self._table.quoted_name} WHERE FALSE"
        )

    def upsert(self, rows: pa.Table) -> None:
        """As `Operations.upsert`."""
        if self.update(rows):
            self._insert(rows.column_names)

    def insert(self, rows: pa.Table) -> int:
        """As `Operations.insert`."""
        self._load(rows)
        return self._insert(rows.column_names)

    def can_add(self, columns: pa.Schema) -> bool:
        """As `Operations.can_add`."""
        return False

    def update(self, rows: pa.Table, added: Collection[str] = ()) -> Sequence[int]:
        """As `Operations.update`."""
        assert not added, "can_add comes before sums"
        self._load(rows)
        self._cursor.execute(f"SELECT s.{self._number} FROM {self._to} ORDER BY 1 FOR UPDATE")
        there = {number for (number,) in self._cursor.fetchall()}
        others = [quote_identifier(name) for name in rows.column_names if name not in self._table.key]
        assigned = ", ".join(f"t.{name} = s.{name}" for name in others)
        if assigned and self._cursor.execute(f"UPDATE {self._to} SET {assigned}") != len(there):
            raise ConflictError(f"another writer has added rows to {self._table.place}")
        return [number for number in range(rows.num_rows) if number not in there]

    def delete(self, keys: pa.Table) -> None:
        """As `Operations.delete`."""
        self._load(keys)
        self._cursor.execute(f"DELETE t FROM {self._to}")

    def fetch(self, keys: pa.Table, columns: Sequence[str]) -> pa.Table:
        """As `Operations.fetch`; the rows are locked, in the order of their keys."""
        names = [*self._table.key, *columns]
        self._load(keys)
        order = f"ORDER BY s.{self._number} FOR UPDATE"
        self._cursor.execute(f"SELECT {list_texts(self._table, names)} FROM {self._to} {order}")
        return read_tuples(self._cursor.fetchall(), self._table, names)

    def _insert(self, names: Sequence[str]) -> int:
        import pymysql

        columns = list_names(names)
        text = f"INSERT INTO {self._table.quoted_name} ({columns}) SELECT {columns} FROM {self._stage} AS s"
        try:
            return int(self._cursor.execute(f"{text} WHERE {self._missing}"))
        except pymysql.IntegrityError as error:
            if error.args[0] == DUPLICATE and self._is_key(str(error.args[1])):
                raise ConflictError(f"another writer has added rows to {self._table.place}") from None
            raise

    def _is_key(self, text: str) -> bool:
        """Whether an error names an index over the key last: its row was not there a moment ago."""
        asked = (
            "SELECT index_name, column_name FROM information_schema.statistics "
            "WHERE table_schema = COALESCE(%s, DATABASE()) AND table_name = %s"
        )
        self._cursor.execute(asked, (self._table.schema, self._table.bare_name))
        indexes: dict[str, set[str]] = {}
        for index, column in self._cursor.fetchall():
            indexes.setdefault(index, set()).add(column)
        names = [name for name, columns in indexes.items() if columns == set(self._table.key)]
        # MySQL writes the table before the name, MariaDB does not.
        return text.endswith(
            tuple(f"'{before}{name}'" for name in names for before in ("", f"{self._table.bare_name}."))
        )

    def _load(self, rows: pa.Table) -> None:
        """Puts rows into the temporary table."""
        import pymysql

        if 2 * limit_row(rows) + 1024 * rows.num_columns > self._packet:
            raise pymysql.DataError(TOO_LARGE, f"a row is larger than max_allowed_packet, {self._packet} bytes")
        self._cursor.execute(f"DELETE FROM {self._stage}")
        marks = ", ".join(["%s"] * (rows.num_columns + 1))
        columns = escape_marks(self._number + ", " + list_names(rows.column_names))
        text = f"INSERT INTO {self._stage} ({columns}) VALUES ({marks})"
        self._cursor.executemany(text, [(number, *each) for number, each in enumerate(write_tuples(rows, ""))])


def check_names(table: TargetTable, names: Sequence[str]) -> None:
    """Raises TableError (columns) for a name that MySQL does not have."""
    for name in names:
        if len(name) > 64 or name.endswith(" ") or any(not 0 < ord(letter) < 0x10000 for letter in name):
            message = f"MySQL has no name {name!r}, which {table.place} needs"
            hint = "use at most 64 letters of Unicode's first plane, without a blank at the end"
            raise TableError("columns", message, hint)


def is_mariadb(connection: sa.Connection) -> bool:
    """Whether the server is MariaDB."""
    return bool(getattr(connection.dialect, "is_mariadb", False))


def list_texts(table: TargetTable, names: Sequence[str]) -> str:
    """The columns of the row `t` as SQL lists them; dates and times are texts."""
    items = []
    for field in table.arrow_schema(names):
        item = list_names([field.name], "t.")
        if pa.types.is_timestamp(field.type):
            item = f"CONCAT(CAST({item} AS CHAR), 'Z')"
        elif pa.types.is_date32(field.type) or pa.types.is_time64(field.type):
            item = f"CAST({item} AS CHAR)"
        items.append(item)
    return ", ".join(items)
