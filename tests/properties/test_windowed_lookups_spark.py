"""Streams that look up windowed tables, through Spark: a row meets the windows as known when it is processed.

Known are the rows of the windows' stream up to the same micro-batch, but for late ones; of the windows those whose end
the watermark of the looking stream has not passed by GRACE PERIOD and RETENTION. Each query is stopped after every
micro-batch, and killed once in the midst of one, which is run again.
"""

from __future__ import annotations

import random
from datetime import datetime
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import penstock
from penstock.planner.plan import Emission, Node, TableLookup, WindowAggregate, WTable
from penstock.planner.plan.walk import inputs
from penstock.runtime import Session
from tests.model.evaluate import apply, evaluate, walk
from tests.model.history import Clock, Fate, History, Tables, clocks, sort_out, watermarks, write_json_lines
from tests.model.rows import difference
from tests.model.values import EPOCH, Row, milliseconds
from tests.properties.killed import until_done
from tests.properties.test_spark import hold_back

pytestmark = pytest.mark.spark
BATCHES = 5
ROWS = 40
DECLARED = """CREATE STREAM s (id BIGINT KEY, g STRING, v BIGINT, time TIMESTAMP, WATERMARK FOR time AS time - 2 SEC)
WITH (connector = 'files', path = '{0}/s', format = 'json', files_per_batch = 1);
CREATE STREAM r (k STRING KEY, v BIGINT, time TIMESTAMP, WATERMARK FOR time AS time - 1 SEC)
WITH (connector = 'files', path = '{0}/r', format = 'json', files_per_batch = 1);
CREATE VIEW seconds AS SELECT k, COUNT(*) AS n, SUM(v) AS v FROM r GROUP BY k, TUMBLE(time, 1 SEC) RETENTION 2 SEC;
CREATE VIEW hops AS SELECT k, COUNT(DISTINCT v) AS n FROM r GROUP BY k, HOP(time, 1 SEC, 3 SEC) GRACE PERIOD 1 SEC;
CREATE VIEW grown AS SELECT k, MAX(v) AS most FROM r GROUP BY k, CUMULATE(time, 1 SEC, 2 SEC)
EMIT FINAL RETENTION 3 SEC;
CREATE VIEW own AS SELECT g, COUNT(*) AS n FROM s GROUP BY g, TUMBLE(time, 1 SEC) RETENTION 0 SEC;
SET state_partitions = 2;
"""
QUERIES = {
    # A window before the row's own, and the one that is open, of another stream.
    "pairs": """SELECT STREAM s.id AS id, s.g AS g, w.window_start AS since, w.n AS n, w.v AS total, h.n AS others
FROM s LEFT JOIN seconds w ON s.g = w.k AND w.window_start = CASE s.v WHEN 1 THEN DATE_TRUNC('SECOND', s.time) - 3 SEC
  ELSE DATE_TRUNC('SECOND', s.time) - 1 SEC END AND w.n > 1
LEFT JOIN hops h ON h.k = s.g AND h.window_end = DATE_TRUNC('SECOND', s.time) + 2 SEC WHERE s.v IS NOT NULL""",
    # A window of the stream's own rows, which is open, and what is final.
    "counts": """SELECT STREAM most, n, window_start, COUNT(*) AS rows FROM (
SELECT STREAM s.time AS time, w.most AS most, o.n AS n FROM s
LEFT JOIN grown w ON s.g = w.k AND w.window_end = DATE_TRUNC('SECOND', s.time) - 1 SEC
LEFT JOIN own o ON o.g = s.g AND o.window_start = DATE_TRUNC('SECOND', s.time)) x
GROUP BY most, n, TUMBLE(time, 2 SEC)""",
}


