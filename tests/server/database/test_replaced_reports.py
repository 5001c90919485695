"""Views of the schema `reports` whose tables are replaced or dropped."""

from __future__ import annotations

from dataclasses import replace

import psycopg
import pytest

from penstock.diagnostics import CompileError, Source
from penstock.parser import list_statements
from penstock.server.database.embedded import ENGINE, EmbeddedPostgres
from penstock.server.planning.statement_planner import describe_planned
from penstock.server.running.building_tables import check_buildable
from penstock.server.running.live_script import LiveScript
from penstock.server.running.public_tables import hide_relation, list_relations
from penstock.server.running.reading_views import check_unread
from penstock.server.running.store import Store
from penstock.server.running.swaps import Member, Replacement, swap_tables
from tests.server.database.reports import admin as admin
from tests.server.database.reports import clear as clear
from tests.server.database.reports import connect
from tests.server.database.reports import postgres as postgres
from tests.server.database.reports import sam as sam
from tests.server.running.scripts import HOME, declare_clicks, tell

LEDGER = (
    "CREATE TABLE penstock_build.penstock_ledger (query text, sink text, batch bigint, digest text, "
    "epoch bigint NOT NULL, rows bigint NOT NULL, written_at timestamptz NOT NULL DEFAULT now(), "
    "PRIMARY KEY (query, sink, batch))"
)


DEEP = ["1" + " + 1" * 4900, "abs(" * 3300 + "n" + ")" * 3300, "(SELECT " * 1100 + "n" + ")" * 1100]


@pytest.mark.parametrize("text", ['page AS "x :relid 1247 :funcid 1598"', "':funcid 1598 :relid 1247' AS a", *DEEP])
def test_a_swap_makes_each_view_again_that_it_takes(
    postgres: EmbeddedPostgres, sam: psycopg.Connection, text: str
) -> None:
    """Also one whose query is nested so deeply that PostgreSQL almost refuses it."""
    try:
        sam.execute(f"CREATE VIEW reports.x AS SELECT {text} FROM counts")
    except psycopg.errors.StatementTooComplex:
        assert text in DEEP
        return
    with psycopg.connect(postgres.login(ENGINE), autocommit=True) as engine, engine.transaction():
        engine.execute("SELECT penstock_guard.put_aside(ARRAY['public.counts'], true)")
        engine.execute("SELECT penstock_guard.put_back()")
    assert sam.execute("SELECT viewowner FROM pg_views WHERE viewname = 'x'").fetchall() == [("sam",)]


def test_views_follow_a_table_that_is_replaced(postgres: EmbeddedPostgres) -> None:
    with connect(postgres, "sam") as sam, psycopg.connect(postgres.login(ENGINE), autocommit=True) as engine:
        sam.execute("CREATE VIEW reports.big WITH (security_barrier) AS SELECT page, n FROM counts WHERE page ~ '^a$'")
        sam.execute("COMMENT ON VIEW reports.big IS 'it''s %s'")
        sam.execute("COMMENT ON COLUMN reports.big.n IS 'a \"number\"'")
        sam.execute("REVOKE SELECT ON reports.big FROM penstock_reader")
        sam.execute("GRANT SELECT (page) ON reports.big TO rita")
        sam.execute("GRANT SELECT ON reports.big TO sue WITH GRANT OPTION")
        shown = (
            "SELECT relowner::regrole::text, reloptions, relacl::text, obj_description(oid), col_description(oid, 2), "
            "(SELECT attacl::text FROM pg_attribute WHERE attrelid = pg_class.oid AND attname = 'page') "
            "FROM pg_class WHERE oid = 'reports.big'::regclass"
        )
        before = sam.execute(shown).fetchone()
        with engine.transaction():
            engine.execute("SELECT penstock_guard.put_aside(ARRAY['public.counts', 'public.nothing'], true)")
            engine.execute("ALTER TABLE counts RENAME TO old")
            engine.execute("CREATE TABLE counts (n integer, extra text, page varchar)")
            engine.execute("INSERT INTO counts VALUES (7, 'x', 'a')")
            engine.execute("SELECT penstock_guard.put_back()")
            engine.execute("ALTER TABLE counts RENAME TO new")
            engine.execute("ALTER TABLE new RENAME TO counts")
        after = sam.execute(shown).fetchone()
        assert before is not None
        assert after is not None
        assert set(after[1]) == set(before[1]) == {"security_barrier=true", "security_invoker=true"}
        assert (after[0], *after[3:]) == (before[0], *before[3:])
        assert after[3:] == ("it's %s", 'a "number"', "{rita=r/sam}")
        assert sorted(after[2].strip("{}").split(",")) == sorted(before[2].strip("{}").split(","))
        assert sam.execute("SELECT * FROM reports.big").fetchall() == [("a", 7)]
        engine.execute("BEGIN")
        engine.execute("SELECT penstock_guard.put_aside(ARRAY['public.counts'], true)")
        engine.execute("ALTER TABLE counts DROP COLUMN n")
        with pytest.raises(psycopg.errors.DependentObjectsStillExist, match=r"reports\.big of sam does not fit"):
            engine.execute("SELECT penstock_guard.put_back()")
        engine.execute("ROLLBACK")
        assert sam.execute("SELECT * FROM reports.big").fetchall() == [("a", 7)]
        with engine.transaction():
            engine.execute("SELECT penstock_guard.put_aside(ARRAY['public.counts'], true)")
            engine.execute("DROP TABLE counts")
            engine.execute("ALTER TABLE old RENAME TO counts")
            engine.execute("SELECT penstock_guard.put_back()")


