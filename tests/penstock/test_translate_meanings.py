"""`penstock translate`: each form that means something else is written otherwise or told, inside of others, too."""

from __future__ import annotations

import pytest

from penstock.diagnostics import Source
from penstock.planner.functions import find_function
from penstock.translate import System, TranslatedStatement, Verdict, translate
from penstock.translate.meanings import RULES
from penstock.translate.meanings.same import SAME

COLUMNS = (
    "k STRING, n INT, m INT, big BIGINT, d DOUBLE, c DECIMAL(10, 2), b BOOLEAN, t TIMESTAMP, txt STRING, u STRING, "
    "a ARRAY<INT>, ta ARRAY<STRING>, mp MAP<STRING, INT>, at TIMESTAMP"
)
DECLARED = {
    System.FLINK: f"CREATE TABLE s ({COLUMNS.replace('TIMESTAMP', 'TIMESTAMP(3)')}, WATERMARK FOR at AS at)"
    " WITH ('connector' = 'filesystem', 'path' = 's', 'format' = 'json');",
    System.KSQLDB: f"CREATE STREAM s ({COLUMNS}) WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'JSON', TIMESTAMP = 'at');",
    System.SPARK: f"CREATE TABLE s ({COLUMNS}) USING json LOCATION 's';",
}
ALL = (System.FLINK, System.KSQLDB)

