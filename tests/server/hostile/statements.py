"""Statements by which a user tries to get more than its role gives. None of them may be carried out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

SAM, RITA = "sam", "rita"
"""A submitter, and a reader. Another submitter, sue, has made the table `of_sue` and the stream `from_sue`."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A statement with the names of folders in braces: `open` is allowed, `closed` is not, `state` is the server's."""

    kind: str
    text: str
    role: str = SAM


def read(path: str, **options: str) -> str:
    given = "".join(f", {name} = {value}" for name, value in options.items())
    return f"CREATE STREAM h (line STRING) WITH (connector = 'files', path = '{path}', format = 'csv'{given})"


def write(options: str) -> str:
    return f"CREATE STREAM h WITH ({options}) AS SELECT STREAM id, page FROM clicks"


def database(url: str, more: str = "table = 't'", connector: str = "postgres") -> str:
    place = "url" if connector == "postgres" else "path"
    return f"CREATE TABLE h (id BIGINT PRIMARY KEY) WITH (connector = '{connector}', {place} = '{url}', {more})"


def compute(value: str) -> str:
    return f"CREATE STREAM h AS SELECT STREAM {value} AS x FROM clicks"


PATHS = (
    "/etc",
    "/etc/passwd",
    "{closed}",
    "{open}/../closed",
    "{open}/in/../../closed",
    "{open}/link",
    "{open}/link/secret.csv",
    "{open}/l*",
    "{open}/l?nk",
    "{open}/li[n]k",
    "{open}/{{link,in}}",
    "{open}/{{in,../closed}}",
    "{open}/*/../../closed",
    "{open}/.\\./closed",
    "{open}/in/\\.\\./\\.\\./closed",
    "//{closed}",
    "/{open}/../closed",
    "~",
    ".",
    "",
    "file:{closed}",
    "file://{closed}",
    "file:///{closed}",
    "FILE:{closed}",
    "har:{open}/in",
    "jar:file:{closed}/x.jar!/x",
    "http://127.0.0.1:9/x",
    "hdfs://127.0.0.1:9/x",
    "s3a://bucket/x",
    "{open}",
    "{open}/*",
    "{open}/[^x]*",
    "{open}/*/secrets",
    "{state}",
    "{state}/secrets/token",
    "{open}/in/../state/secrets",
    "file:{state}",
)
OUTPUTS = (
    "connector = 'files', path = '{closed}/out', format = 'json'",
    "connector = 'files', path = '{open}/../closed/out', format = 'json'",
    "connector = 'files', path = '{open}/link/out', format = 'json'",
    "connector = 'files', path = '{state}/checkpoints/1', format = 'json'",
    "connector = 'files', path = '{open}/out', format = 'json', checkpoint = '{closed}'",
    "connector = 'files', path = '{open}/out', format = 'json', checkpointLocation = '{closed}'",
    "connector = 'files', path = '{open}/out', format = 'json', mode = 'overwrite'",
    "connector = 'console'",
    "connector = 'memory'",
    "connector = 'tail', url = 'postgresql://u@db.example/x', table = 'penstock.token'",
    "connector = 'intermediate', path = '{closed}'",
    "connector = 'kafka', topic = 't', servers = '127.0.0.1:9', format = 'json'",
    "connector = 'parquet', path = '{closed}'",
)
DATABASES = (
    database("{closed}/x.db", connector="sqlite"),
    database("{open}/../closed/x.db", "table = 't', create = 'if_missing'", connector="sqlite"),
    database("{open}/link/x.db", "table = 't', create = 'if_missing'", connector="sqlite"),
    database("{state}/x.db", "table = 't', create = 'if_missing'", connector="sqlite"),
    database("file:{closed}/x.db?mode=rwc", connector="sqlite"),
    database(":memory:", connector="sqlite"),
    database("{open}/x.duckdb", connector="duckdb"),
    database("postgresql://u@other.example/x"),
    database("postgresql://u@db.example,other.example/x"),
    database("postgresql://u@db.example/x?host=other.example"),
    database("postgresql://u@db.example/x?hostaddr=10.0.0.1"),
    database("postgresql://u@db.example/x?service=s"),
    database("postgresql://u@db.example/x?passfile={state}/secrets/pgpass"),
    database("postgresql://u@db.example/x?sslkey={closed}/key"),
    database("postgresql:///penstock", "table = 'penstock.token'"),
    database("postgresql://penstock@/penstock?host={state}/postgres", "table = 'penstock.token'"),
    database("postgresql://penstock_engine@%2Ftmp/penstock", "table = 'public.hourly'"),
    database("postgresql://penstock@localhost:{port}/penstock", "table = 'penstock.token'"),
    database("postgresql://penstock@127.0.0.1:{port}/penstock", "table = 'public.of_sue'"),
    database("postgresql://u@db.example/x", "table = 't', password = ENV('HIDDEN_SECRET')"),
    database("postgresql://u@db.example/x", "table = 't', password = ENV('PATH')"),
    database("postgresql://u@db.example/x", "table = 't', password = FILE('{state}/secrets/penstock_engine')"),
    database("postgresql://u@db.example/x", "table = 't', password = FILE('/etc/shadow')"),
    database("postgresql://u@db.example/x", "table = 't', password = FILE('{open}/in/1.json')"),
    database("postgresql://u:typed-secret@db.example/x"),
    database("postgresql://u@db.example/x?password=typed-secret"),
    database("postgresql://u@db.example/x", "table = 't', password = 'typed-secret'"),
    database("postgresql://u@db.example/x", "table = 't', pasword = 'typed-secret' oops"),
    database("postgresql://u@db.example/x", "table = 't; DROP TABLE x', pasword = 'x'"),
)
FUNCTIONS = (
    "reflect('java.lang.System', 'exit', 1)",
    "java_method('java.lang.Runtime', 'getRuntime')",
    "try_reflect('java.lang.System', 'getenv', 'HIDDEN_SECRET')",
    "my_python_function(id)",
    "pyspark_udf(id)",
    "input_file_name()",
    "version()",
    "current_user()",
    "spark_partition_id()",
    "raise_error('x')",
    "assert_true(FALSE)",
    "read_files('/etc/passwd')",
    "xpath_string('<!DOCTYPE x [<!ENTITY e SYSTEM \"file:///etc/passwd\">]><x>&e;</x>', 'x')",
    "`reflect`('java.lang.System', 'exit', 1)",
    "system.builtin.reflect('java.lang.System', 'exit', 1)",
    "pg_read_file('/etc/passwd')",
)
QUERIES = (
    "CREATE STREAM h AS SELECT STREAM * FROM csv.`/etc/passwd`",
    "CREATE STREAM h AS SELECT STREAM * FROM text.`{closed}/secret.csv`",
    "CREATE STREAM h AS SELECT STREAM * FROM penstock.token",
    "CREATE TABLE h AS SELECT * FROM pg_authid",
    "CREATE STREAM h AS SELECT STREAM TRANSFORM (id) USING 'sh' FROM clicks",
    "CREATE STREAM h AS SELECT STREAM /*+ REPARTITION(99999) */ nothing FROM clicks",
    "CREATE STREAM h AS SELECT STREAM id FROM clicks LATERAL VIEW explode(sequence(1, 1e9)) t AS x",
    "CREATE STREAM penstock.h AS SELECT STREAM id FROM clicks",
    "CREATE TABLE penstock_ledger AS SELECT page, COUNT(*) AS n FROM clicks GROUP BY page",
    "CREATE TABLE hourly_rejected AS SELECT page, COUNT(*) AS n FROM clicks GROUP BY page",
    "CREATE TABLE `public.hourly` AS SELECT page, COUNT(*) AS n FROM clicks GROUP BY page",
    "CREATE TEMPORARY FUNCTION f AS 'org.evil.F' USING JAR 'http://127.0.0.1:9/x.jar'",
    "ADD JAR /tmp/x.jar",
    "CACHE TABLE clicks",
)
OTHERS = (
    "DROP STREAM clicks",
    "DROP TABLE hourly",
    "DROP TABLE HOURLY",
    "DROP TABLE IF EXISTS hourly",
    "DROP QUERY hourly",
    "DROP TABLE of_sue",
    "DROP STREAM from_sue",
    "DROP QUERY from_sue",
    "DROP TABLE hourly; CREATE STREAM h AS SELECT STREAM id FROM clicks",
    "PAUSE QUERY hourly",
    "PAUSE QUERY of_sue",
    "RESUME QUERY of_sue",
    "CREATE OR REPLACE TABLE hourly AS SELECT page, COUNT(*) AS n FROM clicks GROUP BY page",
    "CREATE OR REPLACE TABLE of_sue AS SELECT page, COUNT(*) AS n FROM clicks GROUP BY page",
    "CREATE OR REPLACE STREAM from_sue AS SELECT STREAM page FROM clicks",
    "INSERT INTO own SELECT STREAM id, page FROM clicks",
    "UPDATE own SET page = 'x' FROM STREAM clicks WHERE own.id = clicks.id",
    "DELETE FROM own USING STREAM clicks WHERE own.id = clicks.id",
    "INSERT INTO hourly SELECT * FROM hourly",
    "INSERT INTO of_sue VALUES ('x', 1)",
    "UPDATE of_sue SET n = 0",
    "DELETE FROM of_sue",
    "CREATE STREAM h AS SELECT STREAM window_start, COUNT(*) AS n FROM TUMBLE(clicks, ts, INTERVAL '1' HOUR) "
    "GROUP BY window_start, window_end LATE INTO lost",
)
CATALOG = (
    "INSERT INTO penstock.statement (text, author, door) VALUES ('DROP TABLE hourly', 'penstock', 'http')",
    "INSERT INTO penstock.token (hash, role) VALUES ('x', 'penstock')",
    "UPDATE penstock.definition SET author = 'sam'",
    "UPDATE penstock.query SET author = 'sam'",
    "DELETE FROM penstock.relation",
    "TRUNCATE penstock.statement",
    "SELECT hash FROM penstock.token",
    "SELECT text FROM penstock.statement",
    "SELECT * FROM penstock.definition",
    "SELECT * FROM penstock.change",
    "DROP SCHEMA penstock CASCADE",
    "ALTER TABLE penstock.token DISABLE ROW LEVEL SECURITY",
    "CREATE OR REPLACE FUNCTION penstock.report(answer jsonb) RETURNS void LANGUAGE sql AS 'SELECT'",
    "CREATE TABLE penstock.x (x int)",
    "CREATE TRIGGER x AFTER INSERT ON public.hourly EXECUTE FUNCTION penstock.note_changes('[]')",
    "ALTER TABLE public.hourly OWNER TO sam",
    "TRUNCATE public.hourly",
    "MERGE INTO public.hourly USING (SELECT 1) AS s ON FALSE WHEN NOT MATCHED THEN INSERT DEFAULT VALUES",
    "WITH gone AS (DELETE FROM public.hourly RETURNING *) SELECT * FROM gone",
    "DO $$ BEGIN LOCK TABLE public.hourly IN ACCESS EXCLUSIVE MODE; END $$",
    "SELECT * FROM public.hourly FOR UPDATE",
    "CREATE TABLE public.mine (x int)",
    "CREATE VIEW public.mine AS SELECT 1",
    "DROP INDEX public.hourly_by_time",
    "COMMENT ON TABLE public.hourly IS 'x'",
    "SELECT * FROM penstock_tail.clicks",
)
POSTGRES = (
    "COPY (SELECT 1) TO PROGRAM 'touch {closed}/touched'",
    "COPY pg_class FROM PROGRAM 'id'",
    "COPY (SELECT 1) TO '{closed}/touched'",
    "CREATE TEMP TABLE t (x text); COPY t FROM '/etc/passwd'",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT pg_read_binary_file('{state}/secrets/token')",
    "SELECT pg_ls_dir('/')",
    "SELECT lo_import('/etc/passwd')",
    "SELECT pg_stat_file('{closed}/secret.csv')",
    "DO $$ BEGIN PERFORM pg_read_file('/etc/passwd'); END $$",
    "DO LANGUAGE plpython3u 'import os'",
    "CREATE EXTENSION dblink",
    "CREATE LANGUAGE plperlu",
    "LOAD '/tmp/x.so'",
    "CREATE FUNCTION f() RETURNS int LANGUAGE c AS '/tmp/x.so', 'f'",
    "CREATE SERVER s FOREIGN DATA WRAPPER postgres_fdw",
    "ALTER SYSTEM SET archive_command = 'id'",
    "SET session_preload_libraries = '/tmp/x'",
    "SET log_statement = 'all'",
    "SELECT pg_reload_conf()",
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'penstock_engine'",
    "SELECT rolpassword FROM pg_authid",
    "SET ROLE penstock_owner",
    "SET ROLE penstock",
    "SET ROLE sue",
    "SET SESSION AUTHORIZATION penstock",
    "SELECT set_config('role', 'penstock', false)",
    "ALTER ROLE sam SUPERUSER",
    "ALTER ROLE sam CREATEROLE",
    "ALTER ROLE penstock PASSWORD 'x'",
    "GRANT penstock_owner TO sam",
    "CREATE ROLE mallory SUPERUSER",
    "DROP ROLE sue",
    "CREATE DATABASE x",
    "DROP DATABASE penstock",
    "CREATE SUBSCRIPTION s CONNECTION 'host=127.0.0.1' PUBLICATION p",
    "CHECKPOINT",
)
SETTINGS = (
    "SET spark.sql.shuffle.partitions = 1; CREATE STREAM h AS SELECT STREAM id FROM clicks",
    "SET spark.driver.extraJavaOptions = '-Dx=y'; CREATE STREAM h AS SELECT STREAM id FROM clicks",
    "SET checkpoint = '{closed}'; CREATE STREAM h AS SELECT STREAM id FROM clicks",
    "SET state_store = 'org.evil.Store'; CREATE STREAM h AS SELECT STREAM id FROM clicks",
    "SET password = 'typed-secret'; CREATE STREAM h AS SELECT STREAM id FROM clicks",
    "SET `spark.jars` = 'http://127.0.0.1:9/x.jar'; CREATE STREAM h AS SELECT STREAM id FROM clicks",
)
ODD = (
    "\u202eCREATE STREAM h AS SELECT STREAM id FROM clicks",
    "ＣＲＥＡＴＥ STREAM h AS SELECT STREAM id FROM clicks",
    "СREATE STREAM h AS SELECT STREAM id FROM clicks",
    "DROP TABLE hоurly",
    "DROP TABLE hourly\u200b",
    "DROP TABLE \u200fhourly",
    'DROP TABLE U&"\\0068ourly"',
    "CREATE STREAM " + "h" * 10_000 + " AS SELECT STREAM id FROM clicks",
    "CREATE STREAM h AS SELECT STREAM id AS " + "h" * 10_000 + " FROM clicks",
    "CREATE STREAM h (" + "h" * 10_000 + " INT) WITH (connector = 'files', path = '{open}/in', format = 'json')",
    "DROP TABLE " + "h" * 10_000,
    compute("(" * 10_000 + "id" + ")" * 10_000),
    compute("CASE WHEN id = 1 THEN " * 10_000 + "id" + " END" * 10_000),
    compute("ARRAY(" * 10_000 + ")" * 10_000),
    compute("NOT " * 10_000 + "TRUE"),
    compute(" + ".join(["id"] * 20_000)),
    compute("id IN (" + ", ".join(map(str, range(100_000))) + ")"),
    compute(" OR ".join(f"id = {number}" for number in range(20_000))),
    compute(", ".join(f"id AS c{number}" for number in range(20_000))),
    "CREATE STREAM h AS " + "SELECT STREAM * FROM (" * 5_000 + "clicks" + ")" * 5_000,
    "CREATE STREAM h (x " + "ARRAY<" * 5_000 + "INT" + ">" * 5_000 + ") WITH (connector = 'files')",
    compute("'" + "x" * 1_500_000 + "'"),
    compute("id") + " -- " + "x" * 1_500_000,
    "SHOW STREAMS; " * 100_000 + "SHOW",
    "EXPLAIN " * 50_000 + "SHOW STREAMS",
    "CREATE TABLE h AS " + ")) AS (" * 100_000,
    "CREATE STREAM h AS SELECT STREAM 'never closed",
    "CREATE STREAM h AS SELECT STREAM `never closed",
    "CREATE STREAM h /* never closed",
)
READERS = (
    "SHOW QUERIES",
    "SHOW STREAMS",
    "DESCRIBE clicks",
    "EXPLAIN PLAN SELECT STREAM id FROM clicks",
    "EXPLAIN WHY hourly",
    "CREATE STREAM h AS SELECT STREAM id FROM clicks",
    "CREATE STREAM h (value BIGINT) WITH (connector = 'rate')",
    "DROP TABLE hourly",
    "PAUSE QUERY hourly",
    "INSERT INTO own SELECT STREAM id, page FROM clicks",
    "COPY (SELECT 1) TO PROGRAM 'touch {closed}/touched'",
    "SELECT pg_read_file('/etc/passwd')",
    "SET ROLE penstock_submitter",
    "SELECT hash FROM penstock.token",
)


