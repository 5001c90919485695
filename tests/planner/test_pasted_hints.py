"""Hints that are SQL are accepted in the place of what was refused."""

from __future__ import annotations

import re
from functools import cache

import pytest

from penstock.compilation import compile, compile_read
from penstock.diagnostics import CompileError, Source
from penstock.planner import Catalog
from penstock.planner.functions.refused import FOREIGN
from tests.conformance.spellings.cases import PRELUDE

# Of each function of another system that has a form here: a call of it.
CALLS = {
    "LATEST_BY_OFFSET": "kind",
    "EARLIEST_BY_OFFSET": "kind",
    "GROUP_CONCAT": "kind",
    "CURRENT_ROW_TIMESTAMP": "",
    "CLOCK_TIMESTAMP": "",
    "JSON_VALUE": "payload, '$.a'",
    "JSON_QUERY": "payload, '$.a'",
    "JSON_EXISTS": "payload, '$.a'",
    "JSON_STRING": "tags",
    "TO_JSON_STRING": "tags",
    "URL_EXTRACT_PATH": "payload",
    "URL_EXTRACT_QUERY": "payload",
    "URL_EXTRACT_FRAGMENT": "payload",
    "URL_EXTRACT_PARAMETER": "payload, 'a'",
    "ARRAY_CONCAT": "tags, tags",
    "ARRAY_CAT": "tags, tags",
    "STRING_TO_ARRAY": "payload, ','",
    "TRUNCATE": "score",
    "ELEMENT": "tags",
    "LIKE": "kind, 'a%'",
    "ILIKE": "kind, 'a%'",
    "CONVERT_TZ": "ts, 'UTC', 'Europe/Paris'",
    "ARRAY_SLICE": "tags, 2, 3",
    "MAP_UNION": "props, props",
    "SPLIT_TO_MAP": "payload, ';', '='",
    "REGEXP_SPLIT_TO_ARRAY": "payload, ';'",
    "FROM_BASE64": "payload",
    "TO_BYTES": "payload, 'utf8'",
    "FROM_BYTES": "UNHEX(payload), 'utf8'",
    "HASH_CODE": "kind",
    "IS_ALPHA": "kind",
    "IS_DIGIT": "kind",
    "IS_DECIMAL": "kind",
    "COLLECT": "kind",
    "CORRELATION": "score, id",
    "STDDEV_SAMPLE": "score",
    "ATTR": "kind",
    "JSON_ARRAY": "id, small",
    "JSON_OBJECT": "'a', id, 'b', kind",
    "JSON_BUILD_OBJECT": "'a', id",
    "JSONB_BUILD_OBJECT": "'a', id",
    "JSON_BUILD_ARRAY": "id, small",
    "JSONB_BUILD_ARRAY": "id, small",
    "ROW_TO_JSON": "address",
    "JSON_ARRAYAGG": "id",
    "JSON_AGG": "id",
    "JSON_ITEMS": "payload",
    "JSON_EXTRACT_PATH_TEXT": "payload, 'a'",
    "ENTRIES": "props, TRUE",
    "UNNEST": "tags",
    "FORMAT": "'%s-%s', kind, id",
    "ARRAY_LENGTH": "tags, 1",
    "FORMAT_TIME": "TIME '10:00:00', 'HH'",
    "PARSE_TIME": "'10:00:00', 'HH:mm:ss'",
    "TO_JSONB": "tags",
    "GENERATE_SERIES": "1, 3",
    "FIELD": "kind, 'a', 'b'",
    "IS_JSON_STRING": "payload",
    "JSON_ARRAY_CONTAINS": "payload, 'a'",
    "JSON_RECORDS": "payload",
    "GEO_DISTANCE": "score, score, 1.5, 2.5, 'KM'",
    "IDENTIFIER": "'kind'",
    "ISFINITE": "ts",
    "JUSTIFY_HOURS": "ts - ts",
    "JUSTIFY_DAYS": "ts - ts",
    "JUSTIFY_INTERVAL": "ts - ts",
    "JSON_QUOTE": "kind",
    "JSON_UNQUOTE": "payload",
    "SIND": "score",
    "COSD": "score",
    "TAND": "score",
    "MASK_LEFT": "kind, 2",
    "MASK_RIGHT": "kind, 2",
    "MASK_KEEP_LEFT": "kind, 2",
    "MASK_KEEP_RIGHT": "kind, 2",
    "BIGINT_FROM_BYTES": "UNHEX(payload)",
    "URL_EXTRACT_PORT": "payload",
    "AGE": "ts, ts",
    "STATEMENT_TIMESTAMP": "",
    "TRANSACTION_TIMESTAMP": "",
    "TIMEZONE": "'Europe/Paris', ts",
    "REGEXP_MATCH": "kind, 'a(b)'",
    "REGEXP_MATCHES": "kind, 'a(b)', 'g'",
    "REGEXP_SPLIT_TO_TABLE": "kind, ','",
    "STRING_TO_TABLE": "kind, ','",
    "DIGEST": "kind, 'sha256'",
    "TO_HEX": "id",
    "ARRAY_REPLACE": "tags, 'a', 'b'",
    "ARRAY_UPPER": "tags, 1",
    "ARRAY_POSITIONS": "tags, 'a'",
    "TRIM_ARRAY": "tags, 1",
    "JSON_OBJECT_AGG": "kind, id",
    "JSONB_OBJECT_AGG": "kind, id",
    "JSONB_AGG": "id",
    "JSONB_OBJECT_KEYS": "payload",
    **dict.fromkeys(
        ("JSON_ARRAY_ELEMENTS", "JSON_ARRAY_ELEMENTS_TEXT", "JSONB_ARRAY_ELEMENTS", "JSONB_ARRAY_ELEMENTS_TEXT"),
        "payload",
    ),
    **dict.fromkeys(("JSON_EACH", "JSON_EACH_TEXT", "JSONB_EACH", "JSONB_EACH_TEXT"), "payload"),
    "JSONB_EXTRACT_PATH_TEXT": "payload, 'a'",
    "JSONB_PATH_QUERY": "payload, '$.a'",
    "PG_TYPEOF": "kind",
    "HASHTEXT": "kind",
}
AGGREGATES = {
    *("LATEST_BY_OFFSET", "EARLIEST_BY_OFFSET", "GROUP_CONCAT", "COLLECT", "CORRELATION", "STDDEV_SAMPLE", "ATTR"),
    *("JSON_ARRAYAGG", "JSON_AGG", "JSONB_AGG", "JSON_OBJECT_AGG", "JSONB_OBJECT_AGG"),
}
# Calls with other arguments than the function has, and what is to be written.
ARGUMENTS = (
    ("LATEST_BY_OFFSET(kind, FALSE)", "MAX_BY(kind, ROWTIME)"),
    ("LATEST_BY_OFFSET(kind, 3, TRUE)", "SLICE(COLLECT_LIST(kind ORDER BY ROWTIME DESC), 1, 3)"),
    ("LATEST_BY_OFFSET(kind)", "MAX_BY(kind, ROWTIME) FILTER (WHERE kind IS NOT NULL)"),
    ("TRUNC(score)", "SIGN(score) * FLOOR(ABS(score))"),
    ("TRUNC(score, 2)", "SIGN(score) * FLOOR(ABS(score) * POWER(10, 2)) / POWER(10, 2)"),
    ("STRING_TO_ARRAY(kind, '|')", r"SPLIT(kind, '\|')"),
    ("STRING_TO_ARRAY(kind, ', ')", "SPLIT(kind, ', ')"),
    ("STRING_TO_ARRAY(kind, payload)", r"SPLIT(kind, CONCAT(r'\Q', payload, r'\E'))"),
    ("ARRAY_JOIN(tags)", "ARRAY_JOIN(tags, ',')"),
    ("ARRAY_SORT(numbers, 'desc')", "SORT_ARRAY(numbers, FALSE)"),
    ("ARRAY_PREPEND('x', tags)", "ARRAY_PREPEND(tags, 'x')"),
    ("ENCODE(kind, 'utf8', 'hex')", "LOWER(HEX(ENCODE(kind, 'UTF-8')))"),
    ("ENCODE(kind::BYTEA, 'base64')", "BASE64(kind::BYTEA)"),
    ("DECODE('ff', 'hex')", "UNHEX('ff')"),
    ("INSTR(kind, 'a', 2)", "LOCATE('a', kind, 2)"),
    ("TRIM(kind, 'x')", "BTRIM(kind, 'x')"),
    ("REGEXP_REPLACE(kind, 'a', 'b', 'g')", "REGEXP_REPLACE(kind, 'a', 'b')"),
    ("REGEXP_REPLACE(kind, 'a', 'b', 'gi')", "REGEXP_REPLACE(kind, '(?i)a', 'b')"),
    ("REGEXP_LIKE(kind, 'a', 'i')", "REGEXP_LIKE(kind, '(?i)a')"),
    (
        "DATE_TRUNC('hour', ts, 'Europe/Paris')",
        "TO_UTC_TIMESTAMP(DATE_TRUNC('hour', FROM_UTC_TIMESTAMP(ts, 'Europe/Paris')), 'Europe/Paris')",
    ),
    ("CURRENT_TIMESTAMP(3)", "CURRENT_TIMESTAMP"),
    ("TO_CHAR(ts, 'YYYY-MM-DD HH24:MI:SS.MS')", "DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm:ss.SSS')"),
    ("TO_CHAR(ts, 'Dy DD \"of\" Month')", "DATE_FORMAT(ts, 'EEE dd ''of'' MMMM')"),
    (
        "TRANSFORM(props, (k, v) -> k, (k, v) -> v)",
        "TRANSFORM_KEYS(TRANSFORM_VALUES(props, (k, v) -> v), (k, v) -> k)",
    ),
    ("FILTER(props, (k, v) -> v = 'a')", "MAP_FILTER(props, (k, v) -> v = 'a')"),
    ("FORMAT_TIMESTAMP(ts, 'HH:mm', 'Asia/Seoul')", "DATE_FORMAT(FROM_UTC_TIMESTAMP(ts, 'Asia/Seoul'), 'HH:mm')"),
    (
        "TIMESTAMPTOSTRING(epoch, 'HH:mm', 'Asia/Seoul')",
        "DATE_FORMAT(FROM_UTC_TIMESTAMP(TIMESTAMP_MILLIS(epoch), 'Asia/Seoul'), 'HH:mm')",
    ),
    ("EXTRACT(ISODOW FROM ts)", "WEEKDAY(ts) + 1"),
    ("DATE_PART('epoch', ts)", "UNIX_SECONDS(ts)"),
    ("EXTRACT(EPOCH FROM (ts - day))", "UNIX_SECONDS(ts) - UNIX_SECONDS(day)"),
    ("EXTRACT(MILLISECONDS FROM ts)", "DATE_PART('SECOND', ts) * 1000"),
    ("EXTRACT(CENTURY FROM ts)", "(DATE_PART('YEAR', ts) + 99) DIV 100"),
    (
        "TIMESTAMPTOSTRING(ROWTIME, 'HH:mm', 'Asia/Seoul')",
        "DATE_FORMAT(FROM_UTC_TIMESTAMP(ROWTIME, 'Asia/Seoul'), 'HH:mm')",
    ),
    ("TO_BYTES(kind, 'hex')", "UNHEX(kind)"),
    ("TO_BYTES(kind, 'utf8')", "ENCODE(kind, 'UTF-8')"),
    ("FROM_BYTES(UNHEX(kind), 'base64')", "BASE64(UNHEX(kind))"),
    ("FORMAT_DATE(day, 'YYYY-MM-DD HH24:MI')", "'yyyy-MM-dd HH:mm'"),
    ("TO_DATE(kind, 'DD Mon YYYY')", "'dd MMM yyyy'"),
    ("GENERATE_SERIES(1, 9, 2)", "SEQUENCE(1, 9, 2)"),
    ("JSON_EXTRACT_PATH_TEXT(payload, 'a', 'b')", "GET_JSON_OBJECT(payload, '$.' || 'a' || '.' || 'b')"),
)
BOUND = " AND order_time BETWEEN ts AND ts + INTERVAL '1' HOUR"
# A query with a place, what is refused there, and the code.
EXPRESSIONS = (
    ("SELECT STREAM {} AS x FROM events", "'a' + kind", "T002"),
    ("SELECT STREAM {} AS x FROM events", "kind + payload + 'b'", "T002"),
    ("SELECT STREAM {} AS x FROM events", "LAG(score)", "T008"),
    ("SELECT STREAM {} AS x FROM events", "ROW_NUMBER()", "T008"),
    ("CREATE TABLE t AS SELECT kind, {} AS x FROM events GROUP BY kind", "LAST_VALUE(id)", "T008"),
    (
        "SELECT kind, {} AS x FROM events GROUP BY kind, TUMBLE(ts, INTERVAL '1' DAY)",
        "FIRST(id)",
        "T008",
    ),
    ("SELECT STREAM {} FROM events", "kind EXCEPT (payload)", "S020"),
    ("SELECT COUNT(*) AS n FROM events GROUP BY {}", "TUMBLE(PROCTIME(), INTERVAL '1' HOUR)", "W014"),
    ("CREATE STREAM s AS SELECT STREAM id FROM events {}", "WHERE id IN (SELECT order_id FROM orders)", "J007"),
)