# By systems: what is written, what is meant (None: the same words), and a part of what is told.
FORMS: tuple[tuple[tuple[System, ...], str, str | None, str], ...] = (
    # ksqlDB and Flink
    (ALL, "n / m", "n DIV", "a whole number"),
    (ALL, "big / 2", "big DIV 2", "a whole number"),
    (ALL, "(n + 1) / (m - 1)", "(n + 1) DIV", "a whole number"),
    (ALL, "n / m / 2", "DIV 2", "a whole number"),
    (ALL, "d / n", None, "a division by 0"),
    (ALL, "n + m", None, "wraps around"),
    (ALL, "txt LIKE 'a\\_b'", "LIKE 'a\\\\_b'", "behind ESCAPE"),
    (ALL, "txt NOT LIKE 'a\\%'", "LIKE 'a\\\\%'", "behind ESCAPE"),
    (ALL, "txt LIKE u", None, "behind ESCAPE"),
    (ALL, "ARRAY_CONTAINS(a, n)", "EXISTS(a, element -> element IS NOT DISTINCT FROM n)", "FALSE"),
    (ALL, "NOT ARRAY_CONTAINS(ta, 'x')", "NOT ", "FALSE"),
    (ALL, "SPLIT(txt, '.')", "SPLIT(txt, '\\.')", "takes a text"),
    (ALL, "SPLIT(txt, '||')", "SPLIT(txt, '\\|\\|')", "takes a text"),
    (ALL, "SPLIT(txt, u)", "SPLIT(txt, '\\Q' || u || '\\E')", "takes a text"),
    (ALL, "ELT(n, 'a', 'b')", "CASE WHEN n BETWEEN 1 AND 2 THEN ELT(n, 'a', 'b') END", "out of range"),
    (ALL, "SUBSTRING(txt, -3)", None, "before the first character"),
    (ALL, "SUBSTRING(txt, n, 2)", None, "before the first character"),
    (ALL, "SUBSTRING(txt FROM -3 FOR 2)", None, "before the first character"),
    (ALL, "SUBSTRING(SUBSTRING(txt FROM 2) FROM n)", None, "before the first character"),
    (ALL, "SUBSTRING(SUBSTRING(txt FROM 2) FROM 1 FOR 3)", "SUBSTRING(SUBSTRING(txt FROM 2) FROM 1 FOR 3)", ""),
    (ALL, "CAST(mp AS STRING)", None, "a map or struct as a text"),
    (ALL, "LPAD(txt, n, 'x')", None, "negative length"),
    (ALL, "RPAD(txt, 3, '')", None, "empty padding"),
    (ALL, "LN(d)", None, "-Infinity"),
    (ALL, "CEIL(d)", "CAST(CEIL(d) AS DOUBLE)", "BIGINT"),
    (ALL, "FLOOR(d)", "CAST(FLOOR(d) AS DOUBLE)", "BIGINT"),
    (ALL, "SIGN(n)", "CAST(SIGN(n) AS INT)", "SIGN is a DOUBLE"),
    (ALL, "INITCAP(txt)", None, "begins a word"),
    (ALL, "a[1]", "TRY_ELEMENT_AT(a, 1)", "count from 1"),
    (ALL, "REGEXP_REPLACE(txt, 'a', 'b')", "REGEXP_REPLACE(txt, 'a', 'b')", ""),
    (ALL, "SUBSTRING(txt, 1, 2)", "SUBSTRING(txt, 1, 2)", ""),
    (ALL, "SPLIT(txt, ',')", "SPLIT(txt, ',')", ""),
    (ALL, "LPAD(txt, 3, 'x')", "LPAD(txt, 3, 'x')", ""),
    (ALL, "txt LIKE 'a_b%'", "txt LIKE 'a_b%'", ""),
    (ALL, "txt LIKE 'a!_b' ESCAPE '!'", "txt LIKE 'a!_b' ESCAPE '!'", ""),
    (ALL, "CEIL(n)", "CEIL(n)", ""),
    (ALL, "d / 2", "d / 2", ""),
    # ksqlDB
    ((System.KSQLDB,), "SLICE(a, 2, 3)", "CASE WHEN SIZE(a) >= 3 THEN SLICE(a, 2, 2) END", "the last place"),
    ((System.KSQLDB,), "SLICE(a, n, m)", "SLICE(a, n, (m) - (n) + 1)", "the last place"),
    ((System.KSQLDB,), "SLICE(SLICE(a, 1, 2), 1, 1)", "CASE WHEN SIZE(CASE WHEN", "the last place"),
    ((System.KSQLDB,), "ROUND(-1.5)", "FLOOR(-1.5 + 0.5)", "in ksqlDB upwards"),
    ((System.KSQLDB,), "ROUND(d)", "CAST(FLOOR(d + 0.5) AS BIGINT)", "in ksqlDB upwards"),
    ((System.KSQLDB,), "ROUND(c, 1)", None, "in ksqlDB upwards"),
    ((System.KSQLDB,), "ROUND(n)", "ROUND(n)", ""),
    ((System.KSQLDB,), "CAST(t AS STRING)", "DATE_FORMAT(t, 'yyyy-MM-dd''T''HH:mm:ss.SSS')", "a T"),
    ((System.KSQLDB,), "CAST(b AS STRING)", "CAST(b AS STRING)", ""),
    ((System.KSQLDB,), "CAST(txt AS INT)", "TRY_CAST(txt AS INT)", "NULL: TRY_CAST"),
    ((System.KSQLDB,), "CAST(txt AS BOOLEAN)", "COALESCE(TRY_CAST(txt AS BOOLEAN), txt IS NULL AND NULL)", "FALSE"),
    ((System.KSQLDB,), "CONCAT(txt, CONCAT(u, 'x'))", "CONCAT_WS('', txt, CONCAT_WS('', u, 'x'))", "empty text"),
    ((System.KSQLDB,), "ARRAY_SORT(a)", "ARRAY_SORT(a)", ""),
    ((System.KSQLDB,), "ARRAY_SORT(a, 'desc')", "SORT_ARRAY(a, FALSE)", "takes no order"),
    ((System.KSQLDB,), "ARRAY_SORT(a, 'ASC')", "ARRAY_SORT(a)", "takes no order"),
    ((System.KSQLDB,), "ARRAY_JOIN(ta)", "ARRAY_JOIN(ta, ',', 'null')", "the word null"),
    ((System.KSQLDB,), "ARRAY_JOIN(ta, '-')", "ARRAY_JOIN(ta, '-', 'null')", "the word null"),
    ((System.KSQLDB,), "ARRAY_REMOVE(a, n)", None, "removes the NULLs"),
    ((System.KSQLDB,), "ARRAY_REMOVE(a, 1)", "ARRAY_REMOVE(a, 1)", ""),
    ((System.KSQLDB,), "INSTR(txt, 'a')", "COALESCE(INSTR(txt, 'a'), 0)", "it is 0"),
    ((System.KSQLDB,), "CHR(n)", None, "modulo 256"),
    ((System.KSQLDB,), "CHR(10)", "CHR(10)", ""),
    ((System.KSQLDB,), "TRIM(txt)", None, "ends of lines"),
    ((System.KSQLDB,), "LOG(d)", None, "natural"),
    ((System.KSQLDB,), "AS_MAP(ta, a)", None, "repeated"),
    ((System.KSQLDB,), "MAP('a' := 1, 'b' := 2)", "MAP('a' := 1, 'b' := 2)", ""),
    ((System.KSQLDB,), "MAP(txt := 1, u := 2)", None, "repeated"),
    ((System.KSQLDB,), "URL_EXTRACT_HOST(txt)", "TRY_PARSE_URL(txt, 'HOST')", "no URL"),
    ((System.KSQLDB,), "URL_DECODE_PARAM(txt)", "TRY_URL_DECODE(txt)", "TRY_URL_DECODE"),
    ((System.KSQLDB,), "PARSE_TIMESTAMP(txt, 'yyyy')", None, "TRY_TO_TIMESTAMP"),
    ((System.KSQLDB,), "EXTRACTJSONFIELD(txt, '$.a')", None, "the word null"),
    ((System.KSQLDB,), "ROWTIME", "UNIX_MILLIS(ROWTIME)", "BIGINT of milliseconds"),
    ((System.KSQLDB,), "s.ROWTIME + 1", "UNIX_MILLIS(s.ROWTIME) + 1", "BIGINT of milliseconds"),
    ((System.KSQLDB,), "ROWTIME > '2024-01-01'", "ROWTIME > '2024-01-01'", ""),
    ((System.KSQLDB,), "n / m", "n DIV NULLIF(m, 0)", "a whole number"),
    ((System.KSQLDB,), "n % m", None, "a remainder of 0"),
    ((System.KSQLDB,), "n % 2", "n % 2", ""),
    # Flink
    ((System.FLINK,), "CAST(t AS STRING)", "DATE_FORMAT(t, 'yyyy-MM-dd HH:mm:ss.SSS')", "all digits"),
    ((System.FLINK,), "CAST(b AS VARCHAR)", "UPPER(CAST(b AS VARCHAR))", "TRUE or FALSE"),
    ((System.FLINK,), "UPPER(CAST(b AS STRING))", "UPPER(CAST(b AS STRING))", ""),
    ((System.FLINK,), "STR_TO_MAP(txt)", "STR_TO_MAP(txt, ',', '=')", "equals signs"),
    ((System.FLINK,), "STR_TO_MAP(txt, ';', ':')", None, "repeated"),
    ((System.FLINK,), "JSON_VALUE(txt, 'lax $.a')", "GET_JSON_OBJECT(txt, '$.a')", "objects and arrays"),
    ((System.FLINK,), "JSON_VALUE(txt, 'strict $.[''a b''][0]')", "GET_JSON_OBJECT(txt, '$[''a b''][0]')", "objects"),
    ((System.FLINK,), "JSON_VALUE(txt, '$[\"a b\"]')", "GET_JSON_OBJECT(txt, '$[''a b'']')", "objects"),
    (
        (System.FLINK,),
        "JSON_VALUE(txt, 'lax $.a' RETURNING INTEGER NULL ON EMPTY)",
        "TRY_CAST(GET_JSON_OBJECT(txt, '$.a') AS INT)",
        "objects",
    ),
    ((System.FLINK,), "JSON_VALUE(JSON_VALUE(txt, '$.a'), '$.b')", "GET_JSON_OBJECT(GET_JSON_OBJECT(", "objects"),
    ((System.FLINK,), "ARRAY_SORT(a)", "SORT_ARRAY(a)", "they come first"),
    ((System.FLINK,), "ARRAY_SORT(a, FALSE)", "SORT_ARRAY(a, FALSE)", "takes no order"),
    ((System.FLINK,), "ARRAY_SORT(a, TRUE, FALSE)", "ARRAY_SORT(a)", "last by itself"),
    ((System.FLINK,), "LTRIM(txt, 'x')", "TRIM(LEADING 'x' FROM txt)", "the text does"),
    ((System.FLINK,), "RTRIM(txt, u)", "TRIM(TRAILING u FROM txt)", "the text does"),
    ((System.FLINK,), "RTRIM(LTRIM(txt, 'x'), 'y')", "TRIM(TRAILING 'y' FROM TRIM(LEADING 'x' FROM txt))", "the text"),
    ((System.FLINK,), "LTRIM(txt)", "LTRIM(txt)", ""),
    ((System.FLINK,), "ROUND(-1.5)", "ROUND(-1.5)", ""),
    ((System.FLINK,), "CONCAT(txt, u)", "CONCAT(txt, u)", ""),
    ((System.FLINK,), "TO_TIMESTAMP(txt)", "TRY_TO_TIMESTAMP(txt)", "it is NULL"),
    ((System.FLINK,), "TO_DATE(txt, 'yyyy')", "TRY_TO_DATE(txt, 'yyyy')", "it is NULL"),
    ((System.FLINK,), "PARSE_URL(txt, 'HOST')", "TRY_PARSE_URL(txt, 'HOST')", "it is NULL"),
    ((System.FLINK,), "FROM_UNIXTIME(big)", None, "in UTC"),
    ((System.FLINK,), "FLOOR(t TO HOUR)", "FLOOR(t TO HOUR)", ""),
    ((System.FLINK,), "LEAST(n, m)", None, "a NULL makes it NULL"),
    ((System.FLINK,), "CURRENT_DATE", None, "each row has its own"),
    ((System.FLINK,), "MAP['a', 1, 'a', 2]", None, "repeated"),
    ((System.FLINK,), "MAP['a', 1, 'b', 2]", "MAP['a', 1, 'b', 2]", ""),
    ((System.FLINK,), "REGEXP_REPLACE(txt, '(a)', '$1')", None, "it is NULL"),
    ((System.FLINK,), "TYPEOF(n)", None, "TYPEOF"),
    (
        (System.FLINK,),
        "COALESCE(SPLIT(LTRIM(txt, 'x'), '.')[1], CAST(b AS STRING))",
        "COALESCE(TRY_ELEMENT_AT(SPLIT(TRIM(LEADING 'x' FROM txt), '\\.'), 1), UPPER(CAST(b AS STRING)))",
        "TRUE or FALSE",
    ),
    # Spark
    ((System.SPARK,), "ROUND(-1.5)", "ROUND(-1.5)", ""),
    ((System.SPARK,), "n / m", "n / m", ""),
    ((System.SPARK,), "txt LIKE 'a\\_b'", "txt LIKE 'a\\_b'", "backslash"),
    ((System.SPARK,), "a[1]", "a[1]", ""),
    ((System.SPARK,), "'${env}'", None, "T020"),
    ((System.SPARK,), "'\\101\\U00000042'", "'AB'", "backslash"),
)
CASES = [(system, *rest) for systems, *rest in FORMS for system in systems]


