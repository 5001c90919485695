"""A table of a database -> its columns, its key and its first rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import sqlalchemy as sa

from penstock.codegen.connectors.database_calls import list_address
from penstock.codegen.program import Input
from penstock.kit.databases.address import make_address
from penstock.kit.databases.attempts import TableConnection
from penstock.kit.databases.engine import DatabaseEngine
from penstock.kit.databases.faults import TableError
from penstock.kit.databases.finder import FindCounters, FindPolicy
from penstock.kit.databases.found_table import FoundTable
from penstock.kit.databases.spark_types import ARROW_TYPES
from penstock.kit.databases.target_table import TargetTable
from penstock.runtime.failure.table_failures import coded_reads

_WHOLE = ("BIGINT", "INT", "SMALLINT", "TINYINT")
_ORDER = (*_WHOLE, "BOOLEAN", "DOUBLE", "FLOAT", "STRING", "BINARY", "DATE", "TIMESTAMP", "TIME")
_POLICY = FindPolicy(attempts=2)
_WIDEST, _SCALES = 38, (0, 2, 4, 6, 10, 18)


@dataclass(frozen=True, slots=True)
class TableSample:
    """A table. `columns`: the names and Spark's types, None where none holds all values; and how it calls the type."""

    columns: Sequence[tuple[str, str | None, str]]
    key: tuple[str, ...]
    rows: Sequence[Sequence[Any]]


def look_at_table(source: Input, rows: int) -> TableSample:
    """The table that an input names, whatever columns the input has.

    Raises:
        RunError: the database cannot be reached, or has no such table.
    """
    table = TargetTable(make_address(list_address(source)), str(source.values["table"]), (), ("key",))
    engine = table.address.engine

    def look(connection: sa.Connection) -> TableSample:
        found = engine.inspect(connection, table)
        if found is None:
            there = sorted(sa.inspect(connection).get_table_names(schema=table.schema))
            told = f"its tables are {', '.join(there[:20])}" if there else "it has no tables"
            raise TableError("missing_table", f"there is no {table.place}", told)
        columns = [(name, find_type(engine, each.type), str(each.type)) for name, each in found.columns.items()]
        names = [name for name, type_, _ in columns if type_ is not None]
        first = engine.list_first_rows(connection, table, names, rows) if names else []
        return TableSample(columns, _find_key(found, names), first)

    connection = TableConnection(table, _POLICY, FindCounters(), read_only=True)
    try:
        with coded_reads(table, None):
            return connection.run(look)
    finally:
        connection.close()


def find_type(engine: DatabaseEngine, column: Any) -> str | None:
    """The widest of Spark's types whose values the column keeps, None if there is none."""
    for name in _ORDER:
        if engine.holds(ARROW_TYPES[name], column):
            return name
    precisions = range(_WIDEST, 0, -1)
    decimals = [pa.decimal128(precision, scale) for precision in precisions for scale in range(precision + 1)]
    held = [each for each in decimals if engine.holds(each, column)]
    if not held:
        return None
    # A column without a scale holds all of them.
    if len(held) == len(decimals):
        return f"DECIMAL({_WIDEST}, {_SCALES[-1]})"
    widest = max(held, key=lambda each: (each.precision, each.scale))
    return f"DECIMAL({widest.precision}, {widest.scale})"


def _find_key(found: FoundTable, names: Sequence[str]) -> tuple[str, ...]:
    """The primary key, or another one that is unique, in the order of the columns."""
    known = [key for key in found.keys if key and key <= set(names)]
    return tuple(name for name in names if known and name in known[0])
