"""Streams that look up tables, through Spark: a row meets what all records up to its own micro-batch come to.

Several histories go through each query at once, with keys of their own. Each query is stopped after every micro-batch
but the last two, and killed once in the midst of one, which is run again.
"""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

import penstock
from penstock.evaluator.evaluate import evaluate
from penstock.evaluator.history import Fate, History, Tables, clocks, sort_out
from penstock.evaluator.typed_values import EPOCH, Row, milliseconds
from penstock.planner.plan import Intermediate, Node
from penstock.planner.plan.walk import walk
from penstock.runtime import RuntimeSession
from tests.campaign import take_some
from tests.jvm.sessions import open_session
from tests.model.arrivals import write_json_lines
from tests.model.rows import difference
from tests.properties import tables
from tests.properties.killed import BATCHES, PACKED, packed, until_done
from tests.properties.streams import tried
from tests.properties.test_spark import AT_ONCE, hold_back, wrong_accounts
from tests.properties.test_tables_spark import names_of

pytestmark = [pytest.mark.spark, pytest.mark.draws]
QUERIES = (
    *take_some([each.format(kind=("INNER", "LEFT")[place % 2]) for place, each in enumerate(tables.LOOKUPS)], 3),
    *take_some(tables.STREAM_MEMBERSHIPS[1:4:2], 2),
)


def example(sql: str) -> History:
    """A packed history for a query: of those that Hypothesis draws, one with many rows."""
    drawn: list[History] = []

    @settings(max_examples=4, deadline=None, phases=(Phase.generate,), suppress_health_check=list(HealthCheck))
    @given(st.data())
    def draw(data: st.DataObject) -> None:
        drawn.append(packed(data.draw, names_of(planned(sql, "")), PACKED))

    draw()
    return max(drawn, key=History.size)


def script(sql: str, folder: str, store: str) -> str:
    return f"{tables.declared(folder, 1)}SET state_partitions = 2; SET state_store = '{store}'; {sql}"


def planned(sql: str, folder: str) -> Node:
    (query,) = penstock.compile(script(sql, folder, "memory")).queries
    return query.root


def test_spark_comes_to_the_answer_as_of_each_micro_batch(
    only_spark: SparkSession, tmp_path: Path, killing: None
) -> None:
    def outcome(number: int) -> str:
        sql = QUERIES[number]
        history = example(sql)
        store = ("memory", "rocksdb")[number % 2]
        spark = open_session(only_spark, number)
        found = wrong(f"CREATE STREAM result AS {sql}", history, tmp_path / str(number), spark, store)
        return f"{sql}\n{history}\n{found}" if found else ""

    with ThreadPoolExecutor(AT_ONCE) as pool:
        failures = list(filter(None, pool.map(outcome, range(len(QUERIES)))))
    tried["streams with tables through Spark"] += len(QUERIES) * PACKED
    assert not failures, "\n\n".join(failures)


def wrong(sql: str, history: History, folder: Path, spark: SparkSession, store: str) -> str:
    """How what Spark sends differs from the answer."""
    folders = write_json_lines(history, folder)
    program = penstock.compile(script(sql, str(folder), store)).program
    plan = planned(sql, str(folder))
    # Of several queries one runs after the other to the end of what is there: they are in step if that is little.
    several = any(isinstance(node, Intermediate) for node in walk(plan))
    with RuntimeSession(spark, checkpoint=str(folder / "checkpoint")) as running:
        held_back = hold_back(folders.values(), 1)
        until_done(lambda: running.run_once(program, drain=False))
        for number in range(1, BATCHES):
            for path, elsewhere in held_back.items():
                if int(path.stem) == number:
                    elsewhere.rename(path)
            if several or number != BATCHES - 2:
                until_done(lambda: running.run_once(program, drain=False))
        return difference(running.rows("result"), answer(plan, history))


def answer(plan: Node, history: History) -> list[Row]:
    """The rows of each micro-batch of the stream beside the tables as they are then."""
    rows: list[Row] = []
    for number, batch in enumerate(history.batches, start=1):
        seen = History(history.batches[:number]).tables()
        rows += evaluate(plan, seen | {"s": batch["s"]})
    return rows


WINDOWS = """CREATE TABLE t (id BIGINT PRIMARY KEY, g STRING)
WITH (connector = 'files', path = '{0}/t', format = 'json');
CREATE STREAM s (id BIGINT KEY, time TIMESTAMP, WATERMARK FOR time AS time - 2 SEC)
WITH (connector = 'files', path = '{0}/s', format = 'json', files_per_batch = 1);
CREATE STREAM result AS SELECT STREAM g, window_start, COUNT(*) AS n
FROM (SELECT STREAM t.g AS g, s.time AS time FROM s LEFT JOIN t ON s.id = t.id) x GROUP BY g, TUMBLE(time, 3 SEC)
"""


