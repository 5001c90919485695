"""Views of users in the schema `reports` of the server's own PostgreSQL: what they may be."""

from __future__ import annotations

import re

import psycopg
import pytest

from penstock.server.database.embedded import ENGINE, OWNER, SUPERUSER, EmbeddedPostgres
from tests.house.files import ROOT
from tests.server.database.reports import BIG, connect
from tests.server.database.reports import admin as admin
from tests.server.database.reports import clear as clear
from tests.server.database.reports import postgres as postgres
from tests.server.database.reports import sam as sam


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
    "EXPLAIN ANALYZE CREATE TABLE reports.x AS SELECT 1 AS a",
    "EXPLAIN ANALYZE CREATE MATERIALIZED VIEW reports.x AS SELECT * FROM counts",
    "EXPLAIN ANALYZE SELECT * INTO reports.x FROM counts",
    "BEGIN; CREATE VIEW reports.y AS SELECT 1 AS a; EXPLAIN ANALYZE CREATE TABLE reports.x AS SELECT 1 AS a",
    "BEGIN; ALTER VIEW IF EXISTS reports.y RENAME TO z; EXPLAIN ANALYZE CREATE TABLE reports.x AS SELECT 1 AS a",
    "ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO rita",
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
    sam.execute("ROLLBACK")


def test_settings_of_a_session_change_no_check(postgres: EmbeddedPostgres) -> None:
    with connect(postgres, "sam") as db:  # a new session, in which no function has run yet
        db.execute("SET standard_conforming_strings = off")
        for call in ("pg_notify('a', page)", "ts_stat('SELECT 1')", "random()"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                db.execute(f"CREATE VIEW reports.x AS SELECT {call}::text FROM counts".encode())


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


def test_views_are_made_in_one_transaction_at_a_time(postgres: EmbeddedPostgres) -> None:
    with connect(postgres, "sam") as one, connect(postgres, "sam") as two, connect(postgres, "sue") as other:
        one.execute("BEGIN")
        one.execute(BIG)
        two.execute("SET lock_timeout = '500ms'")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            two.execute("CREATE VIEW reports.x AS SELECT 1 AS a")
        other.execute("SET lock_timeout = '500ms'")
        with pytest.raises(psycopg.errors.LockNotAvailable):
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
