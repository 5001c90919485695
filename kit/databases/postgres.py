"""PostgreSQL, by psycopg."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
import sqlalchemy as sa

from penstock.kit.databases.engine import ServerEngine, holds_decimal
from penstock.kit.databases.faults import DatabaseFault, TableError
from penstock.kit.databases.found_table import FoundTable
from penstock.kit.databases.locks import LOCK_SECONDS, describe_holders
from penstock.kit.databases.operations import FEW_KEYS, escape_marks, list_names, match_key, raw_cursor
from penstock.kit.databases.postgres_operations import BY_INDEX, PostgresOperations, read_copy, read_texts
from penstock.kit.databases.spark_types import quote_identifier

if TYPE_CHECKING:
    from penstock.kit.databases.address import Address
    from penstock.kit.databases.operations import Operations
    from penstock.kit.databases.reads import ColumnCondition
    from penstock.kit.databases.target_table import TargetTable

POSTGRES_TYPES = {
    pa.bool_(): "boolean",
    pa.int8(): "smallint",
    pa.int16(): "smallint",
    pa.int32(): "integer",
    pa.int64(): "bigint",
    pa.float32(): "real",
    pa.float64(): "double precision",
    pa.string(): "text",
    pa.binary(): "bytea",
    pa.date32(): "date",
    pa.timestamp("us", "UTC"): "timestamp with time zone",
    pa.time64("ns"): "time without time zone",
}
POSTGRES_HOLDS = {
    pa.bool_(): ("BOOLEAN",),
    pa.int8(): ("SMALLINT", "INTEGER", "BIGINT"),
    pa.int16(): ("SMALLINT", "INTEGER", "BIGINT"),
    pa.int32(): ("INTEGER", "BIGINT"),
    pa.int64(): ("BIGINT",),
    pa.float32(): ("REAL", "DOUBLE_PRECISION"),
    pa.float64(): ("DOUBLE_PRECISION",),
    pa.string(): ("TEXT", "VARCHAR"),
    pa.binary(): ("BYTEA",),
    pa.date32(): ("DATE",),
}
POSTGRES_STATES: dict[str, tuple[str, Literal["retry", "refuse", "stop"]]] = {
    "08": ("connect", "retry"),
    "22": ("rejected", "refuse"),
    "23": ("rejected", "refuse"),
    "28": ("password", "stop"),
    "3D000": ("missing_database", "stop"),
    "3F000": ("missing_table", "stop"),
    "40": ("conflict", "retry"),
    "42501": ("permission", "stop"),
    "42703": ("columns", "stop"),
    "42P01": ("missing_table", "stop"),
    "42P10": ("key", "stop"),
    "44000": ("rejected", "refuse"),
    "53": ("connect", "retry"),
    "53100": ("full", "retry"),
    "53400": ("full", "retry"),
    "54000": ("rejected", "refuse"),
    "55P03": ("timeout", "retry"),
    "57": ("connect", "retry"),
    "57014": ("timeout", "retry"),
    "25P03": ("timeout", "retry"),
    "25006": ("permission", "stop"),
    "58030": ("full", "retry"),
    "P0001": ("rejected", "refuse"),
}
"""SQLSTATEs, and classes of them: the kind, and what to do."""
LOCKED = "55P03"
POSTGRES_LOGIN = (
    (r"password|SASL|SCRAM|role .* does not exist|pg_hba|is not permitted to log in", "password"),
    (r"database .* does not exist", "missing_database"),
    (r"permission denied for database", "permission"),
)
"""libpq gives no SQLSTATE of a refused login."""


class PostgresEngine(ServerEngine):
    """PostgreSQL."""

    title = "PostgreSQL"
    schemes = ("postgresql", "postgres")
    column_types = POSTGRES_TYPES

    def complete_url(self, url: str) -> str:
        """As `DatabaseEngine.complete_url`. It has what the variables PGHOST … say here."""
        parts, query = self.parse_url(url), {}
        host, port = os.environ.get("PGHOST"), os.environ.get("PGPORT")
        if not parts.host and "host" not in parts.query and host:
            query["host"] = host
        if not parts.port and "port" not in parts.query and port:
            query["port"] = port
        user, database = parts.username or os.environ.get("PGUSER"), parts.database or os.environ.get("PGDATABASE")
        return parts.update_query_dict(query).set(username=user, database=database).render_as_string()

    def connect(self, address: Address, create: bool, read_only: bool) -> sa.Connection:
        """A connection by psycopg. Times are in UTC and texts in UTF-8, whatever the server prefers."""
        url = self.parse_url(address.url).set(drivername="postgresql+psycopg")
        given = url.query.get("options", "")
        own = f"-c lock_timeout={LOCK_SECONDS * 1000}"  # which the URL may set otherwise
        options = f"-c timezone=UTC -c datestyle=ISO -c statement_timeout={address.statement_timeout * 1000}"
        options += " -c default_transaction_read_only=on" * read_only
        arguments = {
            "connect_timeout": address.connect_timeout,
            "options": f"{own} {given if isinstance(given, str) else ' '.join(given)} {options}",
            "client_encoding": "utf8",
            "application_name": "penstock",
            # A host that vanishes is noticed while an answer is awaited.
            "keepalives_idle": 30,
            "keepalives_interval": 10,
            "keepalives_count": 3,
            "tcp_user_timeout": address.statement_timeout * 1000,
            # A pooler may give each transaction another connection.
            "prepare_threshold": None,
        }
        if address.password is not None:
            arguments["password"] = address.password.read()
        url = url.difference_update_query(["options"])
        return sa.create_engine(url, poolclass=sa.NullPool, hide_parameters=True, connect_args=arguments).connect()

    def explain_error(self, error: BaseException) -> DatabaseFault | None:
        """What an error of psycopg means."""
        import psycopg

        if not isinstance(error, psycopg.Error):
            return None
        state = error.sqlstate
        if state is not None:
            kind, action = POSTGRES_STATES.get(state) or POSTGRES_STATES.get(state[:2]) or ("other", "stop")
            column = re.search(r"^COPY .*, column ([^:]+)", error.diag.context or "")
            where = f" (column {column[1]})" if column else ""
            text = f"{error.diag.message_primary or error}{where}"
            return DatabaseFault(kind, text, action, is_lock=state == LOCKED)
        text = str(error).strip()
        if not isinstance(error, psycopg.OperationalError):
            return (
                DatabaseFault("rejected", text, "refuse")
                if isinstance(error, psycopg.DataError)
                else DatabaseFault("other", text, "stop")
            )
        for pattern, kind in POSTGRES_LOGIN:
            if "FATAL" in text and re.search(pattern, text):
                return DatabaseFault(kind, text, "stop")
        return DatabaseFault("connect", text, "retry")

    def describe_holders(self, cursor: Any, tables: Sequence[str]) -> str:
        import psycopg

        try:
            return describe_holders(cursor, tables)
        except psycopg.Error:
            return ""

    def column_type(self, type_: pa.DataType) -> str:
        if pa.types.is_decimal(type_):
            return f"numeric({type_.precision},{type_.scale})"
        return super().column_type(type_)

    def holds(self, type_: pa.DataType, column: Any) -> bool:
        """As `DatabaseEngine.holds`. Texts may be too long for the column."""
        if isinstance(column, sa.Numeric) and pa.types.is_decimal(type_):
            return column.precision is None or holds_decimal(type_, column.precision, column.scale or 0)
        if isinstance(column, sa.TIMESTAMP) and pa.types.is_timestamp(type_):
            return bool(column.timezone) and getattr(column, "precision", None) in (None, 6)
        if isinstance(column, sa.TIME) and pa.types.is_time64(type_):
            return not column.timezone and getattr(column, "precision", None) in (None, 6)
        return type(column).__name__ in POSTGRES_HOLDS.get(type_, ())

    def has_one_row(self, connection: sa.Connection, table: TargetTable) -> bool:
        asked = (
            "SELECT EXISTS (SELECT FROM pg_index WHERE indrelid = to_regclass(:name) AND indisunique AND indisvalid "
            "AND indpred IS NULL AND indnatts = 1 AND pg_get_expr(indexprs, indrelid) = 'true')"
        )
        return bool(connection.scalar(sa.text(asked), {"name": table.quoted_name}))

    def write_one_row_index(self, table: TargetTable) -> str:
        """As `DatabaseEngine.write_one_row_index`; PostgreSQL names it."""
        return f"CREATE UNIQUE INDEX ON {table.quoted_name} ((true))"

    def takes_null_keys(self, connection: sa.Connection) -> bool:
        return (connection.dialect.server_version_info or ()) >= (15,)

    def check_privileges(self, connection: sa.Connection, table: TargetTable, beside: Sequence[str]) -> None:
        schema = table.schema or connection.scalar(sa.text("SELECT current_schema()"))
        given = {"table": table.quoted_name, "schema": schema}
        for missing in list_missing(connection, given):
            raise TableError("permission", f"the user has no privilege {missing} on {table.place}", f"grant {missing}")
        if not connection.scalar(sa.text("SELECT has_database_privilege(current_database(), 'TEMPORARY')")):
            raise TableError("permission", f"the user may not make temporary tables in {table.address.place}")
        for name in beside:
            if not self.has_table(connection, table.schema, name) and not connection.scalar(
                sa.text("SELECT has_schema_privilege(:schema, 'CREATE')"), given
            ):
                message = f"the user may not make the table {name} in schema {schema} of {table.address.place}"
                raise TableError("permission", message, f"grant CREATE on schema {schema}, or create the table {name}")

    def begin_batch(self, connection: sa.Connection, batch: int) -> None:
        """Triggers of the table see which batch it is."""
        connection.execute(sa.text("SELECT set_config('penstock.batch', :batch, true)"), {"batch": str(batch)})

    def start_operations(self, connection: sa.Connection, table: TargetTable, found: FoundTable) -> Operations:
        return PostgresOperations(connection, table, found)

    def find_rows(
        self, connection: sa.Connection, table: TargetTable, names: Sequence[str], batches: Sequence[pa.Table]
    ) -> pa.Table:
        """As `DatabaseEngine.find_rows`. Keys are sent as arrays: a standby server takes no temporary table."""
        cursor = raw_cursor(connection)
        # Without a join PostgreSQL reads the whole table by a scan. Where no index fits, compiling the scan is no use.
        cursor.execute(f"{BY_INDEX}; SET LOCAL enable_seqscan = off; SET LOCAL jit = off")
        fields = batches[0].schema
        arrays = [f"%s::{self.column_type(field.type)}[]" for field in fields]
        match [escape_marks(quote_identifier(field.name)) for field in fields]:
            case [name]:
                rest = f"WHERE t.{name} = ANY({arrays[0]})"
            case keys:
                on = escape_marks(match_key(table, "t.", "s."))
                rest = f"JOIN unnest({', '.join(arrays)}) AS s ({', '.join(keys)}) ON {on}"
        rest = f"FROM {escape_marks(table.quoted_name)} AS t {rest}"
        values = [[column.to_pylist() for column in batch.columns] for batch in batches]
        if max(batch.num_rows for batch in batches) > FEW_KEYS:
            return pa.concat_tables([copy_rows(connection, table, names, rest, each) for each in values])
        items = ", ".join(f"CAST({item} AS text)" for item in list_items(table, names))
        cursor.executemany(f"SELECT {items} {rest}", values, returning=True)
        rows = cursor.fetchall()
        while cursor.nextset():
            rows += cursor.fetchall()
        return read_texts(rows, table.arrow_schema(names), table)

    def select_rows(
        self, connection: sa.Connection, table: TargetTable, names: Sequence[str], conditions: Sequence[ColumnCondition]
    ) -> pa.Table:
        # A mark of psycopg begins with a percent sign, as names may.
        texts = [escape_marks(each.write("\0")).replace("\0", "%s") for each in conditions]
        where = f" WHERE {' AND '.join(texts)}" if texts else ""
        values = [value for each in conditions for value in each.values]
        return copy_rows(connection, table, names, f"FROM {escape_marks(table.quoted_name)} AS t{where}", values)


POSTGRES = PostgresEngine()


def list_missing(connection: sa.Connection, given: dict[str, Any]) -> Iterator[str]:
    """The privileges on a table of PostgreSQL that the user lacks."""
    for privilege in ("SELECT", "INSERT", "UPDATE", "DELETE"):
        asked = sa.text("SELECT has_table_privilege(:table, :privilege)")
        if not connection.scalar(asked, given | {"privilege": privilege}):
            yield privilege


def copy_rows(
    connection: sa.Connection, table: TargetTable, names: Sequence[str], rest: str, values: Sequence[Any]
) -> pa.Table:
    """The columns of rows of PostgreSQL. `rest`: what follows SELECT, with marks for the values."""
    items = ", ".join(list_items(table, names))
    with raw_cursor(connection).copy(f"COPY (SELECT {items} {rest}) TO STDOUT (FORMAT csv)", values) as copy:
        data = b"".join(bytes(part) for part in copy)
    return read_copy(data, table.arrow_schema(names), table)


def list_items(table: TargetTable, names: Sequence[str]) -> Iterator[str]:
    """The columns of the row `t`, written for Arrow, which does not read 1.50 as a decimal of one place."""
    for field in table.arrow_schema(names):
        item = escape_marks(list_names([field.name], "t."))
        yield f"trim_scale({item})" if pa.types.is_decimal(field.type) else item
