"""GROUP BY with SET trigger = 'realtime': each row sends its group at once, and is in it once."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from examples.kafka.broker import Broker
from penstock.compilation import compile
from penstock.runtime import QueryHandle, RunError, RuntimeSession
from penstock.runtime.query import task_slots
from tests.kafka.scripts import place, read_json, run, values
from tests.kafka.test_real_time import PATIENCE, wait_until
from tests.kafka.test_sinks import forget_last_commit

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("jars", "real_time", "slots")]

MICRO_BATCHES = "SET state_partitions = 1;"
REAL_TIME = MICRO_BATCHES + "SET trigger = 'realtime'; SET realtime_batch = {} SECONDS;"
COLUMNS = "id BIGINT, v BIGINT, name STRING"
COUNTS = "SELECT id, COUNT(*) AS n, SUM(v) AS total FROM s GROUP BY id"


@pytest.fixture
def slots(monkeypatch: pytest.MonkeyPatch) -> None:
    """One slot more than the Spark of tests has. Tasks for everything else wait for the end of a batch."""
    monkeypatch.setattr(task_slots.TaskSlots, "_count", lambda _: 3)


def script(broker: Broker, source: str, target: str, query: str = COUNTS, **options: str) -> str:
    there = place(broker, target, delivery="'at_least_once'", **options)
    return f"CREATE STREAM s ({COLUMNS}) WITH ({place(broker, source)}); CREATE TABLE t WITH ({there}) AS {query};"


@contextmanager
def follow(spark: SparkSession, sql: str, folder: Path, seconds: int = 5) -> Iterator[QueryHandle]:
    """Runs a script of one query in real time, as a process of its own would."""
    with RuntimeSession(spark.newSession(), str(folder)) as session:
        (handle,) = session.start(compile(REAL_TIME.format(seconds) + sql).program)
        yield handle


def rows(*pairs: tuple[int, int]) -> Iterable[dict[str, Any]]:
    return values(*({"id": id_, "v": v} for id_, v in pairs))


def read_table(broker: Broker, topic: str) -> dict[int, tuple[int, int]]:
    """The newest message of each key: its count and its total."""
    messages = ((json.loads(each.key()), json.loads(each.value())) for each in broker.read(topic))
    return {key: (value["n"], value["total"]) for key, value in messages}


def test_a_group_is_seen_while_the_batch_is_open(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    """A stop in the middle of a batch forgets what the batch has added, so that it is added once."""
    source, target = broker.topic(), broker.topic(partitions=2)
    sql = script(broker, source, target)
    broker.send(source, rows((1, 10), (2, 5), (1, 1)))
    with follow(spark, sql, tmp_path, seconds=10 * PATIENCE) as handle:
        wait_until(lambda: read_table(broker, target) == {1: (2, 11), 2: (1, 5)}, handle)
        sent = time.monotonic()
        broker.send(source, rows((2, 5)))
        wait_until(lambda: read_table(broker, target)[2] == (2, 10), handle)
        assert time.monotonic() - sent < 10  # of a batch that lasts minutes
        assert (handle.status().batches, handle.status().rows, handle.status().out) == (0, 0, 0)
    broker.send(source, rows((1, 1)))
    with follow(spark, sql, tmp_path) as handle:
        wait_until(lambda: handle.status().rows, handle)
        assert (handle.status().rows, handle.status().out, handle.status().state_rows) == (5, 5, 2)
    assert read_table(broker, target) == {1: (3, 12), 2: (2, 10)}


def test_values_of_a_key_are_in_order(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    source, target = broker.topic(), broker.topic(partitions=3)
    broker.send(source, rows(*((number % 7, 1) for number in range(700))))
    with follow(spark, script(broker, source, target), tmp_path) as handle:
        wait_until(lambda: handle.status().rows == 700, handle)
    found: dict[int, list[int]] = {}
    partitions: dict[int, set[int]] = {}
    for each in broker.read(target):
        found.setdefault(json.loads(each.key()), []).append(json.loads(each.value())["n"])
        partitions.setdefault(json.loads(each.key()), set()).add(each.partition())
    assert found == {key: [*range(1, 101)] for key in range(7)}
    assert all(len(each) == 1 for each in partitions.values())


@pytest.mark.parametrize(("aggregate", "expected"), [("SUM(v)", 3), ("MAX(name)", "y")])
def test_more_groups_than_spark_holds_before_it_writes(
    spark: SparkSession, broker: Broker, tmp_path: Path, aggregate: str, expected: object
) -> None:
    """It holds 100 groups with texts, or 1,000 of numbers."""
    source, target = broker.topic(), broker.topic()
    sql = script(broker, source, target, f"SELECT id, COUNT(*) AS n, {aggregate} AS total FROM s GROUP BY id")
    for name, v in (("x", 1), ("y", 2)):
        broker.send(source, values(*({"id": id_, "v": v, "name": name} for id_ in range(2_500))))
    with follow(spark, sql, tmp_path) as handle:
        wait_until(lambda: handle.status().rows == 5_000, handle)
        assert handle.status().state_rows == 2_500
    assert read_table(broker, target) == dict.fromkeys(range(2_500), (2, expected))


def test_a_checkpoint_goes_from_trigger_to_trigger(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    """A batch that a crash has left unfinished is run again, by whichever trigger."""
    source, target = broker.topic(), broker.topic()
    sql = script(broker, source, target)
    count = 0

    def send() -> dict[int, tuple[int, int]]:
        nonlocal count
        broker.send(source, rows((1, 2)))
        count += 1
        return {1: (count, 2 * count)}

    for trigger in (REAL_TIME.format(5), MICRO_BATCHES):
        expected = send()
        with follow(spark, sql, tmp_path) as handle:
            wait_until(lambda: handle.status().rows, handle)
        assert read_table(broker, target) == expected
        forget_last_commit(tmp_path)
        expected = send()
        run(spark, trigger + sql, tmp_path)
        assert read_table(broker, target) == expected
        forget_last_commit(tmp_path)


def test_a_state_of_micro_batches_is_refused(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    source, target = broker.topic(), broker.topic()
    sql = script(broker, source, target)
    broker.send(source, rows((1, 2)))
    run(spark, MICRO_BATCHES + sql, tmp_path)
    with pytest.raises(RunError) as refused, follow(spark, sql, tmp_path):
        pass
    (found,) = refused.value.diagnostics
    assert (found.code, f"{tmp_path}/t" in found.message) == ("R084", True)
    broker.send(source, rows((1, 2)))
    run(spark, REAL_TIME.format(5) + sql, tmp_path)
    assert read_table(broker, target) == {1: (2, 4)}


def test_rejected_rows_are_counted_and_kept(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    source, target = broker.topic(), broker.topic()
    rejected = tmp_path / "t_rejected" / "s"
    sql = script(broker, source, target, COUNTS.replace("GROUP", "WHERE v < 100 GROUP"))
    with follow(spark, sql, tmp_path) as handle:
        broker.send(source, values({"id": 1, "v": 1}, b"?", {"id": 1, "v": 100}, {"id": 1, "v": 2}))
        wait_until(lambda: handle.status().rows == 4, handle)
        (found,) = handle.status().inputs
        assert (found.read, found.rejected, found.filtered, found.used) == (4, 1, 1, 2)
        assert handle.status().out == 2
        wait_until(lambda: read_json(rejected), handle)
        broker.send(source, rows((1, 3)))
        wait_until(lambda: read_table(broker, target) == {1: (3, 6)}, handle)
    assert [row["record"] for row in read_json(rejected)] == ["?"]


@pytest.mark.parametrize("once", [True, False])
def test_a_group_of_null_has_no_message(spark: SparkSession, broker: Broker, tmp_path: Path, once: bool) -> None:
    source, target = broker.topic(), broker.topic()
    sql = script(broker, source, target)
    broker.send(source, values({"id": None, "v": 1}))

    def fail() -> None:
        if once:
            run(spark, REAL_TIME.format(5) + sql, tmp_path)
        with follow(spark, sql, tmp_path) as handle:
            handle.await_done(PATIENCE)

    with pytest.raises(RunError) as refused:
        fail()
    (found,) = refused.value.diagnostics
    assert (found.code, found.message) == ("R074", "t cannot write its topic: the key of a row is NULL")
    assert not [*broker.read(target)]


def test_a_lost_or_damaged_state_is_named(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    source, target = broker.topic(), broker.topic()
    sql = script(broker, source, target)
    broker.send(source, rows((1, 2)))
    with follow(spark, sql, tmp_path) as handle:
        wait_until(lambda: handle.status().rows, handle)

    def refuse() -> tuple[str, str]:
        with pytest.raises(RunError) as refused, follow(spark, sql, tmp_path) as handle:
            assert handle.await_done(PATIENCE)
        (found,) = refused.value.diagnostics
        return found.code, found.message

    (changelog,) = (tmp_path / "t" / "state" / "0" / "0").glob("*.changelog")
    whole = changelog.read_bytes()
    changelog.write_bytes(whole[: len(whole) // 2])
    code, message = refuse()
    assert (code, str(changelog) in message) == ("R054", True)
    changelog.unlink()
    code, message = refuse()
    assert (code, str(changelog) in message) == ("R054", True)
    changelog.write_bytes(whole)
    (tmp_path / "t" / "commits" / "0").write_text('v2\n{"nextBatchWatermarkMs":0}')
    code, message = refuse()
    assert (code, message.endswith("/t/commits/0")) == ("R050", True)


def test_the_state_has_slots_of_its_own(
    spark: SparkSession, broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_slots.TaskSlots, "_count", lambda _: 2)
    source, target = broker.topic(), broker.topic()
    with pytest.raises(RunError) as refused, follow(spark, script(broker, source, target), tmp_path):
        pass
    (found,) = refused.value.diagnostics
    assert (found.code, found.message) == ("R083", "real time needs 3 task slots with t, and Spark has 2")
