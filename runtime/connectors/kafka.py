"""Kafka topics. Spark reads them; only records of transactions that were committed are rows.

A record that does not fit the declared types has its text in `_malformed` and is for the reader to set aside. Where a
query begins is decided once for a checkpoint. So the query of its rejected rows begins there, too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from penstock.codegen import folder_name, messages_of, starting_of
from penstock.codegen.ejected.csv_files import CSV_OPTIONS
from penstock.codegen.ejected.rows import schema_of
from penstock.codegen.program import Input
from penstock.runtime.checkpoint import STARTING
from penstock.runtime.connectors.protocol import RuntimeConnector, RuntimeSource
from penstock.runtime.kafka import EARLIEST, check_partitions, count_partitions, find_offsets
from penstock.runtime.storage import Storage


class KafkaSource(RuntimeSource):
    """The declared columns of each message, `_malformed`, where it is from, and `_arrived`: its timestamp."""

    def __init__(self, source: Input) -> None:
        self._source = source

    def check(self, storage: Storage, place: str | None) -> None:
        """Raises RunError if no broker answers, or there is no such topic, or it has other partitions than declared."""
        check_partitions(self._source, self._source.name, self._source.partitions)

    def settle(self, storage: Storage, place: str) -> Mapping[str, str]:
        """Notes in the checkpoint where a query begins that does not begin with the first record of each partition."""
        source = self._source
        starting = starting_of(source)
        if starting.offsets is not None:
            return {}
        path = f"{place}/{STARTING}/{folder_name(source.name)}.json"
        noted = storage.read(path)
        if noted is None:
            partitions = range(count_partitions(source, source.name))
            offsets = find_offsets(source, source.name, partitions, starting.time)
            noted = json.dumps({str(number): offset for number, offset in sorted(offsets.items())})
            storage.publish(path, noted)
        return {"starting": noted}

    def stream(self, spark: SparkSession) -> DataFrame:
        source = self._source
        values = source.values
        reader = spark.readStream.format("kafka").options(
            **{
                "kafka.bootstrap.servers": str(values["bootstrap_servers"]),
                "kafka.isolation.level": "read_committed",
                "subscribe": str(values["topic"]),
                "startingOffsets": self._starting_offsets(),
            }
        )
        limit = values.get("max_offsets_per_batch")
        rows = (reader if limit is None else reader.option("maxOffsetsPerTrigger", int(str(limit)))).load()
        return read_messages(rows.select(F.struct("*").alias("_metadata")), source)

    def _starting_offsets(self) -> str:
        """Where each partition begins. Those that are not named begin with their first record."""
        given = starting_of(self._source).offsets
        if not given:
            return "earliest"
        count = count_partitions(self._source, self._source.name)
        offsets = {str(number): given.get(number, EARLIEST) for number in range(count)}
        return json.dumps({str(self._source.values["topic"]): offsets})


def read_messages(rows: DataFrame, source: Input) -> DataFrame:
    """The rows of messages, which are in the struct `_metadata`."""
    messages = messages_of(source)
    for part in messages.parts:
        rows = rows.selectExpr("*", part.text)
        if part.fields is not None:
            schema = schema_of(dict.fromkeys((*part.fields, "_malformed"), "STRING"))
            rows = rows.withColumn("_parsed", F.from_csv("value", schema, CSV_OPTIONS))
        for step in part.steps:
            rows = rows.selectExpr(*step)
    return rows.selectExpr(*messages.items)


CONNECTOR = RuntimeConnector(KafkaSource)
