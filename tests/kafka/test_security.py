"""Brokers that want a password: it is read where the script says, and found nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from examples.kafka.broker import Broker
from penstock.codegen.program import Input
from penstock.compilation import compile
from penstock.diagnostics import CompileError
from penstock.planner.plan import SecretOption
from penstock.runtime import RunError
from penstock.runtime.kafka.brokers import count_partitions
from tests.kafka.conftest import PASSWORD
from tests.kafka.scripts import place, run, values

USERS = {"security_protocol": "'sasl_plaintext'", "username": "'ann'", "password": "ENV('KAFKA_PASSWORD')"}


def users_place(broker: Broker, topic: str) -> str:
    return place(broker, topic, **USERS, bootstrap_servers=f"'{broker.servers_of_users}'")


def source(broker: Broker, topic: str) -> Input:
    options = {"topic": topic, "bootstrap_servers": broker.servers_of_users, "format": "json"}
    options |= {"security_protocol": "sasl_plaintext", "username": "ann"}
    return Input("s", "s", "kafka", (*options.items(), ("password", SecretOption("ENV", "KAFKA_PASSWORD"))), ())


@pytest.mark.parametrize(
    ("password", "told"),
    [("wrong", "Authentication failed"), (None, "there is no variable KAFKA_PASSWORD in the environment")],
)
def test_users_who_are_not_known_are_refused(
    broker: Broker, monkeypatch: pytest.MonkeyPatch, password: str | None, told: str
) -> None:
    topic = broker.topic(partitions=3)
    monkeypatch.setenv("KAFKA_PASSWORD", PASSWORD)
    assert count_partitions(source(broker, topic), "s") == 3
    monkeypatch.delenv("KAFKA_PASSWORD")
    if password is not None:
        monkeypatch.setenv("KAFKA_PASSWORD", password)
    with pytest.raises(RunError) as refused:
        count_partitions(source(broker, topic), "s")
    (found,) = refused.value.diagnostics
    assert found.code == "R070"
    assert told in found.message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("security_protocol = 'sasl_ssl', username = 'ann'", "C004: connector kafka needs the option password"),
        ("username = 'ann'", "C003: security_protocol takes 'sasl_ssl' or 'sasl_plaintext' where username is given"),
        ("ssl_ca = 'ca.pem'", "C003: security_protocol takes 'ssl' or 'sasl_ssl' where ssl_ca is given"),
        ("password = 'x'", "C020: a secret stands in the option password"),
        ("security_protocol = 'kerberos'", "C003: security_protocol takes one of"),
    ],
)
def test_what_does_not_go_together_is_refused(options: str, message: str) -> None:
    there = "connector = 'kafka', topic = 't', format = 'json', bootstrap_servers = 'h:1'"
    with pytest.raises(CompileError) as refused:
        compile(f"CREATE STREAM s (id INT) WITH ({there}, {options});")
    (found,) = refused.value.diagnostics
    assert f"{found.code}: {found.message}".startswith(message)


@pytest.mark.spark
@pytest.mark.usefixtures("jars")
def test_a_user_reads_and_writes(
    spark: SparkSession, broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KAFKA_PASSWORD", PASSWORD)
    first, second = broker.topic(), broker.topic()
    broker.send(first, values({"id": 1}))
    script = f"""CREATE STREAM s (id BIGINT) WITH ({users_place(broker, first)});
      CREATE STREAM t WITH ({users_place(broker, second)}) AS SELECT STREAM id FROM s;"""
    run(spark, script, tmp_path / "state")
    assert [each.value() for each in broker.read(second)] == [b'{"id":1}']
    kept = [path.read_bytes() for path in (tmp_path / "state").rglob("*") if path.is_file()]
    assert not any(PASSWORD.encode() in each for each in kept)
