"""Topics that queries make: with how many partitions, and how they keep messages."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka.admin import ConfigResource, ResourceType
from pyspark.sql import SparkSession

from examples.kafka.broker import Broker
from penstock.runtime import RunError
from tests.kafka.scripts import place, run, values

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("jars")]


def describe(broker: Broker, topic: str) -> tuple[int, str]:
    """The number of partitions of a topic, and its cleanup.policy."""
    admin = broker.admin()
    resource = ConfigResource(ResourceType.TOPIC, topic)
    settings = admin.describe_configs([resource])[resource].result()
    return len(admin.list_topics(topic, timeout=10).topics[topic].partitions), settings["cleanup.policy"].value


def test_topics_are_made_as_they_are_needed(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    narrow, wide = broker.topic(partitions=2), broker.topic(partitions=5)
    broker.send(wide, values({"id": 1}))

    def sink(name: str, **options: str) -> str:
        return place(broker, f"{wide}-{name}", create="'if_missing'", **options)

    script = f"""SET state_partitions = 3;
      CREATE STREAM n (id BIGINT) WITH ({place(broker, narrow)});
      CREATE STREAM w (id BIGINT) WITH ({place(broker, wide)});
      CREATE STREAM copied WITH ({sink("copied")}) AS SELECT STREAM id FROM w;
      CREATE STREAM united WITH ({sink("united")}) AS
        SELECT STREAM id FROM n UNION ALL SELECT STREAM id FROM w;
      CREATE STREAM declared WITH ({sink("declared", partitions="4")}) AS SELECT STREAM id FROM w;
      CREATE TABLE counted WITH ({sink("counted")}) AS SELECT id, COUNT(*) AS n FROM w GROUP BY id;"""
    run(spark, script, tmp_path / "state")
    made = {name: describe(broker, f"{wide}-{name}") for name in ("copied", "united", "declared", "counted")}
    assert made == {
        "copied": (5, "delete"),
        "united": (5, "delete"),
        "declared": (4, "delete"),
        "counted": (3, "compact"),
    }
    assert [len(broker.read(f"{wide}-{name}")) for name in made] == [1, 1, 1, 1]
    run(spark, script, tmp_path / "state")


def test_a_topic_that_is_there_is_compared(spark: SparkSession, broker: Broker) -> None:
    source, target = broker.topic(), broker.topic(partitions=2)
    there = place(broker, target, create="'if_missing'", partitions="3")
    script = f"""CREATE STREAM s (id BIGINT) WITH ({place(broker, source)});
      CREATE STREAM t WITH ({there}) AS SELECT STREAM id FROM s;"""
    with pytest.raises(RunError) as refused:
        run(spark, script)
    assert [each.code for each in refused.value.diagnostics] == ["R072"]
    missing = f"""CREATE STREAM s (id BIGINT) WITH ({place(broker, source)});
      CREATE STREAM t WITH ({place(broker, "missing")}) AS SELECT STREAM id FROM s;"""
    with pytest.raises(RunError) as refused:
        run(spark, missing)
    assert [(each.code, each.hint) for each in refused.value.diagnostics] == [
        ("R071", "create = 'if_missing', in the WITH list")
    ]
