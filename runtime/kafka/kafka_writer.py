"""Micro-batches -> messages of a topic, each batch once for readers of committed records.

A batch is one transaction, with a record of the topic ledger in it. After a crash the ledger tells whether the
transaction was committed. Among writers with one transactional identifier, the brokers let the newest go on.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

import pyarrow as pa
from confluent_kafka import Consumer, IsolationLevel, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

from penstock.kit.databases.faults import DivergedError, FencedError

Message: TypeAlias = tuple[str | None, str | None, int | None]
"""The key, the value and the time in milliseconds of a record."""

SECONDS = 30
"""How long brokers may take to answer."""
COMMIT_SECONDS = 300
"""How long a transaction may take."""
_FUTURE = 3_600_000
"""Brokers refuse records that are so many milliseconds ahead of their clock, unless they are told otherwise."""


class WriteError(Exception):
    """The brokers do not take a batch."""


@dataclass(frozen=True, slots=True)
class Note:
    """What the ledger says of the newest batch of a query."""

    batch: int
    digest: str
    epoch: int


class TopicWriter:
    """Writes the batches of one query to one topic. To be used by one thread."""

    def __init__(self, client: dict[str, Any], topic: str, ledger: str) -> None:
        self._client, self._topic, self._ledger = client, topic, ledger
        self._producer: Producer | None = None
        self._identifier = ""
        self._newest: Note | None = None
        self._epoch = 0

    def prepare(self) -> None:
        """Makes the topic of the ledger if it is missing. Raises WriteError."""
        with _told():
            admin = AdminClient(self._client)
            if self._ledger in admin.list_topics(timeout=10).topics:
                return
            made = NewTopic(self._ledger, 1, config={"cleanup.policy": "compact"})
            try:
                for future in admin.create_topics([made]).values():
                    future.result()
            except KafkaException as error:
                if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                    raise

    def write(self, query: str, batch: int, digest: str, messages: Iterable[Message]) -> None:
        """Writes a batch, unless the ledger knows it by this digest. `query`: the identifier of the checkpoint.

        Raises:
            WriteError: the brokers do not take the batch.
            FencedError: another writer of this query has taken over.
            DivergedError: the ledger has this batch with another digest, or a newer one, or not the one before.
        """
        with _told():
            if self._producer is None:
                self._open(query)
            if not self._is_due(batch, digest):
                return
            producer = self._producer
            assert producer is not None
            producer.begin_transaction()
            try:
                latest = int(time.time() * 1000) + _FUTURE
                for key, value, moment in messages:
                    known = {} if moment is None or not 0 < moment <= latest else {"timestamp": moment}
                    self._send(producer, self._topic, key, value, **known)
                note = {"batch": batch, "digest": digest, "epoch": self._epoch}
                self._send(producer, self._ledger, self._identifier, json.dumps(note))
                _commit(producer)
            except BaseException:
                self._abort(producer)
                raise
            self._newest = Note(batch, digest, self._epoch)

    def close(self) -> None:
        """Lets go of the brokers."""
        self._producer = None

    def _open(self, query: str) -> None:
        """Shuts earlier writers out, and reads how far they have come."""
        self._identifier = f"penstock/{self._topic}/{query}"
        producer = Producer(
            self._client
            | {
                "transactional.id": self._identifier,
                "transaction.timeout.ms": COMMIT_SECONDS * 1000,
                "partitioner": "murmur2_random",  # as producers in Java choose partitions
                "linger.ms": 20,
            }
        )
        producer.init_transactions(SECONDS)
        self._newest = self._read_note()
        self._epoch = 1 if self._newest is None else self._newest.epoch + 1
        self._producer = producer

    def _is_due(self, batch: int, digest: str) -> bool:
        newest = self._newest
        if newest is None:
            if batch:
                raise DivergedError(f"the ledger {self._ledger} knows no micro-batch, and this is number {batch}")
            return True
        if newest.batch == batch and newest.digest == digest:
            return False
        if newest.batch != batch - 1:
            other = " of other input" if newest.batch == batch else ""
            raise DivergedError(f"its newest micro-batch there is number {newest.batch}{other}, and this is {batch}")
        return True

    def _send(self, producer: Producer, topic: str, key: str | None, value: str | None, **known: int) -> None:
        deadline = None
        while True:
            try:
                producer.produce(topic, key=key, value=value, **known)
                return
            except BufferError:  # the brokers are slower
                deadline = deadline or time.monotonic() + COMMIT_SECONDS
                if time.monotonic() > deadline:
                    raise WriteError("the brokers take no more records") from None
                producer.poll(0.1)

    def _abort(self, producer: Producer) -> None:
        """Ends a transaction that has failed. If that fails, too, the next writer ends it."""
        self._producer = None
        with suppress(KafkaException):
            producer.abort_transaction(SECONDS)

    def _read_note(self) -> Note | None:
        """The newest note of this query.

        A record of another query's open transaction hides all that come after it from readers of committed records.
        So what is there now is waited for.
        """
        place = TopicPartition(self._ledger, 0)
        admin = AdminClient(self._client)
        end = _find_end(admin, place, IsolationLevel.READ_UNCOMMITTED)
        deadline = time.monotonic() + 2 * COMMIT_SECONDS
        while _find_end(admin, place, IsolationLevel.READ_COMMITTED) < end:
            if time.monotonic() > deadline:
                raise WriteError(f"a transaction in {self._ledger} does not end")
            time.sleep(0.1)
        found = None
        for message in self._read_ledger():
            if message.key() == self._identifier.encode() and message.value() is not None:
                found = Note(**json.loads(message.value()))
        return found

    def _read_ledger(self) -> Iterator[Any]:
        consumer = Consumer(
            self._client
            | {
                "group.id": self._identifier,
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
            }
        )
        try:
            consumer.assign([TopicPartition(self._ledger, 0, 0)])
            while True:
                message = consumer.poll(SECONDS)
                if message is None:
                    raise WriteError(f"the ledger {self._ledger} cannot be read: the brokers do not answer")
                error = message.error()
                if error is None:
                    yield message
                elif error.code() == KafkaError._PARTITION_EOF:
                    return
                elif not error.retriable():
                    raise KafkaException(error)
        finally:
            consumer.close()


def list_messages(rows: pa.Table) -> Iterator[Message]:
    """The rows of a table with the columns of `Message`."""
    for batch in rows.to_batches():
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _find_end(admin: AdminClient, place: TopicPartition, isolation: IsolationLevel) -> int:
    asked = {place: OffsetSpec.latest()}
    (future,) = admin.list_offsets(asked, isolation_level=isolation, request_timeout=SECONDS).values()
    return int(future.result().offset)


def _commit(producer: Producer) -> None:
    """Commits; an attempt whose answer is lost is made again, which changes nothing."""
    deadline = time.monotonic() + COMMIT_SECONDS
    while True:
        try:
            producer.commit_transaction(SECONDS)
            return
        except KafkaException as error:
            if not error.args[0].retriable() or time.monotonic() > deadline:
                raise


@contextmanager
def _told() -> Iterator[None]:
    """Raises WriteError or FencedError in place of the errors of the client."""
    try:
        yield
    except KafkaException as error:
        found: KafkaError = error.args[0]
        fenced = (KafkaError._FENCED, KafkaError.INVALID_PRODUCER_EPOCH, KafkaError.PRODUCER_FENCED)
        if found.code() in fenced:
            raise FencedError(found.str()) from None
        raise WriteError(found.str()) from None
