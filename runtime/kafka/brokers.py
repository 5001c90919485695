"""What is asked of the brokers of a topic: its partitions, and where these begin and end."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, TypeAlias

from confluent_kafka import KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

from penstock.codegen.program import Input, QueryOutput
from penstock.diagnostics.codes.running import R070, R071, R072, R074
from penstock.kit.databases.faults import TableError
from penstock.kit.databases.secret_refs import SecretRef
from penstock.runtime.failure.errors import RunError, explain_loss

Place: TypeAlias = Input | QueryOutput
_SECONDS = 10
"""How long brokers may take to answer."""
_LEADERLESS = (KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.LEADER_NOT_AVAILABLE)
"""Brokers say so while a partition is made, or given to another broker."""
EARLIEST = -2
"""What Spark takes for the first offset of a partition."""


def client_options(place: Place, name: str) -> dict[str, Any]:
    """How a client reaches the brokers of a topic. Nothing is printed. `name`: what the script calls the topic.

    Raises:
        RunError: the password is not where the script says.
    """
    values = place.values
    options = {
        "bootstrap.servers": str(values["bootstrap_servers"]),
        "security.protocol": str(values["security_protocol"]),
        "socket.connection.setup.timeout.ms": _SECONDS * 1000,
        "log_level": 0,
        "error_cb": lambda _: None,  # what fails is raised
    }
    if "username" in values:
        options["sasl.mechanism"] = str(values["sasl_mechanism"]).upper()
        options["sasl.username"], options["sasl.password"] = str(values["username"]), _read_password(place, name)
    if "ssl_ca" in values:
        options["ssl.ca.location"] = str(values["ssl_ca"])
    return options


def spark_options(place: Place, name: str) -> dict[str, str]:
    """The same for Spark.

    Raises:
        RunError: the password is not where the script says.
    """
    values = place.values
    options = {
        "kafka.bootstrap.servers": str(values["bootstrap_servers"]),
        "kafka.security.protocol": str(values["security_protocol"]).upper(),
    }
    if "username" in values:
        mechanism = str(values["sasl_mechanism"]).upper()
        module = "plain.PlainLoginModule" if mechanism == "PLAIN" else "scram.ScramLoginModule"
        user, password = (_quote(each) for each in (str(values["username"]), _read_password(place, name)))
        login = f"org.apache.kafka.common.security.{module} required username={user} password={password};"
        options |= {"kafka.sasl.mechanism": mechanism, "kafka.sasl.jaas.config": login}
    if "ssl_ca" in values:
        options |= {"kafka.ssl.truststore.type": "PEM", "kafka.ssl.truststore.location": str(values["ssl_ca"])}
    return options


def _read_password(place: Place, name: str) -> str:
    secret: Any = dict(place.options)["password"]
    try:
        return SecretRef(secret.kind, secret.name).read()
    except TableError as error:
        raise RunError([R070.at(None, name=name, reason=str(error))]) from None


def _quote(text: str) -> str:
    """A text as the configuration of a login in Java has it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def make_topic(place: Place, name: str, partitions: int | None, *, compacts: bool) -> None:
    """Makes the topic unless it exists. None: as many partitions as the brokers give by default.

    Raises:
        RunError: the brokers cannot be reached, or refuse.
    """
    topic = str(place.values["topic"])
    if has_topic(place, name):
        return
    admin = AdminClient(client_options(place, name))
    config = {"cleanup.policy": "compact"} if compacts else {}
    made = NewTopic(topic, -1 if partitions is None else partitions, config=config)
    deadline = time.monotonic() + _SECONDS
    try:
        for future in admin.create_topics([made], operation_timeout=_SECONDS).values():
            future.result()
        while _list_topic(place, name, topic).error is not None and time.monotonic() < deadline:
            time.sleep(0.1)  # until all brokers know of it
    except KafkaException as error:
        if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:  # another process was faster
            raise RunError([R074.at(None, query=name, reason=f"{topic} is not made: {error.args[0].str()}")]) from None


def has_topic(place: Place, name: str) -> bool:
    """Whether the brokers have the topic. Raises RunError if they cannot be reached."""
    return _list_topic(place, name, str(place.values["topic"])).error is None


