"""Tables that take the places of others, in a real PostgreSQL."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import psycopg
import pytest

from penstock import codegen
from penstock.diagnostics import CompileError
from penstock.server.running.building_tables import check_buildable, drop_built, redirect_output, take_over
from penstock.server.running.live_script import LiveScript
from tests.databases.conftest import server as server  # the embedded PostgreSQL
from tests.server.running.engines import open_catalog
from tests.server.running.scripts import HOURS, tell

PAGES = "CREATE TABLE pages AS SELECT page, COUNT(*) AS n FROM clicks GROUP BY page"
LEDGER = (
    "CREATE TABLE {}.penstock_ledger (query text, sink text, batch bigint, digest text, epoch bigint NOT NULL, "
    "rows bigint NOT NULL, written_at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (query, sink, batch))"
)


@pytest.fixture
def db(server: str) -> Iterator[psycopg.Connection]:
    with open_catalog(server) as catalog:
        db = catalog.db
        for schema in ("public", "penstock_build"):
            db.execute(f"CREATE TABLE {schema}.pages (page text PRIMARY KEY, n bigint)")
            db.execute(f"CREATE TABLE {schema}.pages_rejected (reason text)")
            db.execute(LEDGER.format(schema))
            sink = f"{schema}.pages"
            db.execute(
                f"INSERT INTO {schema}.penstock_ledger (query, sink, batch, epoch, rows) VALUES (%s, %s, 7, 1, 2)",
                [schema, sink],
            )
        db.execute("INSERT INTO public.pages VALUES ('a', 1)")
        db.execute("INSERT INTO penstock_build.pages VALUES ('a', 1), ('b', 2)")
        yield db


def test_a_program_writes_where_no_reader_looks(script: LiveScript) -> None:
    made = tell(script, PAGES)
    program = codegen.lower(made.queries)
    hidden = redirect_output(program, made)
    assert dict(hidden.queries[-1].output.options)["table"] == "penstock_build.pages"
    assert [each.fingerprint for each in hidden.queries] == [each.fingerprint for each in program.queries]
    clicks = script.definitions[1]
    tail = redirect_output(codegen.lower(clicks.queries), clicks)
    assert dict(tail.queries[-1].output.options)["table"] == "penstock_build.clicks"


def test_a_table_takes_over_with_its_rights_and_its_ledger(script: LiveScript, db: psycopg.Connection) -> None:
    pages = tell(script, PAGES)
    db.execute('DROP ROLE IF EXISTS "Guest-1"')
    db.execute('CREATE ROLE "Guest-1"')
    db.execute('GRANT SELECT ON public.pages TO "Guest-1" WITH GRANT OPTION')
    db.execute("GRANT SELECT ON public.pages TO PUBLIC")
    db.execute("INSERT INTO penstock.listener VALUES ('pages', now() + interval '1 hour')")
    db.execute("UPDATE public.pages SET n = 2")
    db.execute("LISTEN penstock_replaced")
    done, seen = threading.Event(), set()

    def read() -> None:
        with psycopg.connect(db.info.dsn, autocommit=True) as reader:
            while not done.is_set():
                seen.add(reader.execute("SELECT count(*) FROM pages", prepare=True).fetchone())

    reader = threading.Thread(target=read)
    reader.start()
    time.sleep(0.2)
    with db.transaction():
        take_over(db, pages, pages)
    time.sleep(0.2)
    done.set()
    reader.join()
    assert seen == {(1,), (2,)}, "the old rows or the new ones, and nothing else"
    acl = "SELECT has_table_privilege('Guest-1', 'pages', 'SELECT WITH GRANT OPTION'), relacl::text LIKE '%%,=r/%%' "
    assert db.execute(f"{acl} FROM pg_class WHERE oid = 'pages'::regclass").fetchone() == (True, True)
    rejected = "SELECT has_table_privilege('penstock_reader', 'pages_rejected', 'SELECT')"
    assert db.execute(rejected).fetchone() == (True,)
    ledger = "SELECT query, sink, batch FROM public.penstock_ledger"
    assert db.execute(ledger).fetchall() == [("penstock_build", "public.pages", 7)]
    assert db.execute("SELECT * FROM penstock_build.penstock_ledger").fetchall() == []
    triggers = "SELECT count(*) FROM pg_trigger WHERE tgrelid = 'pages'::regclass"
    assert db.execute(triggers).fetchone() == (3,)
    assert db.execute("SELECT * FROM penstock.change").fetchall() == [], "changes of the old table are gone"
    assert db.execute("SELECT * FROM penstock.listener").fetchall() == []
    assert [each.payload for each in db.notifies(timeout=5, stop_after=1)] == ["pages"]


def test_changes_are_not_noted_while_a_table_is_built(db: psycopg.Connection) -> None:
    db.execute("INSERT INTO penstock.listener VALUES ('pages', now() + interval '1 hour')")
    db.execute("INSERT INTO penstock_build.pages VALUES ('c', 3)")
    assert db.execute("SELECT * FROM penstock.change").fetchall() == []


def test_what_was_built_can_be_given_up(script: LiveScript, db: psycopg.Connection) -> None:
    drop_built(db, [tell(script, PAGES)])
    left = db.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'penstock_build'").fetchone()
    assert left == (1,)
    assert db.execute("SELECT * FROM penstock_build.penstock_ledger").fetchall() == []
    assert db.execute("SELECT count(*) FROM public.pages").fetchone() == (1,)


@pytest.mark.parametrize(
    "text",
    [
        "CREATE STREAM away WITH (connector = 'files', path = '/a', format = 'json') AS SELECT STREAM id FROM clicks",
        "INSERT INTO p SELECT STREAM id FROM clicks",
    ],
)
def test_what_goes_elsewhere_is_refused(script: LiveScript, db: psycopg.Connection, text: str) -> None:
    tell(script, "CREATE TABLE p (id BIGINT PRIMARY KEY) WITH (connector = 'sqlite', path = '/p.db', table = 'p')")
    made = tell(script, text)
    with pytest.raises(CompileError, match=r"V019: .* a place outside of the server") as refused:
        check_buildable(db, made, None)
    assert "DROP" in (refused.value.diagnostics[0].hint or "")


def test_what_views_of_postgresql_read_is_refused(script: LiveScript, db: psycopg.Connection) -> None:
    hours, pages = tell(script, HOURS), tell(script, PAGES)
    check_buildable(db, pages, pages)
    db.execute("CREATE SCHEMA own")
    db.execute("CREATE VIEW own.few AS SELECT n FROM pages")
    with pytest.raises(CompileError, match=r"views of PostgreSQL read it: own\.few"):
        check_buildable(db, pages, pages)
    check_buildable(db, hours, hours)


@pytest.mark.parametrize(
    ("limit", "reason"),
    [
        ("ALTER TABLE pages ENABLE ROW LEVEL SECURITY", "row-level security"),
        ("CREATE POLICY own ON pages USING (n > 1)", "row-level security"),
        ("GRANT SELECT (page) ON pages TO penstock_reader", "rights on columns"),
    ],
)
def test_readers_never_see_more_than_before(
    script: LiveScript, db: psycopg.Connection, limit: str, reason: str
) -> None:
    pages = tell(script, PAGES)
    check_buildable(db, pages, pages)
    db.execute(limit.encode())
    with pytest.raises(CompileError, match=f"V019: .* it has {reason}"):
        check_buildable(db, pages, pages)
    with pytest.raises(psycopg.errors.DependentObjectsStillExist, match=reason), db.transaction():
        take_over(db, pages, pages)
    assert db.execute("SELECT count(*) FROM penstock_build.pages").fetchone() == (2,), "all is as it was"
