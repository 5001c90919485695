"""The joins and aggregates of tables from Kafka Streams' own tests, with their records in topics: final tables equal.

Each case has keys of its own, and each micro-batch is a run of its own over what has been sent since.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import penstock
from examples.kafka.broker import Broker
from penstock.evaluator.typed_values import EPOCH, Row, Value, milliseconds
from penstock.runtime import RuntimeSession
from tests.conformance.differences import MICRO_BATCHES
from tests.conformance.kafka_tables import INPUTS, expected, newest_by_time, query, table
from tests.conformance.test_kafka_tables_spark import by_time, history_of, of_case, of_one_query
from tests.kafka.scripts import place

pytestmark = [pytest.mark.spark, pytest.mark.campaign, pytest.mark.usefixtures("jars")]

PARTITIONS = 3


def script(case: Value, broker: Broker, topics: dict[str, str]) -> str:
    """The stream s and the tables l and r as topics, and the query `result`."""
    time_ = "time TIMESTAMP METADATA FROM 'timestamp' VIRTUAL"
    where = place(broker, topics["s"], key_format="'text'")
    declared = f"CREATE STREAM s (k STRING KEY, v STRING, {time_}, WATERMARK FOR time AS time) WITH ({where});\n"
    for name, side in (("l", "left"), ("r", "right")):
        timed = side in newest_by_time(case)
        watermark, more = (", WATERMARK FOR time AS time", {"retention": "1 DAY"}) if timed else ("", {})
        columns = f"k STRING PRIMARY KEY, v STRING, f STRING, n INT, {time_}{watermark}"
        declared += f"CREATE TABLE {name} ({columns}) WITH ({place(broker, topics[name], **more)});\n"
    return f"SET state_partitions = 2; SET state_store = 'memory';\n{declared}{query(case)}"


def message(name: str, row: Row) -> dict[str, Value]:
    """A record of a case, as a producer sends it. What deletes has no value."""
    value = json.dumps({column: row[column] for column in ("v" if name == "s" else "vfn")})
    return {
        "key": row["k"],
        "value": None if row["op"] == "delete" else value,
        "timestamp": (row["time"] - EPOCH) // milliseconds(1),
    }


@pytest.mark.parametrize("kind", MICRO_BATCHES)
def test_records_in_topics_come_to_the_tables_of_kafka(
    kind: str, spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    packs = of_one_query(kind)
    failures: list[str] = []
    for number, cases in enumerate(packs):
        topics = {name: broker.topic(f"{kind}-{name}", PARTITIONS) for name in INPUTS}
        failures += differences(cases, spark, broker, topics, tmp_path / str(number))
    assert not failures, "\n".join(failures)


def differences(
    cases: list[Value], spark: SparkSession, broker: Broker, topics: dict[str, str], folder: Path
) -> Iterator[str]:
    """How the rows in the end differ from those that Kafka has."""
    program = penstock.compile(script(by_time(cases[0]), broker, topics)).program
    of_stream = cases[0]["kind"] == "stream-table"
    batches = history_of(cases).batches
    with RuntimeSession(spark.newSession(), checkpoint=str(folder)) as session:
        for number, batch in enumerate(batches, 1):
            for name, rows in batch.items():
                broker.send(topics[name], (message(name, row) for row in rows))
            ends = of_stream and bool(newest_by_time(cases[0])) and number == len(batches)
            session.run_once(program, drain=ends)
        rows = session.rows("result")
    for place_, case in enumerate(cases):
        ours, theirs = of_case(place_, cases, rows), expected(case)
        if not of_stream:
            theirs = [*table(theirs).items()]
        if sorted(ours) != sorted(theirs):
            yield f"{case['id']}: {ours}, Kafka {theirs}"
