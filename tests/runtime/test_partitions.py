"""Joins of one script with different numbers of partitions: what Spark makes of them, and what a later run may not."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

import penstock
from penstock.evaluator.evaluate import evaluate
from penstock.evaluator.history import History, Tables
from penstock.evaluator.typed_values import milliseconds
from penstock.planner.plan import IntervalJoin
from penstock.planner.plan.walk import walk
from penstock.runtime import RunError, RuntimeSession
from penstock.runtime.query.run import Run
from tests.model.arrivals import write_json_lines
from tests.model.rows import assert_same_rows

pytestmark = pytest.mark.spark

STREAM = """CREATE STREAM {name} (id BIGINT, k BIGINT KEY, v BIGINT, time TIMESTAMP,
  WATERMARK FOR time AS time - INTERVAL '2' SECOND)
WITH (connector = 'files', path = '{folder}/{name}', format = 'json'{partitions});
"""
BOUND = "y.time BETWEEN x.time - 2 SEC AND x.time + 5 SEC"
JOINS = f"""
CREATE STREAM inserted AS SELECT STREAM x.id AS a, y.id AS c FROM a x FULL JOIN c y ON x.k = y.k AND {BOUND};
CREATE STREAM inferred AS SELECT STREAM x.id AS d, y.id AS b
FROM (SELECT STREAM id, v, time FROM d PARTITION BY v) x LEFT JOIN b y ON x.v = y.k AND x.id < y.id AND {BOUND};
CREATE STREAM asked_for AS SELECT STREAM x.id AS d, y.id AS other
FROM (SELECT STREAM * FROM d PARTITION BY v INTO 6 PARTITIONS) x JOIN d y ON x.v = y.k AND {BOUND};
CREATE STREAM unsaid AS SELECT STREAM x.id AS x, y.id AS y FROM d x JOIN d y ON x.k = y.k AND {BOUND};
"""
PARTITIONS = {"inserted": 5, "inferred": 3, "asked_for": 6, "unsaid": 2}


def declared(folder: Path, **counts: int | None) -> str:
    """Streams with these numbers of partitions over files in a folder."""
    options = {name: "" if count is None else f", partitions = {count}" for name, count in counts.items()}
    return "".join(STREAM.format(name=name, folder=folder, partitions=option) for name, option in options.items())


def history(*names: str) -> History:
    """Two micro-batches of rows of few keys, none of them late."""
    chance, start = Random(5), datetime(2026, 1, 1)

    def rows(batch: int) -> Tables:
        return {
            name: [
                {
                    "id": number,
                    "k": chance.choice([0, 1, 2, 3, None]),
                    "v": chance.choice([0, 1, 2, 3, None]),
                    "time": start + milliseconds(1000 * (number - chance.randrange(3))),
                }
                for number in range(20 * batch, 20 * batch + 20)
            ]
            for name in names
        }

    return History((rows(0), rows(1)))


@pytest.fixture
def executed_plans(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The physical plans of the last micro-batches of all queries that have run, by name."""
    plans: dict[str, str] = {}
    wait = Run.wait

    def waited(run: Run, started: StreamingQuery, *arguments: Any, **more: Any) -> bool:
        ended = wait(run, started, *arguments, **more)
        plans[run.query.name] = started._jsq.explainInternal(False)
        return ended

    monkeypatch.setattr(Run, "wait", waited)
    return plans


def state_partitions(checkpoint: Path, query: str) -> int:
    """How many partitions the state in a checkpoint has."""
    return len([each for each in (checkpoint / query / "state" / "0").iterdir() if each.name.isdigit()])


def test_each_join_has_its_number_of_partitions_on_both_sides(
    spark: SparkSession, tmp_path: Path, executed_plans: dict[str, str]
) -> None:
    streams = declared(tmp_path, a=3, b=3, c=5, d=None)
    compilation = penstock.compile(f"SET state_partitions = 2; SET auto_repartition = ON; {streams} {JOINS}")
    arrived, checkpoint = history("a", "b", "c", "d"), tmp_path / "checkpoint"
    write_json_lines(arrived, tmp_path)
    with RuntimeSession(spark, str(checkpoint)) as session:
        session.run_once(compilation.program, drain=True)
        for query in compilation.queries:
            (join,) = (node for node in walk(query.root) if isinstance(node, IntervalJoin))
            plan, partitions = executed_plans[query.name], PARTITIONS[query.name]
            # One by one each side goes through one; in panes both go to the state together, and panes to their answers.
            origins = ["REQUIRED_BY_STATEFUL_OPERATOR", "REPARTITION_BY_COL"]
            wanted = origins[:1] * 2 if join.pane is None else origins[::-1]
            exchanges = re.findall(r"Exchange hashpartitioning\(.*, (\d+)\), (\w+)", plan)
            assert exchanges == [(str(partitions), origin) for origin in wanted], plan
            assert plan.count("Exchange") == len(wanted), plan
            assert state_partitions(checkpoint, query.name) == partitions
            assert_same_rows(session.rows(query.name), evaluate(query.root, arrived.tables()))


def files(folder: Path) -> dict[Path, bytes]:
    """All that is kept in a folder but the lock, which says who was there last."""
    found = (each for each in folder.rglob("*") if each.is_file() and "lock" not in each.name)
    return {each: each.read_bytes() for each in found}


def test_a_number_that_the_checkpoint_does_not_have_is_refused_and_nothing_is_written(
    spark: SparkSession, tmp_path: Path
) -> None:
    out, checkpoint = tmp_path / "out", tmp_path / "checkpoint"
    pairs = f"SELECT STREAM x.id AS a, y.id AS b FROM a x JOIN b y ON x.k = y.k AND {BOUND}"
    place = f"WITH (connector = 'files', path = '{out}', format = 'json')"
    arrived = history("a", "b")

    def compiled(partitions: int, *before: str) -> penstock.Compilation:
        streams = declared(tmp_path, a=partitions, b=partitions)
        return penstock.compile(f"{streams} {' '.join(before)} CREATE STREAM pairs {place} AS {pairs};")

    another = f"CREATE STREAM another AS {pairs};"
    with RuntimeSession(spark, str(checkpoint)) as session:
        write_json_lines(History(arrived.batches[:1]), tmp_path)
        session.run_once(compiled(3).program, drain=False)
        write_json_lines(arrived, tmp_path)
        before = files(checkpoint / "pairs"), files(out)
        with pytest.raises(RunError) as refusal:
            session.run_once(compiled(4, another).program, drain=False)
        (finding,) = refusal.value.diagnostics
        assert (finding.code, finding.message.endswith("/pairs")) == ("R010", True)
        assert "its state had 3 partitions and would have 4" in (finding.detail or "")
        assert "EXPLAIN PARTITIONS" in (finding.hint or "")
        assert (files(checkpoint / "pairs"), files(out)) == before
        # The query before it has not begun, so that it can be another one in the next run.
        session.run_once(compiled(3, another).program, drain=True)
        (query, _) = compiled(3, another).queries
        rows = evaluate(query.root, arrived.tables())
        assert_same_rows(session.rows("another"), rows)
    assert_same_rows((row.asDict() for row in spark.read.json(str(out)).collect()), rows)
    assert state_partitions(checkpoint, "pairs") == state_partitions(checkpoint, "another") == 3
