"""A topic -> its newest messages, also as records that are typed as they are declared."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from penstock.codegen.program import Input
from penstock.codegen.record_reasons import KEY, NO_TEXT
from penstock.diagnostics.codes.running import R070
from penstock.runtime.failure.errors import RunError
from penstock.runtime.samples.record_values import (
    MalformedError,
    SampledColumn,
    Values,
    make_columns,
    read_csv_values,
    read_json_values,
)
from penstock.runtime.samples.take import EPOCH, FoundRecord
from penstock.runtime.samples.typed_texts import MisfitError, read_text
from penstock.runtime.spark.packages import check_packages

_SECONDS = 10.0
NO_VALUE = "NULL"


@dataclass(frozen=True, slots=True)
class Message:
    """A record of a topic. `written`: its timestamp in microseconds since 1970."""

    topic: str
    partition: int
    offset: int
    written: int
    key: bytes | None
    value: bytes | None
    headers: list[dict[str, Any]] | None


def read_newest(source: Input, count: int) -> list[Message]:
    """At most so many messages, oldest first. Messages of transactions that were not committed are passed over.

    Raises:
        RunError: the brokers cannot be reached, or there is no such topic.
    """
    check_packages(source.connector)
    from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

    from penstock.runtime.kafka.brokers import client_options, count_partitions, find_ranges

    topic = str(source.values["topic"])
    ranges = find_ranges(source, source.name, range(count_partitions(source, source.name)))
    pending = {number for number, (first, end) in ranges.items() if first < end}
    settings = {
        **client_options(source, source.name),
        "group.id": f"penstock-{uuid.uuid4()}",
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "isolation.level": "read_committed",
    }
    found: list[Message] = []
    with closing(Consumer(settings)) as consumer:
        begins = {each: max(ranges[each][0], ranges[each][1] - count) for each in pending}
        consumer.assign([TopicPartition(topic, each, begin) for each, begin in begins.items()])
        while pending:
            try:
                message = consumer.poll(_SECONDS)
            except KafkaException as raised:
                raise RunError([R070.at(None, name=source.name, reason=raised.args[0].str())]) from None
            if message is None:
                raise RunError([R070.at(None, name=source.name, reason=f"no message in {_SECONDS:.0f} seconds")])
            error = message.error()
            if error is not None and error.code() == KafkaError._PARTITION_EOF:
                pending.discard(message.partition())
            elif error is not None:
                raise RunError([R070.at(None, name=source.name, reason=error.str())])
            else:
                found.append(_make_message(message))
                if message.offset() + 1 >= ranges[message.partition()][1]:
                    pending.discard(message.partition())
    return sorted(found, key=lambda each: (each.written, each.partition, each.offset))[-count:]


def read_messages(source: Input, count: int) -> Iterator[FoundRecord]:
    """The newest messages as records. Raises RunError as `read_newest`."""
    columns = make_columns(source.columns)
    keys = [each for each in columns if each.name in source.key]
    values = [each for each in columns if each.name not in source.key]
    for message in read_newest(source, count):
        text = NO_VALUE if message.value is None else message.value.decode("utf-8", "surrogateescape")
        place = f"{message.topic}, partition {message.partition}, offset {message.offset}"
        try:
            found = {**_read_key(source, keys, message), **_read_value(source, values, message, text)}
        except MalformedError as malformed:
            yield FoundRecord(None, text, place, message.written, str(malformed))
            continue
        found |= {name: _tell_message(message, key) for name, key in source.metadata}
        yield FoundRecord(found, text, place, message.written)


def _read_value(source: Input, columns: list[SampledColumn], message: Message, text: str) -> Values:
    if not columns:
        return {}
    if message.value is None:
        if source.tombstones:
            return dict.fromkeys(each.name for each in columns)
        raise MalformedError(NO_TEXT)
    if source.values["format"] == "json":
        return read_json_values(text, columns)
    null = source.values.get("null")
    return read_csv_values(text, columns, None if null is None else str(null))


def _read_key(source: Input, columns: list[SampledColumn], message: Message) -> Values:
    if not columns or message.key is None:
        return dict.fromkeys(each.name for each in columns)
    text = message.key.decode("utf-8", "surrogateescape")
    is_json = source.values.get("key_format", "json" if len(columns) > 1 else "text") == "json"
    try:
        return read_json_values(text, columns) if is_json else _read_plain(text, columns)
    except MalformedError:
        raise MalformedError(KEY) from None


def _read_plain(text: str, columns: list[SampledColumn]) -> Values:
    """A key in plain text, which is a field of CSV without quotes around it."""
    (column,) = columns
    try:
        return {column.name: read_text(text, column.arrow)}
    except MisfitError:
        raise MalformedError(KEY) from None


def _make_message(message: Any) -> Message:
    _, written = message.timestamp()
    headers = message.headers()
    return Message(
        message.topic(),
        message.partition(),
        message.offset(),
        written * 1000,
        message.key(),
        message.value(),
        None if not headers else [{"key": name, "value": value} for name, value in headers],
    )


def _tell_message(message: Message, key: str) -> Any:
    """What a METADATA column holds."""
    return EPOCH + timedelta(microseconds=message.written) if key == "timestamp" else getattr(message, key)
