"""Tokens that the operator makes, lists and revokes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from click.testing import CliRunner, Result

from penstock.commands.cli import main
from penstock.server.client_limits import Limits
from penstock.server.database.bootstrap import add_token, prepare_catalog
from penstock.server.database.embedded import ENGINE, OWNER, SUPERUSER, EmbeddedPostgres
from penstock.server.engine_protocol import RefusedError, StatementAnswer
from penstock.server.http.answer_room import AnswerRoom
from penstock.server.http.door_catalog import Caller, DoorCatalog
from penstock.server.http.read_statements import ReadStatements
from penstock.server.http.role_sessions import RoleSessions
from penstock.server.http.security import digest_token


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedPostgres]:
    state: Path = tmp_path_factory.mktemp("tokens")
    state.chmod(0o755)  # it has a user of its own
    made = EmbeddedPostgres(state)
    made.start()
    with psycopg.connect(made.login(ENGINE), autocommit=True) as db:
        prepare_catalog(db, OWNER)
        add_token(db, "pst_operator", OWNER, "operator")
    yield made
    made.stop()


@pytest.fixture
def state(postgres: EmbeddedPostgres) -> Path:
    return postgres.passwords.folder.parent


def token(state: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["token", arguments[0], "--state", str(state), *arguments[1:]])


def find_caller(postgres: EmbeddedPostgres, text: str) -> Caller | None:
    """Whose token it is to the door, which then reads as this role."""

    async def find() -> Caller | None:
        catalog = DoorCatalog(postgres.login(OWNER))
        await catalog.open()
        try:
            caller = await catalog.find_caller(digest_token(text))
            if caller is not None:
                await catalog.list_queries(caller.role)
            return caller
        finally:
            await catalog.close()

    return asyncio.run(find())


def read(postgres: EmbeddedPostgres, role: str, text: str) -> StatementAnswer:
    """What the door answers a SELECT of a role."""

    async def ask() -> StatementAnswer:
        limits = Limits()
        catalog = DoorCatalog(postgres.login(OWNER))
        await catalog.open()
        try:
            reads = ReadStatements(RoleSessions(postgres.login(OWNER), limits), catalog, limits)
            return await reads.run(role, text, AnswerRoom(limits.answer_rows, limits.select_bytes))
        finally:
            await catalog.close()

    return asyncio.run(ask())


def test_who_has_a_token_reads_with_the_rights_of_the_user(postgres: EmbeddedPostgres, state: Path) -> None:
    assert token(state, "create", "--user", "Rea D'Er", "--role", "reader").exit_code == 0
    me = "SELECT current_user, pg_has_role(session_user, 'penstock_submitter', 'MEMBER')"
    for _ in range(2):  # each door begins anew
        assert read(postgres, "Rea D'Er", me).rows == (("Rea D'Er", "f"),)
    assert read(postgres, OWNER, me).rows == ((OWNER, "t"),)
    tokens = "SELECT count(*) > 0 FROM penstock.token"
    assert read(postgres, OWNER, tokens).rows == (("t",),)
    with pytest.raises(RefusedError, match="permission denied for table token"):
        read(postgres, "Rea D'Er", tokens)
    escape = f"SELECT set_config('role', '{OWNER}', false), query_to_xml('{tokens}', true, false, '')"
    with pytest.raises(RefusedError, match="permission denied"):
        read(postgres, "Rea D'Er", escape)
    with pytest.raises(RefusedError, match="read-only transaction"):
        read(postgres, OWNER, "WITH gone AS (DELETE FROM penstock.token RETURNING *) SELECT * FROM gone")


def test_a_token_is_made_listed_and_revoked(postgres: EmbeddedPostgres, state: Path) -> None:
    made = token(state, "create", "--user", "Ada L", "--role", "submitter", "--label", "laptop")
    text = made.stdout.strip()
    assert (made.exit_code, text[:4], len(text)) == (0, "pst_", 47)
    assert made.stderr == "the token of Ada L, shown once; the server keeps its SHA-256\n"
    caller = find_caller(postgres, text)
    assert caller is not None
    assert (caller.role, caller.label, caller.submits, caller.owns) == ("Ada L", "laptop", True, False)
    listed = token(state, "list")
    assert text not in listed.stdout
    heading, *lines = listed.stdout.splitlines()
    assert heading.split() == ["id", "user", "role", "created", "label"]
    (mine,) = [line for line in lines if "Ada L" in line]
    assert mine.split()[1:4] == ["Ada", "L", "submitter"]
    assert mine.endswith("laptop")
    revoked = token(state, "revoke", mine.split()[0])
    assert (revoked.exit_code, revoked.stderr) == (0, "revoked 1 token\n")
    assert find_caller(postgres, text) is None
    assert token(state, "revoke", mine.split()[0]).exit_code == 1


def test_all_tokens_of_a_user_are_revoked(postgres: EmbeddedPostgres, state: Path) -> None:
    texts = [token(state, "create", "--user", "rita").stdout.strip() for _ in range(2)]
    assert len({*texts}) == 2
    assert [caller.submits for text in texts if (caller := find_caller(postgres, text))] == [False, False]
    assert token(state, "revoke", "--user", "rita").stderr == "revoked 2 tokens\n"
    assert [find_caller(postgres, text) for text in texts] == [None, None]
    assert "rita has no token" in token(state, "revoke", "--user", "rita").stderr


def test_a_user_who_is_there_gets_the_right(postgres: EmbeddedPostgres, state: Path) -> None:
    with psycopg.connect(postgres.login(OWNER), autocommit=True) as db:
        db.execute("CREATE ROLE sam LOGIN IN ROLE penstock_submitter")
        db.execute("CREATE ROLE team NOLOGIN")
    more = token(state, "create", "--user", "sam")
    told = "error: sam is there, with the role submitter; add --role submitter, or take another name\n"
    assert (more.exit_code, more.stderr) == (1, told)
    assert token(state, "create", "--user", "sam", "--role", "submitter").exit_code == 0
    assert "submitter" in next(line for line in token(state, "list").stdout.splitlines() if " sam " in line)
    refused = token(state, "create", "--user", "team")
    assert (refused.exit_code, refused.stderr) == (1, "error: team is a role that may not log in\n")


@pytest.mark.parametrize("user", ["postgres", "penstock_engine", "penstock_owner", "pg_monitor"])
def test_roles_of_the_server_get_no_token(state: Path, user: str) -> None:
    refused = token(state, "create", "--user", user)
    assert (refused.exit_code, "take another name" in refused.stderr) == (1, True)


def test_a_superuser_gets_no_token(postgres: EmbeddedPostgres, state: Path) -> None:
    with psycopg.connect(postgres.login(SUPERUSER), autocommit=True) as db:
        db.execute("CREATE ROLE chief LOGIN SUPERUSER")
    refused = token(state, "create", "--user", "chief")
    assert (refused.exit_code, "superuser" in refused.stderr) == (1, True)


@pytest.mark.parametrize("user", ["", "é" * 32, "\udcff", "a\0b"])
def test_what_is_no_name_of_a_role_is_refused(state: Path, user: str) -> None:
    refused = token(state, "create", "--user", user)
    assert (refused.exit_code, "name of" in refused.stderr) == (1, True)


def test_a_name_is_no_sql(postgres: EmbeddedPostgres, state: Path) -> None:
    name = 'x"; DROP TABLE penstock.token; --'
    assert token(state, "create", "--user", name).exit_code == 0
    assert name in token(state, "list").stdout
    assert token(state, "revoke", "x' OR '1'='1").exit_code == 1
    assert find_caller(postgres, "pst_operator") is not None


def test_a_user_who_may_not_log_in_is_told(postgres: EmbeddedPostgres, state: Path) -> None:
    text = token(state, "create", "--user", "gone").stdout.strip()
    with psycopg.connect(postgres.login(OWNER), autocommit=True) as db:
        db.execute("ALTER ROLE gone NOLOGIN")
    assert find_caller(postgres, text) is None
    assert "may not log in" in next(line for line in token(state, "list").stdout.splitlines() if " gone " in line)


def test_a_server_that_does_not_run_is_told(tmp_path: Path) -> None:
    refused = token(tmp_path, "list")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert f"no server runs over the folder {tmp_path}" in refused.stderr
    for url in ("postgresql://penstock@127.0.0.1:9/x", "postgresql://u:p@127.0.0.1/x", "nonsense"):
        assert token(tmp_path, "list", "--database", url).exit_code == 1
    assert token(tmp_path, "revoke").exit_code == 2
