"""A PostgreSQL for the whole run, and a certificate."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.server.postgres.relay import Upstream
from penstock.server.postgres.tls import load_context, make_certificate
from tests.server.postgres.door import open_database


@pytest.fixture(scope="session")
def database() -> Iterator[Upstream]:
    """A PostgreSQL that asks for passwords."""
    with open_database() as upstream:
        yield upstream


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Files of a certificate and its key."""
    return make_certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="session")
def tls(certificate: tuple[Path, Path]) -> ssl.SSLContext:
    """What a relay needs to speak TLS."""
    return load_context(*certificate)
