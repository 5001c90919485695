"""SET trigger = 'realtime' is for streams of topics whose rows are looked at one by one, or are grouped."""

from __future__ import annotations

import pytest

import penstock
from penstock.codegen import spark_text
from penstock.codegen.program import FORMAT_SETTING, PARTITIONS_SETTING, STORE_SETTING

TOPIC = "connector = 'kafka', topic = '{}', format = 'json', bootstrap_servers = 'localhost:9092'"
AGAIN = ", delivery = 'at_least_once'"
DECLARED = f"""CREATE STREAM a (id BIGINT, v BIGINT, tags ARRAY<STRING>, at TIMESTAMP METADATA FROM 'timestamp' VIRTUAL,
  WATERMARK FOR at AS at - INTERVAL '5' SECOND) WITH ({TOPIC.format("a")});
CREATE STREAM b (id BIGINT, v BIGINT) WITH ({TOPIC.format("b")});
CREATE STREAM same (id BIGINT) WITH ({TOPIC.format("a")});
CREATE STREAM limited (id BIGINT) WITH ({TOPIC.format("l")}, max_offsets_per_batch = 3);
CREATE STREAM avro (id BIGINT) WITH ({TOPIC.format("v").replace("json", "avro")}, schema_registry = 'http://x:1');
CREATE STREAM files (id BIGINT) WITH (connector = 'files', path = 'in', format = 'json');
CREATE TABLE users (id BIGINT PRIMARY KEY, name STRING) WITH ({TOPIC.format("u")});
CREATE TABLE cards (id BIGINT PRIMARY KEY, name STRING) WITH (connector = 'sqlite', path = 'c.db', table = 'cards');
"""
WRITTEN = f"CREATE STREAM o WITH ({TOPIC.format('o')}{AGAIN}) AS "
TABLE = WRITTEN.replace("STREAM", "TABLE")
ACCEPTED = (
    "SELECT STREAM * FROM a",
    "SELECT STREAM id, UPPER(tags[0]) AS t FROM a WHERE v > 1",
    "SELECT STREAM id, v FROM a UNION ALL SELECT STREAM id, v + 1 FROM b",
    "SELECT STREAM id, tag FROM a CROSS JOIN UNNEST(tags) AS x (tag)",
    "SELECT STREAM id, window_start FROM HOP(a, at, 1 MINUTE, 2 MINUTES)",
    "SELECT STREAM id, v FROM a PARTITION BY v",
    "SELECT STREAM v FROM (SELECT STREAM id, v FROM a WHERE id > 1) WHERE v > 2",
)
GROUPED = (
    "SELECT id, COUNT(*) AS n, SUM(v) AS total FROM b GROUP BY id",
    "SELECT id, v, AVG(v + 1) AS mean, MIN(at) AS first FROM a WHERE v > 1 GROUP BY id, v",
    "SELECT id % 7 AS k, COUNT(DISTINCT v) + 1 AS n FROM b GROUP BY id % 7",
    "SELECT id, v, COUNT(*) AS n FROM b GROUP BY ROLLUP (id, v)",
    "SELECT tag, COUNT(*) AS n FROM a CROSS JOIN UNNEST(tags) AS x (tag) GROUP BY tag",
    "SELECT v, COUNT(*) AS n FROM (SELECT STREAM id, v FROM a UNION ALL SELECT STREAM id, v FROM b) GROUP BY v",
)
REFUSED = {
    "SELECT STREAM window_start, COUNT(*) AS n FROM TUMBLE(a, at, 1 MINUTE) GROUP BY window_start": (
        "a window aggregation"
    ),
    "SELECT STREAM DISTINCT at, id FROM a": "SELECT DISTINCT",
    "SELECT STREAM id, COUNT(*) OVER (PARTITION BY id ORDER BY at RANGE 1 MINUTE PRECEDING) AS n FROM a": "OVER",
    "SELECT STREAM id, at FROM a DEDUPLICATE ON (id) WITHIN 1 MINUTE": "OVER",
    "SELECT STREAM a.id, u.name FROM a JOIN users u ON a.id = u.id": "reading the table users",
    "SELECT STREAM a.id, c.name FROM a JOIN cards c ON a.id = c.id": "a lookup in a database",
    "SELECT STREAM id, v FROM a UNION ALL SELECT STREAM id, 1 AS v FROM same": "reading one topic twice",
    "SELECT STREAM id, v FROM a WHERE v > 1 UNION ALL SELECT STREAM id, v FROM a WHERE v < 1": (
        "reading one topic twice"
    ),
    "SELECT STREAM id, NOW() AS seen FROM a": "NOW",
    "SELECT STREAM id FROM a WHERE at < CURRENT_TIMESTAMP": "CURRENT_TIMESTAMP",
    "SELECT STREAM id FROM limited": "reading limited through kafka",
    "SELECT STREAM id FROM avro": "reading avro through kafka",
    "SELECT STREAM id FROM files": "reading files through files",
}
TABLES_REFUSED = {
    "SELECT id, COUNT(*) AS n FROM b GROUP BY id HAVING COUNT(*) > 1": "HAVING, WHERE or LIMIT over groups",
    "SELECT id, COUNT(*) AS n FROM b GROUP BY id ORDER BY n DESC LIMIT 3": "HAVING, WHERE or LIMIT over groups",
    "SELECT id, n FROM (SELECT id, COUNT(*) AS n FROM b GROUP BY id) WHERE n > 1": "HAVING, WHERE or LIMIT over groups",
    "SELECT n, COUNT(*) AS m FROM (SELECT id, COUNT(*) AS n FROM b GROUP BY id) GROUP BY n": "an intermediate stream",
    "SELECT id, COUNT(*) AS n FROM b GROUP BY id UNION ALL SELECT id, COUNT(*) AS n FROM a GROUP BY id": (
        "an intermediate stream"
    ),
    "SELECT name, COUNT(*) AS n FROM users GROUP BY name": "reading the table users",
    "SELECT id, window_start, COUNT(*) AS n FROM a GROUP BY id, TUMBLE(at, 1 MINUTE) EMIT CHANGES": (
        "a window aggregation"
    ),
    "SELECT window_start, COUNT(*) AS n FROM HOP(a, at, 1 MINUTE, 2 MINUTES) GROUP BY window_start": (
        "a window aggregation"
    ),
}
TARGETS = {
    f"CREATE STREAM o WITH ({TOPIC.format('o')}) AS SELECT STREAM id FROM a": "writing o exactly once",
    "CREATE STREAM o WITH (connector = 'memory') AS SELECT STREAM id FROM a": "writing o through memory",
    f"CREATE TABLE o WITH ({TOPIC.format('o')}) AS SELECT id, COUNT(*) FROM b GROUP BY id": "writing o exactly once",
    "CREATE TABLE o AS SELECT id, COUNT(*) AS n FROM b GROUP BY id": "writing o through memory",
    WRITTEN.replace("json", "avro").replace(AGAIN, f", schema_registry = 'http://x:1'{AGAIN}")
    + "SELECT STREAM id FROM a": "writing o through kafka",
}


