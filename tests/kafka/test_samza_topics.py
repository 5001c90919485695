"""Partition cases of Samza whose counts no script declares: brokers say how many partitions real topics have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka.admin import NewPartitions

from examples.kafka.broker import Broker, find_port
from penstock.codegen.program import Input
from penstock.compilation import compile
from penstock.diagnostics import CompileError
from penstock.partition_check import compare_places
from penstock.runtime import RunError
from penstock.runtime.connectors.kafka import KafkaSource
from penstock.runtime.kafka.kafka_watch import TopicWatch
from penstock.runtime.query.inspection import Inspection
from tests.conformance.differences import SAMZA_GRAPH_ONLY
from tests.conformance.samza_partitions import CASES, DEFAULT, Case, compare_planned, sql_of
from tests.kafka.scripts import place

WIDE = 100  # a broker takes a while to make topics of so many partitions
OF_SETTINGS = {case["id"] for case in CASES if case.get("config", {}).get(DEFAULT) == 0}


def of_case(case: Case) -> Any:
    slow = max(case["streams"].values()) > WIDE
    return pytest.param(case, id=case["id"], marks=[pytest.mark.campaign] if slow else [])


PLANS = [
    of_case(case)
    for case in CASES
    if case["kind"] == "plan" and case["id"] not in SAMZA_GRAPH_ONLY and case["id"] not in OF_SETTINGS
]


@pytest.fixture(scope="module")
def options(broker: Broker) -> Callable[[str, int], str]:
    """The options of a topic with so many partitions, one for all inputs and one for each output."""
    made: dict[tuple[int, str], str] = {}

    def find(name: str, count: int) -> str:
        kind = count, name if "_" in name else ""  # as outputs are called, which have one writer
        if kind not in made:
            made[kind] = broker.topic(f"of-{count}", count)
        return place(broker, made[kind])

    return find


@pytest.mark.parametrize("case", PLANS)
def test_counts_of_topics(case: Case, options: Callable[[str, int], str]) -> None:
    lines = sql_of(case, options)
    alone = compile("\n".join(lines))
    if case["expect"]["rejected"]:
        with pytest.raises(CompileError) as refusal:
            compare_places(alone)
        assert {each.code for each in refusal.value.diagnostics} == {"P001"}
        return
    compare_planned(case, lines, compare_places(alone).compilation)


def test_existing_counts_are_asked_for(broker: Broker) -> None:
    """The cases fetch-existing-counts and stream-manager-counts."""
    given = next(case["given"]["broker"] for case in CASES if case["id"] == "fetch-existing-counts")
    given |= next(case["given"]["system-1"] for case in CASES if case["id"] == "stream-manager-counts")
    streams = {name.replace("-", "_"): count for name, count in given.items()}
    topics = {name: broker.topic(name, count) for name, count in streams.items()}
    script = ""
    for name, topic in topics.items():
        script += f"CREATE STREAM {name} (k BIGINT) WITH ({place(broker, topic)}); SELECT STREAM k FROM {name};\n"
    found = compare_places(compile(script))
    assert {each.name: each.partitions for each in found.topics} == streams
    assert all(each.exists for each in found.topics)


def test_a_stream_that_cannot_be_asked_hides_no_other(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    """The case monitor-one-failing-stream."""
    monkeypatch.setattr("penstock.runtime.kafka.brokers._SECONDS", 1)
    topic = broker.topic(partitions=2)

    def source(name: str, servers: str) -> Input:
        given = {"topic": topic, "bootstrap_servers": servers, "format": "json", "security_protocol": "plaintext"}
        return Input(name, name, "kafka", (*given.items(),), (("k", "BIGINT"),))

    inputs = source("away", f"127.0.0.1:{find_port()}"), source("there", broker.servers)
    inspection = Inspection(inputs)
    for kafka, each in zip(inspection._sources, inputs, strict=True):
        assert isinstance(kafka, KafkaSource)
        monkeypatch.setattr(kafka, "_watch", TopicWatch(each, 2))
    admin = broker.admin()
    for future in admin.create_partitions([NewPartitions(topic, 3)]).values():
        future.result()
    with pytest.raises(RunError) as refused:
        inspection.inspect()
    assert [each.code for each in refused.value.diagnostics] == ["R070"]
    assert [each.code for each in inspection.warnings] == ["R079"]