@cache
def declared() -> Catalog:
    return compile(PRELUDE.read_text(encoding="utf-8")).catalog


def refusal(sql: str) -> tuple[str, str]:
    """The code and the hint of a statement that is refused."""
    with pytest.raises(CompileError) as raised:
        compile(sql, declared())
    found = raised.value.diagnostics[0]
    assert found.hint is not None
    return found.code, found.hint


def test_every_form_has_a_call() -> None:
    assert CALLS.keys() == {name for name, (_, form) in FOREIGN.items() if form is not None}


@pytest.mark.parametrize("name", CALLS)
def test_forms_of_functions(name: str) -> None:
    group = " GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)" if name in AGGREGATES else ""
    code, hint = refusal(f"SELECT STREAM ({name}({CALLS[name]})) AS x FROM events{group}")
    assert code == "N005"
    compile(f"SELECT STREAM {hint} AS x FROM events{group}", declared())


@pytest.mark.parametrize(("call", "form"), ARGUMENTS)
def test_forms_of_arguments(call: str, form: str) -> None:
    group = " GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)" if call.startswith("LATEST") else ""
    _, hint = refusal(f"SELECT STREAM {call} AS x FROM events{group}")
    assert hint == form
    pasted = re.sub("'[^']*'", hint, call) if hint.startswith("'") else hint
    compile(f"SELECT STREAM {pasted} AS x FROM events{group}", declared())


