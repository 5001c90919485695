"""Rows of a table by their keys, or by conditions on their columns. Nothing is locked or written."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import pyarrow as pa
import sqlalchemy as sa

from penstock.kit.databases.duckdb import STAGED
from penstock.kit.databases.faults import TableError
from penstock.kit.databases.operations import list_names, match_key, raw_cursor
from penstock.kit.databases.postgres import BY_INDEX, read_copy, read_texts
from penstock.kit.databases.spark_types import column_type, quote_identifier
from penstock.kit.databases.sqlite import read_sqlite, sqlite_tuples
from penstock.kit.databases.target_table import TargetTable

FEW_KEYS = 1_000
"""Up to so many keys a SELECT costs less than COPY."""


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
    """These columns of the rows of some keys, in any order. There is a statement for each batch of distinct keys.

    A collation may find more rows.

    Raises TableError (types): the table has a value that the declaration does not allow.
    """
    find = {"postgres": find_in_postgres, "sqlite": find_in_sqlite, "duckdb": find_in_duckdb}
    return find[table.address.dialect](connection, table, names, batches)


def find_in_sqlite(
    connection: sa.Connection, table: TargetTable, names: Sequence[str], batches: Sequence[pa.Table]
) -> pa.Table:
    """As `find_rows`. A statement finds one key, as this takes no time to send."""
    where = " AND ".join(f"{quote_identifier(name)} = ?" for name in table.key)
    asked = f"SELECT {list_names(names)} FROM {table.quoted_name} WHERE {where}"
    cursor = raw_cursor(connection)
    keys = (values for batch in batches for values in sqlite_tuples(batch.select(table.key)))
    return arrange_sqlite([row for values in keys for row in cursor.execute(asked, values).fetchall()], table, names)


def find_in_duckdb(
    connection: sa.Connection, table: TargetTable, names: Sequence[str], batches: Sequence[pa.Table]
) -> pa.Table:
    """As `find_rows`."""
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


def find_in_postgres(
    connection: sa.Connection, table: TargetTable, names: Sequence[str], batches: Sequence[pa.Table]
) -> pa.Table:
    """As `find_rows`. Keys are sent as arrays: a standby server takes no temporary table."""
    cursor = raw_cursor(connection)
    # Without a join PostgreSQL reads the whole table by a scan. Where no index fits, compiling the scan is no use.
    cursor.execute(f"{BY_INDEX}; SET LOCAL enable_seqscan = off; SET LOCAL jit = off")
    fields = batches[0].schema
    arrays = [f"%s::{column_type('postgres', field.type)}[]" for field in fields]
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
    connection: sa.Connection, table: TargetTable, names: Sequence[str], conditions: Sequence[ColumnCondition] = ()
) -> pa.Table:
    """These columns of all rows for which the conditions hold.

    Raises TableError (types): the table has a value that the declaration does not allow.
    """
    values = [value for each in conditions for value in each.values]
    if table.address.dialect == "sqlite":
        values = [value.isoformat() if isinstance(value, date) else value for value in values]
    if table.address.dialect == "postgres":
        # A mark of psycopg begins with a percent sign, as names may.
        texts = [escape_marks(each.write("\0")).replace("\0", "%s") for each in conditions]
        where = f" WHERE {' AND '.join(texts)}" if texts else ""
        return copy_rows(connection, table, names, f"FROM {escape_marks(table.quoted_name)} AS t{where}", values)
    where = f" WHERE {' AND '.join(each.write('?') for each in conditions)}" if conditions else ""
    asked = f"SELECT {list_names(names)} FROM {table.quoted_name}{where}"
    if table.address.dialect == "sqlite":
        return arrange_sqlite(raw_cursor(connection).execute(asked, values).fetchall(), table, names)
    duckdb: Any = connection.connection.driver_connection
    return conform_rows(duckdb.sql(asked, params=values).to_arrow_table(), table, names)


def has_rows(connection: sa.Connection, table: TargetTable) -> bool:
    """Whether the table has any row."""
    cursor = raw_cursor(connection)
    cursor.execute(f"SELECT 1 FROM {table.quoted_name} LIMIT 1")
    return cursor.fetchone() is not None


def escape_marks(text: str) -> str:
    """SQL in which percent signs are what they are for psycopg."""
    return text.replace("%", "%%")


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


def arrange_sqlite(rows: Sequence[Sequence[Any]], table: TargetTable, names: Sequence[str]) -> pa.Table:
    """Rows of SQLite as Arrow has them."""
    schema = table.arrow_schema(names)
    arrays = [read_sqlite([row[place] for row in rows], field, table) for place, field in enumerate(schema)]
    return pa.Table.from_arrays(arrays, schema=schema)


def conform_rows(rows: pa.Table, table: TargetTable, names: Sequence[str]) -> pa.Table:
    """Rows of DuckDB in the types of the declaration.

    Raises TableError (types): a value is none of the declared type.
    """
    try:
        return rows.cast(table.arrow_schema(names))
    except pa.ArrowInvalid as error:
        message = f"{table.place} has a value that its declaration does not allow: {error}"
        raise TableError("types", message) from None