def test_windows_over_rows_beside_a_table_leave_out_late_rows_of_the_stream(
    only_spark: SparkSession, tmp_path: Path
) -> None:
    def rows(*seconds: float | None) -> list[Row]:
        times = [None if each is None else EPOCH + milliseconds(int(1000 * each) + 86_400_000) for each in seconds]
        return [{"id": number % 3, "time": time} for number, time in enumerate(times)]

    known: list[Row] = [{"id": 0, "g": "a"}, {"id": 1, "g": "b"}]
    streams = [rows(0, 1, 2.5, 1.5), rows(7, 2, 3), rows(4.9, 5, 11, 6), rows(8, 20, 9, None, 11)]
    history = History(tuple({"s": each, "t": known if number == 0 else []} for number, each in enumerate(streams)))
    write_json_lines(history, tmp_path)
    spark = only_spark.newSession()
    compiled = penstock.compile(WINDOWS.format(tmp_path))
    plan = compiled.queries[0].root
    fates = sort_out(history, clocks(plan))
    assert len(fates[Fate.LATE].tables()["s"]) == 2
    with RuntimeSession(spark, checkpoint=str(tmp_path / "checkpoint")) as running:
        reports = running.run_once(compiled.program, drain=True)
        assert list(wrong_accounts(reports, fates)) == []
        assert difference(running.rows("result"), evaluate(plan, fates[Fate.USED].tables())) == ""


VERSIONS = """CREATE TABLE x (id STRING PRIMARY KEY, v BIGINT, time TIMESTAMP, WATERMARK FOR time AS time - 3 SEC)
WITH (connector = 'files', path = '{0}/x', format = 'json', operation = 'op', retention = 1 DAY, files_per_batch = 1);
CREATE STREAM s (id BIGINT KEY, g STRING, v BIGINT, time TIMESTAMP, WATERMARK FOR time AS time - 2 SEC)
WITH (connector = 'files', path = '{0}/s', format = 'json', files_per_batch = 1);
CREATE VIEW large AS SELECT * FROM x WHERE v > 1;
SET state_partitions = 2;
"""
AS_OF = (
    "SELECT STREAM s.id AS id, s.v AS v, x.v AS w FROM s JOIN x FOR SYSTEM_TIME AS OF s.time AS x ON s.g = x.id",
    "SELECT STREAM s.id AS id, s.g AS g, x.time AS since, x.v AS w"
    " FROM s LEFT JOIN x FOR SYSTEM_TIME AS OF s.time AS x ON s.g = x.id AND x.v > s.v WHERE s.v IS NOT NULL",
    "SELECT STREAM s.id AS id, x.v AS w FROM s LEFT JOIN large FOR SYSTEM_TIME AS OF s.time AS x ON s.g = x.id",
    "SELECT STREAM w, window_start, COUNT(*) AS n FROM (SELECT STREAM x.v AS w, s.time AS time"
    " FROM s LEFT JOIN x FOR SYSTEM_TIME AS OF s.time AS x ON s.g = x.id) q GROUP BY w, TUMBLE(time, 2 SEC)",
)


def versions(chance: random.Random) -> History:
    """Rows and records in disorder within their delays; several of one key at one time, deletions, NULL keys."""

    def moment(batch: int, delay: int) -> datetime:
        return EPOCH + milliseconds(86_400_000 + 1500 * batch + 250 * chance.randrange(4 * delay))

    def row(id_: int, batch: int) -> Row:
        key, value = chance.choice(["a", "a", "b", "c", None]), chance.choice([0, 1, 2, None])
        return {"id": id_, "g": key, "v": value, "time": moment(batch, 2)}

    def record(batch: int) -> Row:
        key, value = chance.choice(["a", "a", "b", "d", None]), chance.choice([0, 1, 2, 3, None])
        does = chance.choice(["insert", "update", None, "delete"])
        return {"id": key, "v": value, "time": moment(batch, 3), "op": does}

    batches: list[Tables] = [
        {
            "s": [row(100 * batch + number, batch) for number in range(chance.randrange(12))],
            "x": [record(batch) for _ in range(chance.randrange(8))],
        }
        for batch in range(6)
    ]
    return History(tuple(batches))


@pytest.mark.parametrize("sql", AS_OF)
def test_rows_meet_the_record_that_was_valid_at_their_time(sql: str, only_spark: SparkSession, tmp_path: Path) -> None:
    history = versions(random.Random(sql))
    folders = write_json_lines(history, tmp_path)
    compiled = penstock.compile(VERSIONS.format(tmp_path) + f"CREATE STREAM result AS {sql}")
    (query,) = compiled.queries
    with RuntimeSession(only_spark.newSession(), checkpoint=str(tmp_path / "checkpoint")) as running:
        for stop in (2, 3):
            held_back = hold_back(folders.values(), stop)
            running.run_once(compiled.program, drain=False)
            for path, elsewhere in held_back.items():
                elsewhere.rename(path)
        running.run_once(compiled.program, drain=True)
        fates = sort_out(history, clocks(query.root))
        assert fates[Fate.LATE].size() == 0
        assert difference(running.rows("result"), evaluate(query.root, fates[Fate.USED].tables())) == ""