def compile_in_real_time(statement: str) -> penstock.Compilation:
    return penstock.compile(f"SET trigger = 'realtime';\n{DECLARED}{statement};")


@pytest.mark.parametrize("query", ACCEPTED)
def test_rows_that_are_looked_at_one_by_one_go_through(query: str) -> None:
    (found,) = compile_in_real_time(WRITTEN + query).program.queries
    assert (found.real_time, found.timed, found.store, found.mode) == (30_000, False, None, "append")


@pytest.mark.parametrize("query", GROUPED)
def test_groups_of_a_stream_are_a_table(query: str) -> None:
    (found,) = compile_in_real_time(TABLE + query).program.queries
    assert (found.real_time, found.timed, found.mode, found.operation) == (30_000, False, "update", None)
    settings = dict(found.state_settings)
    assert (settings[FORMAT_SETTING], settings[PARTITIONS_SETTING]) == ("2", str(found.partitions))
    assert settings[STORE_SETTING].endswith(".RocksDBStateStoreProvider")


@pytest.mark.parametrize(
    ("statement", "construct"),
    [
        *((WRITTEN + query, why) for query, why in REFUSED.items()),
        *((TABLE + query, why) for query, why in TABLES_REFUSED.items()),
        *TARGETS.items(),
    ],
)
def test_the_finding_names_what_is_in_the_way(statement: str, construct: str) -> None:
    with pytest.raises(penstock.CompileError) as refused:
        compile_in_real_time(statement)
    assert [(each.code, each.message) for each in refused.value.diagnostics] == [
        ("C026", f"not in real time: {construct}")
    ]
    assert penstock.compile(f"{DECLARED}{statement};").program.queries


