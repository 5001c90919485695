"""Topics in Avro: read by the schemas of their writers, and written for readers of others."""

from __future__ import annotations

import base64
import json
import struct
import threading
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from examples.kafka.broker import Broker
from penstock.compilation import compile
from penstock.kit.avro import registry as asking
from penstock.runtime import RunError
from penstock.runtime.connectors.kafka import read_messages
from tests.kafka.apicurio import fetch_apicurio, run_apicurio
from tests.kafka.registry import RegistryServer, run_registry, serve
from tests.kafka.scripts import place, read_json, rows_in_memory, run

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("jars")]

PASSWORD = "Sesam:öffne dich"


@pytest.fixture(scope="module", params=["loopback", pytest.param("apicurio", marks=pytest.mark.campaign)])
def url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a registry: that of these tests, and one of others."""
    if request.param == "loopback":
        with run_registry() as registry:
            yield registry.url
        return
    reason = fetch_apicurio()
    if reason is not None:
        pytest.skip(reason)
    with run_apicurio(tmp_path_factory.mktemp("apicurio") / "log") as found:
        yield found


def avro(broker: Broker, topic: str, url: str, **options: str) -> str:
    return place(broker, topic, **{"format": "'avro'", "schema_registry": f"'{url}'", **options})


def record(*fields: tuple[str, Any], name: str = "R") -> str:
    return json.dumps(
        {"type": "record", "name": name, "fields": [{"name": each, "type": type_} for each, type_ in fields]}
    )


class Client:
    """Confluent's own client of a registry, for a topic."""

    def __init__(self, url: str, topic: str) -> None:
        self._client, self._topic = SchemaRegistryClient({"url": url}), topic
        self._deserializer = AvroDeserializer(self._client)

    def write(self, schema: str, value: Any, field: MessageField = MessageField.VALUE) -> bytes:
        message = AvroSerializer(self._client, schema)(value, SerializationContext(self._topic, field))
        assert isinstance(message, bytes)
        return message

    def read(self, message: bytes | None, field: MessageField = MessageField.VALUE) -> Any:
        return self._deserializer(message, SerializationContext(self._topic, field))

    def messages(self, broker: Broker) -> list[tuple[Any, Any]]:
        """The keys and values of the topic."""
        found = broker.read(self._topic)
        return [(self.read(each.key(), MessageField.KEY), self.read(each.value())) for each in found]


def put(folder: Path, name: str, *rows: dict[str, Any]) -> None:
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.json").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def files(folder: Path, columns: str, more: str = "") -> str:
    return f"({columns}) WITH (connector = 'files', path = '{folder}/in', format = 'json'{more});\n"


def test_records_are_read_by_the_schemas_of_their_writers(
    spark: SparkSession, broker: Broker, tmp_path: Path, url: str
) -> None:
    topic = broker.topic(partitions=2)
    client = Client(url, topic)
    first = record(("id", "int"), ("kind", {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}))
    new_field = {"name": "at", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}], "default": None}
    second = json.dumps({**json.loads(first), "fields": [*json.loads(first)["fields"], new_field]})
    at = datetime(2024, 2, 29, 12, 0, 0, 5000, UTC)
    good = [client.write(first, {"id": 1, "kind": "A"}), client.write(second, {"id": 2, "kind": "B", "at": at})]
    head = good[1][:5]
    bad = [b"{}", struct.pack(">bI", 0, 999_999) + b"x", good[0][:-1], good[1] + b"\0", head + b"\xff" * 11, None]
    broker.send(topic, [{"value": each, "partition": 0} for each in (good[0], *bad, good[1])])
    broker.send(topic, [{"value": good[0], "partition": 1}])
    script = f"""CREATE STREAM s (id BIGINT, kind STRING, at TIMESTAMP, o BIGINT METADATA FROM 'offset' VIRTUAL)
        WITH ({avro(broker, topic, url)});
      CREATE STREAM kept WITH (connector = 'files', path = '{tmp_path}/out', format = 'json')
        AS SELECT STREAM * FROM s;"""
    (report,) = run(spark, script, tmp_path / "state")
    assert (report.inputs[0].read, report.inputs[0].rejected) == (9, 6)
    rows = sorted((row["id"], row["kind"], row.get("at"), row["o"]) for row in read_json(tmp_path / "out"))
    assert rows == [(1, "A", None, 0), (1, "A", None, 0), (2, "B", "2024-02-29T12:00:00.005000Z", 7)]
    rejected = sorted(read_json(tmp_path / "out_rejected" / "s"), key=lambda row: row["offset"])
    assert [(row["topic"], row["partition"], row["offset"]) for row in rejected] == [(topic, 0, n) for n in range(1, 7)]
    told = [row["record"].rpartition(": ") for row in rejected]
    assert [base64.b64decode(text) for _, _, text in told[:-1]] == bad[:-1]
    assert rejected[-1]["record"] == "NULL"
    number = struct.unpack(">bI", good[0][:5])[1]
    assert told[0][0] == "it does not begin with 0 and the number of a schema"
    assert told[1][0] == "schema 999999: it is unknown"
    assert told[2][0].startswith(f"it does not parse by schema {number}")


