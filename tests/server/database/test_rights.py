"""What users of the server's own PostgreSQL may not do, and how their sessions are limited."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import conninfo

from penstock.server.client_limits import Limits
from penstock.server.database.embedded import DATABASE, ENGINE, OWNER, SUPERUSER, EmbeddedPostgres
from penstock.server.database.warden import UserSession, Warden
from tests.server.database.reports import run_postgres

USERS = {"rita": "penstock_reader", "sam": "penstock_submitter", "olga": "penstock_owner"}


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedPostgres]:
    with run_postgres(tmp_path_factory.mktemp("rights"), USERS) as made:
        with psycopg.connect(made.login(ENGINE), autocommit=True) as db:
            db.execute("INSERT INTO public.counts SELECT 'p' || n, n FROM generate_series(1, 1000) AS n")
        yield made


def connect(postgres: EmbeddedPostgres, user: str, database: str = DATABASE) -> psycopg.Connection:
    place = conninfo.make_conninfo(postgres.url(user), password=user, dbname=database)
    return psycopg.connect(place, autocommit=True)


REFUSED = [
    "SELECT lo_from_bytea(0, 'x')",
    "SELECT lo_create(0)",
    "SELECT lo_creat(-1)",
    "SELECT lo_put(1, 0, 'x')",
    "SELECT lowrite(1, 'x')",
    "SELECT lo_import('/etc/passwd')",
    "SELECT lo_export(1, '/tmp/x')",
    "CREATE TEMPORARY TABLE x (a int)",
    "CREATE TEMP TABLE x AS SELECT * FROM generate_series(1, 10)",
    "SELECT * INTO TEMP x FROM counts",
    "CREATE TEMP VIEW v AS SELECT 1",
    "CREATE TEMP SEQUENCE s",
    "CREATE TABLE public.x (a int)",
    "CREATE TABLE x AS SELECT 1",
    "CREATE UNLOGGED TABLE x (a int)",
    "CREATE SCHEMA mine",
    "CREATE MATERIALIZED VIEW m AS SELECT 1",
    "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "CREATE FUNCTION pg_temp.f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "DO $$ BEGIN PERFORM 1; END $$",
    "CREATE DATABASE d",
    "CREATE TABLESPACE t LOCATION '/tmp'",
    "CREATE PUBLICATION p",
    "SELECT pg_advisory_lock(1)",
    "SELECT pg_advisory_xact_lock(1)",
    "SELECT pg_advisory_lock_shared(1, 2)",
    "SELECT pg_try_advisory_lock(n) FROM generate_series(1, 100000) AS n",
    "SELECT pg_try_advisory_xact_lock_shared(1)",
    "SELECT pg_logical_emit_message(false, 'x', repeat('x', 1000000))",
    "SELECT pg_create_logical_replication_slot('s', 'test_decoding')",
    "SELECT pg_create_physical_replication_slot('s', true)",
    "SELECT pg_export_snapshot()",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT pg_ls_dir('/')",
    "COPY (SELECT 1) TO '/tmp/x'",
    "COPY (SELECT 1) TO PROGRAM 'cat'",
    "SET temp_file_limit = -1",
    "SET log_statement = 'all'",
    "SET log_min_messages = 'debug5'",
    "SET session_preload_libraries = 'x'",
    "ALTER SYSTEM SET work_mem = '1TB'",
    "SELECT pg_reload_conf()",
    "SELECT pg_switch_wal()",
    "CHECKPOINT",
    "BEGIN; LOCK TABLE counts IN EXCLUSIVE MODE",
    "SELECT * FROM counts FOR UPDATE",
    "SELECT * FROM counts FOR KEY SHARE",
    "TRUNCATE counts",
    "COMMENT ON TABLE counts IS 'x'",
    "INSERT INTO penstock.listener VALUES ('counts', now())",
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'penstock_engine'",
    "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE usename = 'postgres'",
]


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("text", REFUSED)
def test_what_users_may_not_do(postgres: EmbeddedPostgres, user: str, text: str) -> None:
    with (
        psycopg.connect(postgres.login(ENGINE)),
        connect(postgres, user) as db,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        db.execute(text)


@pytest.mark.parametrize("database", ["postgres", "template1"])
def test_other_databases_are_closed(postgres: EmbeddedPostgres, database: str) -> None:
    with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
        connect(postgres, "rita", database)


def test_temporary_files_have_a_limit(postgres: EmbeddedPostgres) -> None:
    with connect(postgres, "rita") as db, pytest.raises(psycopg.errors.ConfigurationLimitExceeded):
        db.execute(
            "SELECT count(*) FROM (SELECT g, repeat('x', 500) FROM generate_series(1, 2000000) AS g ORDER BY 2, 1)"
        )


def test_the_memory_of_a_session_has_a_limit(postgres: EmbeddedPostgres) -> None:
    """And others go on."""
    with connect(postgres, "rita") as db:
        db.execute("SET work_mem = '100GB'")
        db.execute("SET enable_sort = off")
        with pytest.raises(psycopg.errors.OutOfMemory):
            db.execute("SELECT count(*) FROM (SELECT array_agg(g) FROM generate_series(1, 40000000) AS g GROUP BY g)")
        assert db.execute("SELECT 1").fetchone() == (1,)


def test_users_write_no_log(postgres: EmbeddedPostgres) -> None:
    log = Path(postgres.socket) / "log"
    before = log.stat().st_size
    with connect(postgres, "rita") as db:
        db.execute("SET debug_print_plan = on")
        db.execute("SET debug_print_parse = on")
        db.execute("SELECT * FROM counts")
        with pytest.raises(psycopg.errors.SyntaxError):
            db.execute("SELEC " + "x" * 100_000)
    assert log.stat().st_size - before < 1000


def watch(postgres: EmbeddedPostgres, seconds: float, **limits: float) -> None:
    """Lets a warden look for so long."""
    warden = Warden(
        postgres.login(SUPERUSER),
        (ENGINE, OWNER, SUPERUSER),
        Limits(**limits),  # type: ignore[arg-type]
        is_embedded=True,
    )

    async def run() -> None:
        try:
            await asyncio.wait_for(warden.run(), seconds)
        except TimeoutError:
            return

    asyncio.run(run())


def is_alive(db: psycopg.Connection) -> bool:
    try:
        db.execute("SELECT 1")
    except psycopg.OperationalError:
        return False
    return True


def test_who_holds_up_the_server_is_ended(postgres: EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch) -> None:
    """But no owner."""
    monkeypatch.setattr("penstock.server.database.warden.PATIENCE_SECONDS", 1)
    for user, survives in (("rita", False), ("olga", True)):
        with (
            connect(postgres, user) as holder,
            connect(postgres, "sam") as other,
            psycopg.connect(postgres.login(ENGINE), autocommit=True) as engine,
        ):
            holder.execute("BEGIN")
            holder.execute("SELECT * FROM counts")
            other.execute("BEGIN")
            engine.execute("SET lock_timeout = '6s'")
            engine.pgconn.send_query(b"ALTER TABLE counts ALTER n SET NOT NULL")
            watch(postgres, 3.5)
            assert is_alive(holder) == survives
            engine.pgconn.finish()
            assert is_alive(other)


def test_long_transactions_are_ended(postgres: EmbeddedPostgres) -> None:
    with connect(postgres, "rita") as idle, connect(postgres, "rita") as late, connect(postgres, "olga") as owner:
        for each in (idle, owner):
            each.execute("SET idle_in_transaction_session_timeout = 0")
            each.execute("BEGIN")
            each.execute("SELECT * FROM counts")
        time.sleep(1.2)
        late.execute("BEGIN")
        late.execute("SELECT 1")
        watch(postgres, 0.9, transaction_seconds=1)
        assert not is_alive(idle)
        assert is_alive(owner)


def test_statements_that_never_end_are_ended(postgres: EmbeddedPostgres) -> None:
    with connect(postgres, "rita") as db:
        db.execute("SET statement_timeout = 0")
        db.pgconn.send_query(b"SELECT pg_sleep(3600)")
        watch(postgres, 3, transaction_seconds=1)
        db.pgconn.consume_input()
        while db.pgconn.is_busy():
            db.pgconn.consume_input()
        result = db.pgconn.get_result()
        assert result is not None
        assert b"terminating connection" in result.error_message
        db.pgconn.finish()


def test_files_of_a_role_have_a_limit_in_all(postgres: EmbeddedPostgres) -> None:
    kept = "DECLARE c CURSOR WITH HOLD FOR SELECT repeat('x', 1000) FROM generate_series(1, 40000)"
    with connect(postgres, "rita") as first, connect(postgres, "rita") as second, connect(postgres, "sam") as other:
        for each in (first, second, other):
            each.execute(kept)
        watch(postgres, 2, temporary_bytes=60_000_000)
        assert [is_alive(first), is_alive(second)].count(True) == 1
        assert is_alive(other)


def test_who_fills_the_queue_of_notices_is_ended() -> None:
    warden = Warden("", (), Limits(), is_embedded=True)
    sessions = {
        1: UserSession(1, "rita", 100.0, False),
        2: UserSession(2, "rita", None, True),
        3: UserSession(3, "sam", None, False),
        4: UserSession(4, "sam", 0.1, None),
    }
    assert [pid for pid, _ in warden.judge(sessions, set(), {}, 0.05)] == []
    assert [pid for pid, _ in warden.judge(sessions, set(), {}, 0.2)] == [1, 2]


def test_a_login_without_rights_says_so_once(postgres: EmbeddedPostgres, caplog: pytest.LogCaptureFixture) -> None:
    place = conninfo.make_conninfo(postgres.url("rita"), password="rita")

    async def look() -> None:
        warden = Warden(place, ("rita",), Limits(), is_embedded=False)
        async with await psycopg.AsyncConnection.connect(place, autocommit=True) as db:
            await warden.look(db)
            await warden.look(db)

    asyncio.run(look())
    assert [each.message for each in caplog.records] == [
        "sessions of users are not limited as they could be: permission denied for function pg_ls_tmpdir"
    ]
