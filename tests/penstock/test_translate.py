"""`penstock translate`: whole scripts of each system, and what each kind of statement becomes."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.compilation import compile
from penstock.diagnostics import Source
from penstock.parser import split_script
from penstock.translate import System, TranslatedStatement, Verdict, translate, translate_script
from penstock.translate.foreign_statement import Foreign
from penstock.translate.model import Known
from tests.conformance.spellings.cases import PRELUDE, SPELLINGS
from tests.conformance.test_spellings import PENDING, judge, plan
from tests.penstock.test_cli import penstock

SCRIPTS = sorted((Path(__file__).parent / "translations").glob("*.sql"))
SYSTEMS = {system.value: system for system in System}
FLINK = """CREATE TABLE bid (auction BIGINT, price BIGINT, kind STRING, m MAP<STRING, INT>, at TIMESTAMP_LTZ(3),
  WATERMARK FOR at AS at - INTERVAL '5' SECOND) WITH ('connector' = 'filesystem', 'path' = 'bid', 'format' = 'json');
"""
OWN = """CREATE STREAM bid (auction BIGINT, price BIGINT, kind STRING, at TIMESTAMP)
  WITH (connector = 'files', path = 'bid', format = 'json');
"""


def statements(text: str, system: System = System.FLINK) -> list[TranslatedStatement]:
    return [each for _, each in translate(Source("<test>", text), system) if each is not None]


def last(text: str, system: System = System.FLINK) -> TranslatedStatement:
    """What became of the last statement, behind a stream `bid`."""
    declared = FLINK if system is System.FLINK else ""
    return statements(declared + text, system)[-1]


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_scripts(path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    monkeypatch.chdir(path.parent)
    run = penstock("translate", "--from", path.stem, path.name)
    assert run.exit_code == 1
    expected = path.with_suffix(".out")
    text = f"{run.stdout}\n==== report\n{run.stderr}"
    if request.config.getoption("--accept"):
        expected.write_text(text, encoding="utf-8")
    assert text == expected.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_the_result_is_accepted(path: Path) -> None:
    assert compile(penstock("translate", "--from", path.stem, str(path)).stdout)


def test_a_whole_script_without_refusals(tmp_path: Path) -> None:
    script = tmp_path / "job.sql"
    script.write_text(FLINK + "SELECT auction, COUNT(*) AS n FROM bid GROUP BY auction;\n", encoding="utf-8")
    run = penstock("translate", "--from", "flink", str(script))
    assert run.exit_code == 0
    assert run.stderr.endswith("statements: 0 same, 2 changed, 0 refused\n")


def test_a_file_that_is_not_there() -> None:
    run = penstock("translate", "--from", "flink", "none.sql")
    assert (run.exit_code, run.stdout) == (2, "")


def test_standard_input() -> None:
    assert penstock("translate", "--from", "spark", "-", stdin="USE shop;").stdout == "-- left out: USE shop\n"
    assert penstock("translate", "--from", "spark", "-", stdin="").stdout == ""


def test_secrets_are_not_shown() -> None:
    text = (
        "CREATE TABLE t (id BIGINT) WITH ('connector' = 'mysql', 'password' = 'hunter2', 'url' = 'x://u:hunter2@h/d');"
    )
    run = penstock("translate", "--from", "flink", "-", stdin=text)
    assert run.exit_code == 1
    assert "hunter2" not in run.output


def test_comments_stay_at_their_places() -> None:
    text = "-- first\n" + FLINK + "-- second\nSELECT /* all */ auction, -- the id\n price FROM bid; -- third\n-- last\n"
    run = penstock("translate", "--from", "flink", "-", stdin=text)
    found = [
        run.stdout.index(note) for note in ("-- first", "-- second", "/* all */", "-- the id", "-- third", "-- last")
    ]
    assert found == sorted(found)


def test_comments_of_a_declaration_stand_above_it() -> None:
    text = "CREATE TABLE t (\n  id BIGINT, -- the id\n  /* its name */ name STRING\n) WITH ('connector' = 'print');"
    found = last(text).sql
    assert found.startswith("-- the id\n/* its name */\nCREATE STREAM t (id BIGINT, name STRING)")


@pytest.mark.parametrize(
    ("sql", "verdict", "note"),
    [
        ("SELECT auction FROM bid", Verdict.CHANGED, "SELECT STREAM"),
        ("CREATE TEMPORARY VIEW v AS SELECT auction FROM bid", Verdict.SAME, ""),
        ("CREATE TABLE c AS SELECT auction FROM bid", Verdict.CHANGED, "is a stream: CREATE STREAM"),
        ("SELECT auction, COUNT(*) AS n FROM bid GROUP BY auction", Verdict.CHANGED, "a change for each record"),
        ("CREATE VIEW v AS SELECT auction / 2 AS half FROM bid", Verdict.CHANGED, "DIV"),
        ("CREATE VIEW v AS SELECT m['k'] AS k FROM bid", Verdict.SAME, ""),
        ("CREATE TABLE t (id BIGINT) PARTITIONED BY (id) WITH ('connector' = 'print')", Verdict.REFUSED, "PARTITIONED"),
        (
            "CREATE TABLE t (id BIGINT, o BIGINT METADATA VIRTUAL) WITH ('connector' = 'print')",
            Verdict.REFUSED,
            "K026",
        ),
        (
            "CREATE TABLE t (id BIGINT, o STRING NOT NULL METADATA FROM 'file.name' VIRTUAL)"
            " WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'json')",
            Verdict.CHANGED,
            "STREAM",
        ),
        ("CREATE TABLE t (id BIGINT)", Verdict.REFUSED, "no connector"),
        (
            "CREATE TABLE t (id BIGINT) WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'avro')",
            Verdict.REFUSED,
            "avro",
        ),
        ("ALTER TABLE bid ADD x INT", Verdict.REFUSED, "change the script"),
        ("CREATE DATABASE shop", Verdict.CHANGED, "no catalog"),
        ("SELECT * FROM nothing", Verdict.REFUSED, "K012"),
    ],
)
def test_statements_of_flink(sql: str, verdict: Verdict, note: str) -> None:
    found = last(sql)
    assert found.verdict is verdict, found.notes
    assert note in " ".join(found.notes)


@pytest.mark.parametrize(
    ("given", "here"),
    [
        ("VARCHAR(10)", "STRING"),
        ("TIMESTAMP(3) WITH LOCAL TIME ZONE", "TIMESTAMP"),
        ("TIMESTAMP_LTZ(3)", "TIMESTAMP"),
        ("DOUBLE PRECISION", "DOUBLE"),
        ("ROW<a INT, b ROW<c VARCHAR(3)>>", "STRUCT<a INT, b STRUCT<c STRING>>"),
        ("ROW(a INTEGER, b BYTES)", "STRUCT<a INT, b BINARY>"),
        ("MAP<STRING, ARRAY<NUMERIC(10, 2)>>", "MAP<STRING, ARRAY<DECIMAL(10, 2)>>"),
        ("ROW<text VARCHAR, `long  one` DOUBLE, real REAL>", "STRUCT<text STRING, `long  one` DOUBLE, real FLOAT>"),
        ("ROW<a TIMESTAMP  (3)  NOT NULL, b CHAR (3)>", "STRUCT<a TIMESTAMP, b STRING>"),
        ("ROW<key INT, comment STRING>", "STRUCT<key INT, comment STRING>"),
        ("CHARACTER VARYING (3)", "STRING"),
        ("TIMESTAMP WITHOUT TIME ZONE", "TIMESTAMP"),
    ],
)
def test_types(given: str, here: str) -> None:
    found = last(f"CREATE TABLE t (c {given}) WITH ('connector' = 'filesystem', 'path' = 't', 'format' = 'json')")
    assert f"(c {here})" in found.sql


@pytest.mark.parametrize(
    ("system", "given", "here", "told"),
    [
        (System.FLINK, "REGEXP_EXTRACT(kind, 'a(b)')", "REGEXP_EXTRACT(kind, 'a(b)', 0)", "whole match"),
        (System.FLINK, "REGEXP_EXTRACT(kind, 'a(b)', 1)", "NULLIF(REGEXP_EXTRACT(kind, 'a(b)', 1), '')", "is NULL"),
        (System.FLINK, "EXTRACT(SECOND FROM at)", "SECOND(at)", "is whole"),
        (System.FLINK, "EXTRACT(MINUTE FROM at)", "EXTRACT(MINUTE FROM at)", ""),
        (System.FLINK, "GREATEST(auction, price)", "GREATEST(auction, price)", "leaves out NULL"),
        (System.KSQLDB, "REGEXP_EXTRACT('a(b)', kind)", "REGEXP_EXTRACT(kind, 'a(b)', 0)", "second argument"),
        (System.KSQLDB, "REGEXP_EXTRACT('a(b)', kind, 1)", "REGEXP_EXTRACT(kind, 'a(b)', 1)", "second argument"),
        (System.KSQLDB, "REGEXP_EXTRACT_ALL('a(b)', kind)", "REGEXP_EXTRACT_ALL(kind, 'a(b)', 0)", "whole match"),
        (
            System.KSQLDB,
            "REGEXP_EXTRACT_ALL('a(b)', kind, 1)",
            "REGEXP_EXTRACT_ALL(kind, 'a(b)', 1)",
            "second argument",
        ),
        (System.KSQLDB, "MASK(kind)", "MASK(kind, 'X', 'x', 'n', '-')", "a hyphen"),
        (System.KSQLDB, "MASK(kind, 'Q')", "MASK(kind, 'Q')", ""),
        (System.SPARK, "MASK(kind)", "MASK(kind)", ""),
        (System.KSQLDB, "FROM_UNIXTIME(price)", "TIMESTAMP_MILLIS(price)", "milliseconds"),
        (System.KSQLDB, "UNIX_TIMESTAMP()", "UNIX_MILLIS(CURRENT_TIMESTAMP())", "milliseconds"),
        (System.KSQLDB, "CONCAT(kind, 'a')", "CONCAT_WS('', kind, 'a')", "empty text"),
        (System.SPARK, 'kind = "a\'b"', "kind = 'a''b'", "is a name"),
        (System.SPARK, "kind RLIKE '\\\\d+\\.'", "kind RLIKE '\\d+.'", "backslash"),
        (System.SPARK, "kind LIKE 'a\\%b'", "kind LIKE 'a\\%b'", "backslash"),
        (System.SPARK, "kind RLIKE r'\\d+'", "kind RLIKE '\\d+'", ""),
        (System.KSQLDB, "FILTER(ARRAY(1), x => x > 1)", "FILTER(ARRAY(1), x -> x > 1)", ""),
        (System.SPARK, "kind = '\\u0041\\t'", "kind = 'A\t'", "backslash"),
    ],
)
def test_what_is_written_alike_and_means_something_else(system: System, given: str, here: str, told: str) -> None:
    found = statements(f"{OWN}CREATE VIEW v AS SELECT {given} AS x FROM bid;", system)[-1]
    assert here in found.sql
    assert told in " ".join(found.notes)
    assert bool(told) == (found.verdict is Verdict.CHANGED)


@pytest.mark.parametrize(
    ("given", "here"),
    [
        ("'it\\'s; not'", "'it''s; not'"),
        ('"say \\"a;b\\""', "'say \"a;b\"'"),
        ("'a\\\\'", "'a\\'"),
        ("'it''s'", "'it''s'"),
    ],
)
def test_quotes_behind_a_backslash_of_spark_end_no_text(given: str, here: str) -> None:
    views = f"CREATE VIEW v AS SELECT {given} AS x FROM bid; CREATE VIEW w AS SELECT 1 AS y FROM bid;"
    found = statements(OWN + views, System.SPARK)
    assert here in found[-2].sql
    assert found[-1].sql.startswith("CREATE VIEW w")


@pytest.mark.parametrize("system", System)
def test_a_text_that_is_never_closed_takes_the_rest(system: System) -> None:
    found = statements(f"{OWN}SELECT 'a FROM bid; SELECT auction FROM bid;", system)[-1]
    assert found.verdict is Verdict.REFUSED
    assert "SELECT auction" in found.sql


def test_processing_times_are_told() -> None:
    made = "CREATE TABLE t (a INT, p AS PROCTIME()) WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'json');"
    found = statements(f"{made} SELECT COUNT(*) FROM t GROUP BY TUMBLE(p, INTERVAL '1' MINUTE);", System.FLINK)[-1]
    assert found.verdict is Verdict.REFUSED
    assert "p is a processing time" in " ".join(found.notes)


def test_a_topic_of_its_own_is_told() -> None:
    found = statements(OWN + "CREATE STREAM o WITH (PARTITIONS = 8) AS SELECT auction FROM bid;", System.KSQLDB)[-1]
    assert found.notes == (
        "ksqlDB writes the rows to a topic; here rows are kept in memory unless WITH names a place; "
        "options are left out: partitions",
    )


def test_spark_answers_once() -> None:
    told = "Spark answers once"
    assert told in " ".join(
        statements(OWN + "SELECT auction, COUNT(*) AS n FROM bid GROUP BY auction;", System.SPARK)[-1].notes
    )
    assert told not in " ".join(statements(OWN + "SELECT auction FROM STREAM(bid);", System.SPARK)[-1].notes)


def test_csv_has_no_header_unless_the_script_says_so() -> None:
    table = "CREATE TABLE t (a INT) USING csv OPTIONS (path 'x'{})"
    assert "header = FALSE" in last(table.format(""), System.SPARK).sql
    assert "header = TRUE" in last(table.format(", header 'true'"), System.SPARK).sql
    assert last(table.format(", sep ';'"), System.SPARK).verdict is Verdict.REFUSED


def test_statement_sets_of_both_forms() -> None:
    sink = "CREATE TABLE out (a BIGINT) WITH ('connector' = 'print');"
    insert = "INSERT INTO out SELECT auction FROM bid;"
    for text in (
        f"EXECUTE STATEMENT SET BEGIN {insert} END;",
        f"BEGIN STATEMENT SET; {insert} END;",
        f"EXECUTE {insert}",
    ):
        assert last(sink + text).verdict is Verdict.SAME


def test_elements_count_from_one() -> None:
    made = "CREATE STREAM s (a ARRAY<INT>, t STRUCT<b ARRAY<INT>>) WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'JSON');"
    found = last(made + "CREATE STREAM o AS SELECT a[1] AS x, t.b[2] AS y FROM s;", System.KSQLDB)
    assert "TRY_ELEMENT_AT(a, 1)" in found.sql
    assert "TRY_ELEMENT_AT(t.b, 2)" in found.sql


NESTED = (
    ("a[i[1]]", "TRY_ELEMENT_AT(a, TRY_ELEMENT_AT(i, 1))"),
    ("n[1][2]", "TRY_ELEMENT_AT(TRY_ELEMENT_AT(n, 1), 2)"),
    ("SPLIT(k, ',')[1]", "TRY_ELEMENT_AT(SPLIT(k, ','), 1)"),
    ("(a)[1]", "TRY_ELEMENT_AT((a), 1)"),
    ("t->b[2]", "TRY_ELEMENT_AT(t->b, 2)"),
    ("ARRAY[1, 2][1]", "TRY_ELEMENT_AT(ARRAY[1, 2], 1)"),
    ("REGEXP_EXTRACT('x', SPLIT(k, ',')[1])", "NULLIF(REGEXP_EXTRACT(TRY_ELEMENT_AT(SPLIT(k, ','), 1), 'x', 0), '')"),
    (
        "REGEXP_EXTRACT('x', REGEXP_EXTRACT('y', k))",
        "NULLIF(REGEXP_EXTRACT(NULLIF(REGEXP_EXTRACT(k, 'y', 0), ''), 'x', 0), '')",
    ),
)


@pytest.mark.parametrize(("written", "meant"), NESTED)
def test_changes_inside_of_others(written: str, meant: str) -> None:
    made = "CREATE STREAM s (k STRING, a ARRAY<INT>, i ARRAY<INT>, n ARRAY<ARRAY<INT>>, t STRUCT<b ARRAY<INT>>)"
    place = "WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'JSON');"
    found = last(f"{made} {place} CREATE STREAM o AS SELECT {written} AS x FROM s;", System.KSQLDB)
    assert meant in found.sql


BROKEN = (
    *("CREATE TABLE", "CREATE TABLE a USING", "CREATE TABLE a (PRIMARY KEY", "CREATE TABLE a (b INT) WITH"),
    *("CREATE TABLE a AS", "SELECT a[ FROM b", "SELECT UNIX_TIMESTAMP( FROM b", "SELECT a FROM STREAM("),
    *("SELECT a FROM b FOR SYSTEM_TIME AS OF", "SELECT REGEXP_EXTRACT(", "SELECT r'a", "SELECT a] FROM b"),
    "SELECT " + "a[" * 500 + "1" + "]" * 500 + " FROM bid",
)


@pytest.mark.parametrize("system", System)
@pytest.mark.parametrize("text", BROKEN, ids=range(len(BROKEN)))
def test_broken_statements_are_refused(text: str, system: System) -> None:
    assert last(text, system).verdict is Verdict.REFUSED


# Translations that mean what the other system means, where the same words mean something else here.
DIFFERENT = {
    "flink/meanings: ARRAY_SORT",
    "flink/scalars: REGEXP_EXTRACT and REGEXP_REPLACE",
    "flink/scalars: TO_TIMESTAMP",
    "flink/scalars: REGEXP_EXTRACT that finds nothing",
    "flink/scalars: REGEXP_EXTRACT whose first group is the whole",
    "flink/scalars: REGEXP_EXTRACT without a group",
    "flink/scalars: a default for REGEXP_EXTRACT",
    "flink/scalars: an element of an array",
    "flink/scalars: the second of a time",
    "ksqldb/functions: SELECT FROM_DAYS(5) AS a, FROM_UNIXTIME(epoch) AS b FROM eve",
    "ksqldb/functions: SELECT FROM_UNIXTIME(epoch) AS a FROM events EMIT CHANGES",
    "ksqldb/functions: SELECT REGEXP_EXTRACT('a(b)', kind) AS a FROM events",
    "ksqldb/functions: SELECT REGEXP_EXTRACT('a(b)', kind, 1) AS a FROM events",
    "ksqldb/functions: SELECT REGEXP_EXTRACT_ALL('a(b)', kind) AS a FROM events",
    "ksqldb/functions: SELECT MASK(kind) AS a FROM events EMIT CHANGES",
    "ksqldb/functions: SELECT SPLIT(kind, '.')[1] AS a FROM events EMIT CHANGES",
    "ksqldb/functions: SELECT SPLIT(kind, '|')[1] AS a FROM events",
    "ksqldb/functions: SELECT UNIX_TIMESTAMP() AS b FROM events",
    "ksqldb/functions: SELECT UNIX_TIMESTAMP(ts) AS a FROM events EMIT CHANGES",
    "ksqldb/functions: SELECT props['a'] AS a, tags[1] AS b, tags[-1] AS c FROM eve",
    "ksqldb/functions: SELECT tags[1] AS a, tags[-1] AS b FROM events EMIT CHANGES",
    "ksqldb/scalars: FROM_UNIXTIME of milliseconds",
    "ksqldb/scalars: UNIX_TIMESTAMP without arguments",
    "ksqldb/scalars: an element of an array",
    "ksqldb/meanings: FROM_UNIXTIME of the start of a window",
    "ksqldb/forms: the newest page of each user",
    "ksqldb/functions: SELECT CAST(id AS VARCHAR) AS a, CAST(score AS INT) AS b, CA",
    "ksqldb/functions: SELECT CONCAT(kind, '-', payload) AS a FROM events EMIT CHAN",
    "ksqldb/functions: SELECT SPLIT(kind, '.') AS a FROM events",
    "ksqldb/functions: SELECT URL_EXTRACT_HOST(kind) AS a, URL_EXTRACT_PROTOCOL(kin",
    "ksqldb/functions: SELECT id / 2 AS a FROM events EMIT CHANGES",
    "ksqldb/meanings: ROUND",
    "ksqldb/queries: ROWTIME",
    "ksqldb/queries: ROWTIME of a join with a table",
    "ksqldb/queries: ROWTIME of both sides of a join",
    "ksqldb/queries: the newest ROWTIME of a group",
    "ksqldb/scalars: ABS, CEIL, FLOOR, ROUND, SQRT, SIGN, EXP, LN",
    "ksqldb/scalars: ARRAY_CONTAINS, ARRAY_LENGTH and ARRAY_JOIN",
    "ksqldb/scalars: CONCAT",
    "ksqldb/scalars: INSTR",
    "ksqldb/windows: sessions with a grace period",
    "spark/scalars: an end of line in a text",
    "spark/scalars: two backslashes in a regular expression",
}


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_corpus_keeps_its_meaning(system: str) -> None:
    """What the compiler takes is not refused, and a translation has the plan that the corpus expects."""
    prelude = Source("prelude", PRELUDE.read_text(encoding="utf-8"))
    catalog = compile(prelude.text).catalog
    accepted, different = 0, set()
    for spelling in (each for each in SPELLINGS if each.name.startswith(system) and not each.read):
        source = Source("spelling", spelling.sql)
        (tokens, *more) = split_script(source)
        if more or spelling.same is None:
            continue
        started = translate_script._Script(SYSTEMS[system], Known(), catalog)
        found = translate_script._translate_statement(Foreign(source.text, tokens), 1, started)
        if found.verdict is Verdict.REFUSED:
            assert spelling.name in PENDING or judge(spelling)
            continue
        accepted += 1
        if plan(found.sql, read=False) != plan(spelling.same, read=False):
            different.add(spelling.name)
            assert found.verdict is Verdict.CHANGED
    assert accepted > 50
    assert different == {each for each in DIFFERENT if each.startswith(system)}


@pytest.mark.parametrize(
    ("kind", "columns"),
    [
        (
            "TABLE",
            "k STRING PRIMARY KEY, n BIGINT, window_start TIMESTAMP PRIMARY KEY, window_end TIMESTAMP PRIMARY KEY",
        ),
        ("STREAM", "k STRING KEY, n BIGINT, window_start TIMESTAMP, window_end TIMESTAMP"),
    ],
)
def test_windows_of_keys_are_columns(kind: str, columns: str) -> None:
    key = "PRIMARY KEY" if kind == "TABLE" else "KEY"
    place = "WITH (KAFKA_TOPIC = 't', VALUE_FORMAT = 'JSON', WINDOW_TYPE = 'TUMBLING', WINDOW_SIZE = '1 MINUTE')"
    found = last(f"CREATE {kind} t (k VARCHAR {key}, n BIGINT) {place};", System.KSQLDB)
    assert columns in " ".join(found.sql.replace("(", " ").replace(")", " ").split())
    assert found.verdict is Verdict.CHANGED
