"""The databases, as the tests of databases have them, and databases that fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from penstock.kit.databases import attempts
from tests.conformance.samza_tables import Outage
from tests.databases.conftest import connections, mysql_server, place, postgres, server
from tests.databases.places import DDL, Place

__all__ = ["connections", "fail_first", "mysql_server", "place", "postgres", "reader", "server"]


@pytest.fixture
def fail_first(place: Place, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[float], Outage]]:
    """Lets the first connections fail from now on, so many of them."""
    with ExitStack() as held:

        def fail(failing: float) -> Outage:
            outage = Outage(place, failing, held)
            monkeypatch.setattr(attempts, "connect_database", outage.connect)
            return outage

        yield fail


@pytest.fixture
def reader(postgres: Place) -> Iterator[Place]:
    """The database for a user who may only read the table `t`, which has a row."""
    [(schema,)] = postgres.rows("SELECT current_schema()")
    postgres.execute(DDL, "INSERT INTO t VALUES (1, 10, 'a')", "CREATE ROLE samza LOGIN")
    postgres.execute(f"GRANT USAGE, CREATE ON SCHEMA {schema} TO samza", "GRANT SELECT ON t TO samza")
    yield Place("postgres", postgres.url.replace("postgres@", "samza@"))
    postgres.execute("DROP OWNED BY samza", "DROP ROLE samza")
