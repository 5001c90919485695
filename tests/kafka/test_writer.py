"""Batches are in a topic once for readers of committed records, whatever fails. No Spark is needed for that."""

from __future__ import annotations

import time
from typing import Any

import pytest

from examples.kafka.broker import Broker
from penstock.kit.databases.faults import DivergedError, FencedError
from penstock.runtime.kafka.kafka_writer import Message, TopicWriter, WriteError

QUERY = "0b1c"
# Keys and their hashes by murmur2, as Kafka's own tests of `Utils.murmur2` state them.
MURMUR2 = {
    "21": -973932308,
    "foobar": -790332482,
    "a-little-bit-long-string": -985981536,
    "a-little-bit-longer-string": -1486304829,
    "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    "abc": 479470107,
}


@pytest.fixture
def topic(broker: Broker) -> str:
    return broker.topic(partitions=4)


def writer(broker: Broker, topic: str) -> TopicWriter:
    made = TopicWriter({"bootstrap.servers": broker.servers, "log_level": 0}, topic, "penstock_ledger")
    made.prepare()
    return made


def messages(*names: str) -> list[Message]:
    return [(name, f"value of {name}", None) for name in names]


def keys(broker: Broker, topic: str, isolation: str = "read_committed") -> list[str]:
    return sorted(each.key().decode() for each in broker.read(topic, isolation))


class Crash(Exception):
    """In the middle of a batch."""


def crash_behind(*names: str) -> Any:
    yield from messages(*names)
    raise Crash


def test_a_batch_that_comes_again_is_not_written_again(broker: Broker, topic: str) -> None:
    first = writer(broker, topic)
    first.write(QUERY, 0, "d0", messages("a", "b"))
    first.write(QUERY, 0, "d0", messages("a", "b"))
    first.write(QUERY, 1, "d1", messages("c"))
    again = writer(broker, topic)
    again.write(QUERY, 1, "d1", messages("c"))
    again.write(QUERY, 2, "d2", messages("d"))
    assert keys(broker, topic) == ["a", "b", "c", "d"]


def test_a_batch_that_fails_in_the_middle_leaves_nothing(broker: Broker, topic: str) -> None:
    first = writer(broker, topic)
    first.write(QUERY, 0, "d0", messages("a"))
    with pytest.raises(Crash):
        first.write(QUERY, 1, "d1", crash_behind("b"))
    first.write(QUERY, 1, "d1", messages("b", "c"))
    assert keys(broker, topic) == ["a", "b", "c"]


def test_an_open_transaction_of_a_writer_that_died_is_aborted(broker: Broker, topic: str) -> None:
    dead = writer(broker, topic)
    dead.write(QUERY, 0, "d0", messages("a"))
    producer = dead._producer
    assert producer is not None
    producer.begin_transaction()
    producer.produce(topic, key="lost")
    producer.flush()
    started = time.monotonic()
    writer(broker, topic).write(QUERY, 1, "d1", messages("b"))
    assert keys(broker, topic) == ["a", "b"]
    assert "lost" in keys(broker, topic, "read_uncommitted")
    assert time.monotonic() - started < 20, "the transaction was not left to its timeout"


def test_the_earlier_of_two_writers_is_shut_out(broker: Broker, topic: str) -> None:
    earlier, later = writer(broker, topic), writer(broker, topic)
    earlier.write(QUERY, 0, "d0", messages("a"))
    later.write(QUERY, 1, "d1", messages("b"))
    with pytest.raises(FencedError):
        earlier.write(QUERY, 1, "d1", messages("b"))
    later.write(QUERY, 2, "d2", messages("c"))
    assert keys(broker, topic) == ["a", "b", "c"]


@pytest.mark.parametrize(("batch", "digest"), [(0, "d0"), (1, "other"), (3, "d3")])
def test_what_the_ledger_does_not_fit_is_refused(broker: Broker, topic: str, batch: int, digest: str) -> None:
    first = writer(broker, topic)
    first.write(QUERY, 0, "d0", messages("a"))
    first.write(QUERY, 1, "d1", messages("b"))
    with pytest.raises(DivergedError):
        writer(broker, topic).write(QUERY, batch, digest, messages("c"))
    with pytest.raises(DivergedError):
        writer(broker, topic).write("another", 5, "d5", messages("c"))
    assert keys(broker, topic) == ["a", "b"]


def test_another_query_with_an_open_transaction_hides_nothing(broker: Broker, topic: str) -> None:
    mine = writer(broker, topic)
    mine.write(QUERY, 0, "d0", messages("a"))
    other = broker.producer(transactional_id="other")
    other.init_transactions(10)
    other.begin_transaction()
    other.produce("penstock_ledger", key="other", value="{}")
    other.flush()
    mine.write(QUERY, 1, "d1", messages("b"))  # its note lies behind the open transaction
    other.commit_transaction(10)
    writer(broker, topic).write(QUERY, 1, "d1", messages("b"))
    assert keys(broker, topic) == ["a", "b"]


def test_partitions_are_those_of_producers_in_java(broker: Broker, topic: str) -> None:
    writer(broker, topic).write(QUERY, 0, "d0", messages(*MURMUR2))
    found = {each.key().decode(): each.partition() for each in broker.read(topic)}
    assert found == {key: (hashed & 0x7FFFFFFF) % 4 for key, hashed in MURMUR2.items()}


def test_times_and_tombstones(broker: Broker, topic: str) -> None:
    now = int(time.time() * 1000)
    rows: list[Message] = [("old", "v", 1_000), ("gone", None, 2_000), ("none", "v", None), ("far", "v", now + 10**8)]
    writer(broker, topic).write(QUERY, 0, "d0", rows)
    found = {each.key().decode(): (each.value(), each.timestamp()[1]) for each in broker.read(topic)}
    assert found["old"] == (b"v", 1_000)
    assert found["gone"] == (None, 2_000)
    for key in ("none", "far"):
        assert abs(found[key][1] - now) < 60_000


def test_a_batch_with_a_message_that_is_too_large_is_refused_whole(broker: Broker) -> None:
    topic = broker.topic(max_message_bytes="1000")
    first = writer(broker, topic)
    first.write(QUERY, 0, "d0", messages("a"))
    large: Message = ("large", "".join(map(str, range(2_000))), None)
    for attempt in (first, writer(broker, topic)):
        with pytest.raises(WriteError):
            attempt.write(QUERY, 1, "d1", [*messages("b"), large])
    assert keys(broker, topic) == ["a"]
    first.write(QUERY, 1, "d1", messages("b"))
    assert keys(broker, topic) == ["a", "b"]


def test_a_broker_that_is_away_is_told(topic: str) -> None:
    away = TopicWriter({"bootstrap.servers": "127.0.0.1:1", "log_level": 0}, topic, "penstock_ledger")
    with pytest.raises(WriteError):
        away.prepare()
