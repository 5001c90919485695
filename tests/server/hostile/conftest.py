"""One server for all who attack it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.server.hostile.server import NarrowServer, serve_narrowly


@pytest.fixture(scope="package")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NarrowServer]:
    with serve_narrowly(tmp_path_factory.mktemp("narrow")) as server:
        yield server
