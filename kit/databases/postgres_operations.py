"""Writes to PostgreSQL: Arrow writes CSV, COPY loads it into a temporary table, and one statement merges that."""

from __future__ import annotations

import io
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
import sqlalchemy as sa

from penstock.kit.databases.faults import TableError
from penstock.kit.databases.found_table import FoundTable
from penstock.kit.databases.operations import (
    assign_columns,
    describe_unfit,
    list_names,
    match_key,
    raw_cursor,
    resolve_conflict,
)
from penstock.kit.databases.spark_types import quote_identifier

if TYPE_CHECKING:
    from penstock.kit.databases.target_table import TargetTable

ROW_NUMBER = "penstock_row"
BY_INDEX = "SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off"
"""For a transaction: rows are found by the index of their key. Other plans read the whole table in each statement."""
FIRST_TIME, LAST_TIME = -62_135_596_800_000_000, 253_402_300_799_999_999
"""The years 1 to 9999, in microseconds since 1970, whose times Arrow writes as texts."""


class PostgresOperations:
    """The operations of one transaction of PostgreSQL."""

    def __init__(self, connection: sa.Connection, table: TargetTable, found: FoundTable) -> None:
        self._cursor = raw_cursor(connection)
        self._table, self._found = table, found
        self._stages: dict[tuple[str, ...], str] = {}
        self._used: set[str] = set()
        # What is checked at COMMIT could not be put down to a row.
        self._cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        self._cursor.execute(BY_INDEX)

    def prepare(self, names: Sequence[str], numbered: bool) -> None:
        """Makes the temporary table. A savepoint that is rolled back must not take it away."""
        self._stage([*names, ROW_NUMBER] if numbered else names)

    def upsert(self, rows: pa.Table) -> None:
        """As `Operations.upsert`."""
        table, names = self._table, rows.column_names
        stage, columns = self._load(rows), list_names(rows.column_names)
        if not self._found.required <= set(names):
            # The INSERT below would be refused before it finds that the row is there.
            self._update(stage, names)
            missing = f"NOT EXISTS (SELECT 1 FROM {table.quoted_name} AS t WHERE {match_key(table, 't.', 's.')})"
        else:
            missing = "true"
        self._cursor.execute(
            f"INSERT INTO {table.quoted_name} ({columns}) SELECT {columns} FROM {stage} AS s WHERE {missing} "
            + resolve_conflict(table, names)
        )

    def insert(self, rows: pa.Table) -> int:
        """As `Operations.insert`."""
        stage, columns = self._load(rows), list_names(rows.column_names)
        self._cursor.execute(
            f"INSERT INTO {self._table.quoted_name} ({columns}) SELECT {columns} FROM {stage} "
            + resolve_conflict(self._table, self._table.key)
        )
        return int(self._cursor.rowcount)

    def can_add(self, columns: pa.Schema) -> bool:
        """As `Operations.can_add`."""
        fields = ((field, self._found.columns[field.name].type) for field in columns)
        return all(is_bounded(field.type, type_) for field, type_ in fields)

    def update(self, rows: pa.Table, added: Collection[str] = ()) -> Sequence[int]:
        """As `Operations.update`."""
        names = rows.column_names
        stage = self._load(rows.append_column(ROW_NUMBER, pa.array(np.arange(rows.num_rows, dtype=np.int32))))
        if self._update(stage, names, added) == rows.num_rows:
            return []
        there = f"SELECT 1 FROM {self._table.quoted_name} AS t WHERE {match_key(self._table, 't.', 's.')}"
        self._cursor.execute(f"SELECT {ROW_NUMBER} FROM {stage} AS s WHERE NOT EXISTS ({there}) ORDER BY 1")
        return [number for (number,) in self._cursor.fetchall()]

    def delete(self, keys: pa.Table) -> None:
        """As `Operations.delete`."""
        if not self._table.key:
            self._cursor.execute(f"DELETE FROM {self._table.quoted_name}")
            return
        stage = self._load(keys)
        for nulls in list_nulls(keys):
            key = match_key(self._table, "t.", "s.", nulls)
            self._cursor.execute(f"DELETE FROM {self._table.quoted_name} AS t USING {stage} AS s WHERE {key}")

    def fetch(self, keys: pa.Table, columns: Sequence[str]) -> pa.Table:
        """As `Operations.fetch`; the rows are locked, in the order of their keys."""
        table, stage = self._table, self._load(keys)
        names = [*table.key, *columns]
        schema = table.arrow_schema(names)
        # Arrow does not read 1.50 as a decimal of one place.
        items = ", ".join(
            f"trim_scale({item})" if pa.types.is_decimal(field.type) else item
            for field, item in zip(schema, (list_names([name], "t.") for name in names), strict=True)
        )
        asked = (
            f"SELECT {items} FROM {stage} AS s JOIN {table.quoted_name} AS t "
            f"ON {match_key(table, 't.', 's.')} ORDER BY {list_names(table.key, 't.')} FOR UPDATE OF t"
        )
        with self._cursor.copy(f"COPY ({asked}) TO STDOUT (FORMAT csv)") as copy:
            data = b"".join(bytes(part) for part in copy)
        return read_copy(data, schema, table)

    def _update(self, stage: str, names: Sequence[str], added: Collection[str] = ()) -> int:
        table, assigned = self._table, assign_columns(self._table, names, added)
        if not assigned:
            return -1
        key = match_key(table, "t.", "s.")
        self._cursor.execute(f"UPDATE {table.quoted_name} AS t SET {assigned} FROM {stage} AS s WHERE {key}")
        return int(self._cursor.rowcount)

    def _stage(self, names: Sequence[str]) -> str:
        """The temporary table of these columns, which have the types of the target."""
        names = tuple(names)
        if names not in self._stages:
            stage = f"pg_temp.penstock_stage_{len(self._stages)}"
            columns = ", ".join("0 AS penstock_row" if name == ROW_NUMBER else quote_identifier(name) for name in names)
            self._cursor.execute(
                f"CREATE TEMPORARY TABLE {stage.removeprefix('pg_temp.')} ON COMMIT DROP "
                f"AS SELECT {columns} FROM {self._table.quoted_name} WITH NO DATA"
            )
            self._stages[names] = stage
        return self._stages[names]

    def _load(self, rows: pa.Table) -> str:
        """Copies rows into their temporary table."""
        stage = self._stage(rows.column_names)
        if stage in self._used:
            self._cursor.execute(f"TRUNCATE {stage}")
        self._used.add(stage)
        sink = pa.BufferOutputStream()
        arrow_csv.write_csv(as_text(rows), sink, arrow_csv.WriteOptions(include_header=False))
        with self._cursor.copy(f"COPY {stage} FROM STDIN (FORMAT csv)") as copy:
            copy.write(sink.getvalue())
        return stage


