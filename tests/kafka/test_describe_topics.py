"""`penstock describe` and `penstock peek` of topics: the newest messages, typed without Spark."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner, Result

from examples.kafka.broker import Broker
from penstock import compile
from penstock.commands.cli import main


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [*map(str, arguments)])


def send(broker: Broker, topic: str, *messages: tuple[bytes | None, bytes | None]) -> None:
    producer = broker.producer()
    for key, value in messages:
        producer.produce(topic, key=key, value=value)
    assert producer.flush(10) == 0


def test_a_topic_of_json(broker: Broker, tmp_path: Path) -> None:
    topic = broker.topic(partitions=2)
    values = [
        b'{"id": %d, "price": 1.50, "o": {"a": "x"}, "at": "2024-01-01T10:%02d:00Z"}' % (n, 59 - n) for n in range(30)
    ]
    send(broker, topic, *((b"k%d" % n, value) for n, value in enumerate(values)))
    described = run("describe", "--connect", broker.servers, "--name", "orders", topic)
    assert described.exit_code == 0, described.output
    script = described.stdout
    assert "price DECIMAL(18, 2)" in script
    assert "o STRUCT<a: STRING>" in script
    assert "WATERMARK FOR at AS at - INTERVAL" in script
    assert "the newest 30 messages" in script
    assert "messages have keys" in script
    assert compile(script)
    path = tmp_path / "orders.sql"
    path.write_text(script)
    send(broker, topic, (None, b'{"id": "x"}'), (None, None))
    peeked = run("peek", "--limit", "40", path, "orders")
    assert peeked.exit_code == 0, peeked.output
    assert "orders: the newest 30 rows" in peeked.stdout
    assert "2 of 32 records are rejected" in peeked.stdout
    assert 'malformed record: id is no BIGINT: "x"' in peeked.stdout
    assert "malformed record: it has no value" in peeked.stdout
    assert "orders: the newest 3 rows" in run("peek", "--limit", "5", path, "orders").stdout


def test_a_topic_of_csv_and_of_bytes(broker: Broker) -> None:
    lines, raw, empty = broker.topic(), broker.topic(), broker.topic()
    send(broker, lines, (None, b"1,a,2024-01-01"), (None, b"2,b,"))
    send(broker, raw, (None, b"\x00\x00\x00\x00\x01\x02"), (None, b"\x00\x00\x00\x00\x01\x04"))
    script = run("describe", "--connect", broker.servers, lines).stdout
    assert "column1 BIGINT" in script
    assert "column3 DATE" in script
    assert "format = 'csv'" in script
    avro = run("describe", "--connect", broker.servers, raw)
    assert (avro.exit_code, "its messages are in Avro" in avro.stderr) == (1, True)
    nothing = run("describe", "--connect", broker.servers, empty)
    assert (nothing.exit_code, "no messages with a value" in nothing.stderr) == (1, True)
    missing = run("describe", "--connect", broker.servers, "no-such-topic")
    assert (missing.exit_code, "error[R071]" in missing.stderr) == (3, True)