def count_partitions(place: Place, name: str) -> int:
    """The number of partitions of the topic. `name`: what the script calls it.

    Raises:
        RunError: the brokers cannot be reached, or have no such topic.
    """
    topic = str(place.values["topic"])
    found = _list_topic(place, name, topic)
    if found.error is not None or not found.partitions:
        known = found.error is None or found.error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART
        if not known:
            raise RunError([R070.at(None, name=name, reason=found.error.str())])
        raise RunError([R071.at(None, name=name, topic=topic).with_hint(_how_to_make(place, topic))])
    return len(found.partitions)


def check_partitions(place: Place, name: str, declared: int | None) -> int:
    """The number of partitions of the topic. Raises RunError as `count_partitions`, or if another one is declared."""
    found = count_partitions(place, name)
    if declared is not None and declared != found:
        problem = R072.at(None, topic=place.values["topic"], found=found, name=name, declared=declared)
        raise RunError([problem.with_hint(f"partitions = {found}, in the WITH list")])
    return found


def check_offsets(place: Place, name: str, read: dict[int, int]) -> None:
    """Compares the topic with the next offsets by partition that are to be read.

    Raises:
        RunError: records are gone, or no broker answers.
    """
    topic = str(place.values["topic"])
    for partition, (first, end) in find_ranges(place, name, read).items():
        offset = read[partition]
        if not first <= offset <= end:
            held = f"partition {partition} of {topic} has the offsets from {first} to {end - 1}"
            raise RunError([explain_loss(name, f"{held}, and {offset} is the next to be read")])


def find_ranges(place: Place, name: str, partitions: Iterable[int]) -> dict[int, tuple[int, int]]:
    """The first offset of each partition, and the one of the next message to come.

    Raises:
        RunError: the brokers cannot be reached.
    """
    topic, numbers = str(place.values["topic"]), [*partitions]
    first = _ask_offsets(place, name, topic, numbers, OffsetSpec.earliest())
    end = _ask_offsets(place, name, topic, numbers, OffsetSpec.latest())
    return {number: (first[number], end[number]) for number in numbers}


def find_offsets(place: Place, name: str, partitions: Iterable[int], moment: int | None) -> dict[int, int]:
    """The offset by partition of the first record of a time in milliseconds, or of the next record to come.

    `moment`: None for the next record to come, which is also taken where no record is as late.

    Raises:
        RunError: the brokers cannot be reached.
    """
    topic = str(place.values["topic"])
    numbers = [*partitions]
    latest = _ask_offsets(place, name, topic, numbers, OffsetSpec.latest())
    if moment is None:
        return latest
    found = _ask_offsets(place, name, topic, numbers, OffsetSpec.for_timestamp(moment))
    return {number: offset if offset >= 0 else latest[number] for number, offset in found.items()}


def _ask_offsets(place: Place, name: str, topic: str, partitions: list[int], spec: OffsetSpec) -> dict[int, int]:
    admin = AdminClient(client_options(place, name))
    asked = {TopicPartition(topic, number): spec for number in partitions}
    deadline = time.monotonic() + _SECONDS
    while True:
        try:
            futures = admin.list_offsets(asked, request_timeout=_SECONDS)
            return {each.partition: future.result().offset for each, future in futures.items()}
        except KafkaException as error:
            if error.args[0].code() not in _LEADERLESS or time.monotonic() > deadline:
                raise RunError([R070.at(None, name=name, reason=error.args[0].str())]) from None
            time.sleep(0.1)


def _list_topic(place: Place, name: str, topic: str) -> Any:
    told: list[KafkaError] = []
    admin = AdminClient({**client_options(place, name), "error_cb": told.append})
    try:
        return admin.list_topics(topic, timeout=_SECONDS).topics[topic]
    except KafkaException as error:
        admin.poll(0)  # says what was told
        why = next((each for each in told if each.code() == KafkaError._AUTHENTICATION), error.args[0])
        reason = f"{place.values['bootstrap_servers']}: {why.str()}"
        raise RunError([R070.at(None, name=name, reason=reason)]) from None


def _how_to_make(place: Place, topic: str) -> str:
    if isinstance(place, QueryOutput):
        return "create = 'if_missing', in the WITH list"
    servers = place.values["bootstrap_servers"]
    return f"kafka-topics.sh --bootstrap-server {servers} --create --topic {topic} --partitions 4"