def test_a_message_is_decoded_once(spark: SparkSession) -> None:
    """Filters do not go in front of the decoder, where Spark would have to decode for them."""
    there = (
        "connector = 'kafka', topic = 't', bootstrap_servers = 'h:1', format = 'avro', schema_registry = 'http://h:1'"
    )
    program = compile(f"CREATE STREAM s (id BIGINT, name STRING) WITH ({there}); SELECT STREAM * FROM s;").program
    columns = "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP"
    messages = spark.createDataFrame([], columns).select(F.struct("*").alias("_metadata"))
    rows = read_messages(messages, program.queries[0].inputs[0]).where("_malformed IS NULL AND id > 3").select("name")
    assert rows._jdf.queryExecution().executedPlan().toString().count("ArrowEvalPython") == 1


TYPES: dict[str, tuple[str, Any, Any]] = {
    "a": ("BOOLEAN", True, True),
    "b": ("TINYINT", -128, -128),
    "c": ("BIGINT", 9007199254740993, 9007199254740993),
    "d": ("DOUBLE", 0.1, 0.1),
    "e": ("DECIMAL(20, 3)", 123456789012.125, Decimal("123456789012.125")),
    "f": ("STRING", 'ä,"\n', 'ä,"\n'),
    "g": ("DATE", "2024-02-29", date(2024, 2, 29)),
    "h": ("TIMESTAMP", "2024-02-29T12:34:56.789012Z", datetime(2024, 2, 29, 12, 34, 56, 789012, UTC)),
    "i": ("ARRAY<INT>", [1, None], [1, None]),
    "j": ("MAP<STRING, ARRAY<STRUCT<p: INT>>>", {"x": [{"p": 1}, None]}, {"x": [{"p": 1}, None]}),
    "k": ("STRUCT<p: INT, q: STRUCT<p: FLOAT>>", {"p": 1, "q": {"p": 0.5}}, {"p": 1, "q": {"p": 0.5}}),
    "l": ("BINARY", "AP8=", b"\0\xff"),
}


@pytest.mark.parametrize("delivery", ["exactly_once", "at_least_once"])
def test_values_are_read_by_others_and_by_us(
    spark: SparkSession, broker: Broker, tmp_path: Path, url: str, delivery: str
) -> None:
    topic = broker.topic()
    columns = ", ".join(f"{name} {type_}" for name, (type_, _, _) in TYPES.items())
    put(tmp_path / "in", "0", {"id": 1, **{name: value for name, (_, value, _) in TYPES.items()}}, {"f": ""})
    there = avro(broker, topic, url, key_format="'avro'", delivery=f"'{delivery}'")
    script = f"""CREATE STREAM s {files(tmp_path, f"id BIGINT, {columns}")}
      CREATE STREAM out (id BIGINT KEY, {columns}) WITH ({there});
      INSERT INTO out SELECT STREAM * FROM s;"""
    run(spark, script, tmp_path / "state")
    expected: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"id": 1}, {name: value for name, (_, _, value) in TYPES.items()}),
        ({"id": None}, {**dict.fromkeys(TYPES), "f": ""}),
    ]
    assert sorted(Client(url, topic).messages(broker), key=str) == sorted(expected, key=str)
    kept = "CREATE STREAM kept WITH (connector = 'memory') AS SELECT STREAM * FROM out;"
    back = rows_in_memory(spark, f"CREATE STREAM out (id BIGINT KEY, {columns}) WITH ({there});\n{kept}", "kept")
    assert sorted(back, key=str) == sorted(({**key, **value} for key, value in expected), key=str)


