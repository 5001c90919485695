"""Workers that have no Penstock compute what it sends them."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from pyspark import cloudpickle
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import penstock
from penstock.kit.avro.avro import decode_values, encode_values, share_decoder
from penstock.kit.delta.delta_feed import DeltaFeed
from penstock.kit.tables.table_lookup import join_batches, share_finder
from penstock.kit.worker.bucket_lookup import look_up_rows
from penstock.kit.worker.bucket_multiset import fold_rows
from penstock.kit.worker.bucket_rows import answer_rows
from penstock.kit.worker.bucket_sessions import merge_sessions
from penstock.kit.worker.pack import pack_rows, unpack_tables
from penstock.kit.worker.panes import answer_panes
from penstock.kit.worker.partials import pack_partials
from penstock.runtime import RuntimeSession
from penstock.runtime.kafka.kafka_avro import AvroWriter, decode_part
from penstock.runtime.spark.shipping import ship_kit
from tests.cluster.servers import WITHOUT_PENSTOCK, hide_penstock
from tests.kafka.registry import run_registry

SENT = (
    *(pack_rows, unpack_tables, answer_panes, pack_partials, answer_rows, look_up_rows, fold_rows, merge_sessions),
    *(join_batches, share_finder, DeltaFeed, decode_values, encode_values, share_decoder),
)
"""What views and connectors let workers call."""
WORKER = f"""{WITHOUT_PENSTOCK}import pickle
sent = pickle.load(sys.stdin.buffer)
print([each.__name__ for each in sent])
"""
SCRIPT = """
SET partial_aggregates = ON;
CREATE STREAM orders (id BIGINT, customer STRING, amount BIGINT, time TIMESTAMP, WATERMARK FOR time AS time - 1 SECOND)
  WITH (connector = 'files', path = '{folder}/orders', format = 'json');
CREATE TABLE users (customer STRING PRIMARY KEY, city STRING)
  WITH (connector = 'sqlite', path = '{folder}/users.db', table = 'users');
CREATE TABLE changing (customer STRING PRIMARY KEY, score BIGINT)
  WITH (connector = 'delta', path = '{folder}/changing');