def run(text: str, system: System) -> TranslatedStatement:
    return [each for _, each in translate(Source("<test>", text), system) if each is not None][-1]


def strip(sql: str) -> str:
    """Without white space, which the layout chooses."""
    return "".join(sql.split())


@pytest.mark.parametrize(("system", "written", "meant", "told"), CASES)
def test_a_form_keeps_its_meaning(system: System, written: str, meant: str | None, told: str) -> None:
    found = run(f"{DECLARED[system]}\nCREATE VIEW v AS SELECT {written} AS x FROM s;", system)
    assert found.verdict is not Verdict.REFUSED, found.notes
    assert strip(meant or written) in strip(found.sql)
    assert told in " ".join(found.notes)
    assert bool(told) == bool(found.notes), found.notes


# Of groups.
GROUPED: tuple[tuple[System, str, str, str], ...] = (
    (System.FLINK, "LISTAGG(txt)", "LISTAGG(txt, ',')", "the least first"),
    (System.FLINK, "LISTAGG(txt, '-')", "LISTAGG(txt, '-')", "the least first"),
    (System.FLINK, "AVG(n)", "AVG(n)", "whole number"),
    (System.FLINK, "SUM(n / m)", "SUM(n DIV m)", "a whole number"),
    (System.KSQLDB, "COLLECT_LIST(txt)", "COLLECT_LIST(txt)", "with NULLs"),
    (System.KSQLDB, "SUM(n)", "SUM(n)", "it is 0"),
    (System.KSQLDB, "AVG(d)", "AVG(d)", "it is 0"),
    (System.KSQLDB, "STDDEV_SAMP(d)", "STDDEV_SAMP(d)", "the variance"),
    (System.KSQLDB, "COUNT_DISTINCT(txt)", "COUNT_DISTINCT(txt)", "an estimate"),
    (System.SPARK, "collect_list(txt)", "collect_list(txt)", "the least first"),
)


