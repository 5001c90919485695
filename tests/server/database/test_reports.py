"""Views of users in the schema `reports` of the server's own PostgreSQL."""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from psycopg import conninfo

from penstock.diagnostics import CompileError, Source
from penstock.parser import list_statements
from penstock.server.database.bootstrap import prepare_catalog
from penstock.server.database.embedded import ENGINE, OWNER, SUPERUSER, EmbeddedPostgres
from penstock.server.planning.statement_planner import describe_planned
from penstock.server.running.building_tables import check_buildable
from penstock.server.running.live_script import LiveScript
from penstock.server.running.public_tables import hide_relation
from penstock.server.running.reading_views import check_unread
from penstock.server.running.store import Store
from penstock.server.running.swaps import Member, Replacement, swap_tables
from tests.house.files import ROOT
from tests.server.running.scripts import HOME, declare_clicks, tell

LEDGER = (
    "CREATE TABLE penstock_build.penstock_ledger (query text, sink text, batch bigint, digest text, "
    "epoch bigint NOT NULL, rows bigint NOT NULL, written_at timestamptz NOT NULL DEFAULT now(), "
    "PRIMARY KEY (query, sink, batch))"
)
USERS = {"rita": "penstock_reader", "sam": "penstock_submitter", "sue": "penstock_submitter", "olga": "penstock_owner"}


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedPostgres]:
    state: Path = tmp_path_factory.mktemp("reports")
    state.chmod(0o755)  # it has a user of its own
    made = EmbeddedPostgres(state)
    with mmap.mmap(-1, 8 << 30, flags=mmap.MAP_PRIVATE):  # limits do not depend on what the server itself has taken
        made.start()
    with psycopg.connect(made.login(ENGINE), autocommit=True) as db:
        prepare_catalog(db, OWNER)
        made.offer_reports()
        made.offer_reports()  # as each further start does
        prepare_catalog(db, OWNER)
        db.execute("CREATE TABLE public.counts (page text PRIMARY KEY, n bigint)")
        db.execute("INSERT INTO public.counts VALUES ('a', 1), ('b', 2)")
    with psycopg.connect(made.login(OWNER), autocommit=True) as db:
        for user, group in USERS.items():
            db.execute(f"CREATE ROLE {user} LOGIN PASSWORD '{user}' IN ROLE {group}")
    yield made
    made.stop()


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