def history(chance: random.Random) -> History:
    """Rows of both streams in disorder, some of them late, with NULL and unknown keys, and missing times."""

    def moment(batch: int, delay: int) -> datetime | None:
        late = chance.choice([0, 0, 0, 0, 0, 2])
        return EPOCH + milliseconds(86_400_000 + 2500 * batch + 250 * chance.randrange(4 * delay) - 1000 * late)

    def looking(id_: int, batch: int) -> Row:
        time = moment(batch, 3) if id_ % 23 else None
        return {
            "id": id_,
            "g": chance.choice(["a", "a", "b", "c", None]),
            "v": chance.choice([0, 1, None]),
            "time": time,
        }

    def counted(batch: int) -> Row:
        key = chance.choice(["a", "a", "b", "d", None])
        return {"k": key, "v": chance.choice([0, 1, 2, None]), "time": moment(batch, 2)}

    batches: list[Tables] = [
        {
            "s": [looking(100 * batch + number, batch) for number in range(ROWS)],
            "r": [counted(batch) for _ in range(0 if batch == 2 else ROWS)],
        }
        for batch in range(BATCHES)
    ]
    return History(tuple(batches))


def known(table: Node, seen: History) -> list[Row]:
    """The windows of a table after the micro-batches seen: those that are only sent when final, if they are."""
    own = clocks(table)
    windows = next(node for node in walk(table) if isinstance(node, WindowAggregate))
    used = sort_out(seen, own)[Fate.USED].tables()
    rows = evaluate(table, used)
    shape = table.shape
    assert isinstance(shape, WTable)
    if windows.emission is Emission.FINAL:
        rows = [row for row in rows if row[shape.end] <= watermarks(seen, own)[-1]]
    return rows


def above(plan: Node) -> list[Node]:
    """The operators above the last one that looks up windows."""
    nodes: list[Node] = []
    while not isinstance(plan, TableLookup):
        nodes.append(plan)
        (plan,) = inputs(plan)
    return nodes


def answer(plan: Node, history: History, kept: int | None = None) -> list[Row]:
    """The rows of each micro-batch of the stream beside the windows as they are then, and what is computed of them.

    Rows that are late are left out where windows are above. `kept`: in place of how long windows are kept.
    """
    grouping = next((place for place, node in enumerate(above(plan)) if isinstance(node, WindowAggregate)), None)
    last, whole = (plan, []) if grouping is None else (above(plan)[grouping + 1], above(plan)[: grouping + 1])
    clock = {"s": Clock("time", 2000)}
    fates = sort_out(history, clock)
    found: list[Row] = []
    for number, watermark in enumerate(watermarks(history, clock)[:-1]):
        seen = History(history.batches[: number + 1])
        met = (Fate.USED,) if whole else (Fate.USED, Fate.LATE)
        batch = {"s": [row for fate in met for row in fates[fate].batches[number]["s"]]}

        def rows(node: Node, seen: History = seen, batch: Tables = batch, now: datetime = watermark) -> list[Row]:
            if not any(isinstance(each, TableLookup) for each in walk(node)):
                return evaluate(node, batch)
            if not isinstance(node, TableLookup):
                return apply(node, [rows(each) for each in inputs(node)])
            shape, length = node.table.shape, node.kept if kept is None else kept
            assert isinstance(shape, WTable)
            assert length is not None
            windows = [row for row in known(node.table, seen) if row[shape.end] + milliseconds(length) > now]
            return apply(node, [rows(node.stream), windows])

        found += rows(last)
    for node in reversed(whole):
        found = apply(node, [found])
    return found


def test_rows_meet_the_windows_that_are_kept(only_spark: SparkSession, tmp_path: Path, killing: None) -> None:
    happened = history(random.Random("windows"))
    folders = write_json_lines(happened, tmp_path)
    text = DECLARED.format(tmp_path) + "".join(f"CREATE STREAM {name} AS {sql};\n" for name, sql in QUERIES.items())
    compiled = penstock.compile(text)
    with Session(only_spark.newSession(), checkpoint=str(tmp_path / "checkpoint")) as running:
        held_back = hold_back(folders.values(), 1)
        for number in range(BATCHES):
            for path, elsewhere in held_back.items():
                if int(path.stem) == number:
                    elsewhere.rename(path)
            until_done(lambda: running.run_once(compiled.program, drain=False))
        until_done(lambda: running.run_once(compiled.program, drain=True))
        for query in compiled.queries:
            expected = answer(query.root, happened)
            for other in (0, 3_600_000):  # it makes a difference how long windows are kept
                assert difference(answer(query.root, happened, other), expected)
            assert difference(running.rows(query.name), expected) == "", query.name
