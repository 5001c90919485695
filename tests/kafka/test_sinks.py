"""Topics as sinks: each row once, under its key and its event time, and NULL where a row is deleted."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from examples.kafka.broker import Broker
from penstock.runtime import RunError
from penstock.runtime.kafka.kafka_keys import find_partition
from tests.kafka.scripts import place, rows_in_memory, run

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("jars")]

TYPES = {
    "a": ("BOOLEAN", True),
    "b": ("TINYINT", -128),
    "c": ("BIGINT", 9007199254740993),
    "d": ("DOUBLE", 0.1),
    "e": ("DECIMAL(20, 3)", 123456789012.125),
    "f": ("STRING", 'ä,"\n'),
    "g": ("DATE", "2024-02-29"),
    "h": ("TIMESTAMP", "2024-02-29T12:34:56.789012Z"),
}
NESTED = {
    "i": ("ARRAY<INT>", [1, None]),
    "j": ("MAP<STRING, BIGINT>", {"x": 1}),
    "k": ("STRUCT<p: INT, q: STRING>", {"p": 1, "q": None}),
}


def put(folder: Path, name: str, *rows: dict[str, Any]) -> None:
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.json").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def forget_last_commit(state: Path) -> None:
    """Leaves a checkpoint as a crash does that comes right behind the last write."""
    commits = next(state.glob("*/commits"))
    last = max(int(each.name) for each in commits.iterdir() if each.name.isdecimal())
    for name in (str(last), f".{last}.crc"):
        (commits / name).unlink(missing_ok=True)


def message(found: Any) -> tuple[str | None, Any]:
    """The key and the value of a message."""
    key, value = found.key(), found.value()
    return None if key is None else key.decode(), None if value is None else json.loads(value)


def test_rows_are_written_once_under_their_keys_and_times(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    topic = broker.topic(partitions=3)
    script = f"""CREATE STREAM s (id BIGINT, at TIMESTAMP, WATERMARK FOR at AS at)
        WITH (connector = 'files', path = '{tmp_path}/in', format = 'json');
      CREATE STREAM out (id BIGINT KEY, note STRING, at TIMESTAMP, WATERMARK FOR at AS at)
        WITH ({place(broker, topic, partitions="3")});
      INSERT INTO out SELECT STREAM id, NULL, at FROM s;"""
    for number in range(2):
        times = [f"2024-01-01T00:00:{n:02}.5Z" for n in range(4)]
        put(tmp_path / "in", str(number), *({"id": 10 * number + n, "at": at} for n, at in enumerate(times)))
        run(spark, script, tmp_path / "state")
        forget_last_commit(tmp_path / "state")
    run(spark, script, tmp_path / "state")
    found = broker.read(topic)
    first = datetime.fromisoformat("2024-01-01T00:00:00.5+00:00").timestamp() * 1000
    expected = {
        str(10 * number + n): ({"id": 10 * number + n, "note": None, "at": f"2024-01-01T00:00:{n:02}.500000Z"}, n)
        for number in range(2)
        for n in range(4)
    }
    assert len(found) == len(expected)
    assert {
        key: (value, (each.timestamp()[1] - first) / 1000) for each in found for key, value in [message(each)]
    } == expected


def test_at_least_once_writes_a_micro_batch_again(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    topic = broker.topic(partitions=3)
    there = place(broker, topic, delivery="'at_least_once'", key_format="'text'")
    script = f"""CREATE STREAM s (id BIGINT, note STRING)
        WITH (connector = 'files', path = '{tmp_path}/in', format = 'json');
      CREATE STREAM out (id BIGINT KEY, note STRING) WITH ({there});
      INSERT INTO out SELECT STREAM id, note FROM s;"""
    for number in range(2):
        put(tmp_path / "in", str(number), {"id": number, "note": None}, {"id": None, "note": str(number)})
        run(spark, script, tmp_path / "state")
    forget_last_commit(tmp_path / "state")
    run(spark, script, tmp_path / "state")
    rows = [[(str(number), {"note": None}), (None, {"note": str(number)})] for number in (0, 1, 1)]
    assert sorted(map(message, broker.read(topic)), key=str) == sorted((row for both in rows for row in both), key=str)
    assert {each.partition() for each in broker.read(topic) if each.key() == b"1"} == {find_partition(b"1", 3)}


def test_a_copy_of_a_checkpoint_cannot_go_on(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    topic = broker.topic()
    script = f"""CREATE STREAM s (id BIGINT) WITH (connector = 'files', path = '{tmp_path}/in', format = 'json');
      CREATE STREAM out WITH ({place(broker, topic)}) AS SELECT STREAM id FROM s;"""
    for number in range(3):
        put(tmp_path / "in", str(number), {"id": number})
        run(spark, script, tmp_path / "state")
    for log in ("commits", "offsets"):
        for each in next((tmp_path / "state").glob(f"*/{log}")).iterdir():
            if each.name.strip(".").removesuffix(".crc") in ("1", "2"):
                each.unlink()
    put(tmp_path / "in", "3", {"id": 3})
    with pytest.raises(RunError) as refused:
        run(spark, script, tmp_path / "state")
    assert [each.code for each in refused.value.diagnostics] == ["R076"]
    assert [message(each) for each in broker.read(topic)] == [(None, {"id": n}) for n in range(3)]


@pytest.mark.parametrize("form", ["json", "csv"])
def test_values_are_read_as_they_were_written(spark: SparkSession, broker: Broker, tmp_path: Path, form: str) -> None:
    types = TYPES | (NESTED if form == "json" else {})
    columns = ", ".join(f"{name} {type_}" for name, (type_, _) in types.items())
    put(tmp_path / "in", "0", {name: value for name, (_, value) in types.items()}, {"f": ""})
    topic = broker.topic()
    there = place(broker, topic, format=f"'{form}'", **({"null": "'NULL'"} if form == "csv" else {}))
    files = f"connector = 'files', path = '{tmp_path}/in', format = 'json'"
    source = f"CREATE STREAM s ({columns}) WITH ({files});\n"
    run(spark, f"{source}CREATE STREAM out WITH ({there}) AS SELECT STREAM * FROM s;", tmp_path / "state")
    kept = "CREATE STREAM kept WITH (connector = 'memory') AS SELECT STREAM * FROM s;"
    back = rows_in_memory(spark, f"CREATE STREAM s ({columns}) WITH ({there});\n{kept}", "kept")
    assert back == rows_in_memory(spark, source + kept, "kept")
    assert len(back) == 2


@pytest.mark.parametrize("keys", ["", ", key_format = 'json'"])
def test_a_table_is_written_with_tombstones(spark: SparkSession, broker: Broker, tmp_path: Path, keys: str) -> None:
    topic = broker.topic(cleanup_policy="compact")
    there = place(broker, topic) + keys
    script = f"""CREATE TABLE users (id BIGINT PRIMARY KEY, name STRING)
        WITH (connector = 'files', path = '{tmp_path}/in', format = 'json', operation = 'op');
      CREATE TABLE longs WITH ({there}) AS SELECT id, UPPER(name) AS name FROM users WHERE LENGTH(name) > 2;"""
    batches = [
        [{"id": 1, "name": "ann"}, {"id": 2, "name": "bob"}, {"id": 3, "name": "cy"}],
        [{"id": 1, "name": "anna"}, {"id": 2, "op": "delete"}, {"id": 3, "name": "cyd"}],
        [{"id": 3, "name": "cy"}, {"id": 4, "name": "dan"}],
    ]
    sent: list[list[tuple[Any, Any]]] = []
    for number, rows in enumerate(batches):
        put(tmp_path / "in", str(number), *rows)
        run(spark, script, tmp_path / "state")
        found = [message(each) for each in broker.read(topic)]
        sent.append(sorted(found[sum(map(len, sent)) :], key=str))

    def key(id_: int) -> str:
        return json.dumps({"id": id_}, separators=(",", ":")) if keys else str(id_)

    assert sent == [
        [(key(1), {"name": "ANN"}), (key(2), {"name": "BOB"})],
        [(key(1), {"name": "ANNA"}), (key(2), None), (key(3), {"name": "CYD"})],
        [(key(3), None), (key(4), {"name": "DAN"})],
    ]
    table = f"CREATE TABLE longs (id BIGINT PRIMARY KEY, name STRING) WITH ({there});\n"
    count = "CREATE TABLE n WITH (connector = 'memory') AS SELECT name, COUNT(*) AS n FROM longs GROUP BY name;"
    assert {row["name"] for row in rows_in_memory(spark, table + count, "n")} == {"ANNA", "DAN"}


def test_a_table_is_written_at_least_once(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    """A group that no longer meets HAVING is a key without a value. A micro-batch that runs again sends the same."""
    topic = broker.topic(partitions=3, cleanup_policy="compact")
    there = place(broker, topic, delivery="'at_least_once'")
    script = f"""CREATE STREAM s (id BIGINT, v BIGINT)
        WITH (connector = 'files', path = '{tmp_path}/in', format = 'json');
      CREATE TABLE sums WITH ({there}) AS SELECT id, SUM(v) AS v FROM s GROUP BY id HAVING SUM(v) > 0;"""
    for number in range(2):
        put(tmp_path / "in", str(number), {"id": 1, "v": 1 - 2 * number}, {"id": 2, "v": 1})
        run(spark, script, tmp_path / "state")
    forget_last_commit(tmp_path / "state")
    run(spark, script, tmp_path / "state")
    second = [("1", None), ("2", {"v": 2})]
    expected = [("1", {"v": 1}), ("2", {"v": 1}), *second, *second]
    found = broker.read(topic)
    assert sorted(map(message, found), key=str) == sorted(expected, key=str)
    assert {(each.key(), each.partition()) for each in found} == {(key, find_partition(key, 3)) for key in (b"1", b"2")}


def test_rows_of_a_stream_go_into_a_table(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    topic = broker.topic()
    put(tmp_path / "in", "0", {"id": 1, "name": "a"}, {"id": None, "name": "b"})
    script = f"""CREATE STREAM s (id BIGINT, name STRING)
        WITH (connector = 'files', path = '{tmp_path}/in', format = 'json');
      CREATE TABLE t (id BIGINT PRIMARY KEY, name STRING) WITH ({place(broker, topic)});
      INSERT INTO t SELECT STREAM id, name FROM s"""
    with pytest.raises(RunError) as refused:
        run(spark, script + ";")
    assert [each.code for each in refused.value.diagnostics] == ["R074"]
    run(spark, script + " WHERE id IS NOT NULL;")
    assert [message(each) for each in broker.read(topic)] == [("1", {"name": "a"})]


def test_a_table_of_keys_alone(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    topic = broker.topic()
    put(tmp_path / "in", "0", {"id": 1}, {"id": 2}, {"id": 1})
    there = place(broker, topic)
    script = f"""CREATE STREAM s (id BIGINT) WITH (connector = 'files', path = '{tmp_path}/in', format = 'json');
      CREATE TABLE ids WITH ({there}) AS SELECT DISTINCT id FROM s;"""
    run(spark, script, tmp_path / "state")
    assert sorted(message(each) for each in broker.read(topic)) == [("1", {}), ("2", {})]
    table = f"CREATE TABLE ids (id BIGINT PRIMARY KEY) WITH ({there});\n"
    count = "CREATE TABLE n WITH (connector = 'memory') AS SELECT id % 1 AS z, COUNT(*) AS n FROM ids GROUP BY id % 1;"
    assert [row["n"] for row in rows_in_memory(spark, table + count, "n")] == [2]