@pytest.mark.parametrize("page", ["docs/serve.md", "docs/how-to/bi-tools.md"])
def test_the_examples_of_the_pages(postgres: EmbeddedPostgres, page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    [block] = [each for each in re.findall(r"```console\n(.*?)```", text, re.DOTALL) if "VIEW reports." in each]
    lines = [line.split("> ", 1)[1] for line in block.splitlines() if line.strip().startswith("penstock")]
    statements = "\n".join(lines).rstrip(";").split(";")
    with psycopg.connect(postgres.login(ENGINE), autocommit=True) as engine, connect(postgres, "sam") as sam:
        engine.execute(
            "CREATE TABLE hourly (product text, window_start timestamptz, orders bigint, total numeric(12, 2));"
            "GRANT SELECT ON hourly TO penstock_reader;"
            "INSERT INTO hourly VALUES ('pen', now(), 4, 2), ('lamp', now(), 2, 40), ('pen', now(), 2, 3)"
        )
        try:
            for statement in statements:
                sam.execute(statement.encode())
            [view] = re.findall(r"CREATE VIEW (reports\.\w+)", block)
            found = sam.execute(f"SELECT product, total FROM {view} ORDER BY total".encode()).fetchall()
            assert [(product, int(total)) for product, total in found] == [("pen", 5), ("lamp", 40)]
        finally:
            engine.execute("SELECT penstock_guard.put_aside(ARRAY['public.hourly'], false); DROP TABLE hourly")


def test_a_submitter_makes_a_view_that_readers_read(postgres: EmbeddedPostgres) -> None:
    with connect(postgres, "sam") as sam, connect(postgres, "rita") as rita, connect(postgres, "sue") as sue:
        sam.execute(BIG)
        assert rita.execute("SELECT * FROM reports.big").fetchall() == [("b", 4)]
        sam.execute(BIG.replace("CREATE", "CREATE OR REPLACE").replace("n > 1", "n < now()::date - date '2020-01-01'"))
        assert sue.execute("SELECT count(*), max(twice) FROM reports.big").fetchone() == (2, 4)
        for text in ("DROP VIEW reports.big", BIG.replace("CREATE", "CREATE OR REPLACE")):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                sue.execute(text)
        sam.execute("COMMENT ON VIEW reports.big IS 'pages'")
        sam.execute("GRANT SELECT ON reports.big TO sue")
        sam.execute("ALTER VIEW reports.big RENAME TO large")
        sam.execute("DROP VIEW reports.large")


def test_over_http_a_view_is_of_the_user(postgres: EmbeddedPostgres) -> None:
    with psycopg.connect(postgres.login(OWNER), autocommit=True) as owner:
        owner.execute("CREATE ROLE penstock_session_1 LOGIN NOINHERIT PASSWORD 'penstock_session_1' IN ROLE sam")
    with connect(postgres, "penstock_session_1") as session:
        session.execute("SET ROLE sam")
        session.execute(BIG)
        assert session.execute("SELECT viewowner FROM pg_views WHERE viewname = 'big'").fetchall() == [("sam",)]
        session.execute("SET ROLE none")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            session.execute(BIG.replace("big", "small"))


@pytest.mark.parametrize("options", ["", " WITH (security_invoker = false)", " WITH (security_invoker = on)"])
def test_a_view_gives_no_more_than_the_rights_of_its_reader(postgres: EmbeddedPostgres, options: str) -> None:
    with connect(postgres, "olga") as olga, connect(postgres, "rita") as rita:
        olga.execute(f"CREATE VIEW reports.v{options} AS SELECT * FROM counts")
        olga.execute("ALTER VIEW reports.v RESET (security_invoker)")
        olga.execute("ALTER VIEW reports.v SET (security_invoker = off)")
        with psycopg.connect(postgres.login(ENGINE), autocommit=True) as engine:
            engine.execute("REVOKE SELECT ON counts FROM penstock_reader")
            try:
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    rita.execute("SELECT * FROM reports.v")
            finally:
                engine.execute("GRANT SELECT ON counts TO penstock_reader")
        assert len(rita.execute("SELECT * FROM reports.v").fetchall()) == 2


def test_owners_drop_what_others_have_made(postgres: EmbeddedPostgres) -> None:
    with connect(postgres, "sam") as sam, connect(postgres, "olga") as olga:
        sam.execute(BIG)
        olga.execute("DROP VIEW reports.big")
        for text in (
            "DROP OWNED BY penstock_owner CASCADE",
            "DROP SCHEMA reports CASCADE",
            "ALTER SCHEMA reports RENAME TO r",
            "CREATE TABLE reports.t (a int)",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                olga.execute(text)


HOSTILE = [
    "CREATE TABLE reports.x (a int)",
    "CREATE TABLE reports.x AS SELECT 1",
    "CREATE UNLOGGED TABLE reports.x (a serial)",
    "SELECT * INTO reports.x FROM counts",
    "CREATE MATERIALIZED VIEW reports.x AS SELECT * FROM counts",
    "CREATE SEQUENCE reports.x",
    "CREATE TYPE reports.x AS (a int)",
    "CREATE TYPE reports.x AS ENUM ('a')",
    "CREATE DOMAIN reports.x AS int",
    "CREATE FUNCTION reports.x() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "CREATE FUNCTION reports.x() RETURNS int LANGUAGE internal AS 'int4pl'",
    "CREATE AGGREGATE reports.x(int) (sfunc = int4pl, stype = int)",
    "CREATE OPERATOR reports.+ (function = int4pl, leftarg = int, rightarg = int)",
    "CREATE COLLATION reports.x (locale = 'C')",
    "CREATE TEXT SEARCH DICTIONARY reports.x (template = simple)",
    "CREATE STATISTICS reports.x ON page, n FROM counts",
    "CREATE SCHEMA AUTHORIZATION sam CREATE VIEW x AS SELECT 1",
    "CREATE VIEW public.x AS SELECT 1",
    "CREATE TEMP VIEW x AS SELECT 1",
    "CREATE VIEW reports.x AS SELECT random()",
    "CREATE VIEW reports.x AS SELECT (SELECT n FROM counts WHERE n = random()) AS a",
    "CREATE VIEW reports.x AS SELECT page FROM counts GROUP BY page HAVING max(n) > random()",
    "CREATE VIEW reports.x AS SELECT pg_sleep(1)::text AS a",
    "CREATE VIEW reports.x AS SELECT set_config('role', 'none', false)",
    "CREATE VIEW reports.x AS SELECT query_to_xml('SELECT 1', true, false, '')",
    "CREATE VIEW reports.x AS SELECT pg_terminate_backend(1)",
    "CREATE VIEW reports.x AS SELECT * FROM penstock.run('SHOW QUERIES')",
    "CREATE VIEW reports.x AS SELECT * FROM penstock.token",
    "CREATE VIEW reports.x AS SELECT * FROM penstock.statements",
    "CREATE VIEW reports.x AS SELECT 'penstock.token'::regclass",
    "CREATE VIEW reports.x AS SELECT 'penstock.run(text)'::regprocedure",
    "CREATE VIEW reports.x AS SELECT 'penstock'::regnamespace",
    "CREATE VIEW reports.x AS SELECT usename FROM pg_stat_activity",
    "CREATE VIEW reports.x AS SELECT * FROM pg_class",
    "CREATE VIEW reports.x AS SELECT * FROM information_schema.tables",
    "CREATE VIEW reports.x AS SELECT 1::information_schema.cardinal_number AS a",
    "CREATE VIEW reports.x AS SELECT counts FROM counts",
    "CREATE VIEW reports.x AS SELECT NULL::counts AS a",
    'CREATE VIEW reports.x AS SELECT page AS "x :relid 1 :funcid 2" FROM counts WHERE random() > 0',
]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_refused(sam: psycopg.Connection, text: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        sam.execute(text)


@pytest.mark.parametrize("text", HOSTILE[::5])
def test_no_path_hides_it(sam: psycopg.Connection, text: str) -> None:
    """Names without a schema go to `reports`, which comes before pg_catalog."""
    sam.execute("SET search_path = reports, public, pg_catalog")
    try:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            sam.execute(text.replace("reports.", ""))
    finally:
        sam.execute("RESET search_path")


@pytest.mark.parametrize(
    "text",
    [
        "CREATE TRIGGER t INSTEAD OF INSERT ON reports.big FOR EACH ROW EXECUTE FUNCTION penstock.note_changes('[]')",
        "CREATE TRIGGER t INSTEAD OF DELETE ON reports.big FOR EACH ROW EXECUTE FUNCTION tsvector_update_trigger()",
        "CREATE RULE r AS ON INSERT TO reports.big DO INSTEAD SELECT 1",
        "CREATE OR REPLACE RULE r AS ON DELETE TO reports.big DO ALSO SELECT random()",
        'CREATE OR REPLACE RULE "_RETURN" AS ON SELECT TO reports.big DO INSTEAD '
        "SELECT page, random()::bigint AS twice FROM counts",
        "ALTER VIEW reports.big ALTER twice SET DEFAULT random()",
        "ALTER VIEW reports.big SET SCHEMA public",
        "ALTER VIEW reports.big OWNER TO penstock_submitter",
        "ALTER VIEW reports.big OWNER TO rita",
        "CREATE OR REPLACE VIEW reports.big AS SELECT page, (random() * 2)::bigint AS twice FROM counts",
        "SET ROLE penstock_submitter; CREATE VIEW reports.x AS SELECT 1 AS a",
        "DROP OWNED BY sam",
        "SELECT penstock_guard.put_back()",
        "SELECT * FROM penstock_guard.aside",
        "BEGIN; LOCK TABLE reports.big IN ACCESS EXCLUSIVE MODE",
        "INSERT INTO reports.big VALUES ('a')",
        "DELETE FROM reports.big",
    ],
)
def test_what_may_not_become_of_a_view(sam: psycopg.Connection, text: str) -> None:
    sam.execute(BIG)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        sam.execute(text)
    sam.execute("ROLLBACK; RESET ROLE")
    assert sam.execute("SELECT * FROM reports.big").fetchall() == [("b", 4)]


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


def test_a_reader_makes_none(postgres: EmbeddedPostgres) -> None:
    with connect(postgres, "rita") as db:
        for text in (BIG, "SET ROLE penstock_submitter"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                db.execute(text)


def test_views_have_limits(postgres: EmbeddedPostgres) -> None:
    with (
        connect(postgres, "sam") as db,
        psycopg.connect(postgres.login(SUPERUSER), autocommit=True) as admin,
        psycopg.connect(postgres.login(ENGINE), autocommit=True) as engine,
    ):
        for number in range(100):
            admin.execute(f"CREATE VIEW reports.v{number} AS SELECT n FROM counts")
            admin.execute("UPDATE penstock_guard.maker SET role = 'sam'::regrole")
            admin.execute(f"ALTER VIEW reports.v{number} OWNER TO sam")
        db.execute("DROP VIEW reports.v0")
        db.execute("CREATE VIEW reports.v0 AS SELECT n FROM counts")
        # The role that all submitters have can be given views, where no trigger looks. They count as before.
        db.execute("REASSIGN OWNED BY sam TO penstock_submitter")
        with engine.transaction():
            engine.execute("SELECT penstock_guard.put_aside(ARRAY['public.counts'], true)")
            engine.execute("SELECT penstock_guard.put_back()")
        owners = "SELECT viewowner, count(*)::integer FROM pg_views WHERE schemaname = 'reports' GROUP BY viewowner"
        assert db.execute(owners).fetchall() == [("penstock_submitter", 100)]
        with pytest.raises(psycopg.errors.ConfigurationLimitExceeded, match="100 views"):
            db.execute(BIG)
        with pytest.raises(psycopg.errors.ProgramLimitExceeded):
            db.execute("CREATE VIEW reports.x AS SELECT " + "1 + " * 6000 + "1 AS a")
        with pytest.raises(psycopg.errors.InvalidName):
            db.execute('CREATE OR REPLACE VIEW reports."a\x1b[2J" AS SELECT 1 AS a')


def test_two_transactions_of_a_role_do_not_pass_the_limit_together(postgres: EmbeddedPostgres) -> None:
    with connect(postgres, "sam") as one, connect(postgres, "sam") as two, connect(postgres, "sue") as other:
        one.execute("BEGIN")
        one.execute(BIG)
        two.execute("SET lock_timeout = '500ms'")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            two.execute("CREATE VIEW reports.x AS SELECT 1 AS a")
        other.execute("CREATE VIEW reports.x AS SELECT 1 AS a")
        one.execute("ROLLBACK; CREATE VIEW reports.y AS SELECT 1 AS a; BEGIN; COMMENT ON VIEW reports.y IS 'y'")
        for text in ("COMMENT ON VIEW reports.y IS 'x'", "GRANT SELECT ON reports.y TO sue", BIG):
            with pytest.raises(psycopg.errors.LockNotAvailable):
                two.execute(text)
        two.execute("DROP VIEW IF EXISTS reports.z")
        one.execute("ROLLBACK")
        two.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        with pytest.raises(psycopg.errors.FeatureNotSupported):
            two.execute(BIG)


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
        check_unread(engine, made)
        sam.execute('CREATE VIEW reports."My ""sums" AS SELECT n FROM sums')
        with pytest.raises(CompileError) as refused:
            check_unread(engine, made)
        (found,) = refused.value.diagnostics
        assert found.code == "V021"
        assert found.message == 'sums is read by views of PostgreSQL: reports."My ""sums" of sam'
        assert found.hint == 'DROP VIEW reports."My ""sums"'
        check_buildable(engine, made, made)
        with pytest.raises(CompileError, match="columns that the new one has not") as refused:
            check_buildable(engine, fewer, made)
        assert refused.value.diagnostics[0].code == "V019"
        # One that was made after the check goes with the table: it holds up nobody.
        hide_relation(engine, made, lambda: None)
        left = "SELECT count(*) FROM pg_class WHERE relname IN ('sums', 'My \"sums')"
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
        swap_tables(store, change, ())
        assert sam.execute("SELECT * FROM reports.pages").fetchall() == [("a", 5)]
        assert sam.execute("SELECT * FROM reports.both").fetchall() == [("a", 5, 1)]
        owners = "SELECT DISTINCT viewowner FROM pg_views WHERE schemaname = 'reports'"
        assert engine.execute(owners).fetchall() == [("sam",)]
        hide_relation(engine, planned.definition, lambda: None)
        assert sam.execute("SELECT to_regclass('reports.pages')").fetchone() == (None,)