CREATE STREAM by_time WITH ({sink}/by_time') AS
  SELECT STREAM id, SUM(amount) OVER (PARTITION BY customer ORDER BY time RANGE 1 MINUTE PRECEDING) AS n FROM orders;
CREATE STREAM by_rows WITH ({sink}/by_rows') AS
  SELECT STREAM id, SUM(amount) OVER (PARTITION BY customer ORDER BY time ROWS 1 PRECEDING) AS n FROM orders;
CREATE STREAM hops WITH ({sink}/hops') AS
  SELECT STREAM SUM(amount) AS n FROM orders GROUP BY HOP(time, 1 SECOND, 2 SECONDS);
CREATE STREAM known WITH ({sink}/known') AS
  SELECT STREAM o.id, u.city FROM orders o JOIN users u ON u.customer = o.customer;
CREATE STREAM scored WITH ({sink}/scored') AS
  SELECT STREAM o.id, c.score FROM orders o JOIN changing c ON c.customer = o.customer;
CREATE TABLE bests WITH ({sink}/bests', operation = 'op') AS
  SELECT score % 2 AS parity, MAX(score) AS n FROM changing GROUP BY score % 2;
CREATE TABLE visits WITH ({sink}/visits', operation = 'op') AS
  SELECT customer, window_start, COUNT(*) AS n FROM orders GROUP BY customer, SESSION(time, 2 SECONDS) EMIT CHANGES;
"""


def test_what_is_sent_needs_no_penstock() -> None:
    ship_kit()
    sent: bytes = cloudpickle.dumps(SENT)  # type: ignore[no-untyped-call]
    worker = subprocess.run([sys.executable, "-c", WORKER], input=sent, capture_output=True, check=False)
    assert (worker.stdout.decode(), worker.stderr) == (f"{[each.__name__ for each in SENT]}\n", b"")


@pytest.fixture
def bare(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SparkSession:
    """A session whose workers cannot import Penstock. Spark starts new ones where their variables differ."""
    hide_penstock(tmp_path / "python")
    monkeypatch.setitem(spark.sparkContext.environment, "PYTHONPATH", str(tmp_path / "python"))
    return spark


def has_penstock(spark: SparkSession) -> bool:
    def look(batches: Iterator[Any]) -> Iterator[Any]:
        for _ in batches:
            try:
                import penstock  # noqa: F401
            except ImportError:
                yield pa.RecordBatch.from_pydict({"has": [False]})
            else:
                yield pa.RecordBatch.from_pydict({"has": [True]})

    return any(row.has for row in spark.range(0, 1, 1, 1).mapInArrow(look, "has boolean").collect())


@pytest.mark.spark
def test_workers_without_penstock_answer_all_views(bare: SparkSession, tmp_path: Path) -> None:
    assert not has_penstock(bare)
    (tmp_path / "orders").mkdir()
    orders = [
        {"id": number, "customer": "ab"[number % 2], "amount": number, "time": f"2026-01-01T00:00:0{number}Z"}
        for number in range(4)
    ]
    (tmp_path / "orders" / "0.json").write_text("".join(json.dumps(each) + "\n" for each in orders))
    with sqlite3.connect(tmp_path / "users.db") as database:
        database.execute("CREATE TABLE users (customer TEXT PRIMARY KEY, city TEXT)")
        database.execute("INSERT INTO users VALUES ('a', 'Oslo')")
    scores = pa.table({"customer": ["a", "b", "c"], "score": pa.array([1, 2, 3], pa.int64())})
    write_deltalake(str(tmp_path / "changing"), scores, configuration={"delta.enableChangeDataFeed": "true"})
    sink = f"connector = 'files', format = 'json', path = '{tmp_path}/out"
    program = penstock.compile(SCRIPT.format(folder=tmp_path, sink=sink)).program
    with RuntimeSession(bare, str(tmp_path / "state")) as session:
        session.run_once(program, drain=True)

    def read(name: str) -> list[dict[str, Any]]:
        lines = [line for file in (tmp_path / "out" / name).glob("**/*.json") for line in file.read_text().splitlines()]
        return [json.loads(line) for line in lines]

    for name in ("by_time", "by_rows"):
        assert sorted((row["id"], row["n"]) for row in read(name)) == [(0, 0), (1, 1), (2, 2), (3, 4)], name
    assert sorted(row["n"] for row in read("hops")) == [0, 1, 3, 3, 5]
    assert sorted((row["id"], row["city"]) for row in read("known")) == [(0, "Oslo"), (2, "Oslo")]
    assert sorted((row["parity"], row["n"]) for row in read("bests")) == [(0, 2), (1, 3)]
    assert {row["customer"] for row in read("visits")} == {"a", "b"}


@pytest.mark.spark
def test_workers_without_penstock_read_and_write_avro(bare: SparkSession) -> None:
    with run_registry() as registry, RuntimeSession(bare):
        there = f"bootstrap_servers = 'h:1', format = 'avro', schema_registry = '{registry.url}'"
        script = f"""CREATE STREAM s (id BIGINT) WITH (connector = 'kafka', topic = 's', {there});
          CREATE STREAM o WITH (connector = 'kafka', topic = 'o', delivery = 'at_least_once', {there}) AS
          SELECT STREAM id FROM s;"""
        (query,) = penstock.compile(script).program.queries
        writer = AvroWriter(query.output)
        writer.prepare()
        rows = bare.range(3).select(F.struct("id").alias("value"))
        read = decode_part(writer.encode_in_workers(rows), [("id", "BIGINT")], query.inputs[0])
        assert [row.c0 for row in read.select("_decoded.*").collect()] == [0, 1, 2]
