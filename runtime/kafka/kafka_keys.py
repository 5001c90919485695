"""Samples of a topic's newest messages -> whether they lie where producers in Java would put their keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

SAMPLE = 20
"""How many of the newest messages of a partition are looked at."""
_SECONDS = 5
"""How long brokers may take to send them."""
_SEED, _MULTIPLIER = 0x9747B28C, 0x5BD1E995


@dataclass(frozen=True, slots=True)
class KeyPlace:
    """Where a message with a key is."""

    partition: int
    offset: int
    key: bytes

    def expected(self, count: int) -> int:
        """The partition of the key among so many."""
        return find_partition(self.key, count)


def find_partition(key: bytes, count: int) -> int:
    """The partition of a key, as the default partitioner of producers in Java finds it."""
    return (hash_key(key) & 0x7FFFFFFF) % count


def hash_key(key: bytes) -> int:
    """MurmurHash2 of 32 bits with Kafka's seed, without a sign."""
    hashed = _SEED ^ len(key)
    whole = len(key) - len(key) % 4
    for start in range(0, whole, 4):
        word = _multiply(int.from_bytes(key[start : start + 4], "little"))
        hashed = _multiply(hashed) ^ _multiply(word ^ word >> 24)
    if key[whole:]:
        hashed = _multiply(hashed ^ int.from_bytes(key[whole:], "little"))
    hashed = _multiply(hashed ^ hashed >> 13)
    return hashed ^ hashed >> 15


def _multiply(value: int) -> int:
    return value * _MULTIPLIER & 0xFFFFFFFF


def sample_keys(options: Mapping[str, Any], topic: str, ranges: Mapping[int, tuple[int, int]]) -> list[KeyPlace]:
    """The newest messages with keys of each partition, whose first and next offsets are `ranges`.

    Raises:
        KafkaException: the brokers do not answer.
    """
    begins = {number: max(first, end - SAMPLE) for number, (first, end) in ranges.items() if end > first}
    places = [TopicPartition(topic, number, offset) for number, offset in begins.items()]
    return [*_read_keys(options, places)] if places else []


def _read_keys(options: Mapping[str, Any], places: Sequence[TopicPartition]) -> Iterator[KeyPlace]:
    unread = {place.partition for place in places}
    settings = {"group.id": "penstock", "enable.auto.commit": False, "enable.partition.eof": True}
    consumer = Consumer({**options, **settings, "fetch.wait.max.ms": 20})  # the end of a partition is told sooner
    try:
        consumer.assign(places)
        while unread:
            message = consumer.poll(_SECONDS)
            if message is None:  # the brokers are slow, and what was not seen is not judged
                return
            error = message.error()
            if error is None:
                if message.key():
                    yield KeyPlace(message.partition(), message.offset(), message.key())
            elif error.code() == KafkaError._PARTITION_EOF:
                unread.discard(message.partition())
            elif not error.retriable():
                raise KafkaException(error)
    finally:
        consumer.close()
