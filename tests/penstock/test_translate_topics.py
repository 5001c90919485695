"""`penstock translate`: the keys and formats of topics."""

from __future__ import annotations

import re

import pytest

from penstock.translate import System, Verdict
from penstock.translate.place_options import quote
from tests.penstock.test_translate import last


@pytest.mark.parametrize(
    ("keys", "options", "key_format", "note"),
    [
        ("id BIGINT KEY,", "", "'text'", "numbers in keys are texts here"),
        ("id BIGINT KEY,", ", KEY_FORMAT = 'DELIMITED'", "'text'", ""),
        ("id BIGINT KEY,", ", KEY_FORMAT = 'JSON'", "'text'", ""),
        ("id VARCHAR KEY,", "", "'text'", ""),
        ("id VARCHAR KEY,", ", KEY_FORMAT = 'JSON'", "'text'", "quotes around a text"),
        ("id VARCHAR KEY, b INT KEY,", ", KEY_FORMAT = 'JSON'", "'json'", ""),
        ("id VARCHAR KEY, b INT KEY,", ", KEY_FORMAT = 'DELIMITED'", "'json'", "several columns are JSON objects"),
        ("id VARCHAR KEY,", ", KEY_FORMAT = 'AVRO'", "'text'", "keys in AVRO are not read"),
        ("", "", None, ""),
    ],
)
def test_keys_of_topics_are_read(keys: str, options: str, key_format: str | None, note: str) -> None:
    place = f"WITH (KAFKA_TOPIC = 't', VALUE_FORMAT = 'JSON'{options})"
    found = last(f"CREATE STREAM t ({keys} n BIGINT) {place};", System.KSQLDB)
    assert found.verdict is Verdict.CHANGED
    (written,) = re.findall("key_format = ('[a-z]+')", found.sql) or [None]
    assert written == key_format
    told = " ".join(found.notes)
    assert note in told
    assert bool(note) == ("key" in told)


@pytest.mark.parametrize(
    ("columns", "options", "meant"),
    [
        ("id BIGINT, n INT", "'key.format' = 'json', 'key.fields' = 'id'", "id BIGINT,"),
        (
            "id BIGINT, n INT",
            "'key.format' = 'json', 'key.fields' = 'id', 'value.fields-include' = 'EXCEPT_KEY'",
            "key_format = 'json'",
        ),
        (
            "id BIGINT, n INT",
            "'key.format' = 'raw', 'key.fields' = 'id', 'value.fields-include' = 'EXCEPT_KEY'",
            "key_format = 'text'",
        ),
    ],
)
def test_keys_of_topics_of_flink(columns: str, options: str, meant: str) -> None:
    place = f"WITH ('connector' = 'kafka', 'topic' = 't', 'format' = 'json', {options})"
    found = last(f"CREATE TABLE t ({columns}) {place};")
    assert meant in found.sql
    assert ("key_format" in found.sql) == ("id BIGINT KEY" in found.sql)


def test_keys_of_upserts_of_flink() -> None:
    columns = "(id BIGINT, n INT, PRIMARY KEY (id) NOT ENFORCED)"
    place = "WITH ('connector' = 'upsert-kafka', 'topic' = 't', 'value.format' = 'json', 'key.format' = '{}')"
    assert "key_format = 'json'" in last(f"CREATE TABLE t {columns} {place.format('json')};").sql
    assert last(f"CREATE TABLE t {columns} {place.format('avro')};").verdict is Verdict.REFUSED


def test_topics_of_csv() -> None:
    place = "WITH (KAFKA_TOPIC = 't', VALUE_FORMAT = 'DELIMITED'{});"
    assert "format = 'csv'" in last(f"CREATE STREAM t (n BIGINT) {place.format('')}", System.KSQLDB).sql
    refused = last(f"CREATE STREAM t (n BIGINT) {place.format(', VALUE_DELIMITER = ' + quote('TAB'))}", System.KSQLDB)
    assert refused.verdict is Verdict.REFUSED
    assert "separated by commas" in refused.notes[0]


@pytest.mark.parametrize(
    ("type_", "options", "computed"),
    [
        ("BIGINT", "TIMESTAMP = 'at'", "at_at AS TIMESTAMP_MILLIS(at)"),
        (
            "VARCHAR",
            "TIMESTAMP = 'at', TIMESTAMP_FORMAT = 'yyyy-MM-dd HH:mm'",
            "at_at AS TO_TIMESTAMP(at, 'yyyy-MM-dd HH:mm')",
        ),
        ("TIMESTAMP", "TIMESTAMP = 'at'", ""),
    ],
)
def test_times_of_topics_of_ksqldb(type_: str, options: str, computed: str) -> None:
    found = last(f"CREATE STREAM t (id BIGINT KEY, at {type_}) WITH (KAFKA_TOPIC = 't', {options});", System.KSQLDB)
    assert found.verdict is Verdict.CHANGED
    time = "at_at" if computed else "at"
    assert computed in found.sql
    assert f"WATERMARK FOR {time} AS {time} - INTERVAL '1' DAY" in found.sql
    assert bool(computed) == ("which SELECT * has, too" in " ".join(found.notes))


def test_an_event_time_has_a_name_of_its_own() -> None:
    columns = "(id BIGINT KEY, at BIGINT, AT_AT VARCHAR)"
    found = last(f"CREATE STREAM t {columns} WITH (KAFKA_TOPIC = 't', TIMESTAMP = 'at');", System.KSQLDB)
    assert "at_at_ AS TIMESTAMP_MILLIS(at)" in found.sql
    assert "WATERMARK FOR at_at_ AS" in found.sql


def test_a_text_without_a_format_is_no_time() -> None:
    found = last("CREATE STREAM t (at VARCHAR) WITH (KAFKA_TOPIC = 't', TIMESTAMP = 'at');", System.KSQLDB)
    assert found.verdict is Verdict.REFUSED
    assert "W013" in found.notes[0]