@pytest.mark.parametrize(("system", "written", "meant", "told"), GROUPED)
def test_an_aggregate_keeps_its_meaning(system: System, written: str, meant: str, told: str) -> None:
    window = "TUMBLE(at, INTERVAL '1' HOUR)"
    text = DECLARED[system]
    if system is System.SPARK:
        place = "WITH (connector = 'files', path = 's', format = 'json');"
        text = f"CREATE STREAM s ({COLUMNS}, WATERMARK FOR at AS at) {place}"
    group = "WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY k" if system is System.KSQLDB else f"GROUP BY k, {window}"
    found = run(f"{text}\nCREATE TABLE v AS SELECT k, {written} AS x FROM s {group};", system)
    assert found.verdict is Verdict.CHANGED, found.notes
    assert meant in " ".join(found.sql.split())
    assert told in " ".join(found.notes)


@pytest.mark.parametrize(
    ("gap", "milliseconds"), [("30 SECONDS", 30_000), ("1 MINUTE", 60_000), ("2 HOURS", 7_200_000)]
)
def test_a_session_of_ksqldb_ends_at_its_last_row(gap: str, milliseconds: int) -> None:
    select = "SELECT k, WINDOWSTART AS b, WINDOWEND AS e, WINDOWEND - WINDOWSTART AS len, COUNT(*) AS n"
    found = run(
        f"{DECLARED[System.KSQLDB]} CREATE TABLE t AS {select} FROM s WINDOW SESSION ({gap}) GROUP BY k EMIT FINAL;",
        System.KSQLDB,
    )
    assert f"(WINDOWEND - {milliseconds}) AS e" in found.sql
    assert f"(WINDOWEND - {milliseconds}) - WINDOWSTART AS len" in found.sql
    assert "the time of that row (" in " ".join(found.notes)
    assert "the window ends with that row" in " ".join(found.notes)


