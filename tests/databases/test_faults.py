"""Errors of drivers: which of them pass, which are the fault of a row, and which end the query."""

from __future__ import annotations

import sqlite3

import duckdb
import psycopg
import pytest
import sqlalchemy as sa

from penstock.kit.databases.engines import ENGINES

STATES = {
    "08006": ("connect", "retry"),
    "08P01": ("connect", "retry"),
    "22001": ("rejected", "refuse"),
    "22003": ("rejected", "refuse"),
    "23502": ("rejected", "refuse"),
    "23503": ("rejected", "refuse"),
    "23505": ("rejected", "refuse"),
    "23514": ("rejected", "refuse"),
    "25006": ("permission", "stop"),
    "28P01": ("password", "stop"),
    "3D000": ("missing_database", "stop"),
    "3F000": ("missing_table", "stop"),
    "40001": ("conflict", "retry"),
    "40P01": ("conflict", "retry"),
    "42501": ("permission", "stop"),
    "42601": ("other", "stop"),
    "42703": ("columns", "stop"),
    "42P01": ("missing_table", "stop"),
    "44000": ("rejected", "refuse"),
    "53100": ("full", "retry"),
    "53200": ("connect", "retry"),
    "53300": ("connect", "retry"),
    "54000": ("rejected", "refuse"),
    "55P03": ("timeout", "retry"),
    "57014": ("timeout", "retry"),
    "57P01": ("connect", "retry"),
    "57P02": ("connect", "retry"),
    "57P03": ("connect", "retry"),
    "P0001": ("rejected", "refuse"),
    "XX000": ("other", "stop"),
}


@pytest.mark.parametrize("state", STATES)
def test_states_of_postgresql(state: str) -> None:
    error = psycopg.errors.lookup(state)("it says so")
    wrapped = sa.exc.DBAPIError("SELECT 1", {}, error)
    for each in (error, wrapped):
        fault = ENGINES["postgres"].find_fault(each)
        assert fault is not None
        assert (fault.kind, fault.action, fault.text) == (*STATES[state], "it says so")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("connection failed: server closed the connection unexpectedly", ("connect", "retry")),
        ("connection failed: FATAL:  the database system is starting up", ("connect", "retry")),
        ("connection failed: FATAL:  sorry, too many clients already", ("connect", "retry")),
        ('connection failed: FATAL:  password authentication failed for user "me"', ("password", "stop")),
        ('connection failed: FATAL:  no pg_hba.conf entry for host "h"', ("password", "stop")),
        ('connection failed: FATAL:  role "me" is not permitted to log in', ("password", "stop")),
        ('connection failed: FATAL:  database "d" does not exist', ("missing_database", "stop")),
        ('connection failed: FATAL:  permission denied for database "d"', ("permission", "stop")),
    ],
)
def test_connections_that_postgresql_refuses(text: str, expected: tuple[str, str]) -> None:
    fault = ENGINES["postgres"].find_fault(psycopg.OperationalError(text))
    assert fault is not None
    assert (fault.kind, fault.action) == expected


def sqlite_error(*statements: str) -> sqlite3.Error:
    """The error of the last statement."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for statement in statements[:-1]:
        connection.execute(statement)
    with pytest.raises(sqlite3.Error) as raised:
        connection.execute(statements[-1])
    connection.close()
    return raised.value


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        (["SELECT * FROM t"], ("missing_table", "stop")),
        (["CREATE TABLE t (k)", "SELECT x FROM t"], ("columns", "stop")),
        (["CREATE TABLE t (k CHECK (k > 0))", "INSERT INTO t VALUES (0)"], ("rejected", "refuse")),
        (["CREATE TABLE t (k INTEGER PRIMARY KEY)", "INSERT INTO t VALUES ('x')"], ("rejected", "refuse")),
        (["CREATE TABLE t (k)", "PRAGMA query_only = ON", "INSERT INTO t VALUES (1)"], ("permission", "stop")),
        (
            ["CREATE TABLE t (k)", "PRAGMA max_page_count = 3", "INSERT INTO t VALUES (zeroblob(100000))"],
            ("full", "retry"),
        ),
        (["SELEC"], ("other", "stop")),
    ],
)
def test_errors_of_sqlite(statements: list[str], expected: tuple[str, str]) -> None:
    fault = ENGINES["sqlite"].find_fault(sqlite_error(*statements))
    assert fault is not None
    assert (fault.kind, fault.action) == expected


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (duckdb.ConstraintException("NOT NULL constraint failed"), ("rejected", "refuse")),
        (duckdb.ConversionException("Could not convert"), ("rejected", "refuse")),
        (duckdb.OutOfRangeException("Overflow"), ("rejected", "refuse")),
        (duckdb.TransactionException("Conflict on update!"), ("conflict", "retry")),
        (duckdb.IOException("Could not set lock on file"), ("timeout", "retry")),
        (duckdb.IOException("Could not write file: No space left on device"), ("full", "retry")),
        (duckdb.IOException("Cannot open file: Permission denied"), ("permission", "stop")),
        (duckdb.IOException("The file is corrupt"), ("connect", "stop")),
        (duckdb.CatalogException("Table with name t does not exist!"), ("missing_table", "stop")),
        (duckdb.BinderException("column x not found"), ("columns", "stop")),
        (duckdb.InternalException("assertion failed"), ("other", "stop")),
    ],
)
def test_errors_of_duckdb(error: duckdb.Error, expected: tuple[str, str]) -> None:
    fault = ENGINES["duckdb"].find_fault(error)
    assert fault is not None
    assert (fault.kind, fault.action) == expected


def test_other_errors_are_not_those_of_a_database() -> None:
    for dialect in ("postgres", "sqlite", "duckdb"):
        assert ENGINES[dialect].find_fault(ZeroDivisionError()) is None
