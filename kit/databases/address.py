"""Where a database is, and a connection to it."""

from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa

from penstock.kit.databases.engine import DatabaseEngine
from penstock.kit.databases.engines import ENGINES
from penstock.kit.databases.secret_refs import KnownSecret, SecretRef


@dataclass(frozen=True, slots=True)
class Address:
    """Where a database is. There is no secret in it.

    dialect: a name in ENGINES. url: postgresql://user@host:port/database or the like for a server, without a password;
    else the path of a file. connect_timeout, statement_timeout: seconds. SQLite waits for locks for the former, DuckDB
    has no timeouts.
    """

    dialect: str
    url: str
    password: SecretRef | KnownSecret | None = None
    connect_timeout: int = 10
    statement_timeout: int = 60

    @property
    def engine(self) -> "DatabaseEngine":
        """What is done in a way of its own in this database."""
        return ENGINES[self.dialect]

    @property
    def place(self) -> str:
        """The database as messages name it."""
        return self.engine.name_place(self.url)

    def parse_url(self) -> sa.URL:
        """The URL of a server.

        Raises TableError: it is none, or has a password.
        """
        return self.engine.parse_url(self.url)


def complete_address(address: Address) -> Address:
    """The address as a process elsewhere needs it.

    Raises TableError as `Address.parse_url`.
    """
    return replace(address, url=address.engine.complete_url(address.url))


def connect_database(address: Address, create: bool, *, read_only: bool = False) -> sa.Connection:
    """A new connection. `create` makes a missing file of a database."""
    return address.engine.connect(address, create, read_only)


def make_address(arguments: dict[str, Any]) -> Address:
    """Where a script says that the database is. Its secret is named, and not read."""
    secret = arguments.get("password")
    password = None if secret is None else SecretRef(secret.kind, secret.name)
    return Address(**{**arguments, "password": password})
