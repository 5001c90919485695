"""The relay as clients see it, with and without TLS, and the same PostgreSQL without it."""

from __future__ import annotations

import ssl
from collections.abc import Iterator

import pytest

from penstock.server.postgres.relay import Upstream
from tests.databases.proxy import Proxy
from tests.server.clients.address import Address
from tests.server.postgres.door import Door, open_door


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
