"""Partitions of topics that change, and keys in partitions of others: told, or refused where answers would be wrong."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import NewPartitions
from pyspark.sql import SparkSession

from examples.kafka.broker import Broker
from penstock.codegen.program import Input
from penstock.compilation import compile
from penstock.runtime import RunError, RuntimeSession
from penstock.runtime.kafka.kafka_keys import SAMPLE, find_partition, hash_key
from penstock.runtime.kafka.kafka_watch import TopicWatch
from penstock.runtime.query import inspection
from tests.e2e.shell import penstock_here
from tests.kafka.scripts import place, read_json, run, values
from tests.kafka.test_writer import MURMUR2

PATIENCE = 120  # seconds until a query has to see a change
COUNT = "CREATE TABLE out WITH (connector = 'files', path = '{}', format = 'json', operation = 'op') AS {};"


def grow(broker: Broker, topic: str, partitions: int) -> None:
    admin = broker.admin()  # without a name it would end before its work does
    for future in admin.create_partitions([NewPartitions(topic, partitions)]).values():
        future.result()


def source(broker: Broker, topic: str, **more: Any) -> Input:
    options = (("topic", topic), ("bootstrap_servers", broker.servers), ("format", "json"))
    return Input("s", "s", "kafka", options, (("id", "BIGINT"),), **more)


def codes(found: Iterable[Any]) -> list[str]:
    return [each.code for each in found]


def test_keys_are_hashed_as_in_java() -> None:
    signed = {key: hashed - 2**32 if (hashed := hash_key(key.encode())) >= 2**31 else hashed for key in MURMUR2}
    assert signed == MURMUR2


def test_new_partitions_are_told_once(broker: Broker) -> None:
    topic = broker.topic(partitions=2)
    watch = TopicWatch(source(broker, topic), 2)
    assert codes(watch.inspect()) == []
    grow(broker, topic, 3)
    (warning,) = watch.inspect()
    assert (warning.code, warning.severity) == ("R079", "warning")
    assert warning.message == f"topic {topic} of s had 2 partitions and has 3"
    assert codes(watch.inspect()) == []


@pytest.mark.parametrize(("read", "by_place"), [(4, False), (4, True), (2, True)])
def test_what_cannot_be_gone_on_with_is_refused(broker: Broker, read: int, by_place: bool) -> None:
    watch = TopicWatch(source(broker, broker.topic(partitions=3), newest_by_place=by_place), read)
    with pytest.raises(RunError) as refused:
        watch.inspect()
    assert codes(refused.value.diagnostics) == ["R078"]


def test_another_number_than_declared_is_refused_while_running(broker: Broker) -> None:
    topic = broker.topic(partitions=2)
    watch = TopicWatch(source(broker, topic, partitions=2), 2)
    assert codes(watch.inspect()) == []
    grow(broker, topic, 4)
    with pytest.raises(RunError) as refused:
        watch.inspect()
    assert codes(refused.value.diagnostics) == ["R072"]


@pytest.mark.parametrize("partitioner", ["murmur2_random", "consistent_random"])
def test_keys_in_partitions_of_others_are_told_with_an_example(broker: Broker, partitioner: str) -> None:
    topic = broker.topic(partitions=5)
    watch = TopicWatch(source(broker, topic, key=("id",)), 5)
    assert codes(watch.inspect()) == []
    producer = broker.producer(partitioner=partitioner)
    for number in range(5 * SAMPLE):
        producer.produce(topic, key=str(number), value=b"{}")
    producer.produce(topic, value=b"{}")
    producer.flush()
    misplaced = {
        f"messages of topic {topic} are not in the partitions of their keys: key '{key}' at offset {each.offset()} "
        f"of partition {each.partition()}, and not in {find_partition(each.key(), 5)}"
        for each in broker.read(topic)
        if each.key() is not None and each.partition() != find_partition(each.key(), 5)
        for key in [each.key().decode()]
    }
    found = watch.inspect()
    assert codes(found) == ([] if partitioner == "murmur2_random" else ["R080"])
    assert {each.message for each in found} <= misplaced
    assert codes(watch.inspect()) == []
    assert codes(TopicWatch(source(broker, topic), 5).inspect()) == [], "keys that no query reads are not judged"


def upsert(key: int, name: str, partition: int, second: int) -> dict[str, Any]:
    value = json.dumps({"name": name})
    return {"key": str(key), "value": value, "partition": partition, "timestamp": 1_700_000_000_000 + 1000 * second}


def newest(folder: Path) -> Counter[str]:
    """The rows of a table in files, by the changes of it."""
    rows: dict[str, int] = {}
    for row in read_json(folder):
        rows[row["name"]] = row["n"] if row["op"] != "delete" else 0
    return Counter(rows)


@pytest.mark.spark
@pytest.mark.usefixtures("jars")
@pytest.mark.parametrize("timed", [False, True])
def test_a_table_whose_topic_has_grown(spark: SparkSession, broker: Broker, tmp_path: Path, timed: bool) -> None:
    """A key goes on in a partition with a smaller number, which only its time can tell."""
    topic = broker.topic(partitions=2)
    time_ = ", at TIMESTAMP METADATA FROM 'timestamp' VIRTUAL, WATERMARK FOR at AS at" if timed else ""
    script = f"CREATE TABLE t (id BIGINT PRIMARY KEY, name STRING{time_}) WITH ({place(broker, topic)});\n"
    script += COUNT.format(tmp_path / "out", "SELECT name, COUNT(*) AS n FROM t GROUP BY name")
    broker.send(topic, [upsert(1, "before", 1, 0), upsert(2, "other", 0, 1)])
    report, *_ = run(spark, script, tmp_path / "state")
    assert codes(each for each in report.warnings if each.code != "R080") == []
    grow(broker, topic, 3)
    broker.send(topic, [upsert(1, "after", 0, 2), upsert(3, "new", 2, 3)])
    if not timed:
        with pytest.raises(RunError) as refused:
            run(spark, script, tmp_path / "state")
        assert codes(refused.value.diagnostics) == ["R078"]
        return
    report, *_ = run(spark, script, tmp_path / "state")
    assert "R079" in codes(report.warnings)
    assert newest(tmp_path / "out") == {"before": 0, "other": 1, "after": 1, "new": 1}


@pytest.mark.spark
@pytest.mark.usefixtures("jars")
def test_a_running_table_stops_when_its_topic_grows(
    spark: SparkSession, broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspection, "INSPECTION_SECONDS", 0.5)
    topic = broker.topic(partitions=2)
    script = f"CREATE TABLE t (id BIGINT PRIMARY KEY, name STRING) WITH ({place(broker, topic)});\n"
    script += COUNT.format(tmp_path / "out", "SELECT name, COUNT(*) AS n FROM t GROUP BY name")
    broker.send(topic, [upsert(1, "before", 1, 0)])
    with RuntimeSession(spark.newSession(), str(tmp_path / "state")) as session:
        handle, *_ = session.start(compile(script).program)
        deadline = time.monotonic() + PATIENCE
        while not (tmp_path / "out").exists() or not read_json(tmp_path / "out"):
            assert not handle.await_done(0.2)
            assert time.monotonic() < deadline
        grow(broker, topic, 3)
        broker.send(topic, [upsert(1, "after", 2, 1)])
        with pytest.raises(RunError) as refused:
            handle.await_done(PATIENCE)
    assert codes(refused.value.diagnostics) == ["R078"]
    assert {row["name"] for row in read_json(tmp_path / "out")} == {"before"}, "nothing of the new partition was read"


@pytest.mark.spark
@pytest.mark.usefixtures("jars")
def test_a_stream_goes_on_into_new_partitions(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    topic = broker.topic(partitions=2)
    files = f"connector = 'files', path = '{tmp_path}/out', format = 'json'"
    script = f"""CREATE STREAM s (id BIGINT) WITH ({place(broker, topic)});
      CREATE STREAM out WITH ({files}) AS SELECT STREAM id FROM s;"""
    broker.send(topic, values({"id": 1}, partition=1))
    assert run(spark, script, tmp_path / "state")[0].warnings == ()
    grow(broker, topic, 4)
    broker.send(topic, values({"id": 2}, partition=3))
    assert codes(run(spark, script, tmp_path / "state")[0].warnings) == ["R079"]
    assert run(spark, script, tmp_path / "state")[0].warnings == ()
    assert sorted(row["id"] for row in read_json(tmp_path / "out")) == [1, 2]


@pytest.mark.spark
@pytest.mark.usefixtures("jars", "spark")
def test_warnings_are_shown_once(broker: Broker, tmp_path: Path) -> None:
    topic = broker.topic(partitions=3)
    elsewhere = (find_partition(b"1", 3) + 1) % 3
    broker.send(topic, values({"id": 1}, {"id": 2}, key=b"1", partition=elsewhere))
    script = f"""CREATE STREAM s (id BIGINT KEY) WITH ({place(broker, topic, key_format="'text'")});
      CREATE STREAM one WITH (connector = 'memory') AS SELECT STREAM id FROM s;
      CREATE STREAM two WITH (connector = 'memory') AS SELECT STREAM id FROM s;"""
    (tmp_path / "script.sql").write_text(script)
    ended = penstock_here(tmp_path, "run", "--once", "script.sql")
    assert ended.exit_code == 0, ended.output
    assert ended.output.count("warning[R080]") == 1