def is_bounded(type_: pa.DataType, column: sa.types.TypeEngine[Any]) -> bool:
    """Whether a column of PostgreSQL has the values of an integer or decimal type, and no others but NaN."""
    if isinstance(column, sa.Numeric) and pa.types.is_decimal(type_):
        return (column.precision, column.scale or 0) == (type_.precision, type_.scale)
    names = {pa.int16(): "SMALLINT", pa.int32(): "INTEGER", pa.int64(): "BIGINT"}
    return type(column).__name__ == names.get(type_)


def list_nulls(keys: pa.Table) -> list[tuple[str, ...]]:
    """The sets of columns that are NULL together in some row, the empty one of rows without NULL."""
    masks = {name: pc.is_null(keys[name]).to_pylist() for name in keys.column_names if keys[name].null_count}
    rows = zip(*masks.values(), strict=True)
    found = {tuple(name for name, is_null in zip(masks, row, strict=True) if is_null) for row in rows}
    return sorted(found) or [()]


def as_text(rows: pa.Table) -> pa.Table:
    """Binary columns and times as PostgreSQL writes them; Arrow writes all others as PostgreSQL reads them."""
    for place, field in enumerate(rows.schema):
        if pa.types.is_binary(field.type):
            texts = [None if value is None else "\\x" + value.hex() for value in rows[field.name].to_pylist()]
            rows = rows.set_column(place, field.name, pa.array(texts, pa.string()))
        elif pa.types.is_timestamp(field.type) and field.type.tz is not None:
            rows = rows.set_column(place, field.name, format_times(rows[field.name]))
    return rows


def format_times(times: pa.ChunkedArray) -> pa.ChunkedArray:
    """Instants as texts in UTC, in a tenth of the time that Arrow takes. Times that are not of four digits stay."""
    plain = times.cast(pa.timestamp("us"))
    least, most = pc.min_max(plain.cast(pa.int64())).as_py().values()
    if least is None or not FIRST_TIME <= least <= most <= LAST_TIME:
        return times
    texts: pa.ChunkedArray = pc.binary_join_element_wise(plain.cast(pa.string()), "Z", "")
    return texts


def read_copy(data: bytes, schema: pa.Schema, table: TargetTable) -> pa.Table:
    """The rows in an answer to COPY TO.

    Raises TableError (types): the table has a value, as infinity, that the type of its column does not have.
    """
    if not data:
        return schema.empty_table()
    types = {field.name: pa.string() if pa.types.is_binary(field.type) else field.type for field in schema}
    options = arrow_csv.ConvertOptions(
        column_types=types,
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        true_values=["t"],
        false_values=["f"],
    )
    read = arrow_csv.ReadOptions(column_names=schema.names, block_size=max(1 << 20, len(data) + 1), use_threads=False)
    parse = arrow_csv.ParseOptions(newlines_in_values=True)
    try:
        rows = arrow_csv.read_csv(io.BytesIO(data), read, parse, options)
    except pa.ArrowInvalid as error:
        raise TableError("types", describe_unfit(table, error)) from None
    for number, field in enumerate(schema):
        if pa.types.is_binary(field.type):
            values = [None if text is None else bytes.fromhex(text[2:]) for text in rows[field.name].to_pylist()]
            rows = rows.set_column(number, field, pa.array(values, pa.binary()))
    return rows.cast(schema)


def read_texts(rows: Sequence[Sequence[str | None]], schema: pa.Schema, table: TargetTable) -> pa.Table:
    """Rows of values that PostgreSQL has cast to text.

    Raises TableError (types): as `read_copy`.
    """
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    arrays = []
    for texts, field in zip(columns, schema, strict=True):
        if pa.types.is_binary(field.type):
            arrays.append(pa.array([None if text is None else bytes.fromhex(text[2:]) for text in texts], field.type))
            continue
        try:
            arrays.append(pa.array(texts, pa.string()).cast(field.type))
        except pa.ArrowInvalid as error:
            raise TableError("types", describe_unfit(table, error)) from None
    return pa.Table.from_arrays(arrays, schema=schema)
