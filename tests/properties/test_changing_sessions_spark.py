"""Sessions that change through Spark, tables of them, and ranks of windows: what was sent comes to the answer.

Several histories go through each query at once, with keys of their own and late rows. Each query is killed once in the
midst of a micro-batch, which is run again, and stopped and resumed once.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

import penstock
from penstock.evaluator.evaluate import evaluate
from penstock.evaluator.history import Fate, History, clocks, sort_out
from penstock.planner.plan import Intermediate, Node
from penstock.planner.plan.walk import walk
from penstock.runtime import RuntimeSession
from tests.jvm.sessions import open_session
from tests.model.arrivals import write_json_lines
from tests.model.rows import difference
from tests.properties import streams
from tests.properties.killed import BATCHES, Followed, until_done
from tests.properties.test_spark import AT_ONCE, hold_back

pytestmark = [pytest.mark.spark, pytest.mark.draws]
Rows: TypeAlias = list[dict[str, object]]
QUERIES = int(os.environ.get("PENSTOCK_TABLE_QUERIES", "1"))
"""Different queries of each kind."""
SIDE_BY_SIDE = int(os.environ.get("PENSTOCK_HISTORIES", "12"))
DELAY = 2
DECLARED = """SET state_partitions = 2;
CREATE STREAM s (id BIGINT KEY, k STRING, v BIGINT, price DECIMAL(10, 2), time TIMESTAMP,
  WATERMARK FOR time AS time - {delay} SECONDS)
WITH (connector = 'files', path = '{folder}/s', format = 'json', files_per_batch = 1);
CREATE VIEW visits AS
  SELECT k, COUNT(*) AS n, SUM(v) AS total, MAX(price) AS most FROM s GROUP BY k, SESSION(time, 2 SECONDS) EMIT CHANGES;
CREATE VIEW others AS SELECT k, COUNT(v) AS n FROM s WHERE v > -2 GROUP BY k, SESSION(time, 2 SECONDS) EMIT CHANGES;
CREATE VIEW bars AS
  SELECT k, COUNT(*) AS n, SUM(v) AS total FROM s GROUP BY k, TUMBLE(time, 1 SECOND);
