"""A program -> how many partitions each of its topics has, or will have when a query makes it. Needs no Spark."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from penstock.codegen.program import Input, Program, QueryOutput, SparkQuery
from penstock.diagnostics import Diagnostic
from penstock.runtime.failure.errors import RunError
from penstock.runtime.spark.packages import check_packages


@dataclass(frozen=True, slots=True)
class TopicCount:
    """The number of partitions of a topic."""

    name: str
    """What the script calls it."""
    topic: str
    partitions: int | None
    """None of a topic that will have as many as its brokers give by default."""
    exists: bool
    """Whether it is there. Otherwise a query makes it."""


def count_topics(program: Program) -> list[TopicCount]:
    """Asks the brokers of all topics that the queries read or write. Makes nothing.

    Raises:
        RunError: with all that is wrong. Brokers cannot be reached, topics are missing and no query makes them, or
            topics have another number of partitions than is declared.
    """
    counter = _Counter()
    counted: dict[str, TopicCount] = {}
    problems: list[Diagnostic] = []
    for place, query in _list_places(program):
        if place.name.lower() not in counted:
            try:
                counted[place.name.lower()] = counter.count(place, query)
            except RunError as error:
                problems += [each for each in error.diagnostics if each not in problems]
    if problems:
        raise RunError(problems)
    return [*counted.values()]


def infer_partitions(query: SparkQuery) -> int | None:
    """The partitions of the topic that a query makes: the declared number, else the number of its state or its widest
    input.

    None: none of these is known.

    Raises:
        RunError: the brokers of an input cannot be reached, or it does not exist.
    """
    return _Counter().infer(query)


def _list_places(program: Program) -> Iterator[tuple[Input | QueryOutput, SparkQuery | None]]:
    """The topics in the order in which a run needs them, outputs with their queries: a later query may read them."""
    for query in program.queries:
        yield from ((each, None) for each in query.inputs if each.counts_partitions)
        if query.output.counts_partitions:
            yield query.output, query


class _Counter:
    """Counts partitions. It knows the topics that are not made yet."""

    def __init__(self) -> None:
        self._unmade: dict[tuple[str, str], int | None] = {}

    def count(self, place: Input | QueryOutput, query: SparkQuery | None) -> TopicCount:
        """The partitions of a topic. `query`: what writes it. Raises RunError as `count_topics` does."""
        check_packages(place.connector)
        from penstock.runtime.kafka.brokers import check_partitions, has_topic

        topic = str(place.values["topic"])
        address = (str(place.values["bootstrap_servers"]), topic)
        makes = query is not None and query.output.values["create"] == "if_missing" and address not in self._unmade
        if query is not None and makes and not has_topic(place, place.name):
            self._unmade[address] = self.infer(query)
        if address in self._unmade:
            return TopicCount(place.name, topic, self._unmade[address], exists=False)
        return TopicCount(place.name, topic, check_partitions(place, place.name, place.partitions), exists=True)

    def infer(self, query: SparkQuery) -> int | None:
        declared = query.output.partitions or query.partitions
        if declared is not None:
            return declared
        counts = [self.count(each, None).partitions for each in query.inputs if each.counts_partitions]
        return max((each for each in counts if each is not None), default=None)