def test_the_end_of_a_session_keeps_its_name() -> None:
    text = "CREATE TABLE t AS SELECT k, WINDOWEND, WINDOWEND - WINDOWSTART AS len, COUNT(*) AS n FROM s"
    found = run(f"{DECLARED[System.KSQLDB]} {text} WINDOW SESSION (1 SECOND) GROUP BY k EMIT FINAL;", System.KSQLDB)
    assert "UNIX_MILLIS(window_end) - 1000 AS WINDOWEND" in found.sql
    assert "(UNIX_MILLIS(window_end) - 1000) - WINDOWSTART AS len" in found.sql


def test_the_end_of_a_window_stays() -> None:
    text = "CREATE TABLE t AS SELECT k, WINDOWEND AS e, COUNT(*) AS n FROM s WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY k;"
    assert "WINDOWEND AS e" in run(f"{DECLARED[System.KSQLDB]} {text}", System.KSQLDB).sql


def test_computed_columns_keep_their_meaning() -> None:
    columns = "txt STRING, a ARRAY<STRING>, x AS a[1], y AS JSON_VALUE(txt, 'lax $.a'), at AS TO_TIMESTAMP(txt)"
    place = "WITH ('connector' = 'filesystem', 'path' = 's', 'format' = 'json')"
    found = run(f"CREATE TABLE s ({columns}, z AS 1 / 2, WATERMARK FOR at AS at) {place};", System.FLINK)
    text = " ".join(found.sql.split())
    for meant in ("x AS TRY_ELEMENT_AT(a, 1)", "y AS GET_JSON_OBJECT(txt, '$.a')", "at AS TRY_TO_TIMESTAMP(txt)"):
        assert meant in text
    assert "z AS 1 DIV 2" in text