@pytest.mark.parametrize("delivery", ["exactly_once", "at_least_once"])
def test_a_table_has_tombstones_and_keys_of_others(
    spark: SparkSession, broker: Broker, tmp_path: Path, url: str, delivery: str
) -> None:
    users, longs = broker.topic(cleanup_policy="compact"), broker.topic(cleanup_policy="compact")
    client = Client(url, users)
    key, value = '"string"', record(("name", ["null", "string"]), name="User")
    there = avro(broker, users, url, key_format="'avro'")
    out = avro(broker, longs, url, key_format="'avro'", delivery=f"'{delivery}'")
    script = f"""CREATE TABLE users (id STRING PRIMARY KEY, name STRING) WITH ({there});
      CREATE TABLE longs WITH ({out}) AS SELECT id, UPPER(name) AS name FROM users WHERE LENGTH(name) > 2;"""
    batches: list[list[tuple[str, str | None]]] = [
        [("1", "ann"), ("2", "bob"), ("3", "cy")],
        [("1", "anna"), ("2", None), ("3", "cyd")],
        [("3", "cy")],
    ]
    sent: list[list[Any]] = []
    for rows in batches:
        for id_, name in rows:
            written = None if name is None else client.write(value, {"name": name})
            broker.send(users, [{"key": client.write(key, id_, MessageField.KEY), "value": written}])
        run(spark, script, tmp_path / "state")
        sent.append(sorted(Client(url, longs).messages(broker)[sum(map(len, sent)) :], key=str))
    assert sent == [
        [({"id": "1"}, {"name": "ANN"}), ({"id": "2"}, {"name": "BOB"})],
        [({"id": "1"}, {"name": "ANNA"}), ({"id": "2"}, None), ({"id": "3"}, {"name": "CYD"})],
        [({"id": "3"}, None)],
    ]
    again = f"CREATE TABLE longs (id STRING PRIMARY KEY, name STRING) WITH ({out});\n"
    count = "CREATE TABLE n WITH (connector = 'memory') AS SELECT name, COUNT(*) AS n FROM longs GROUP BY name;"
    assert [row["name"] for row in rows_in_memory(spark, again + count, "n")] == ["ANNA"]


def refusal(spark: SparkSession, script: str) -> str:
    with pytest.raises(RunError) as refused:
        run(spark, script)
    (found,) = refused.value.diagnostics
    return f"{found.code}: {found.message}"


def test_schemas_that_do_not_fit_are_refused_at_the_start(
    spark: SparkSession, broker: Broker, tmp_path: Path, url: str
) -> None:
    topic = broker.topic()
    client = Client(url, topic)
    message = client.write(record(("id", "long"), ("n", "string"), name="Order"), {"id": 1, "n": "x"})
    broker.send(topic, [{"value": message}])
    script = f"CREATE STREAM s (id INT) WITH ({avro(broker, topic, url)});\n"
    kept = "CREATE STREAM kept WITH (connector = 'memory') AS SELECT STREAM * FROM s;"
    told = f"R082: schema of topic {topic} does not fit s: the newest schema of {topic}-value: id is long, which INT"
    assert refusal(spark, script + kept).startswith(told)
    put(tmp_path / "in", "0", {"id": 1, "n": 2})
    source = f"CREATE STREAM s {files(tmp_path, 'id BIGINT, n BIGINT')}"
    out = f"CREATE STREAM out WITH ({avro(broker, topic, url)}) AS SELECT STREAM {{}} FROM s;"
    refused = refusal(spark, source + out.format("id, n"))
    assert refused.startswith(f"R082: schema of topic {topic} does not fit out: {topic}-value: ")
    assert "ncompatible" in refused
    assert len(broker.read(topic)) == 1
    # The record has the name that others gave it, so the registry takes the next version.
    run(spark, source + out.format("id, CAST(n AS STRING) AS n, 1.5 AS price"), tmp_path / "state")
    assert [value for _, value in client.messages(broker)] == [
        {"id": 1, "n": "x"},
        {"id": 1, "n": "2", "price": Decimal("1.5")},
    ]


