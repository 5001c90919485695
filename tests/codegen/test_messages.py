"""What is in the key and in the value of a message, and what makes its time."""

from __future__ import annotations

import pytest

from penstock.compilation import compile

DECLARED = """CREATE STREAM s (id BIGINT KEY, name STRING, at TIMESTAMP, WATERMARK FOR at AS at)
  WITH (connector = 'files', path = 'in', format = 'json');
"""
PLACE = "connector = 'kafka', topic = 't', bootstrap_servers = 'h:1', format = "
JSON = "MAP('timestampFormat', 'yyyy-MM-dd\\'T\\'HH:mm:ss.SSSSSSXXX', 'ignoreNullFields', 'false')"
ID = "CAST(`id` AS STRING) AS `key`"
ALL = "'id', `id`, 'name', `name`, 'at', `at`"
TIME = "UNIX_MILLIS(`at`) AS `time`"
NO_TIME = "CAST(NULL AS BIGINT) AS `time`"


def items(sql: str) -> tuple[str, ...]:
    *_, query = compile(DECLARED + sql).program.queries
    return query.message_items


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (
            f"CREATE STREAM t WITH ({PLACE} 'json') AS SELECT STREAM * FROM s;",
            (ID, f"TO_JSON(NAMED_STRUCT({ALL}), {JSON}) AS `value`", TIME),
        ),
        (
            f"CREATE STREAM t WITH ({PLACE} 'json', key_format = 'json') AS SELECT STREAM id, name FROM s;",
            (
                f"TO_JSON(NAMED_STRUCT('id', `id`), {JSON}) AS `key`",
                f"TO_JSON(NAMED_STRUCT('name', `name`), {JSON}) AS `value`",
                NO_TIME,
            ),
        ),
        (
            f"""CREATE STREAM t (n STRING, at TIMESTAMP) WITH ({PLACE} 'json');
            INSERT INTO t SELECT STREAM name, at FROM s;""",
            (
                "CAST(NULL AS STRING) AS `key`",
                f"TO_JSON(NAMED_STRUCT('n', `n`, 'at', `at`), {JSON}) AS `value`",
                TIME,
            ),
        ),
        (
            f"""CREATE TABLE t (id BIGINT PRIMARY KEY, n STRING) WITH ({PLACE} 'json');
            INSERT INTO t SELECT STREAM id, name FROM s;""",
            (ID, f"TO_JSON(NAMED_STRUCT('n', `n`), {JSON}) AS `value`", NO_TIME),
        ),
    ],
    ids=["a key", "a key apart", "no key", "a table"],
)
def test_streams(sql: str, expected: tuple[str, ...]) -> None:
    assert items(sql) == expected


def test_a_row_that_leaves_a_table_has_no_value() -> None:
    source = (
        "CREATE TABLE u (id BIGINT PRIMARY KEY, name STRING) WITH (connector = 'files', path = 'u', format = 'json');"
    )
    made = items(f"{source} CREATE TABLE t WITH ({PLACE} 'json') AS SELECT id, name FROM u WHERE name > 'b';")
    deleted = "CASE WHEN NOT `_operation` = 'delete' THEN TO_JSON(NAMED_STRUCT('name', `name`)"
    assert made[0] == ID
    assert made[1].startswith(deleted)
    assert made[2] == NO_TIME


def test_csv() -> None:
    made = items(f"CREATE STREAM t WITH ({PLACE} 'csv', null = '-') AS SELECT STREAM id, name FROM s;")
    assert made[1].startswith("TO_CSV(NAMED_STRUCT('id', `id`, 'name', `name`), MAP(")
    assert "'nullValue', '-'" in made[1]