def test_what_a_view_reads_is_not_dropped_by_accident(postgres: EmbeddedPostgres) -> None:
    script = LiveScript(HOME)
    tell(script, declare_clicks())
    made = tell(script, "CREATE TABLE sums AS SELECT page, COUNT(*) AS n FROM clicks GROUP BY page")
    fewer = tell(script, "CREATE OR REPLACE TABLE sums AS SELECT page, COUNT(*) AS m FROM clicks GROUP BY page")
    with connect(postgres, "sam") as sam, psycopg.connect(postgres.login(ENGINE), autocommit=True) as engine:
        engine.execute("CREATE TABLE public.sums (page text PRIMARY KEY, n bigint)")
        engine.execute("CREATE TABLE public.sums_rejected (reason text)")
        check_unread(engine, list_relations(made))
        sam.execute("CREATE VIEW reports.bad AS SELECT reason FROM sums_rejected")
        with pytest.raises(CompileError, match=r"reports\.bad of sam"):
            check_unread(engine, list_relations(made))
        sam.execute('DROP VIEW reports.bad; CREATE VIEW reports."My ""sums" AS SELECT n FROM sums')
        with pytest.raises(CompileError) as refused:
            check_unread(engine, list_relations(made))
        (found,) = refused.value.diagnostics
        assert found.code == "V021"
        assert found.message == 'sums is read by views of PostgreSQL: reports."My ""sums" of sam'
        assert found.hint == 'DROP VIEW reports."My ""sums"'
        check_buildable(engine, made, made)
        with pytest.raises(CompileError, match="columns that the new one does not have") as refused:
            check_buildable(engine, fewer, made)
        assert refused.value.diagnostics[0].code == "V019"
        # What was made after the check goes with the table: it holds up nobody.
        sam.execute("CREATE VIEW reports.bad AS SELECT reason FROM sums_rejected")
        hide_relation(engine, made, lambda: None)
        left = "SELECT count(*) FROM pg_class WHERE relname IN ('sums', 'sums_rejected', 'bad', 'My \"sums')"
        assert engine.execute(left).fetchone() == (0,)


def test_a_swap_makes_the_views_again(postgres: EmbeddedPostgres, sam: psycopg.Connection) -> None:
    """As the engine swaps: with its role, in one transaction."""
    script = LiveScript(HOME)
    tell(script, declare_clicks())
    old = tell(script, "CREATE TABLE heads AS SELECT page, COUNT(*) AS n FROM clicks GROUP BY page")
    text = "CREATE OR REPLACE TABLE heads AS SELECT page, COUNT(*) AS n, MAX(id) AS top FROM clicks GROUP BY page"
    source = Source("statement", text)
    [(statement, _)] = list_statements(source)
    planned = script.plan(statement, source, 9, "ada", frozenset())
    made = describe_planned("CREATE TABLE", planned)
    change = Replacement([Member(made, old, "", None)])
    with psycopg.connect(postgres.login(ENGINE), autocommit=True) as engine:
        store = Store(engine)
        before = describe_planned("CREATE TABLE", replace(planned, definition=old))
        store.keep(old, "", before.columns, before.graph, 1)
        engine.execute("CREATE TABLE public.heads (page text PRIMARY KEY, n bigint)")
        engine.execute("CREATE TABLE penstock_build.heads (page text PRIMARY KEY, n bigint, top bigint)")
        engine.execute(LEDGER)
        engine.execute("INSERT INTO penstock_build.heads VALUES ('a', 5, 6)")
        sam.execute("CREATE VIEW reports.pages AS SELECT page, n FROM heads")
        sam.execute(
            "CREATE VIEW reports.both AS SELECT page, h.n AS heads, c.n FROM heads h JOIN counts c USING (page)"
        )
        with connect(postgres, "rita") as rita, rita.transaction():
            rita.execute("SELECT * FROM counts")  # whose lock is no obstacle: another table of a view
            swap_tables(store, change, ())
        assert sam.execute("SELECT * FROM reports.pages").fetchall() == [("a", 5)]
        assert sam.execute("SELECT * FROM reports.both").fetchall() == [("a", 5, 1)]
        owners = "SELECT DISTINCT viewowner FROM pg_views WHERE schemaname = 'reports'"
        assert engine.execute(owners).fetchall() == [("sam",)]
        hide_relation(engine, planned.definition, lambda: None)
        assert sam.execute("SELECT to_regclass('reports.pages')").fetchone() == (None,)