CREATE VIEW growing AS SELECT k, COUNT(*) AS n FROM s GROUP BY k, CUMULATE(time, 1 SECOND, 2 SECONDS);
CREATE TABLE result AS """
KINDS = {
    "filtered": (
        "SELECT k, n * 2 AS twice, most FROM visits WHERE total IS NULL OR total > 0",
        "SELECT k, SUM(price / 4) AS total FROM s GROUP BY k, SESSION(time, 1 SECOND) HAVING COUNT(*) > 1",
        "SELECT v > 0 AS positive, COUNT(DISTINCT k) AS n, window_end FROM s GROUP BY v > 0, SESSION(time, 1 SECOND)"
        " EMIT EARLY EVERY 1 SECOND",
        "SELECT k, v, GROUPING_ID() AS g, AVG(price) AS mean FROM s GROUP BY ROLLUP (k, v), SESSION(time, 1 SECOND)",
        "SELECT COUNT(*) AS n, window_end FROM s WHERE k <> 'b' GROUP BY SESSION(time, 1 SECOND) GRACE PERIOD 1 SECOND",
    ),
    "grouped and ranked": (
        "SELECT k, COUNT(*) AS visits, MAX(n) AS longest, SUM(total) AS total FROM visits GROUP BY k",
        "SELECT k, n FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY n DESC, window_start) = 1",
        "SELECT n, COUNT(*) AS times FROM (SELECT k, n FROM visits UNION ALL SELECT k, n FROM others) q GROUP BY n",
        "SELECT k, n FROM visits ORDER BY n DESC, window_start, k NULLS FIRST LIMIT 3",
    ),
    "ranked windows": (
        "SELECT k, n, window_start FROM bars QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start"
        " ORDER BY n DESC, total NULLS LAST) <= 2",
        "SELECT k, n, RANK() OVER (PARTITION BY window_end, n > 1 ORDER BY total DESC) AS r FROM bars",
        "SELECT k, n FROM growing QUALIFY RANK() OVER (PARTITION BY window_start, window_end ORDER BY n DESC) = 1",
        "SELECT k, COUNT(*) AS wins FROM (SELECT k, n FROM growing QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start"
        " ORDER BY n DESC) = 1) q GROUP BY k",
        "SELECT k, n FROM bars ORDER BY n DESC, window_start, k NULLS FIRST LIMIT 3",
    ),
    "joined": (
        "SELECT a.k AS k, a.n AS n, b.n AS m FROM visits a LEFT JOIN others b ON a.k = b.k"
        " AND a.window_start = b.window_start AND a.window_end = b.window_end",
        "SELECT a.k AS k, a.n AS n, b.visits AS visits FROM visits a JOIN (SELECT k, COUNT(*) AS visits FROM visits"
        " GROUP BY k) b ON a.k = b.k",
        "SELECT k, n FROM visits WHERE k IN (SELECT k FROM others WHERE n > 2)",
    ),
}


def histories(number: int) -> list[History]:
    """Histories in a few micro-batches: of those that Hypothesis draws, the ones with the most late rows."""
    drawn: list[History] = []

    @settings(max_examples=3 * number, deadline=None, phases=(Phase.generate,), suppress_health_check=list(HealthCheck))
    @given(st.lists(streams.histories({"s": DELAY}, max_rows=14), min_size=SIDE_BY_SIDE, max_size=SIDE_BY_SIDE))
    def draw(several: list[History]) -> None:
        drawn.append(in_batches(streams.with_times(streams.side_by_side(several))))

    draw()
    return sorted(drawn, key=History.size)[-number:]


def in_batches(history: History) -> History:
    """The same rows in the same order, in exactly so many micro-batches as a query is killed and resumed between."""
    borders = [place * len(history.batches) // BATCHES for place in range(BATCHES + 1)]
    parts = [history.batches[start:end] for start, end in itertools.pairwise(borders)]
    return History(tuple({"s": [row for batch in part for row in batch["s"]]} for part in parts))


@pytest.mark.parametrize("kind", KINDS)
def test_spark_comes_to_the_sessions_of_the_rows_so_far(
    kind: str, only_spark: SparkSession, tmp_path: Path, killing: None
) -> None:
    chosen = KINDS[kind][:QUERIES]
    drawn = histories(len(chosen))

    def outcome(place: int) -> str:
        sql, history, folder = chosen[place], drawn[place], tmp_path / str(place)
        found = "\n".join(filter(None, wrong(sql, history, folder, open_session(only_spark, place))))
        return f"{sql}\n{history}\n{found}" if found else ""

    with ThreadPoolExecutor(AT_ONCE) as pool:
        failures = list(filter(None, pool.map(outcome, range(len(chosen)))))
    streams.tried[f"{kind} sessions through Spark"] += len(chosen) * SIDE_BY_SIDE
    assert not failures, "\n\n".join(failures)


def wrong(sql: str, history: History, folder: Path, spark: SparkSession) -> Iterator[str]:
    """How what Spark sends differs from the answer."""
    folders = write_json_lines(history, folder)
    compiled = penstock.compile(DECLARED.format(delay=DELAY, folder=folder) + sql)
    plan = next(each.root for each in compiled.queries if each.name == "result")
    with RuntimeSession(spark, checkpoint=str(folder / "checkpoint")) as running:
        held_back = hold_back(folders.values(), BATCHES - 1)
        until_done(lambda: running.run_once(compiled.program, drain=False))
        yield difference(running.rows("result"), answer(plan, history, BATCHES - 1))
        for path, elsewhere in held_back.items():
            elsewhere.rename(path)
        until_done(lambda: running.run_once(compiled.program, drain=False))
        yield difference(running.rows("result"), answer(plan, history, BATCHES))
        sink = running._memory["result", "result"][1]
        assert isinstance(sink, Followed)
        yield from sink.wrong
        if not any(isinstance(node, Intermediate) for node in walk(plan)):
            yield from wrong_on_the_way(
                sink.tables.values(), [answer(plan, history, number) for number in range(1, BATCHES + 1)]
            )


def wrong_on_the_way(tables: Iterable[Rows], answers: Sequence[Rows]) -> Iterator[str]:
    """How the tables after each micro-batch differ from the answers. One without new rows leaves the table as it is."""
    reached = -1
    for table in tables:
        following = answers[min(reached + 1, len(answers) - 1)]
        if not difference(table, following):
            reached += 1
        elif reached < 0 or difference(table, answers[reached]):
            yield difference(table, following)


def answer(plan: Node, history: History, batches: int) -> Rows:
    """The relational answer over the rows of the first micro-batches that are not late."""
    used = sort_out(history, clocks(plan), BATCHES - 1)[Fate.USED]
    return evaluate(plan, History(used.batches[:batches]).tables())