def test_a_registry_that_is_away_rejects_nothing(
    spark: SparkSession, broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "TRIES", 5)
    topic = broker.topic()
    registry = RegistryServer()
    with serve(registry):
        client = Client(registry.url, topic)
        first = record(("id", "long"))
        broker.send(topic, [{"value": client.write(first, {"id": n})} for n in range(3)])
    port, url = registry.port, registry.url
    script = f"""CREATE STREAM s (id BIGINT) WITH ({avro(broker, topic, url)});
      CREATE STREAM kept WITH (connector = 'files', path = '{tmp_path}/out', format = 'json')
        AS SELECT STREAM * FROM s;"""
    assert refusal(spark, script).startswith(f"R081: schema registry of s cannot be asked: {url}: ")
    # It answers the start, and is away when the workers ask.
    registry.requests.clear()

    def go_away() -> None:
        while not registry.requests:
            time.sleep(0.01)
        registry.failures += [(503, {})] * 40

    with serve(registry, port):
        watching = threading.Thread(target=go_away)
        watching.start()
        with pytest.raises(RunError) as refused:
            run(spark, script, tmp_path / "state")
        watching.join()
        assert [each.code for each in refused.value.diagnostics] == ["R081"]
        registry.failures[:] = [(503, {})] * 3
        run(spark, script, tmp_path / "state")
    assert sorted(row["id"] for row in read_json(tmp_path / "out")) == [0, 1, 2]
    assert not (tmp_path / "out_rejected").exists()


def test_a_password_goes_to_the_registry_alone(
    spark: SparkSession,
    broker: Broker,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    first, second = broker.topic(), broker.topic()
    with run_registry({"ann": PASSWORD}) as registry:
        users = {"registry_username": "'ann'", "registry_password": "ENV('REGISTRY_PASSWORD')"}
        number = registry.add(f"{first}-value", record(("id", "long")))
        broker.send(first, [{"value": struct.pack(">bI", 0, number) + b"\x0e"}])
        script = f"""CREATE STREAM s (id BIGINT) WITH ({avro(broker, first, registry.url, **users)});
          CREATE STREAM t WITH ({avro(broker, second, registry.url, value_subject="'mine'", **users)})
            AS SELECT STREAM id FROM s;"""
        missing = (
            "R081: schema registry of s cannot be asked: there is no variable REGISTRY_PASSWORD in the environment"
        )
        assert refusal(spark, script) == missing
        monkeypatch.setenv("REGISTRY_PASSWORD", "wrong-one")
        assert refusal(spark, script).endswith("it answers 401 Unauthorized")
        monkeypatch.setenv("REGISTRY_PASSWORD", PASSWORD)
        run(spark, script, tmp_path / "state")
        assert len(broker.read(second)) == 1
        assert [*registry.subjects] == [f"{first}-value", "mine"]
        # A password is sent to no other address.
        registry.failures.append((302, {"Location": f"{registry.url}/elsewhere"}))
        registry.requests.clear()
        assert "it answers 302" in refusal(spark, script)
        assert not any("elsewhere" in each for each in registry.requests)
    kept = [path.read_bytes() for path in (tmp_path / "state").rglob("*") if path.is_file()]
    encoded = base64.b64encode(f"ann:{PASSWORD}".encode())
    shown = "".join(capfd.readouterr()).encode()
    assert not any(each in text for each in (PASSWORD.encode(), encoded) for text in (*kept, shown))
