"""A table that others own: what a script says about it, and whether the database agrees."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import sqlalchemy as sa

from penstock.kit.databases.address import Address
from penstock.kit.databases.column_types import duckdb_holds, postgres_holds, sqlite_holds
from penstock.kit.databases.faults import TableError
from penstock.kit.databases.spark_types import arrow_type, column_type, quote_identifier


@dataclass(frozen=True, slots=True)
class TargetTable:
    """A table as a script declares it.

    name: `schema.name` or `name`. columns: the name of each, the Spark type as text, and whether it may be NULL.
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


@dataclass(frozen=True, slots=True)
class FoundColumn:
    """A column as the database has it. `type`: a type of SQLAlchemy, or a text for DuckDB."""

    name: str
    type: Any
    nullable: bool
    has_default: bool
    is_generated: bool


@dataclass(frozen=True, slots=True)
class FoundTable:
    """A table as the database has it.

    keys: the column sets that are unique, the empty one of a table that cannot have more than one row. null_keys: keys
    in which NULL is a value like any other.
    """

    columns: dict[str, FoundColumn]
    keys: list[frozenset[str]]
    null_keys: tuple[frozenset[str], ...] = ()

    @property
    def required(self) -> frozenset[str]:
        """The columns that every new row must have a value for."""
        return frozenset(each.name for each in self.columns.values() if not each.nullable and not each.has_default)

    def find_null_key(self, table: TargetTable) -> frozenset[str]:
        """The columns of the key that may be NULL in a row."""
        if frozenset(table.key) not in self.null_keys:
            return frozenset()
        return frozenset(name for name, _, nullable in table.columns if nullable and name in table.key)


def inspect_table(connection: sa.Connection, table: TargetTable) -> FoundTable | None:
    """The table as the database has it, None if it is missing."""
    if table.address.dialect == "duckdb":
        return inspect_duckdb(connection, table)
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
        return FoundTable(columns, [frozenset()] if has_one_row(connection, table) else [])
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


def has_one_row(connection: sa.Connection, table: TargetTable) -> bool:
    """Whether an index keeps a table of PostgreSQL or SQLite from having more than one row."""
    if table.address.dialect == "postgres":
        asked = (
            "SELECT EXISTS (SELECT FROM pg_index WHERE indrelid = to_regclass(:name) AND indisunique AND indisvalid "
            "AND indpred IS NULL AND indnatts = 1 AND pg_get_expr(indexprs, indrelid) = 'true')"
        )
        return bool(connection.scalar(sa.text(asked), {"name": table.quoted_name}))
    schema = quote_identifier(table.schema or "main")
    asked = (
        f"SELECT count(*) FROM {schema}.sqlite_master WHERE type = 'index' AND lower(tbl_name) = lower(:name) "
        "AND upper(sql) LIKE 'CREATE UNIQUE INDEX%((TRUE))'"
    )
    return bool(connection.scalar(sa.text(asked), {"name": table.bare_name}))


def inspect_duckdb(connection: sa.Connection, table: TargetTable) -> FoundTable | None:
    """As `inspect_table`; what SQLAlchemy's dialect asks, DuckDB 2 does not answer."""
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
        "SELECT constraint_column_names FROM duckdb_constraints() WHERE constraint_type IN ('PRIMARY KEY', 'UNIQUE') "
        "AND database_name = current_database() AND schema_name = :schema AND table_name = :name"
    )
    return FoundTable(columns, [frozenset(key) for (key,) in connection.execute(unique, place)])


def has_table(connection: sa.Connection, table: TargetTable, name: str) -> bool:
    """Whether there is a table of this name beside the target."""
    if table.address.dialect != "duckdb":
        return sa.inspect(connection).has_table(name, schema=table.schema)
    asked = sa.text(
        "SELECT count(*) FROM information_schema.tables "
        "WHERE table_catalog = current_database() AND table_schema = :schema AND table_name = :name"
    )
    return bool(connection.scalar(asked, {"schema": table.schema or "main", "name": name}))


