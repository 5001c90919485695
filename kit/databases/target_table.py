"""A table that others own: what a script says about it, and whether the database agrees."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import sqlalchemy as sa

from penstock.kit.databases.address import Address
from penstock.kit.databases.faults import TableError
from penstock.kit.databases.found_table import FoundTable
from penstock.kit.databases.spark_types import arrow_type, quote_identifier


@dataclass(frozen=True, slots=True)
class TargetTable:
    """A table as a script declares it.

    name: `schema.name` or `name`. columns: their names, their Spark types as text, and whether they may be NULL.
    key: empty for a table of one row. create: whether a missing table is made.
    """

    address: Address
    name: str
    columns: tuple[tuple[str, str, bool], ...]
    key: tuple[str, ...] = ()
    create: bool = False

    @property
    def schema(self) -> str | None:
        """The schema, if the name has one."""
        return self.name.rpartition(".")[0] or None

    @property
    def bare_name(self) -> str:
        """The name without the schema."""
        return self.name.rpartition(".")[2]

    @property
    def quoted_name(self) -> str:
        """The name as SQL of all databases writes it."""
        return ".".join(map(quote_identifier, self.name.rpartition(".")[::2] if self.schema else [self.name]))

    @property
    def place(self) -> str:
        """The table as messages name it."""
        return f"table {self.name} of {self.address.place}"

    def arrow_schema(self, names: Sequence[str] | None = None) -> pa.Schema:
        """The columns, or the columns of these names, as Arrow has them.

        Raises TableError (types): the database has no column for a type.
        """
        types = {name: type_ for name, type_, _ in self.columns}
        return pa.schema([(name, arrow_type(types[name])) for name in (types if names is None else names)])


def find_null_key(found: FoundTable, table: TargetTable) -> frozenset[str]:
    """The columns of the key that may be NULL in a row."""
    if frozenset(table.key) not in found.null_keys:
        return frozenset()
    return frozenset(name for name, _, nullable in table.columns if nullable and name in table.key)


def create_table(connection: sa.Connection, table: TargetTable) -> None:
    """Makes the table with the columns and the key of the declaration.

    Columns of the key may be NULL if they are declared so, as far as the database has such keys.
    """
    engine = table.address.engine
    null_key = {name for name, _, nullable in table.columns if nullable and name in table.key}
    if not engine.takes_null_keys(connection):
        null_key.clear()
    parts = [
        f"{quote_identifier(name)} {(engine.key_type if name in table.key else engine.column_type)(arrow_type(type_))}"
        + ("" if nullable and (name not in table.key or name in null_key) else " NOT NULL")
        for name, type_, nullable in table.columns
    ]
    if table.key:
        kind = "UNIQUE NULLS NOT DISTINCT" if null_key else "PRIMARY KEY"
        parts.append(f"{kind} ({', '.join(map(quote_identifier, table.key))})")
    options = "".join(f" {name} = {value}" for name, value in engine.list_table_options(connection).items())
    execute_text(connection, f"CREATE TABLE IF NOT EXISTS {table.quoted_name} ({', '.join(parts)}){options}")
    if not table.key:
        execute_text(connection, engine.write_one_row_index(table))


def execute_text(connection: sa.Connection, text: str) -> None:
    """Runs SQL in which colons and percent signs are what they are."""
    cursor = connection.connection.cursor()
    cursor.execute(text)
    cursor.close()


def check_table(found: FoundTable, table: TargetTable) -> None:
    """Compares the declaration with a table that is written.

    Raises TableError (columns, types, key) at the first difference that would lose or change values.
    """
    check_columns(found, table)
    for name, _, _ in table.columns:
        if found.columns[name].is_generated:
            raise TableError("columns", f"column {name} of {table.place} is computed by the database")
    declared = {name for name, _, _ in table.columns}
    for name in sorted(found.required - declared):
        message = f"column {name} of {table.place} is NOT NULL, has no default and is not declared"
        raise TableError("columns", message, f"declare the column {name}, or give it a default")
    check_key(found, table)


def check_columns(found: FoundTable, table: TargetTable) -> None:
    """Compares the declared columns with the columns of the table.

    Raises TableError (columns, types) at the first difference that would lose or change values.
    """
    engine = table.address.engine
    for name, type_, nullable in table.columns:
        column = found.columns.get(name)
        if column is None:
            names = ", ".join(found.columns)
            raise TableError("columns", f"{table.place} has no column {name}", f"its columns are {names}")
        wanted = engine.column_type(arrow_type(type_))
        if not engine.holds(arrow_type(type_), column.type):
            message = f"column {name} of {table.place} is {column.type}, which does not hold all values of {type_}"
            raise TableError("types", message, f"{wanted} does")
        if not nullable and column.nullable and name not in table.key:
            message = f"column {name} of {table.place} may be NULL, and is declared NOT NULL"
            raise TableError("columns", message, "declare it without NOT NULL")


def check_key(found: FoundTable, table: TargetTable) -> None:
    """Compares the primary key with the unique columns of the table.

    Raises TableError (key).
    """
    if not table.key and not found.keys:
        message = f"{table.place} may have more than one row, and the query has one"
        raise TableError("key", message, table.address.engine.write_one_row_index(table))
    if frozenset(table.key) not in found.keys:
        keys = "; ".join(sorted({", ".join(sorted(key)) for key in found.keys})) or "none"
        message = f"{table.place} has no primary key or unique constraint of ({', '.join(table.key)})"
        raise TableError("key", message, f"its keys are: {keys}")
