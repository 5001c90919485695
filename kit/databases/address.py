"""Where a database is, and a connection to it."""

import os
import sqlite3
from dataclasses import dataclass, replace
from typing import Literal

import sqlalchemy as sa

from penstock.kit.databases.faults import TableError
from penstock.kit.databases.locks import LOCK_SECONDS
from penstock.kit.databases.secret_refs import KnownSecret, SecretRef


@dataclass(frozen=True, slots=True)
class Address:
    """Where a database is. There is no secret in it.

    url: for PostgreSQL a URL postgresql://user@host:port/database without a password, else the path of a file.
    connect_timeout, statement_timeout: seconds. SQLite waits for locks for the former, DuckDB has no timeouts.
    """

    dialect: Literal["postgres", "sqlite", "duckdb"]
    url: str
    password: SecretRef | KnownSecret | None = None
    connect_timeout: int = 10
    statement_timeout: int = 60

    @property
    def place(self) -> str:
        """The database as messages name it."""
        if self.dialect != "postgres":
            return f"{self.url} ({'SQLite' if self.dialect == 'sqlite' else 'DuckDB'})"
        url = self.parse_url()
        host = url.host or url.query.get("host") or "this machine"
        return f"database {url.database} at {host}{f':{url.port}' if url.port else ''} (PostgreSQL)"

    def parse_url(self) -> sa.URL:
        """The URL of PostgreSQL.

        Raises TableError: it is none, or has a password.
        """
        try:
            url = sa.make_url(self.url)
        except (sa.exc.ArgumentError, ValueError):
            raise TableError("connect", "the url is not of the form postgresql://user@host:port/database") from None
        if url.password is not None or "password" in url.query:
            raise TableError("password", "the url has a password", "use password = ENV('NAME') or FILE('path')")
        if url.drivername not in ("postgresql", "postgres"):
            raise TableError("connect", f"the url begins with {url.drivername}://, not with postgresql://")
        return url


def complete_address(address: Address) -> Address:
    """The address as a process elsewhere needs it. For PostgreSQL it has what the variables PGHOST … say here.

    Raises TableError as `Address.parse_url`.
    """
    if address.dialect != "postgres":
        return replace(address, url=os.path.abspath(address.url))
    url, query = address.parse_url(), {}
    host, port = os.environ.get("PGHOST"), os.environ.get("PGPORT")
    if not url.host and "host" not in url.query and host:
        query["host"] = host
    if not url.port and "port" not in url.query and port:
        query["port"] = port
    user, database = url.username or os.environ.get("PGUSER"), url.database or os.environ.get("PGDATABASE")
    url = url.update_query_dict(query).set(username=user, database=database)
    return replace(address, url=url.render_as_string())


def connect_database(address: Address, create: bool, *, read_only: bool = False) -> sa.Connection:
    """A new connection. `create` makes a missing file of SQLite or DuckDB."""
    if address.dialect == "postgres":
        return connect_postgres(address, read_only)
    connect = connect_sqlite if address.dialect == "sqlite" else open_duckdb
    return connect(address, create, read_only)


def connect_postgres(address: Address, read_only: bool) -> sa.Connection:
    """A connection by psycopg. Times are in UTC and texts in UTF-8, whatever the server prefers."""
    url = address.parse_url().set(drivername="postgresql+psycopg")
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


def connect_sqlite(address: Address, create: bool, read_only: bool) -> sa.Connection:
    """A connection by sqlite3, in WAL mode, so that others can read meanwhile.

    Transactions lock when they begin, except transactions that only read.
    """
    path = f"file:{os.path.abspath(address.url).replace('%', '%25').replace('?', '%3f').replace('#', '%23')}"

    def connect() -> sqlite3.Connection:
        mode = "ro" if read_only else "rwc" if create else "rw"
        timeout = address.connect_timeout
        connection = sqlite3.connect(
            f"{path}?mode={mode}", uri=True, timeout=timeout, isolation_level=None, check_same_thread=False
        )
        if read_only:
            return connection
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        return connection

    engine = sa.create_engine("sqlite://", creator=connect, poolclass=sa.NullPool, hide_parameters=True)

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        connection.exec_driver_sql("BEGIN" if read_only else "BEGIN IMMEDIATE")

    connection = engine.connect()
    file = os.stat(address.url)
    connection.info["file"] = (file.st_dev, file.st_ino)
    return connection


def is_replaced(address: Address, connection: sa.Connection) -> bool:
    """Whether a file of SQLite is another one than the connection has open: its rows would go nowhere."""
    if address.dialect != "sqlite":
        return False
    try:
        file = os.stat(address.url)
    except FileNotFoundError:
        return True
    return bool(connection.info["file"] != (file.st_dev, file.st_ino))


def open_duckdb(address: Address, create: bool, read_only: bool) -> sa.Connection:
    """A connection to a file of DuckDB, which no other process can open meanwhile, or only to read."""
    if not create and not os.path.exists(address.url):
        raise TableError("connect", f"there is no file {address.url}", "create it, or set create = 'if_missing'")
    url = sa.URL.create("duckdb", database=address.url)
    arguments = {"read_only": read_only}
    return sa.create_engine(url, poolclass=sa.NullPool, hide_parameters=True, connect_args=arguments).connect()