@pytest.mark.parametrize(
    ("digits", "form"), [("(0)", "'yyyy-MM-dd HH:mm:ss'"), ("(6)", "'yyyy-MM-dd HH:mm:ss.SSSSSS'"), ("", ".SSSSSS'")]
)
def test_texts_of_times_have_the_digits_that_are_declared(digits: str, form: str) -> None:
    place = "WITH ('connector' = 'filesystem', 'path' = 's', 'format' = 'json');"
    text = f"CREATE TABLE s (t TIMESTAMP{digits}) {place} CREATE VIEW v AS SELECT CAST(t AS STRING) AS x FROM s;"
    assert form in run(text, System.FLINK).sql


def test_several_digits_are_told() -> None:
    place = "WITH ('connector' = 'filesystem', 'path' = 's', 'format' = 'json');"
    view = "CREATE VIEW v AS SELECT CAST(t AS STRING) AS x FROM s;"
    found = run(f"CREATE TABLE s (t TIMESTAMP(3), u TIMESTAMP(0)) {place} {view}", System.FLINK)
    assert "CAST(t AS STRING)" in found.sql
    assert "for TIMESTAMP(3)" in found.notes[0]


def test_values_of_a_frame_leave_out_nulls() -> None:
    over = "OVER (PARTITION BY k ORDER BY at RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW)"
    found = run(f"{DECLARED[System.FLINK]} CREATE VIEW v AS SELECT LAST_VALUE(n) {over} AS x FROM s;", System.FLINK)
    assert "LAST_VALUE(n) FILTER (WHERE n IS NOT NULL)" in found.sql


def test_places_are_told() -> None:
    text = f"{DECLARED[System.FLINK]}\nCREATE VIEW v AS\nSELECT INITCAP(txt) AS x,\n  INITCAP(u) AS y FROM s;"
    assert run(text, System.FLINK).notes[0].endswith("(3:8, 4:3)")


