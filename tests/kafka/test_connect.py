"""`penstock check --connect` and starts: what brokers say of topics is compared with the script."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import Result
from confluent_kafka.admin import NewPartitions
from pyspark.sql import SparkSession

from examples.kafka.broker import Broker, find_port
from penstock.compilation import compile
from penstock.diagnostics import CompileError
from penstock.partition_check import compare_places
from tests.e2e.shell import ENVIRONMENT, penstock_here
from tests.kafka.scripts import place, read_json, run, values

ON = "ON a.id = b.id AND b.at BETWEEN a.at AND a.at + INTERVAL 1 HOUR"
NO_SPARK = """import sys
from penstock.commands.cli import main
code = main(["check", "--connect", "script.sql"], standalone_mode=False)
sys.exit(bool({"pyspark", "py4j"} & set(sys.modules)))
"""


def declare(broker: Broker, name: str, topic: str, key: str = "KEY", **options: str) -> str:
    columns = f"id BIGINT {key}, at TIMESTAMP, WATERMARK FOR at AS at"
    return f"CREATE STREAM {name} ({columns}) WITH ({place(broker, topic, **options)});\n"


def join(broker: Broker, one: str, other: str, key: str = "KEY", sink: str = "connector = 'memory'") -> str:
    sides = declare(broker, "one", one, key) + declare(broker, "other", other, key)
    return f"{sides}CREATE STREAM both WITH ({sink}) AS SELECT STREAM a.id, a.at FROM one a JOIN other b {ON};"


def check(folder: Path, script: str, *more: str) -> Result:
    (folder / "script.sql").write_text(script)
    return penstock_here(folder, "check", "--connect", *more, "script.sql")


def codes(script: str) -> list[str]:
    with pytest.raises(CompileError) as refused:
        compare_places(compile(script))
    return [each.code for each in refused.value.diagnostics]


def test_counts_that_differ_are_refused_as_declared_ones(broker: Broker, tmp_path: Path) -> None:
    one, other = broker.topic(partitions=4), broker.topic(partitions=6)
    checked = check(tmp_path, join(broker, one, other))
    assert checked.exit_code == 1
    assert "error[P001]" in checked.output
    assert "one: 4 partitions by id, as its topic has" in checked.output
    assert "other: 6 partitions by id, as its topic has" in checked.output
    with pytest.raises(CompileError) as refusal:
        compare_places(compile(join(broker, one, other)))
    (found,) = refusal.value.diagnostics
    sides = declare(broker, "one", one) + declare(broker, "other", other)
    assert check(tmp_path, f"{sides}{found.fix};").exit_code == 0
    (told,) = json.loads(check(tmp_path, join(broker, one, other), "--format", "json").stdout)
    assert told["code"] == "P001"
    assert check(tmp_path, f"SET auto_repartition = ON;\n{join(broker, one, other)}").exit_code == 0


def test_the_same_counts_are_accepted_and_shown(broker: Broker, tmp_path: Path) -> None:
    one, other, made = broker.topic(partitions=4), broker.topic(partitions=4), f"{broker.topic()}-made"
    script = join(broker, one, other, sink=place(broker, made, create="'if_missing'"))
    checked = check(tmp_path, f"SET state_partitions = 3;\n{script}")
    assert (checked.exit_code, checked.stderr) == (0, "")
    assert checked.stdout.splitlines() == [
        "ok: script.sql: 4 statements, 1 query",
        f"topic: {one} of one: 4 partitions",
        f"topic: {other} of other: 4 partitions",
        f"topic: {made} of both: is made with 3 partitions",
    ]
    assert made not in broker.admin().list_topics(timeout=10).topics


def test_a_stream_without_a_key_has_no_wrong_count(broker: Broker) -> None:
    script = join(broker, broker.topic(partitions=4), broker.topic(partitions=6), key="")
    assert compare_places(compile(script)).warnings == []


def test_another_key_is_refused(broker: Broker) -> None:
    topic = broker.topic(partitions=4)
    other = f"""CREATE STREAM other (id BIGINT, part BIGINT KEY, at TIMESTAMP, WATERMARK FOR at AS at)
      WITH ({place(broker, topic)});"""
    query = f"CREATE STREAM both WITH (connector = 'memory') AS SELECT STREAM a.id, a.at FROM one a JOIN other b {ON};"
    assert codes(declare(broker, "one", topic) + other + query) == ["P002"]


def test_a_table_of_a_topic_counts(broker: Broker) -> None:
    stream, table = broker.topic(partitions=4), broker.topic(partitions=6)
    script = f"""CREATE TABLE t (id BIGINT PRIMARY KEY, name STRING) WITH ({place(broker, table)});
      CREATE STREAM n WITH (connector = 'memory') AS SELECT STREAM s.id, t.name FROM s JOIN t ON s.id = t.id;"""
    assert codes(declare(broker, "s", stream) + script) == ["P001"]


def test_all_that_is_missing_is_told(broker: Broker, tmp_path: Path) -> None:
    away = place(broker, "t", bootstrap_servers=f"'127.0.0.1:{find_port()}'")
    there = broker.topic(partitions=2)
    queries = "".join(
        f"CREATE STREAM m{i} WITH (connector = 'memory') AS SELECT STREAM id FROM {name};\n"
        for i, name in enumerate(("gone", "other", "far"))
    )
    script = declare(broker, "gone", "no-such-topic") + declare(broker, "other", there, partitions="3")
    script += f"CREATE STREAM far (id BIGINT) WITH ({away});\n{queries}"
    checked = check(tmp_path, script)
    assert checked.exit_code == 3
    assert [code for code in ("R070", "R071", "R072") if f"error[{code}]" not in checked.output] == []


def test_a_topic_that_an_earlier_query_makes_is_not_missing(broker: Broker) -> None:
    first = broker.topic(partitions=5)
    middle, last = f"{first}-middle", f"{first}-last"
    script = f"""{declare(broker, "one", first)}
      CREATE STREAM two WITH ({place(broker, middle, create="'if_missing'")}) AS SELECT STREAM id, at FROM one;
      {declare(broker, "three", middle)}
      CREATE STREAM four WITH ({place(broker, last, create="'if_missing'")}) AS SELECT STREAM id FROM three;"""
    found = {each.name: (each.partitions, each.exists) for each in compare_places(compile(script)).topics}
    assert found == {"one": (5, True), "two": (5, False), "three": (5, False), "four": (5, False)}


def test_the_check_needs_no_spark(broker: Broker, tmp_path: Path) -> None:
    topic = broker.topic(partitions=2)
    (tmp_path / "script.sql").write_text(join(broker, topic, topic))
    command = [sys.executable, "-c", NO_SPARK]
    checked = subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert f"topic: {topic} of one: 2 partitions" in checked.stdout


@pytest.mark.spark
@pytest.mark.usefixtures("jars")
def test_a_start_after_one_topic_has_grown(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    """It is refused until the other one has grown, too. The state goes on with its own number of partitions."""
    one, other = broker.topic(partitions=2), broker.topic(partitions=2)
    sink = f"connector = 'files', path = '{tmp_path}/out', format = 'json'"
    script = join(broker, one, other, sink=sink)
    (tmp_path / "script.sql").write_text(script)
    command = ("run", "--once", "--checkpoint", "state", "script.sql")

    def send(topic: str, key: int, hour: int, partition: int) -> None:
        rows = values({"id": key, "at": f"2026-01-01T{hour:02}:00:00Z"}, key=str(key).encode(), partition=partition)
        broker.send(topic, rows)

    def grow(topic: str) -> None:
        admin = broker.admin()
        for future in admin.create_partitions([NewPartitions(topic, 3)]).values():
            future.result()

    for topic in (one, other):
        send(topic, 1, 0, 0)
    assert penstock_here(tmp_path, *command).exit_code == 0
    grow(one)
    refused = penstock_here(tmp_path, *command)
    assert refused.exit_code == 1
    assert "error[P001]" in refused.output
    grow(other)
    for topic in (one, other):
        send(topic, 2, 1, 2)
        send(topic, 3, 9, 2)
    ended = penstock_here(
        tmp_path,
        *command,
    )
    assert ended.exit_code == 0, ended.output
    assert "warning[R079]" in ended.output
    run(spark, script, tmp_path / "state", drain=True)
    assert sorted(row["id"] for row in read_json(tmp_path / "out")) == [1, 2, 3]
