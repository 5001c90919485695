"""A PostgreSQL of a server with the schema `reports`, and its users."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg import conninfo

from penstock.server.database.bootstrap import prepare_catalog
from penstock.server.database.embedded import ENGINE, OWNER, SUPERUSER, EmbeddedPostgres

USERS = {"rita": "penstock_reader", "sam": "penstock_submitter", "sue": "penstock_submitter", "olga": "penstock_owner"}


@contextmanager
def run_postgres(state: Path, users: Mapping[str, str]) -> Iterator[EmbeddedPostgres]:
    """A PostgreSQL of a server with a table `counts`, and users in groups. Their passwords are their names."""
    state.chmod(0o755)  # it has a user of its own
    made = EmbeddedPostgres(state)
    with mmap.mmap(-1, 8 << 30, flags=mmap.MAP_PRIVATE):  # limits do not depend on what the server itself has taken
        made.start()
    with psycopg.connect(made.login(ENGINE), autocommit=True) as db:
        prepare_catalog(db, OWNER)
        db.execute("CREATE TABLE public.counts (page text PRIMARY KEY, n bigint)")
    with psycopg.connect(made.login(OWNER), autocommit=True) as db:
        for user, group in users.items():
            db.execute(f"CREATE ROLE {user} LOGIN PASSWORD '{user}' IN ROLE {group}")
    yield made
    made.stop()


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedPostgres]:
    with run_postgres(tmp_path_factory.mktemp("reports"), USERS) as made:
        with psycopg.connect(made.login(ENGINE), autocommit=True) as db:
            made.offer_reports()
            made.offer_reports()  # as each further start does
            prepare_catalog(db, OWNER)
            db.execute("INSERT INTO public.counts VALUES ('a', 1), ('b', 2)")
        yield made


@pytest.fixture(scope="module")
def admin(postgres: EmbeddedPostgres) -> Iterator[psycopg.Connection]:
    with psycopg.connect(postgres.login(SUPERUSER), autocommit=True) as db:
        yield db


@pytest.fixture(autouse=True)
def clear(admin: psycopg.Connection) -> Iterator[None]:
    yield
    for (name,) in admin.execute("SELECT quote_ident(viewname) FROM pg_views WHERE schemaname = 'reports'").fetchall():
        admin.execute(f"DROP VIEW reports.{name}")
    left = "SELECT count(*) FROM pg_class WHERE relnamespace = 'reports'::regnamespace"
    assert admin.execute(left).fetchone() == (0,)
    assert admin.execute("SELECT count(*) FROM penstock_guard.aside").fetchone() == (0,)


@pytest.fixture(scope="module")
def sam(postgres: EmbeddedPostgres) -> Iterator[psycopg.Connection]:
    """A submitter."""
    with connect(postgres, "sam") as db:
        yield db


def connect(postgres: EmbeddedPostgres, user: str) -> psycopg.Connection:
    return psycopg.connect(conninfo.make_conninfo(postgres.url(user), password=user), autocommit=True)


BIG = "CREATE VIEW reports.big AS SELECT page, n * 2 AS twice FROM counts WHERE n > 1"