# The functions that the references of the systems name, and that Penstock has, too, or may have.
DOCUMENTED = {
    System.FLINK: """ABS ACOS ARRAY_AGG ARRAY_APPEND ARRAY_CONCAT ARRAY_CONTAINS ARRAY_DISTINCT ARRAY_EXCEPT
    ARRAY_INTERSECT ARRAY_JOIN ARRAY_MAX ARRAY_MIN ARRAY_POSITION ARRAY_PREPEND ARRAY_REMOVE
    ARRAY_REVERSE ARRAY_SLICE ARRAY_SORT ARRAY_UNION ASCII ASIN ATAN ATAN2 AVG BIN BTRIM CARDINALITY
    CEIL CEILING CHARACTER_LENGTH CHAR_LENGTH CHR COALESCE COLLECT CONCAT CONCAT_WS CONVERT_TZ COS COSH
    COT COUNT CUME_DIST CURRENT_WATERMARK DATE_FORMAT DAYOFMONTH DAYOFWEEK DAYOFYEAR DECODE DEGREES
    DENSE_RANK E ELEMENT ELT ENCODE ENDSWITH EXP FIRST_VALUE FLOOR FROM_BASE64 FROM_UNIXTIME GREATEST
    GROUPING GROUPING_ID HEX HOUR IF IFNULL INITCAP INSTR IS_ALPHA IS_DECIMAL IS_DIGIT JSON_ARRAY
    JSON_ARRAYAGG JSON_EXISTS JSON_OBJECT JSON_OBJECTAGG JSON_QUERY JSON_QUOTE JSON_STRING JSON_UNQUOTE
    JSON_VALUE LAG LAST_VALUE LEAD LEAST LEFT LISTAGG LN LOCATE LOG LOG10 LOG2 LOWER LPAD LTRIM
    MAP_ENTRIES MAP_FROM_ARRAYS MAP_KEYS MAP_UNION MAP_VALUES MAX MD5 MIN MINUTE MOD MONTH NOW NTILE
    NULLIF OVERLAY PARSE_URL PERCENTILE PERCENT_RANK PI POSITION POWER PRINTF PROCTIME QUARTER RADIANS
    RAND RAND_INTEGER RANK REGEXP REGEXP_COUNT REGEXP_EXTRACT REGEXP_EXTRACT_ALL REGEXP_INSTR
    REGEXP_REPLACE REGEXP_SUBSTR REPEAT REPLACE REVERSE RIGHT ROUND ROW_NUMBER RPAD RTRIM SECOND SHA1
    SHA2 SHA224 SHA256 SHA384 SHA512 SIGN SIN SINH SPLIT SPLIT_INDEX SQRT STARTSWITH STDDEV_POP
    STDDEV_SAMP STR_TO_MAP SUBSTR SUBSTRING SUM TAN TANH TIMESTAMPADD TIMESTAMPDIFF TO_BASE64 TO_DATE
    TO_TIMESTAMP TO_TIMESTAMP_LTZ TRANSLATE TRIM TRUNCATE TYPEOF UNHEX UNIX_TIMESTAMP UPPER URL_DECODE
    URL_ENCODE UUID VARIANCE VAR_POP VAR_SAMP WEEK YEAR""",
    System.KSQLDB: """ABS ACOS ARRAY ARRAY_CONCAT ARRAY_CONTAINS ARRAY_DISTINCT ARRAY_EXCEPT ARRAY_INTERSECT ARRAY_JOIN
    ARRAY_LENGTH ARRAY_MAX ARRAY_MIN ARRAY_REMOVE ARRAY_SORT ARRAY_UNION ASIN AS_MAP AS_VALUE ATAN ATAN2
    AVG CBRT CEIL CHR COALESCE COLLECT_LIST COLLECT_SET CONCAT CONCAT_WS CONVERT_TZ COS COSH COT COUNT
    COUNT_DISTINCT DATEADD DATESUB DATETOSTRING DEGREES EARLIEST_BY_OFFSET ELT ENCODE ENTRIES EXP
    EXTRACTJSONFIELD FIELD FILTER FLOOR FORMAT_DATE FORMAT_TIME FORMAT_TIMESTAMP FROM_BYTES FROM_DAYS
    FROM_UNIXTIME GENERATE_SERIES GEO_DISTANCE GREATEST HISTOGRAM IFNULL INITCAP INSTR IS_JSON_STRING
    JSON_ARRAY_CONTAINS JSON_ARRAY_LENGTH JSON_CONCAT JSON_KEYS JSON_RECORDS LATEST_BY_OFFSET LCASE
    LEAST LEN LN LOG LPAD MAP MAP_KEYS MAP_UNION MAP_VALUES MASK MASK_LEFT MAX MD5 MIN NULLIF PARSE_DATE
    PARSE_TIME PARSE_TIMESTAMP PI POWER RADIANS RANDOM REDUCE REGEXP_EXTRACT REGEXP_EXTRACT_ALL
    REGEXP_REPLACE REGEXP_SPLIT_TO_ARRAY REPLACE ROUND RPAD SIGN SIN SINH SLICE SPLIT SPLIT_TO_MAP SQRT
    STDDEV_SAMP STRINGTODATE STRINGTOTIMESTAMP SUBSTRING SUM TAN TANH TIMESTAMPADD TIMESTAMPSUB
    TIMESTAMPTOSTRING TOPK TOPKDISTINCT TO_BYTES TO_JSON_STRING TRANSFORM TRIM UCASE UNIX_DATE
    UNIX_TIMESTAMP URL_DECODE_PARAM URL_ENCODE_PARAM URL_EXTRACT_HOST URL_EXTRACT_PROTOCOL UUID""",
}


