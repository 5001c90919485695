"""Locks that users can take, and whom they hold up."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import psycopg
import pytest

from penstock.server.database.bootstrap import add_token, name_holders, prepare_catalog
from penstock.server.running.live_script import LiveScript
from penstock.server.running.public_tables import complete_table, hide_relation, shown_query
from penstock.server.running.sqlstates import refusal_of
from tests.databases.conftest import server as server  # the embedded PostgreSQL
from tests.server.running.scripts import HOME, declare_clicks, tell

COUNTS = "CREATE TABLE counts AS SELECT page, COUNT(*) AS n FROM clicks GROUP BY page"
Login = Callable[[str], psycopg.Connection]


@pytest.fixture
def login(server: str) -> Iterator[Login]:
    """Connects to a new database that has the table counts, as a role."""
    name = f"locks_{time.monotonic_ns()}"
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}")
    url = server.replace("/postgres?", f"/{name}?")
    opened: list[psycopg.Connection] = []

    def connect(role: str) -> psycopg.Connection:
        opened.append(psycopg.connect(url.replace("postgres@", f"{role}@"), autocommit=True))
        return opened[-1]

    db = connect("postgres")
    prepare_catalog(db, "postgres")
    for role, group in (("rita", "penstock_reader"), ("olga", "penstock_owner")):
        if db.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone() is None:
            db.execute(f"CREATE ROLE {role} LOGIN")
        db.execute(f"GRANT {group} TO {role}")
    db.execute("CREATE TABLE public.counts (page text PRIMARY KEY, n bigint)")
    script = LiveScript(HOME)
    tell(script, declare_clicks())
    query = shown_query(tell(script, COUNTS))
    assert query is not None
    complete_table(db, "counts", query)
    yield connect
    for each in opened:
        each.close()


@pytest.mark.parametrize(
    "lock",
    [
        "SELECT pg_advisory_lock(hashtext('counts'))",
        "SELECT pg_advisory_xact_lock(hashtext('counts'))",
        "SELECT pg_advisory_lock_shared(hashtext('counts'))",
        "SELECT pg_advisory_lock(hashtext('counts')::bigint + n) FROM generate_series(-500, 500) AS n",
        "LOCK TABLE public.counts IN ACCESS SHARE MODE",
        "LOCK TABLE penstock.query, penstock.relation, penstock.engine IN ACCESS SHARE MODE",
        "DECLARE c CURSOR FOR SELECT * FROM public.counts",
        "DECLARE c CURSOR WITH HOLD FOR SELECT * FROM public.counts",
        "LISTEN penstock_change",
        "SELECT pg_export_snapshot() FROM public.counts",
    ],
)
@pytest.mark.parametrize("role", ["rita", "olga"])
def test_a_writer_does_not_wait_for_what_users_may_lock(login: Login, role: str, lock: str) -> None:
    """Changes are noted, as somebody follows the table."""
    with login("postgres") as writer, login(role) as holder:
        writer.execute("INSERT INTO penstock.listener VALUES ('counts', now() + interval '1 hour')")
        writer.execute("SET lock_timeout = '2s'")
        holder.execute("BEGIN")
        holder.execute(lock)
        writer.execute("INSERT INTO public.counts VALUES ('a', 1)")
        writer.execute("UPDATE public.counts SET n = 2")
        assert writer.execute("SELECT op FROM penstock.change ORDER BY seq").fetchall() == [("insert",), ("update",)]


@pytest.mark.parametrize("role", ["rita", "olga"])
@pytest.mark.parametrize(
    "lock",
    [
        "LOCK TABLE penstock.statement IN EXCLUSIVE MODE",
        "LOCK TABLE penstock.listener IN ROW EXCLUSIVE MODE",
        "SELECT * FROM penstock.statement FOR UPDATE",
        "SELECT * FROM penstock.listener FOR SHARE",
        "SELECT * FROM penstock.change_order FOR UPDATE",
        "LOCK TABLE public.counts IN SHARE MODE",
        "SELECT * FROM public.counts FOR UPDATE",
    ],
)
def test_what_the_server_writes_is_locked_by_no_user(login: Login, role: str, lock: str) -> None:
    with login(role) as holder:
        holder.execute("BEGIN")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            holder.execute(lock)


def test_changes_of_two_writers_have_numbers_in_the_order_of_their_commits(login: Login) -> None:
    with login("postgres") as first, login("postgres") as second:
        first.execute("INSERT INTO penstock.listener VALUES ('counts', now() + interval '1 hour')")
        second.execute("SET lock_timeout = '300ms'")
        with first.transaction():
            first.execute("INSERT INTO public.counts VALUES ('a', 1)")
            with pytest.raises(psycopg.errors.LockNotAvailable):
                second.execute("INSERT INTO public.counts VALUES ('b', 1)")
        second.execute("INSERT INTO public.counts VALUES ('b', 1)")
        keys = first.execute("SELECT key ->> 'page' FROM penstock.change ORDER BY seq").fetchall()
        assert keys == [("a",), ("b",)]


def test_a_server_starts_beside_advisory_locks(login: Login) -> None:
    with login("rita") as holder, login("postgres") as db:
        holder.execute("SELECT pg_advisory_lock(7309453), pg_advisory_lock(n) FROM generate_series(0, 1000) AS n")
        db.execute("SET statement_timeout = '5s'")
        prepare_catalog(db, "postgres")


def test_who_keeps_a_server_from_starting_is_named(login: Login, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.server.database.bootstrap.ATTEMPTS", 1)
    with login("rita") as holder, login("postgres") as db:
        holder.execute("BEGIN")
        holder.execute("SELECT * FROM penstock.statements")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            prepare_catalog(db, "postgres")
        assert name_holders(db).startswith("rita holds AccessShareLock on penstock.statement")
        holder.execute("ROLLBACK")
        prepare_catalog(db, "postgres")
        add_token(db, "pst_x", "rita", "test")


def test_who_holds_up_a_drop_is_named(login: Login) -> None:
    script = LiveScript(HOME)
    tell(script, declare_clicks())
    definition = tell(script, COUNTS)
    with login("rita") as holder, login("postgres") as db:
        holder.execute("SET application_name = 'report'")
        holder.execute("BEGIN")
        holder.execute("SELECT * FROM public.counts")
        with pytest.raises(psycopg.errors.LockNotAvailable) as refused:
            hide_relation(db, definition, lambda: None)
        detail = refusal_of(refused.value).detail or ""
        assert detail.startswith("rita holds AccessShareLock on counts (session ")
        assert ", report, idle in tra" in detail
        with login("rita") as other:  # others read meanwhile
            assert other.execute("SELECT count(*) FROM public.counts").fetchone() == (0,)
        holder.execute("ROLLBACK")
        hide_relation(db, definition, lambda: None)
