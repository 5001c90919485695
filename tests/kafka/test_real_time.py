"""SET trigger = 'realtime': rows come out at once, are counted with their batch, and are never lost."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import NewPartitions
from pyspark.sql import SparkSession

from examples.kafka.broker import Broker
from penstock.compilation import compile
from penstock.runtime import QueryHandle, RunError, RuntimeSession
from penstock.runtime.query import inspection
from tests.kafka.scripts import place, read_json, run, values
from tests.kafka.test_sinks import forget_last_commit

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("jars", "real_time")]

PATIENCE = 60  # seconds until something has to be there
REAL_TIME = "SET trigger = 'realtime'; SET realtime_batch = {} SECONDS;"


def script(broker: Broker, source: str, target: str, **options: str) -> str:
    there = place(broker, target, delivery="'at_least_once'")
    return f"""CREATE STREAM s (id BIGINT) WITH ({place(broker, source, **options)});
      CREATE STREAM t WITH ({there}) AS SELECT STREAM id FROM s WHERE id < 1000;"""


@contextmanager
def follow(spark: SparkSession, sql: str, folder: Path, seconds: int = 5) -> Iterator[QueryHandle]:
    """Runs a script of one query in real time, as a process of its own would."""
    with RuntimeSession(spark.newSession(), str(folder)) as session:
        (handle,) = session.start(compile(REAL_TIME.format(seconds) + sql).program)
        yield handle


def wait_until(is_there: Callable[[], object], handle: QueryHandle) -> None:
    deadline = time.monotonic() + PATIENCE
    while not is_there():
        assert not handle.await_done(0)
        assert time.monotonic() < deadline
        time.sleep(0.1)


def has_more_batches(handle: QueryHandle, than: int) -> bool:
    return handle.status().batches > than


def count_ids(broker: Broker, topic: str) -> Counter[int]:
    return Counter(json.loads(each.value())["id"] for each in broker.read(topic))


def ids(*numbers: int) -> Iterable[dict[str, Any]]:
    return values(*({"id": number} for number in numbers))


def test_rows_are_out_before_they_are_counted(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    """A stop in the middle of a batch forgets what the batch has read, so that it comes again."""
    source, target = broker.topic(), broker.topic()
    sql = script(broker, source, target)
    broker.send(source, ids(0))
    with follow(spark, sql, tmp_path, seconds=10 * PATIENCE) as handle:
        wait_until(lambda: count_ids(broker, target) == {0: 1}, handle)
        broker.send(source, ids(1))
        wait_until(lambda: count_ids(broker, target) == {0: 1, 1: 1}, handle)
        assert (handle.status().batches, handle.status().rows, handle.status().out) == (0, 0, 0)
    broker.send(source, ids(2))
    with follow(spark, sql, tmp_path) as handle:
        wait_until(lambda: handle.status().rows, handle)
        assert (handle.status().rows, handle.status().out) == (3, 3)
    assert count_ids(broker, target) == {0: 2, 1: 2, 2: 1}


def test_what_is_committed_does_not_come_again(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    source, target = broker.topic(), broker.topic()
    sql = script(broker, source, target)
    for number in range(2):
        broker.send(source, ids(number))
        with follow(spark, sql, tmp_path) as handle:
            wait_until(lambda: handle.status().rows, handle)
    report = run(spark, sql, tmp_path)[0]
    assert report.inputs[0].read == 0
    assert count_ids(broker, target) == {0: 1, 1: 1}


def test_rejected_and_filtered_rows_are_counted_and_kept(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    source, target = broker.topic(), broker.topic()
    rejected = tmp_path / "t_rejected" / "s"
    with follow(spark, script(broker, source, target), tmp_path) as handle:
        broker.send(source, values({"id": 1}, b"?", {"id": 1000}, {"id": 2}))
        wait_until(lambda: handle.status().rows >= 4, handle)
        (found,) = handle.status().inputs
        assert (found.read, found.rejected, found.filtered, found.used) == (4, 1, 1, 2)
        assert handle.status().out == 2
        wait_until(lambda: read_json(rejected), handle)
        broker.send(source, values(b"!"))
        wait_until(lambda: len(read_json(rejected)) == 2, handle)
    assert [(row["offset"], row["record"]) for row in read_json(rejected)] == [(1, "?"), (4, "!")]
    assert count_ids(broker, target) == {1: 1, 2: 1}


def test_rows_rejected_in_a_batch_that_was_stopped_are_kept(
    spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    source, target = broker.topic(), broker.topic()
    sql = script(broker, source, target)
    broker.send(source, values(b"?", {"id": 1}))
    with follow(spark, sql, tmp_path, seconds=10 * PATIENCE) as handle:
        wait_until(lambda: count_ids(broker, target) == {1: 1}, handle)
    assert run(spark, sql, tmp_path)[0].inputs[0].rejected == 1
    assert [row["record"] for row in read_json(tmp_path / "t_rejected" / "s")] == ["?"]


def test_a_checkpoint_goes_from_trigger_to_trigger(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    """A micro-batch that a crash has left unfinished is run again, in real time as well."""
    source, target = broker.topic(), broker.topic()
    sql = script(broker, source, target)
    broker.send(source, ids(0))
    run(spark, sql, tmp_path)
    broker.send(source, ids(1))
    run(spark, sql, tmp_path)
    forget_last_commit(tmp_path)
    broker.send(source, ids(2))
    with follow(spark, sql, tmp_path) as handle:
        wait_until(lambda: count_ids(broker, target) == {0: 1, 1: 2, 2: 1}, handle)
        wait_until(lambda: handle.status().rows == 2, handle)
    forget_last_commit(tmp_path)
    broker.send(source, ids(3))
    run(spark, sql, tmp_path)
    assert {*count_ids(broker, target)} == {0, 1, 2, 3}
    assert count_ids(broker, target)[0] == count_ids(broker, target)[3] == 1
    broker.send(source, ids(4))
    run(spark, sql, tmp_path)
    assert count_ids(broker, target)[3] == count_ids(broker, target)[4] == 1


def test_records_of_aborted_transactions_are_not_read(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    source, target = broker.topic(), broker.topic()
    producer = broker.producer(transactional_id="aborting-in-real-time")
    producer.init_transactions(10)

    def send(number: int, *, commits: bool) -> None:
        producer.begin_transaction()
        producer.produce(source, value=json.dumps({"id": number}))
        producer.flush()
        (producer.commit_transaction if commits else producer.abort_transaction)(10)

    send(0, commits=True)
    with follow(spark, script(broker, source, target), tmp_path) as handle:
        for number in range(1, 4):
            before = handle.status().batches
            send(number, commits=number == 2)
            wait_until(partial(has_more_batches, handle, before), handle)
        wait_until(lambda: handle.status().rows == 2, handle)
    assert count_ids(broker, target) == {0: 1, 2: 1}


def test_a_partition_without_a_slot_is_refused(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    source, target = broker.topic(partitions=2), broker.topic()
    with pytest.raises(RunError) as refused, follow(spark, script(broker, source, target), tmp_path):
        pass
    (found,) = refused.value.diagnostics
    assert (found.code, found.message) == ("R083", "real time needs 3 task slots with t, and Spark has 2")
    assert found.hint == "--master 'local[3]'"


def test_a_new_partition_without_a_slot_stops_the_query(
    spark: SparkSession, broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspection, "INSPECTION_SECONDS", 0.5)
    source, target = broker.topic(), broker.topic()
    with follow(spark, script(broker, source, target), tmp_path) as handle:
        admin = broker.admin()
        for future in admin.create_partitions([NewPartitions(source, 2)]).values():
            future.result()
        with pytest.raises(RunError) as refused:
            assert handle.await_done(PATIENCE)
    assert [each.code for each in refused.value.diagnostics] == ["R083"]
