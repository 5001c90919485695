"""A query that keeps running follows its topic, into new partitions as well."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from confluent_kafka.admin import NewPartitions
from pyspark.sql import SparkSession

from examples.kafka.broker import Broker
from penstock.compilation import compile
from penstock.runtime import RuntimeSession
from penstock.runtime.query import inspection
from tests.kafka.scripts import place, read_json, values

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("jars")]

PATIENCE = 120  # seconds until a row has to be there


def test_a_running_query_follows_its_topic(
    spark: SparkSession, broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspection, "INSPECTION_SECONDS", 0.5)
    source, target = broker.topic(), broker.topic()
    script = f"""CREATE STREAM s (id BIGINT) WITH ({place(broker, source)}, starting = 'latest');
      CREATE STREAM t WITH ({place(broker, target)}) AS SELECT STREAM id FROM s;"""
    broker.send(source, values({"id": 0}))
    with RuntimeSession(spark.newSession(), str(tmp_path)) as session:
        (handle,) = session.start(compile(script).program)

        def wait_for(*ids: int) -> None:
            deadline = time.monotonic() + PATIENCE
            while sorted(json.loads(each.value())["id"] for each in broker.read(target)) != [*ids]:
                assert not handle.await_done(0)
                assert time.monotonic() < deadline
                time.sleep(0.2)

        broker.send(source, values({"id": 1}))
        wait_for(1)
        admin = broker.admin()
        for future in admin.create_partitions([NewPartitions(source, 2)]).values():
            future.result()
        broker.send(source, values({"id": 2}, b"?", partition=1))
        wait_for(1, 2)
        rejected = tmp_path / "t_rejected" / "s"
        deadline = time.monotonic() + PATIENCE
        while not (found := read_json(rejected)):
            assert time.monotonic() < deadline
            time.sleep(0.2)
        assert [(row["partition"], row["offset"], row["record"]) for row in found] == [(1, 1, "?")]
        while not (warnings := handle.status().warnings):
            assert time.monotonic() < deadline
            time.sleep(0.2)
        assert [each.code for each in warnings] == ["R079"]
        handle.stop()