@pytest.mark.parametrize(("query", "refused", "code"), EXPRESSIONS)
def test_hints_in_place(query: str, refused: str, code: str) -> None:
    found, hint = refusal(query.format(refused))
    assert found == code
    pasted = hint.removeprefix("SELECT ").removeprefix("the event time: ").partition(" beside GROUP BY, or ")[0]
    if code == "J007":  # the bound is the user's to say
        pasted = pasted.replace(", with a bound on the two event times", BOUND)
    compile(query.format(pasted), declared())


@pytest.mark.parametrize(
    ("refused", "pasted"),
    [
        ("SELECT * FROM users WHERE user_id IN (SELECT user_id FROM accounts)", "SELECT users.* FROM users {}"),
        ("SELECT * FROM users u WHERE u.user_id NOT IN (SELECT manager FROM accounts)", "SELECT u.* FROM users u {}"),
        ("SELECT name, (SELECT MAX(balance) AS m FROM accounts) AS m FROM users", "SELECT name, a.m FROM users {}"),
    ],
)
def test_subqueries_of_reads(refused: str, pasted: str) -> None:
    with pytest.raises(CompileError) as raised:
        compile_read(Source("<read>", refused), declared(), memory=True)
    hint = raised.value.diagnostics[0].hint
    assert hint is not None
    compile_read(Source("<read>", pasted.format(hint)), declared(), memory=True)


