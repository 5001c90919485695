"""Random queries: in real time they write what they write in micro-batches, killed or not."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession

from examples.kafka.broker import Broker
from penstock.compilation import compile
from penstock.diagnostics import CompileError
from penstock.runtime import RunError
from tests.e2e.shell import ENVIRONMENT, PENSTOCK
from tests.kafka.scripts import place, run, values
from tests.kafka.test_real_time import ids
from tests.properties.script_streams import STREAMS, draw_row, write_columns
from tests.properties.scripts import Writer

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("jars", "real_time")]

QUERIES = int(os.environ.get("PENSTOCK_PLANS", "6"))
TABLES = max(1, QUERIES // 2)
KILLS = int(os.environ.get("PENSTOCK_KILLS", "3"))
PATIENCE = 120  # seconds until a row has to be there
METADATA = {"file": "FROM 'topic'", "size": "FROM 'offset' VIRTUAL"}
REAL_TIME = "SET trigger = 'realtime'; SET realtime_batch = 5 SECONDS;\n"


def fill(broker: Broker, chance: Random) -> str:
    """Topics of random rows and some that are malformed, and their declarations."""
    declared = ""
    for name, delay in STREAMS.items():
        topic = broker.topic(name, partitions=2)
        rows = [b"?" if chance.random() < 0.1 else draw_row(chance, number) for number in range(24)]
        for partition in (0, 1):
            broker.send(topic, values(*rows[partition::2], partition=partition))
        watermark = f"WATERMARK FOR time AS time - INTERVAL '{delay}' SECOND"
        declared += f"CREATE STREAM {name} ({write_columns(METADATA)}, {watermark}) WITH ({place(broker, topic)});\n"
    return declared


def write_into(broker: Broker, topic: str, number: int, query: str) -> str:
    there = place(broker, topic, delivery="'at_least_once'")
    return f"CREATE STREAM r{number} WITH ({there}) AS {query};\n"


def draw(spark: SparkSession, broker: Broker, declared: str) -> dict[str, Counter[Any]]:
    """Queries that run in real time, with what they write in micro-batches."""
    drawn: dict[str, Counter[Any]] = {}
    for seed in count():
        if len(drawn) == QUERIES:
            return drawn
        writer = Writer(Random(seed))
        kinds = (writer.union, writer.projection, writer.union, writer.windowed_rows)
        query = kinds[len(drawn) % len(kinds)](0).sql
        target = broker.topic("micro", partitions=2)
        script = declared + write_into(broker, target, 0, query)
        with suppress(CompileError, RunError):  # it is none for real time, or fails for a row
            compile(REAL_TIME + script)
            run(spark, script)
            drawn[query] = count_messages(broker, target)
    raise AssertionError("numbers do not end")


def count_messages(broker: Broker, topic: str) -> Counter[Any]:
    return Counter((each.key(), each.value()) for each in broker.read(topic))


@contextmanager
def follow_apart(folder: Path, slots: int) -> Iterator[subprocess.Popen[bytes]]:
    """Runs the script of a folder in a process of its own, which is interrupted at the end if it still runs."""
    run = [*PENSTOCK, "run", "--master", f"local[{slots}]", "--checkpoint", "state", "script.sql"]
    log = (folder / "log").open("ab")
    with subprocess.Popen(run, cwd=folder, env=ENVIRONMENT, stdout=log, stderr=log, start_new_session=True) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)


@pytest.mark.draws
def test_answers_are_those_of_micro_batches(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    declared = fill(broker, Random(1))
    expected = draw(spark, broker, declared)
    assert any(" UNION ALL " in query for query in expected)
    assert all(expected.values()), "a query writes nothing"
    targets = {query: broker.topic("real", partitions=2) for query in expected}
    queries = "".join(write_into(broker, topic, n, query) for n, (query, topic) in enumerate(targets.items()))
    (tmp_path / "script.sql").write_text(REAL_TIME + declared + queries)
    with follow_apart(tmp_path, slots=6 * QUERIES + 1) as process:
        deadline = time.monotonic() + PATIENCE
        for query, topic in targets.items():
            while count_messages(broker, topic).total() < expected[query].total():
                assert process.poll() is None, (tmp_path / "log").read_text()
                assert time.monotonic() < deadline, query
                time.sleep(0.2)
    assert process.returncode == 0, (tmp_path / "log").read_text()
    for query, topic in targets.items():
        assert count_messages(broker, topic) == expected[query], query


def write_table(broker: Broker, topic: str, number: int, query: str) -> str:
    there = place(broker, topic, delivery="'at_least_once'", key_format="'json'")
    return f"CREATE TABLE r{number} WITH ({there}) AS {query};\n"


def draw_tables(spark: SparkSession, broker: Broker, declared: str) -> dict[str, dict[Any, Any]]:
    """Queries with GROUP BY that run in real time, with the tables that they are in micro-batches."""
    drawn: dict[str, dict[Any, Any]] = {}
    for seed in count():
        if len(drawn) == TABLES:
            return drawn
        query = Writer(Random(seed)).table()
        target = broker.topic("micro", partitions=2)
        script = declared + write_table(broker, target, 0, query)
        with suppress(CompileError, RunError):  # it is none for real time, or fails for a row
            compile(REAL_TIME + script)
            run(spark, script)
            table = read_table(broker, target)
            if len(table) > 2:
                drawn[query] = table
    raise AssertionError("numbers do not end")


def read_table(broker: Broker, topic: str) -> dict[Any, Any]:
    """The newest message of each key. Of numbers with a point the last digits depend on the order of the rows."""
    messages = ((each.key(), each.value()) for each in broker.read(topic))
    return {key: None if value is None else json.loads(value, parse_float=_round) for key, value in messages}


def _round(text: str) -> str:
    return f"{float(text):.9g}"


@pytest.mark.draws
def test_tables_are_those_of_micro_batches(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    declared = fill(broker, Random(2))
    expected = draw_tables(spark, broker, declared)
    targets = {query: broker.topic("real", partitions=2) for query in expected}
    queries = "".join(write_table(broker, topic, n, query) for n, (query, topic) in enumerate(targets.items()))
    (tmp_path / "script.sql").write_text(REAL_TIME + "SET state_partitions = 2;\n" + declared + queries)
    with follow_apart(tmp_path, slots=8 * TABLES + 1) as process:
        deadline = time.monotonic() + PATIENCE
        for query, topic in targets.items():
            while (found := read_table(broker, topic)) != expected[query]:
                assert process.poll() is None, (tmp_path / "log").read_text()
                assert time.monotonic() < deadline, (query, found, expected[query])
                time.sleep(0.2)
    assert process.returncode == 0, (tmp_path / "log").read_text()
    for query, topic in targets.items():
        assert read_table(broker, topic) == expected[query], query


@pytest.mark.campaign
def test_kills_lose_nothing(broker: Broker, tmp_path: Path) -> None:
    """Only rows of batches that ran again come again; how many is printed."""
    source, target = broker.topic(partitions=2), broker.topic(partitions=3)
    chance = random.Random(11)
    there = place(broker, target, delivery="'at_least_once'")
    (tmp_path / "script.sql").write_text(f"""{REAL_TIME}
      CREATE STREAM s (id BIGINT) WITH ({place(broker, source)});
      CREATE STREAM t WITH ({there}) AS SELECT STREAM id FROM s;""")
    sent = 0
    for number in range(KILLS + 1):
        with follow_apart(tmp_path, slots=3) as process:
            before = sent
            deadline = time.monotonic() + PATIENCE
            ending = None
            while ending is None or time.monotonic() < ending:
                broker.send(source, ({**each, "partition": sent % 2} for each in ids(*range(sent, sent + 20))))
                sent += 20
                time.sleep(0.05)
                assert process.poll() is None, (tmp_path / "log").read_text()
                assert time.monotonic() < deadline
                if ending is None and any(number >= before for number in read_ids(broker, target)):
                    ending = time.monotonic() + 12 * chance.random()
            if number < KILLS:
                os.killpg(process.pid, signal.SIGKILL)
            else:
                while {*read_ids(broker, target)} != {*range(sent)}:
                    assert time.monotonic() < deadline + PATIENCE
                    time.sleep(0.2)
    found = Counter(read_ids(broker, target))
    print(f"real time: {KILLS} kills, {sent} rows, {found.total() - sent} came again")
    assert set(found) == set(range(sent))


@pytest.mark.campaign
def test_kills_leave_the_right_groups(broker: Broker, tmp_path: Path) -> None:
    """Killed in the middle of batches, and run to the end in micro-batches in between, it counts each row once."""
    source, target = broker.topic(partitions=2), broker.topic(partitions=3)
    chance = random.Random(12)
    there = place(broker, target, delivery="'at_least_once'")
    (tmp_path / "script.sql").write_text(f"""{REAL_TIME} SET state_partitions = 2;
      CREATE STREAM s (id BIGINT, v BIGINT) WITH ({place(broker, source)});
      CREATE TABLE t WITH ({there}) AS SELECT id, COUNT(*) AS n, SUM(v) AS total FROM s GROUP BY id;""")
    expected: dict[bytes, dict[str, int]] = {}
    sent = 0

    def send() -> None:
        nonlocal sent
        drawn = [{"id": chance.randrange(40), "v": chance.randrange(1000)} for _ in range(20)]
        for each in drawn:
            group = expected.setdefault(str(each["id"]).encode(), {"n": 0, "total": 0})
            group["n"], group["total"] = group["n"] + 1, group["total"] + each["v"]
        broker.send(source, values(*drawn, partition=sent % 2))
        sent += 1

    for number in range(KILLS + 1):
        with follow_apart(tmp_path, slots=5) as process:
            deadline = time.monotonic() + PATIENCE
            before = sum(1 for _ in broker.read(target))
            ending = None
            while ending is None or time.monotonic() < ending:
                send()
                time.sleep(0.05)
                assert process.poll() is None, (tmp_path / "log").read_text()
                assert time.monotonic() < deadline
                if ending is None and sum(1 for _ in broker.read(target)) > before:
                    ending = time.monotonic() + 12 * chance.random()
            if number < KILLS:
                os.killpg(process.pid, signal.SIGKILL)
            else:
                while read_table(broker, target) != expected:
                    assert time.monotonic() < deadline + PATIENCE
                    time.sleep(0.2)
        if number % 3 == 1:
            once = [*PENSTOCK, "run", "--once", "--master", "local[2]", "--checkpoint", "state", "script.sql"]
            ended = subprocess.run(once, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False)
            assert ended.returncode == 0, ended.stderr
            assert read_table(broker, target) == expected
    messages = sum(1 for _ in broker.read(target))
    print(f"groups in real time: {KILLS} kills, {20 * sent} rows, {messages} messages of {len(expected)} keys")
    assert read_table(broker, target) == expected


def read_ids(broker: Broker, topic: str) -> list[int]:
    return [json.loads(each.value())["id"] for each in broker.read(topic)]
