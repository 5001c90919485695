"""Topics as sources of streams: each committed record once, and what does not fit set aside with its place."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import TopicPartition
from pyspark.sql import SparkSession

from examples.kafka.broker import Broker
from penstock.compilation import compile
from penstock.runtime import RunError, RuntimeSession
from tests.kafka.scripts import place, read_json, rows_in_memory, run, values

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("jars")]

COLUMNS = "id BIGINT, name STRING, p INT METADATA FROM 'partition' VIRTUAL, o BIGINT METADATA FROM 'offset' VIRTUAL"
MOMENT = 1_700_000_000_000


def source(broker: Broker, topic: str, columns: str = COLUMNS, **options: str) -> str:
    return f"CREATE STREAM s ({columns}) WITH ({place(broker, topic, **options)});\n"


def kept(folder: Path, select: str = "SELECT STREAM * FROM s") -> str:
    return f"CREATE STREAM kept WITH (connector = 'files', path = '{folder}', format = 'json') AS {select};"


def in_memory(select: str = "SELECT STREAM * FROM s") -> str:
    return f"CREATE STREAM kept WITH (connector = 'memory') AS {select};"


def test_each_record_is_read_once_and_in_order_over_restarts(
    spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
    topic = broker.topic(partitions=2)
    script = source(broker, topic, max_offsets_per_batch="7", partitions="2") + kept(tmp_path / "out")
    for first in (0, 20, 40):
        for partition in (0, 1):
            broker.send(topic, values(*({"id": first + n, "name": "é"} for n in range(20)), partition=partition))
        (report,) = run(spark, script, tmp_path / "state")
        assert report.inputs[0].read == 40
    rows = read_json(tmp_path / "out")
    for partition in (0, 1):
        mine = [row for row in rows if row["p"] == partition]
        assert [(row["id"], row["o"]) for row in mine] == [(n, n) for n in range(60)]
    assert {row["name"] for row in rows} == {"é"}


def test_malformed_records_are_set_aside_with_their_places(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    topic = broker.topic(partitions=2)
    bad = [b"{", b'{"id": 1.5}', b'{"id": 1, "name": "\xff"}', b"", None, b'{"id": 1} {"id": 2}']
    told = ["{", '{"id": 1.5}', '{"id": 1, "name": "\ufffd"}', "", "NULL", '{"id": 1} {"id": 2}']
    broker.send(topic, values({"id": 1}, *bad, {"id": 2}))
    broker.send(topic, values({"id": 3}, partition=1))
    script = source(broker, topic) + kept(tmp_path / "out")
    run(spark, script, tmp_path / "state")
    assert sorted(row["id"] for row in read_json(tmp_path / "out")) == [1, 2, 3]
    rejected = read_json(tmp_path / "out_rejected" / "s")
    assert [(row["topic"], row["partition"], row["offset"]) for row in rejected] == [(topic, 0, n) for n in range(1, 7)]
    assert all(row["reason"].startswith("malformed record: ") for row in rejected)
    assert [row["record"] for row in rejected] == told


def test_records_of_aborted_transactions_are_not_read(spark: SparkSession, broker: Broker) -> None:
    topic = broker.topic()
    producer = broker.producer(transactional_id="aborting")
    producer.init_transactions(10)
    for number, commits in enumerate((True, False, True)):
        producer.begin_transaction()
        producer.produce(topic, value=json.dumps({"id": number}))
        producer.flush()
        (producer.commit_transaction if commits else producer.abort_transaction)(10)
    assert [row["id"] for row in rows_in_memory(spark, source(broker, topic) + in_memory(), "kept")] == [0, 2]
    assert len(broker.read(topic, "read_uncommitted")) == 3


def test_metadata(spark: SparkSession, broker: Broker) -> None:
    topic = broker.topic()
    broker.send(topic, values({"id": 1}, key=b"k\xff", timestamp=MOMENT))
    broker.send(topic, values({"id": 2}, timestamp=MOMENT + 1))
    columns = """id BIGINT, t STRING METADATA FROM 'topic', p INT METADATA FROM 'partition',
      o BIGINT METADATA FROM 'offset', at TIMESTAMP METADATA FROM 'timestamp', k BINARY METADATA FROM 'key'"""
    rows = rows_in_memory(spark, source(broker, topic, columns) + in_memory(), "kept")
    at = datetime.fromtimestamp(MOMENT / 1000, UTC)
    assert rows[0] == {"id": 1, "t": topic, "p": 0, "o": 0, "at": at, "k": b"k\xff"}
    assert rows[1] == {"id": 2, "t": topic, "p": 0, "o": 1, "at": at.replace(microsecond=1000), "k": None}


def test_headers(spark: SparkSession, broker: Broker) -> None:
    topic = broker.topic()
    sent: list[list[tuple[str, bytes | None]]] = [
        [("trace", b"a"), ("n", b"\xff"), ("trace", b"b"), ("none", None)],
        [],
    ]
    for number, headers in enumerate(sent):
        broker.send(topic, values({"id": number}, headers=headers))
    columns = "id BIGINT, headers ARRAY<STRUCT<key: STRING, value: BINARY>> METADATA VIRTUAL"
    trace = "CAST(TRY_ELEMENT_AT(FILTER(headers, h -> h.key = 'trace'), 1).value AS STRING)"
    select = f"SELECT STREAM headers, {trace} AS trace FROM s"
    rows = rows_in_memory(spark, source(broker, topic, columns) + in_memory(select), "kept")
    kept = [{"key": key, "value": value} for key, value in sent[0]]
    assert rows == [{"headers": kept, "trace": "a"}, {"headers": None, "trace": None}]


def test_the_time_of_the_broker_is_event_time(spark: SparkSession, broker: Broker) -> None:
    topic = broker.topic()
    for second in (1, 2, 61):
        broker.send(topic, values({"id": second}, timestamp=second * 1000))
    columns = "id BIGINT, at TIMESTAMP METADATA FROM 'timestamp', WATERMARK FOR at AS at"
    select = "SELECT STREAM window_start, COUNT(*) AS n FROM s GROUP BY TUMBLE(at, INTERVAL '1' MINUTE)"
    rows = rows_in_memory(spark, source(broker, topic, columns) + in_memory(select), "kept", drain=True)
    assert sorted(row["n"] for row in rows) == [1, 2]


def test_csv_and_keys(spark: SparkSession, broker: Broker) -> None:
    topic = broker.topic()
    records: list[dict[str, Any]] = [
        {"key": "7", "value": 'a,"b,\nc"'},
        {"key": "8", "value": "a,-"},
        {"key": "x", "value": "a,b"},
        {"key": None, "value": "a,b"},
        {"key": "9", "value": "a"},
        {"key": "9", "value": b"a,\xff"},
    ]
    broker.send(topic, records)
    columns = "a STRING, id BIGINT KEY, b STRING"
    script = source(broker, topic, columns, format="'csv'", null="'-'", key_format="'text'") + in_memory()
    with RuntimeSession(spark.newSession()) as session:
        session.run_once(compile(script).program, drain=False)
        rows = sorted(session.rows("kept"), key=str)
        rejected = session.rows("kept_rejected/s")
    assert rows == [
        {"a": "a", "id": 7, "b": "b,\nc"},
        {"a": "a", "id": 8, "b": None},
        {"a": "a", "id": None, "b": "b"},
    ]
    assert sorted((row["offset"], row["record"]) for row in rejected) == [(2, "x"), (4, "a"), (5, "a,\ufffd")]


@pytest.mark.parametrize("starting", ["latest", "2023-11-14T22:13:25Z", '{"0": 5}'])
def test_where_a_query_begins(spark: SparkSession, broker: Broker, tmp_path: Path, starting: str) -> None:
    topic = broker.topic(partitions=2)

    def send(*numbers: int) -> None:
        for number in numbers:
            row = b"?" if number % 5 == 1 else {"id": number}
            broker.send(topic, values(row, timestamp=MOMENT + 1000 * number))

    send(*range(10))
    script = source(broker, topic, "id BIGINT", starting=f"'{starting}'") + kept(tmp_path / "out")
    run(spark, script, tmp_path / "state")
    first = 10 if starting == "latest" else 5
    assert [row["id"] for row in read_json(tmp_path / "out")] == [n for n in range(first, 10) if n % 5 != 1]
    send(*range(10, 13))
    run(spark, script, tmp_path / "state")
    assert [row["id"] for row in read_json(tmp_path / "out")] == [n for n in range(first, 13) if n % 5 != 1]
    rejected = sorted(row["offset"] for row in read_json(tmp_path / "out_rejected" / "s"))
    assert rejected == [n for n in range(first, 13) if n % 5 == 1]


def refusal(spark: SparkSession, script: str) -> str:
    with pytest.raises(RunError) as refused:
        run(spark, script)
    (found,) = refused.value.diagnostics
    return f"{found.code}: {found.message}"


def test_what_does_not_fit_the_declaration_is_refused(spark: SparkSession, broker: Broker) -> None:
    topic = broker.topic(partitions=2)
    declared = source(broker, topic, partitions="3") + in_memory()
    assert refusal(spark, declared) == f"R072: topic {topic} has 2 partitions, and s is declared with 3"
    missing = source(broker, "nothing") + in_memory()
    assert refusal(spark, missing) == "R071: topic of s does not exist: nothing"


def test_records_that_are_gone_are_told(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    topic = broker.topic()
    script = source(broker, topic) + kept(tmp_path / "out")
    broker.send(topic, values({"id": 1}))
    run(spark, script, tmp_path / "state")
    broker.send(topic, values({"id": 2}, {"id": 3}))
    admin = broker.admin()  # without a name it would end before its work does
    for future in admin.delete_records([TopicPartition(topic, 0, 2)]).values():
        future.result()
    with pytest.raises(RunError) as refused:
        run(spark, script, tmp_path / "state")
    (found,) = refused.value.diagnostics
    assert (found.code, topic in found.message) == ("R077", True), found


def test_names_that_no_record_has_are_told(spark: SparkSession, broker: Broker) -> None:
    topic = broker.topic(partitions=2)
    broker.send(topic, values({"id": 1, "nmae": "a"}, {"id": 2, "nmae": "b"}, b"{"))
    broker.send(topic, values({"id": 3, "nmae": "c"}, partition=1))
    script = f"CREATE STREAM s (id BIGINT, name STRING, zip STRING) WITH ({place(broker, topic)});\n{in_memory()}"
    (report,) = run(spark, script)
    unseen = report.inputs[0].unseen
    assert unseen is not None
    assert (dict(unseen.columns), unseen.records) == ({"name": "nmae", "zip": None}, 3)
    assert [warning.code for warning in report.warnings] == ["R094", "R094"]