@pytest.mark.parametrize("system", ALL)
def test_each_function_of_the_other_system_is_judged(system: System) -> None:
    names = {name for name in DOCUMENTED[system].split() if find_function(name) is not None}
    assert names - SAME[system] - set(RULES[system]) == set()
    assert SAME[system] & set(RULES[system]) == set()
    assert {name for name in SAME[system] if find_function(name) is None} == set()


@pytest.mark.parametrize(("system", "call"), [(System.FLINK, "SOUNDEX(txt)"), (System.KSQLDB, "UPPER(txt)")])
def test_a_function_that_the_other_system_has_not_is_told(system: System, call: str) -> None:
    found = run(f"{DECLARED[system]}\nCREATE VIEW v AS SELECT {call} AS x FROM s;", system)
    (told,) = [note for note in found.notes if "is no function" in note]
    assert told.startswith(f"{call.partition('(')[0]} is no function of {system.title}")


def test_columns_without_names_are_told() -> None:
    found = run(f"{DECLARED[System.FLINK]} CREATE VIEW v AS SELECT k, n + 1, UPPER(txt) FROM s;", System.FLINK)
    assert any("called col2, col3; in Flink EXPR$0" in note for note in found.notes)


def test_what_ksqldb_answers_once_is_told() -> None:
    table = f"{DECLARED[System.KSQLDB]} CREATE TABLE t AS SELECT k, COUNT(*) AS c FROM s GROUP BY k;"
    told = "answers a SELECT without EMIT CHANGES once"
    assert told in " ".join(run(f"{table} SELECT k, c FROM t WHERE k = 'a';", System.KSQLDB).notes)
    assert told not in " ".join(run(f"{table} SELECT k, c FROM t EMIT CHANGES;", System.KSQLDB).notes)


def test_times_in_records_of_ksqldb_are_told() -> None:
    assert any(note.startswith("t, at: ksqlDB reads and writes a time as a number") for note in declare().notes)


def declare() -> TranslatedStatement:
    return run(DECLARED[System.KSQLDB], System.KSQLDB)


def test_names_in_records_of_ksqldb_are_told() -> None:
    text = "CREATE STREAM o WITH (KAFKA_TOPIC = 'o') AS SELECT k, n AS `userId` FROM s EMIT CHANGES;"
    found = run(f"{DECLARED[System.KSQLDB]} {text}", System.KSQLDB)
    assert "`userId`" in found.sql
    assert any("names without quotes in capitals" in note for note in found.notes)


def test_names_keep_their_case() -> None:
    columns = 'ACTIVITY_ID INTEGER, `userId` VARCHAR, "Mixed" STRUCT<`City` VARCHAR, text BIGINT>'
    found = run(f"CREATE STREAM ACTIVITY ({columns}) WITH (KAFKA_TOPIC = 'activity');", System.KSQLDB)
    for name in ("ACTIVITY_ID INT", "`userId` STRING", '"Mixed" STRUCT<`City` STRING, text BIGINT>'):
        assert name in found.sql


def test_a_table_without_a_place_is_told() -> None:
    found = run("CREATE OR REFRESH STREAMING TABLE devices COMMENT 'the newest';", System.SPARK)
    assert found.notes == ("the table names no place of its rows, and no format: USING json LOCATION '…' does",)


def test_a_refused_declaration_is_named_where_it_is_read() -> None:
    text = "CREATE TABLE Lost (a INT) WITH ('connector' = 'hbase-1.4');\nCREATE VIEW v AS SELECT a FROM lost;"
    assert run(text, System.FLINK).notes[1] == "lost is refused above, in line 1"
