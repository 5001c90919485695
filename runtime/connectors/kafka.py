"""Kafka topics. Spark reads them; only records of transactions that were committed are rows.

A record that does not fit the declared types has its text in `_malformed` and is for the reader to set aside. Where a
query begins is decided once for a checkpoint. So the query of its rejected rows begins there, too.

With `delivery = 'exactly_once'`, a micro-batch is written in one transaction with a record of the ledger. A crash in
the middle leaves an open one, which the next start aborts, or the brokers after some minutes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamWriter

from penstock.codegen.folders import folder_name
from penstock.codegen.program import Input, SparkQuery
from penstock.codegen.record_parsing import HEADERS, KEY, VALUE
from penstock.codegen.topic_start import starting_of
from penstock.diagnostics import Diagnostic
from penstock.diagnostics.codes.running import R074, R075, R076
from penstock.kit.databases.faults import DivergedError, FencedError
from penstock.kit.files.csv_files import divide_records
from penstock.runtime.checkpoint.checkpoint import STARTING
from penstock.runtime.checkpoint.spark_logs import offsets_of, read_required
from penstock.runtime.checkpoint.storage import Storage
from penstock.runtime.connectors.protocol import RuntimeConnector, RuntimeSink, RuntimeSource
from penstock.runtime.failure.errors import NO_KEY, RunError, explain_no_key
from penstock.runtime.kafka.brokers import (
    EARLIEST,
    check_offsets,
    check_partitions,
    client_options,
    count_partitions,
    find_offsets,
    make_topic,
    spark_options,
)
from penstock.runtime.kafka.kafka_avro import AvroWriter, check_schemas, decode_part
from penstock.runtime.kafka.kafka_counts import infer_partitions
from penstock.runtime.kafka.kafka_watch import TopicWatch
from penstock.runtime.kafka.kafka_writer import TopicWriter, WriteError, list_messages
from penstock.runtime.progress.seen_fields import observe_fields
from penstock.runtime.spark.jars import use_jars


class KafkaSource(RuntimeSource):
    """The declared columns of each message, `_malformed`, where it is from, and `_arrived`: its timestamp."""

    def __init__(self, source: Input) -> None:
        self._source = source
        self._watch: TopicWatch | None = None

    def check(self, storage: Storage, place: str | None) -> None:
        """Raises RunError if no broker answers, there is no such topic, or records are gone that are to be read."""
        source = self._source
        found = check_partitions(source, source.name, source.partitions)
        read = [] if place is None else [*list_read(storage, place, str(source.values["topic"]))]
        self._watch = TopicWatch(source, min(map(len, read), default=found))
        self._watch.compare(found)
        for offsets in read:
            check_offsets(source, source.name, offsets)
        check_schemas(source)

    @property
    def is_watched(self) -> bool:
        return True

    def inspect(self) -> Sequence[Diagnostic]:
        """New partitions, and keys in partitions of others."""
        assert self._watch is not None, "an input is checked before it is inspected"
        return self._watch.inspect()

    def count_tasks(self) -> int:
        return count_partitions(self._source, self._source.name)

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
        use_jars(spark)
        source = self._source
        values = source.values
        reader = spark.readStream.format("kafka").options(
            **{
                **spark_options(source, source.name),
                "kafka.isolation.level": "read_committed",
                **self._partitions(),
                "startingOffsets": self._starting_offsets(),
                "includeHeaders": str(HEADERS in dict(source.metadata).values()),
            }
        )
        limit = values.get("max_offsets_per_batch")
        rows = (reader if limit is None else reader.option("maxOffsetsPerTrigger", int(str(limit)))).load()
        return read_messages(rows.select(F.struct("*").alias("_metadata")), source)

    def _partitions(self) -> dict[str, str]:
        """What Spark reads of the topic: no partitions that come later where the place decides what is newest."""
        topic = str(self._source.values["topic"])
        if not self._source.newest_by_place:
            return {"subscribe": topic}
        return {"assign": json.dumps({topic: [*range(count_partitions(self._source, self._source.name))]})}

    def _starting_offsets(self) -> str:
        """Where each partition begins. Partitions that are not named begin with their first record."""
        given = starting_of(self._source).offsets
        if not given:
            return "earliest"
        count = count_partitions(self._source, self._source.name)
        offsets = {str(number): given.get(number, EARLIEST) for number in range(count)}
        return json.dumps({str(self._source.values["topic"]): offsets})


def list_read(storage: Storage, place: str, topic: str) -> Iterator[dict[int, int]]:
    """How far the query of a checkpoint folder has read the topic: the next offset by partition, for each input."""
    finished = storage.newest(f"{place}/commits")
    text = None if finished < 0 else storage.read(f"{place}/offsets/{finished}")
    if text is not None:  # what is damaged is told by others
        for offsets in offsets_of(f"{place}/offsets/{finished}", text).values():
            if isinstance(offsets, dict) and isinstance(offsets.get(topic), dict):
                yield {int(partition): offset for partition, offset in offsets[topic].items()}


def read_messages(rows: DataFrame, source: Input) -> DataFrame:
    """The rows of messages, which are in the struct `_metadata`."""
    messages = None if source.parsing is None else source.parsing.messages
    assert messages is not None, "codegen parses the messages of topics"
    for part in messages.parts:
        rows = rows.selectExpr("*", part.text)
        if part.fields is not None:
            rows = divide_records(rows, part.fields)
        if part.avro is not None:
            rows = decode_part(rows, part.avro, source)
        for step in part.steps:
            rows = rows.selectExpr(*step)
    watch = messages.watch
    return observe_fields(rows.selectExpr(*messages.items, *(() if watch is None else [watch.item])), source, watch)


class KafkaSink(RuntimeSink):
    """The rows of a query as messages of a topic, each once for readers of committed records."""

    def __init__(self, query: SparkQuery) -> None:
        self._query = query
        values = query.output.values
        self._writer = TopicWriter(
            client_options(query.output, query.output.name), str(values["topic"]), str(values["ledger"])
        )
        self._avro = AvroWriter(query.output)
        self._storage: Storage | None = None
        self._place = ""

    def check(self, storage: Storage, place: str | None, finished: int) -> None:
        """Raises RunError if no broker answers, the topic is not as it is declared, or the ledger cannot be made.

        With Avro also if the registry cannot be asked, or does not take the schema of the rows.
        """
        provide_topic(self._query)
        self._avro.prepare()
        with self._coded_errors():
            self._writer.prepare()

    @property
    def kept_rows(self) -> str:
        return f"the topic {self._query.output.values['topic']}"

    def open(self, storage: Storage, place: str) -> None:
        self._storage, self._place = storage, place

    def write(self, batch: DataFrame, number: int) -> None:
        """Writes a micro-batch.

        Raises:
            RunError: the brokers do not take it, another process writes for this query, or the checkpoint is not the
                one that was written from last.
        """
        assert self._storage is not None, "a sink is opened before it is written"
        metadata = read_required(self._storage, f"{self._place}/metadata")
        offsets = read_required(self._storage, f"{self._place}/offsets/{number}")
        # One collect: a batch that is computed twice is counted twice.
        rows = self._avro.encode(batch.selectExpr(*self._query.message_items).toArrow())
        if self._query.output.is_table and rows.column("key").null_count:
            raise RunError([explain_no_key(self._query.name, self._query.span)])
        digest = hashlib.sha256(offsets.encode()).hexdigest()
        with self._coded_errors():
            self._writer.write(json.loads(metadata)["id"], number, digest, list_messages(rows))

    def close(self) -> None:
        self._writer.close()

    @contextmanager
    def _coded_errors(self) -> Iterator[None]:
        """Raises RunError in place of the errors of the writer."""
        query = self._query
        try:
            yield
        except WriteError as error:
            raise RunError([R074.at(query.span, "", query=query.name, reason=str(error))]) from None
        except FencedError as error:
            raise RunError([R075.at(query.span, "", query=query.name, reason=str(error))]) from None
        except DivergedError as error:
            found = R076.at(query.span, "", query=query.name, reason=str(error))
            raise RunError([found.with_hint("restore the newest checkpoint, or begin anew with --reset")]) from None


class SparkKafkaSink(RuntimeSink):
    """The rows of a query as messages of a topic, by Spark's own sink.

    Its tasks send them from the workers. A micro-batch that runs again sends its rows again. For a table, one task
    sends all rows of a key, in the order in which they replace each other. Their partition follows from the key.
    """

    def __init__(self, query: SparkQuery) -> None:
        self._query = query
        self._avro = AvroWriter(query.output)

    def check(self, storage: Storage, place: str | None, finished: int) -> None:
        """Raises RunError as `KafkaSink.check` does, except for the ledger."""
        provide_topic(self._query)
        self._avro.prepare()

    @property
    def kept_rows(self) -> str:
        return f"the topic {self._query.output.values['topic']}"

    def writer(self, rows: DataFrame) -> DataStreamWriter:
        use_jars(rows.sparkSession)
        output = self._query.output
        messages = rows.selectExpr(*self._query.message_items).select(KEY, VALUE)
        if output.is_table and dict(messages.dtypes)[KEY] == "string":
            messages = messages.withColumn(KEY, F.coalesce(KEY, F.raise_error(F.lit(NO_KEY))))
        messages = self._avro.encode_in_workers(messages)
        options = {**spark_options(output, output.name), "topic": str(output.values["topic"])}
        return messages.writeStream.format("kafka").options(**options)

    def write(self, batch: DataFrame, number: int) -> None:
        raise AssertionError("Spark writes the topic")


def provide_topic(query: SparkQuery) -> None:
    """Makes the topic of a query if the script says so, and compares it with its declaration.

    Raises:
        RunError: no broker answers, there is no such topic, or it has another number of partitions.
    """
    output = query.output
    if output.values["create"] == "if_missing":
        make_topic(output, output.name, infer_partitions(query), compacts=output.is_table)
    check_partitions(output, output.name, output.partitions)


def make_sink(query: SparkQuery) -> RuntimeSink:
    """The sink of a query, as its `delivery` says."""
    return SparkKafkaSink(query) if query.output.is_written_by_spark else KafkaSink(query)


CONNECTOR = RuntimeConnector(KafkaSource, make_sink)
