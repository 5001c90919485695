"""Rows at 1970-01-01T00:00:00Z, where Spark's watermark begins, count in every operator."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import penstock
from penstock.codegen import lower
from penstock.planner import Settings
from tests.codegen.running import Running
from tests.jvm.sessions import open_session
from tests.properties.test_spark import AT_ONCE

pytestmark = pytest.mark.spark

DECLARED = "".join(
    f"CREATE STREAM {name} (id BIGINT KEY, time TIMESTAMP, v BIGINT, WATERMARK FOR time AS time - 5 SECONDS) "
    f"WITH (connector = 'files', path = '{name}', format = 'json');"
    for name in "ab"
)
OVER = "OVER (PARTITION BY id ORDER BY time"
JOIN = "SELECT STREAM a.id, a.v, b.v AS w FROM a {} JOIN b ON a.id = b.id AND b.time {} AND a.v <= b.v"
# By operator: a query, and the rows that it makes of the rows with the id 1, which are at that time.
QUERIES = {
    "tumble": ("SELECT STREAM id, COUNT(*) AS n FROM a GROUP BY id, TUMBLE(time, 10 SEC)", [(1, 2)]),
    "hop": ("SELECT STREAM id, COUNT(*) AS n FROM a GROUP BY id, HOP(time, 10 SEC, 20 SEC)", [(1, 2), (1, 2)]),
    "cumulate": ("SELECT STREAM id, COUNT(*) AS n FROM a GROUP BY id, CUMULATE(time, 5 SEC, 10 SEC)", [(1, 2), (1, 2)]),
    "session": ("SELECT STREAM id, COUNT(*) AS n FROM a GROUP BY id, SESSION(time, 10 SEC)", [(1, 2)]),
    "distinct": ("SELECT STREAM DISTINCT id, time FROM a", [(1, 0)]),
    "over": (f"SELECT STREAM id, COUNT(*) {OVER} RANGE 10 SEC PRECEDING) AS n FROM a", [(1, 2), (1, 2)]),
    "over rows": (f"SELECT STREAM id, COUNT(*) {OVER} ROWS 2 PRECEDING) AS n FROM a", [(1, 1), (1, 2)]),
    "rank": ("SELECT STREAM id, ROW_NUMBER() OVER (PARTITION BY time ORDER BY v) AS n FROM a", [(1, 1), (1, 2)]),
    "deduplicate": ("SELECT STREAM id, v FROM a DEDUPLICATE ON (id) WITHIN 10 SEC", [(1, 1)]),
    "join in panes": (
        "SELECT STREAM a.id, a.v, b.v AS w FROM a JOIN b ON a.id = b.id AND b.time BETWEEN a.time AND a.time + 2 SEC",
        [(1, 1, 1), (1, 1, 2), (1, 2, 1), (1, 2, 2)],
    ),
    **{
        f"{kind} join one by one, {bound}": (JOIN.format(kind, bound), [(1, 1, 1), (1, 1, 2), (1, 2, 2)])
        for kind, bound in (
            ("LEFT", "BETWEEN a.time AND a.time + 2 SEC"),
            ("RIGHT", "BETWEEN a.time - 2 SEC AND a.time"),
            ("FULL", "= a.time"),
        )
    },
}


def test_rows_of_the_first_instant_count(only_spark: SparkSession, tmp_path: Path) -> None:
    def outcome(place: int) -> tuple[list[object], list[object]]:
        sql, expected = list(QUERIES.values())[place]
        (query,) = penstock.compile(DECLARED + sql).queries
        session = open_session(only_spark, place)
        for name, value in lower([], Settings(state_partitions=1)).settings:
            session.conf.set(name, value)
        running = Running(session, query, tmp_path / str(place))
        names = [source.name for source in running.query.inputs]
        for v in (1, 2):
            rows = [
                {"id": 1, "time": "1970-01-01T00:00:00Z", "v": v},
                {"id": 2, "time": "1970-01-01T00:00:05Z", "v": v},
            ]
            running.push(**dict.fromkeys(names, rows))
        running.drain()
        late = sum(count for name, count in running.counts.items() if name.startswith("late:"))
        found = [tuple(0 if isinstance(x, float) else x for x in row) for row in running.rows if row[0] == 1]
        return [sorted(found), late, running.dropped], [expected, 0, 0]

    with ThreadPoolExecutor(AT_ONCE) as pool:
        for name, (found, expected) in zip(QUERIES, pool.map(outcome, range(len(QUERIES))), strict=True):
            assert found == expected, name
