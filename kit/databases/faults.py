"""Errors of databases -> what to do about them: try again, set the row aside, or stop."""

import re
from dataclasses import dataclass
from typing import Any, Literal


class TableError(Exception):
    """A table cannot be read or written. The message names the table or the place, and never a secret.

    `kind` is one of: connect, password, missing_database, missing_table, columns, types, key, permission, full,
    timeout, conflict, rejected, other. `hint` says what helps, if that is known.
    """

    def __init__(self, kind: str, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.kind, self.hint = kind, hint


TABLE_ERROR = "table error "
"""What the text of a LookupError begins with that has a TableError as JSON."""


class FencedError(Exception):
    """Another writer of the same query has taken over. Nothing of the batch was written."""


class DivergedError(Exception):
    """The ledger knows another history than the checkpoint has. Nothing of the batch was written."""


class ConflictError(Exception):
    """Another writer has changed rows since this transaction read them."""


@dataclass(frozen=True, slots=True)
class DatabaseFault:
    """An error of a database: the kind of a TableError, what the database says, and what to do.

    retry: the same transaction may succeed later. refuse: the rows are at fault. stop: neither. is_lock: others hold a
    lock that the transaction needs.
    """

    kind: str
    text: str
    action: Literal["retry", "refuse", "stop"]
    is_lock: bool = False


FAULT_HINTS = {
    "password": "check the user of the URL and the secret that `password` names",
    "missing_database": "create the database, or correct its name in the URL",
    "missing_table": "create the table, or set create = 'if_missing'",
    "permission": "grant SELECT, INSERT, UPDATE and DELETE on the table, and CREATE on its schema for the ledger",
    "full": "free some space",
    "connect": "check that the database runs and can be reached from here",
}


def find_fault(dialect: str, error: BaseException) -> DatabaseFault | None:
    """What an error of a driver or of SQLAlchemy means; None if it is no error of a database."""
    from sqlalchemy.exc import DBAPIError, SQLAlchemyError

    if isinstance(error, ConflictError):
        return DatabaseFault("conflict", str(error), "retry")
    if isinstance(error, DBAPIError) and error.orig is not None:
        error = error.orig
    finders = {"postgres": postgres_fault, "sqlite": sqlite_fault, "duckdb": duckdb_fault}
    fault = finders[dialect](error)
    if fault is None and isinstance(error, SQLAlchemyError):
        # The only ones left say that a connection has broken between two statements.
        return DatabaseFault("connect", str(error).splitlines()[0], "retry")
    return fault


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


def postgres_fault(error: BaseException) -> DatabaseFault | None:
    """What an error of psycopg means."""
    import psycopg

    if not isinstance(error, psycopg.Error):
        return None
    state = error.sqlstate
    if state is not None:
        kind, action = POSTGRES_STATES.get(state) or POSTGRES_STATES.get(state[:2]) or ("other", "stop")
        column = re.search(r"^COPY .*, column ([^:]+)", error.diag.context or "")
        where = f" (column {column[1]})" if column else ""
        return DatabaseFault(kind, f"{error.diag.message_primary or error}{where}", action, is_lock=state == LOCKED)
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


SQLITE_CODES: dict[int, tuple[str, Literal["retry", "refuse", "stop"]]] = {
    3: ("permission", "stop"),
    5: ("timeout", "retry"),
    6: ("timeout", "retry"),
    8: ("permission", "stop"),
    10: ("other", "retry"),
    13: ("full", "retry"),
    14: ("connect", "stop"),
    18: ("rejected", "refuse"),
    19: ("rejected", "refuse"),
    20: ("rejected", "refuse"),
    26: ("connect", "stop"),
}
"""Primary result codes: PERM, BUSY, LOCKED, READONLY, IOERR, FULL, CANTOPEN, TOOBIG, CONSTRAINT, MISMATCH, NOTADB."""


def sqlite_fault(error: BaseException) -> DatabaseFault | None:
    """What an error of sqlite3 means."""
    import sqlite3

    if not isinstance(error, sqlite3.Error):
        return None
    text = str(error)
    kind, action = SQLITE_CODES.get(getattr(error, "sqlite_errorcode", 1) & 255, ("other", "stop"))
    if text.startswith("no such table"):
        kind = "missing_table"
    elif "no such column" in text or "has no column" in text:
        kind = "columns"
    return DatabaseFault(kind, text, action)


def duckdb_fault(error: BaseException) -> DatabaseFault | None:
    """What an error of DuckDB means."""
    import duckdb

    if not isinstance(error, duckdb.Error):
        return None
    text = str(error).partition("\n")[0]
    busy = ("Could not set lock", "different configuration", "Unique file handle conflict")
    refused: tuple[Any, ...] = (duckdb.ConstraintException, duckdb.ConversionException, duckdb.OutOfRangeException)
    if any(part in text for part in busy):
        return DatabaseFault("timeout", text, "retry")
    if isinstance(error, duckdb.TransactionException) or "write-write conflict" in text or "Conflict on" in text:
        return DatabaseFault("conflict", text, "retry")
    if isinstance(error, (*refused, duckdb.InvalidInputException)):
        return DatabaseFault("rejected", text, "refuse")
    if "No space left" in text:
        return DatabaseFault("full", text, "retry")
    if "Permission denied" in text or "read-only" in text:
        return DatabaseFault("permission", text, "stop")
    if isinstance(error, duckdb.IOException):
        return DatabaseFault("connect", text, "stop")
    if isinstance(error, duckdb.CatalogException):
        return DatabaseFault("missing_table", text, "stop")
    return DatabaseFault("columns" if isinstance(error, duckdb.BinderException) else "other", text, "stop")