TOPICS = (
    ("CREATE STREAM s (id BIGINT KEY, a STRING)", "KAFKA_TOPIC = 's', VALUE_FORMAT = 'JSON'", ""),
    ("CREATE STREAM s (a STRING)", "kafka_topic = 's', value_format = 'AVRO', partitions = 3", ""),
    ("CREATE STREAM s (a STRING)", "kafka_topic = 's', value_format = 'DELIMITED', value_delimiter = '|'", ""),
    ("CREATE TABLE s (id STRING PRIMARY KEY, a STRING)", "KAFKA_TOPIC = 's', FORMAT = 'JSON'", ""),
    ("CREATE TABLE s (id STRING, n INT, a INT, PRIMARY KEY (id, n))", "KAFKA_TOPIC = 's', KEY_FORMAT = 'KAFKA'", ""),
    ("CREATE STREAM s", "KAFKA_TOPIC = 's', TIMESTAMP = 'order_time'", " AS SELECT * FROM orders EMIT CHANGES"),
    ("CREATE TABLE s", "PARTITIONS = 1", " AS SELECT user_id, COUNT(*) AS n FROM orders GROUP BY user_id"),
)


@pytest.mark.parametrize(("head", "options", "query"), TOPICS)
def test_options_of_topics(head: str, options: str, query: str) -> None:
    code, hint = refusal(f"{head} WITH ({options}){query}")
    assert code == "C008"
    compile(f"{head} {hint}{query}", declared())
