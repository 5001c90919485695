"""A topic that is read -> what is to be told of it: partitions that came since, and keys in partitions of others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from confluent_kafka import KafkaException

from penstock.codegen.program import Input
from penstock.diagnostics import Diagnostic
from penstock.diagnostics.codes.running import R070, R078, R079, R080
from penstock.runtime.failure.errors import BEGIN_ANEW, RunError
from penstock.runtime.kafka.brokers import check_partitions, client_options, find_ranges
from penstock.runtime.kafka.kafka_keys import sample_keys

MADE_ANEW = "it was made anew, or is another one"
MOVED = "a key may have moved, and which of its messages is the newest is unknown"


class TopicWatch:
    """Compares a topic with what a query has read of it. `read`: the number of partitions."""

    def __init__(self, source: Input, read: int) -> None:
        self._source, self._read = source, read
        self._is_sampled = False

    def compare(self, found: int) -> None:
        """Raises RunError if the query cannot go on with so many partitions."""
        if found < self._read:
            hint = f"{BEGIN_ANEW}, which reads what is there now"
            raise RunError([self._make_refusal(found, MADE_ANEW).with_hint(hint)])
        if found > self._read and self._source.newest_by_place:
            hint = "at TIMESTAMP METADATA FROM 'timestamp' VIRTUAL, WATERMARK FOR at AS at"
            raise RunError([self._make_refusal(found, MOVED).with_hint(hint)])

    def inspect(self) -> Sequence[Diagnostic]:
        """Warnings of what was not told before.

        Raises:
            RunError: as `compare` does; or another number of partitions is declared, or no broker answers.
        """
        source = self._source
        found = check_partitions(source, source.name, source.partitions)
        return [*self._list_new_partitions(found), *self._list_misplaced(found)]

    def _make_refusal(self, found: int, reason: str) -> Diagnostic:
        name, topic = self._source.name, self._source.values["topic"]
        return R078.at(None, topic=topic, name=name, before=self._read, found=found, reason=reason)

    def _list_new_partitions(self, found: int) -> Iterator[Diagnostic]:
        self.compare(found)
        if found > self._read:
            name, topic = self._source.name, self._source.values["topic"]
            warning = R079.at(None, topic=topic, name=name, before=self._read, found=found)
            self._read = found
            yield warning.because("New ones are read from their first message. Keys may go on in another partition.")

    def _list_misplaced(self, count: int) -> Iterator[Diagnostic]:
        """A message that is not where its key belongs, looked for until messages with keys were seen."""
        source, topic = self._source, str(self._source.values["topic"])
        if self._is_sampled or count == 1 or not source.key:
            return
        ranges = find_ranges(source, source.name, range(count))
        try:
            seen = sample_keys(client_options(source, source.name), topic, ranges)
        except KafkaException as error:
            raise RunError([R070.at(None, name=source.name, reason=error.args[0].str())]) from None
        self._is_sampled = bool(seen)
        for each in seen:
            expected = each.expected(count)
            if each.partition != expected:
                key = each.key.decode(errors="backslashreplace")
                where = f"key {key!r} at offset {each.offset} of partition {each.partition}, and not in {expected}"
                why = "So rows of one key may be in other partitions here than in other topics."
                hint = "partitioner=murmur2_random, in producers of librdkafka"
                yield R080.at(None, topic=topic, example=where).because(why).with_hint(hint)
                return
