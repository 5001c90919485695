"""The relay as clients see it, with and without TLS, and the same PostgreSQL without it."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from penstock.server.postgres.relay import Upstream
from tests.databases.proxy import Proxy
from tests.server.clients.address import INSPECTED, Address
from tests.server.clients.install import CLIENTS, install
from tests.server.postgres.door import Door, connect_directly, open_door


@pytest.fixture(params=["plain", "tls"])
def door(request: pytest.FixtureRequest, database: Upstream, tls: ssl.SSLContext) -> Iterator[Door]:
    """A relay without TLS, and one that demands it."""
    encrypted = request.param == "tls"
    with open_door(database, tls=tls if encrypted else None, is_tls_required=encrypted) as opened:
        yield opened


@pytest.fixture
def relay(door: Door) -> Address:
    """Where the relay is."""
    return Address(door.relay.port, door.tls)


@pytest.fixture
def direct(database: Upstream) -> Iterator[Address]:
    """Where PostgreSQL is. Its bytes pass through a proxy that does not look at them."""
    with Proxy(f"{database.host}/.s.PGSQL.{database.port}", 0, "before") as proxy:
        yield Address(proxy.port, False)


@pytest.fixture(scope="session")
def inspected(database: Upstream) -> None:
    """Objects of all kinds that tools look at."""
    with connect_directly(database) as connection:
        connection.execute(INSPECTED)


@pytest.fixture(scope="session")
def installed() -> Callable[[str], Path]:
    """Installs a client, or skips its tests if a program for that is not there."""

    def find(name: str) -> Path:
        if missing := CLIENTS[name].missing:
            pytest.skip(f"{', '.join(missing)} is not installed")
        return install(name)

    return find