def list_attempts() -> Iterator[Attempt]:
    """All statements."""
    for path in PATHS:
        yield Attempt("files read", read(path))
    for options in OUTPUTS:
        yield Attempt("places written", write(options))
    for text in DATABASES:
        yield Attempt("databases and secrets", text)
    for value in FUNCTIONS:
        yield Attempt("functions and code", compute(value))
    for kind, texts in (
        ("functions and code", QUERIES),
        ("relations of others", OTHERS),
        ("catalog", CATALOG),
        ("PostgreSQL", POSTGRES),
        ("settings", SETTINGS),
        ("odd and large texts", ODD),
    ):
        for text in texts:
            yield Attempt(kind, text)
    for text in READERS:
        yield Attempt("a reader", text, RITA)


HARMLESS = (
    ("SELECT STREAM id, '${{env:HIDDEN_SECRET}}' AS x FROM clicks", "${env:HIDDEN_SECRET}"),
    ("SELECT STREAM id, '${{spark.master}}' AS x FROM clicks", "${spark.master}"),
    ("SELECT STREAM id, '\\' AS x FROM clicks WHERE page <> '\\'' OR reflect(''x'', ''y'') = '", "\\"),
    ("SELECT STREAM id, '$(id) `id` %s {{0}} \\n' AS x FROM clicks", "$(id) `id` %s {0} \\n"),
    ("SELECT STREAM id, page AS `${{env:HIDDEN_SECRET}}` FROM clicks", "a"),
)
"""Queries that mean something else to Spark, to PostgreSQL or to a shell, and what their second column has to be."""