@pytest.mark.parametrize("trigger", ["realtime", "micro_batch"])
def test_rows_of_a_stream_are_no_upserts_that_come_again(trigger: str) -> None:
    table = f"CREATE TABLE o (id BIGINT PRIMARY KEY, v BIGINT) WITH ({TOPIC.format('o')}{AGAIN});"
    script = f"SET trigger = '{trigger}';\n{DECLARED}{table} INSERT INTO o SELECT STREAM id, v FROM b;"
    with pytest.raises(penstock.CompileError) as refused:
        penstock.compile(script)
    assert [each.code for each in refused.value.diagnostics] == ["K008"]
    groups = script.replace("STREAM id, v FROM b", "id, MAX(v) AS v FROM b GROUP BY id")
    assert penstock.compile(groups).program.queries


def test_state_is_not_kept_in_memory() -> None:
    with pytest.raises(penstock.CompileError) as refused:
        compile_in_real_time(f"SET state_store = 'memory'; {TABLE}{GROUPED[0]}")
    assert [each.message for each in refused.value.diagnostics] == ["not in real time: state in memory"]
    assert compile_in_real_time(f"SET state_store = 'memory'; {WRITTEN}{ACCEPTED[0]}").program.queries


def test_a_checkpoint_goes_on_with_another_trigger() -> None:
    micro_batches = penstock.compile(f"{DECLARED}{WRITTEN}{ACCEPTED[1]};").program
    real_time = compile_in_real_time(WRITTEN + ACCEPTED[1]).program
    assert [each.real_time for each in micro_batches.queries] == [None]
    assert [each.fingerprint for each in micro_batches.queries] == [each.fingerprint for each in real_time.queries]


def test_a_checkpoint_of_groups_has_the_same_fingerprint() -> None:
    micro_batches = penstock.compile(f"{DECLARED}{TABLE}{GROUPED[0]};").program
    real_time = compile_in_real_time(TABLE + GROUPED[0]).program
    assert [each.fingerprint for each in micro_batches.queries] == [each.fingerprint for each in real_time.queries]


def test_a_program_shows_how_long_a_batch_is() -> None:
    text = f"SET realtime_batch = '1 MINUTE';\nSET trigger = 'real-time';\n{DECLARED}{WRITTEN}{ACCEPTED[0]};"
    assert "to o (kafka), in real time, committed every 60000 ms" in spark_text(penstock.compile(text).program)


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("trigger = '5 seconds'", "trigger takes one of 'micro_batch', 'realtime'"),
        ("realtime_batch = '4999 MILLISECONDS'", "realtime_batch takes a time of 5 seconds or more"),
    ],
)
def test_other_values_are_refused(setting: str, expected: str) -> None:
    with pytest.raises(penstock.CompileError) as refused:
        penstock.compile(f"SET {setting};")
    assert [(each.code, each.message) for each in refused.value.diagnostics] == [("C003", expected)]
