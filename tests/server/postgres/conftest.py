"""A relay for each test."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterator

import pytest
import uvloop

from penstock.server.postgres.relay import Upstream
from tests.server.postgres.door import Door, open_door


@pytest.fixture
def door(database: Upstream) -> Iterator[Door]:
    """A relay without TLS."""
    with open_door(database) as opened:
        yield opened


@pytest.fixture(params=["plain", "tls", "asyncio", "asyncio-tls"])
def any_door(request: pytest.FixtureRequest, database: Upstream, tls: ssl.SSLContext) -> Iterator[Door]:
    """A relay without TLS, and one that demands it; in the loop that serves, and in that of Python."""
    encrypted = "tls" in request.param
    new_loop = asyncio.new_event_loop if "asyncio" in request.param else uvloop.new_event_loop
    with open_door(database, tls=tls if encrypted else None, new_loop=new_loop, is_tls_required=encrypted) as opened:
        yield opened