def create_table(connection: sa.Connection, table: TargetTable) -> None:
    """Makes the table with the columns and the key of the declaration.

    Columns of the key may be NULL if they are declared so, as far as the database has such keys.
    """
    dialect = table.address.dialect
    null_key = {name for name, _, nullable in table.columns if nullable and name in table.key}
    if not takes_null_keys(connection):
        null_key.clear()
    parts = [
        f"{quote_identifier(name)} {column_type(dialect, arrow_type(type_))}"
        + ("" if nullable and (name not in table.key or name in null_key) else " NOT NULL")
        for name, type_, nullable in table.columns
    ]
    if table.key:
        kind = "UNIQUE NULLS NOT DISTINCT" if null_key else "PRIMARY KEY"
        parts.append(f"{kind} ({', '.join(map(quote_identifier, table.key))})")
    execute_text(connection, f"CREATE TABLE IF NOT EXISTS {table.quoted_name} ({', '.join(parts)})")
    if not table.key:
        execute_text(connection, write_one_row_index(table))


def takes_null_keys(connection: sa.Connection) -> bool:
    """Whether the database has keys in which NULL is a value like any other."""
    dialect = connection.dialect
    return dialect.name == "postgresql" and (dialect.server_version_info or ()) >= (15,)


def write_one_row_index(table: TargetTable) -> str:
    """The statement that keeps a table from having more than one row."""
    if table.address.dialect == "postgres":  # which names it
        return f"CREATE UNIQUE INDEX ON {table.quoted_name} ((true))"
    schema = f"{quote_identifier(table.schema)}." if table.schema else ""
    name = quote_identifier(f"{table.bare_name}_one_row")
    return f"CREATE UNIQUE INDEX IF NOT EXISTS {schema}{name} ON {quote_identifier(table.bare_name)} ((true))"


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
    dialect = table.address.dialect
    deciders: dict[str, Callable[[pa.DataType, Any], bool]] = {
        "postgres": postgres_holds,
        "sqlite": sqlite_holds,
        "duckdb": duckdb_holds,
    }
    holds = deciders[dialect]
    for name, type_, nullable in table.columns:
        column = found.columns.get(name)
        if column is None:
            names = ", ".join(found.columns)
            raise TableError("columns", f"{table.place} has no column {name}", f"its columns are {names}")
        wanted = column_type(dialect, arrow_type(type_))
        if not holds(arrow_type(type_), column.type):
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
        raise TableError("key", message, write_one_row_index(table))
    if frozenset(table.key) not in found.keys:
        keys = "; ".join(sorted({", ".join(sorted(key)) for key in found.keys})) or "none"
        message = f"{table.place} has no primary key or unique constraint of ({', '.join(table.key)})"
        raise TableError("key", message, f"its keys are: {keys}")


def check_privileges(connection: sa.Connection, table: TargetTable, beside: Sequence[str]) -> None:
    """Whether the user may write the table, and make the tables `beside` it that are missing.

    Raises TableError (permission). Files have no privileges; a file that cannot be written is noticed by `open`.
    """
    if table.address.dialect != "postgres":
        return
    schema = table.schema or connection.scalar(sa.text("SELECT current_schema()"))
    given = {"table": table.quoted_name, "schema": schema}
    for missing in list_missing(connection, given):
        raise TableError("permission", f"the user has no privilege {missing} on {table.place}", f"grant {missing}")
    if not connection.scalar(sa.text("SELECT has_database_privilege(current_database(), 'TEMPORARY')")):
        raise TableError("permission", f"the user may not make temporary tables in {table.address.place}")
    for name in beside:
        if not has_table(connection, table, name) and not connection.scalar(
            sa.text("SELECT has_schema_privilege(:schema, 'CREATE')"), given
        ):
            message = f"the user may not make the table {name} in schema {schema} of {table.address.place}"
            raise TableError("permission", message, f"grant CREATE on schema {schema}, or create the table {name}")


def list_missing(connection: sa.Connection, given: dict[str, Any]) -> Iterator[str]:
    """The privileges on a table of PostgreSQL that the user lacks."""
    for privilege in ("SELECT", "INSERT", "UPDATE", "DELETE"):
        asked = sa.text("SELECT has_table_privilege(:table, :privilege)")
        if not connection.scalar(asked, given | {"privilege": privilege}):
            yield privilege
