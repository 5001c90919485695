"""The databases: an embedded PostgreSQL and a MariaDB for the whole run, files of SQLite and DuckDB for each test."""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.kit.databases.attempts import TableConnection
from tests.databases.mysql_server import find_program, run_server
from tests.databases.places import DIALECTS, Place, start_server

NUMBERS = itertools.count()


@pytest.fixture(autouse=True)
def connections(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Closes what a test has left open. SQLAlchemy reports connections that a server has ended until then."""
    if request.node.get_closest_marker("spark") is not None:  # the class travels to workers as it is
        yield
        return
    opened: list[TableConnection] = []
    plain = TableConnection.__init__

    def note(self: TableConnection, *given: Any, **options: Any) -> None:
        plain(self, *given, **options)
        opened.append(self)

    monkeypatch.setattr(TableConnection, "__init__", note)
    yield
    for each in opened:
        each.close()


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The URL of a PostgreSQL that listens on a socket in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)  # the server has a user of its own
        running = start_server(Path(folder) / "data")
        # Its machine does not fail.
        Place("postgres", running.get_uri()).execute("ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()")
        yield running.get_uri().replace("postgres:@", "postgres@")
        running.cleanup()


@pytest.fixture(scope="session")
def mysql_server() -> Iterator[str]:
    """The URL of a MariaDB that listens on a port of this machine."""
    if not find_program():
        pytest.skip("there is no mariadbd; on Debian: apt-get install mariadb-server-core")
    with tempfile.TemporaryDirectory() as folder, run_server(Path(folder)) as url:
        yield url


@pytest.fixture(params=DIALECTS)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """A new, empty database."""
    match request.param:
        case "postgres":
            return postgres_place(request.getfixturevalue("server"))
        case "mysql":
            return mysql_place(request.getfixturevalue("mysql_server"))
        case _:
            return Place(request.param, str(tmp_path / f"rows.{request.param}"))


@pytest.fixture
def mysql(mysql_server: str) -> Place:
    """A new, empty database of MariaDB."""
    return mysql_place(mysql_server)


def mysql_place(server: str) -> Place:
    """A database of its own."""
    name = f"d{next(NUMBERS)}"
    Place("mysql", server).execute(f"CREATE DATABASE {name}")
    return Place("mysql", f"{server}{name}")


@pytest.fixture
def postgres(server: str) -> Place:
    """A new, empty database of PostgreSQL."""
    return postgres_place(server)


def postgres_place(server: str) -> Place:
    """A schema of its own, in which unqualified names are looked for."""
    name = f"d{next(NUMBERS)}"
    Place("postgres", server).execute(f"CREATE SCHEMA {name}")
    return Place("postgres", f"{server}&options=-c%20search_path%3D{name}")
