"""Topics as tables: the newest record of a key is its row, and a key without a value has none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from examples.kafka.broker import Broker
from tests.kafka.scripts import place, read_json, rows_in_memory, run

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("jars")]

COUNT = "CREATE TABLE sums WITH (connector = 'memory') AS SELECT name, COUNT(*) AS n FROM t GROUP BY name;"


def upsert(key: object, name: str | None, **more: Any) -> dict[str, Any]:
    value = None if name is None else json.dumps({"name": name})
    return {"key": key if isinstance(key, str) else json.dumps(key), "value": value, **more}


def test_the_newest_offset_counts_and_tombstones_delete(spark: SparkSession, broker: Broker) -> None:
    topic = broker.topic(partitions=3)
    broker.send(topic, [upsert(str(n), "a", timestamp=5_000) for n in range(6)])
    # Timestamps decide nothing: these are older.
    broker.send(topic, [upsert(str(n), "b", timestamp=1_000) for n in range(3)])
    broker.send(topic, [upsert("5", None), upsert("4", None), upsert("4", "c"), upsert("9", None)])
    table = f"CREATE TABLE t (id BIGINT PRIMARY KEY, name STRING NOT NULL) WITH ({place(broker, topic)});\n"
    rows = rows_in_memory(spark, table + COUNT, "sums")
    assert {row["name"]: row["n"] for row in rows} == {"a": 1, "b": 3, "c": 1}


def test_a_key_of_several_columns(spark: SparkSession, broker: Broker) -> None:
    topic = broker.topic()
    keys = [{"x": 1, "y": "p"}, {"x": 1, "y": "q"}, {"y": "p", "x": 1}]
    broker.send(topic, [upsert(key, name) for key, name in zip(keys, "abc", strict=True)])
    broker.send(topic, [upsert("nonsense", "d")])
    columns = "x INT, y STRING, name STRING, PRIMARY KEY (x, y)"
    rows = rows_in_memory(spark, f"CREATE TABLE t ({columns}) WITH ({place(broker, topic)});\n{COUNT}", "sums")
    assert {row["name"]: row["n"] for row in rows} == {"b": 1, "c": 1}


def test_a_stream_looks_up_a_table(spark: SparkSession, broker: Broker) -> None:
    users, clicks = broker.topic("users"), broker.topic("clicks")
    broker.send(users, [upsert("1", "ann"), upsert("2", "bob"), upsert("2", None)])
    broker.send(clicks, [{"value": json.dumps({"id": each})} for each in (1, 2, 3)])
    script = f"""CREATE TABLE users (id BIGINT PRIMARY KEY, name STRING) WITH ({place(broker, users)});
      CREATE STREAM clicks (id BIGINT) WITH ({place(broker, clicks)});
      CREATE STREAM named WITH (connector = 'memory') AS
        SELECT STREAM c.id, u.name FROM clicks c LEFT JOIN users u ON c.id = u.id;"""
    rows = rows_in_memory(spark, script, "named")
    assert {row["id"]: row["name"] for row in rows} == {1: "ann", 2: None, 3: None}


@pytest.mark.parametrize("timed", [False, True])
def test_tables_refer_to_each_other(spark: SparkSession, broker: Broker, tmp_path: Path, timed: bool) -> None:
    """One side comes through an intermediate stream, whose files are deleted when they have been read."""
    orders, users = broker.topic("orders", partitions=2), broker.topic("users", partitions=2)
    time_ = ", at TIMESTAMP METADATA FROM 'timestamp' VIRTUAL, WATERMARK FOR at AS at" if timed else ""
    script = f"""CREATE TABLE orders (id BIGINT PRIMARY KEY, name BIGINT{time_}) WITH ({place(broker, orders)});
      CREATE TABLE users (id BIGINT PRIMARY KEY, name STRING{time_}) WITH ({place(broker, users)});
      CREATE TABLE named WITH (connector = 'files', path = '{tmp_path}/out', format = 'json', operation = 'op') AS
        SELECT o.id AS id, u.name AS name FROM orders o LEFT JOIN users u ON o.name = u.id;"""
    moment = 1_700_000_000_000
    for number in range(3):
        user = {"key": "7", "value": json.dumps({"name": f"name {number}"}), "timestamp": moment + 10 * number}
        order = {"key": str(number), "value": json.dumps({"name": 7}), "timestamp": moment + 10 * number}
        broker.send(users, [user])
        broker.send(orders, [order])
        run(spark, script, tmp_path / "state")
    rows = {row["id"]: row["name"] for row in read_json(tmp_path / "out") if row["op"] != "delete"}
    assert rows == dict.fromkeys(range(3), "name 2")
