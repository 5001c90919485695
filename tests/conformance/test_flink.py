"""What Flink answered to the same rows in the same order, run through the model, and OVER through DuckDB.

Each difference has its reason.
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest

import penstock
from penstock.evaluator.evaluate import evaluate
from penstock.evaluator.history import accepted, clocks
from penstock.evaluator.incremental import run
from penstock.evaluator.typed_values import Row, Value, milliseconds
from penstock.planner.plan import JoinType, Node, Over, Scan, SessionWindow, Tumble
from penstock.planner.plan.walk import walk
from penstock.planner.types import BIGINT, STRING, TIMESTAMP
from tests.conformance.differences import FLINK, Difference
from tests.model import plans
from tests.model.arrivals import one_row_batches
from tests.model.rows import assert_same_rows
from tests.properties.panes import answered

CASES = {
    case["id"]: case
    for case in json.loads((Path(__file__).parent / "cases" / "flink.json").read_text(encoding="utf-8"))["cases"]
}
DECLARED = "".join(
    f"""CREATE STREAM {name} (id STRING, k STRING, v BIGINT, time TIMESTAMP,
      WATERMARK FOR time AS time - INTERVAL 5 SECONDS) WITH (connector = 'files', path = '{name}', format = 'json');"""
    for name in "ab"
)
BASE = datetime(2026, 1, 1)
SECOND = 1000
DELAY = 5 * SECOND
QUERIES = {
    "over-rows-1": (
        """SELECT STREAM id, SUM(v) OVER w AS s, COUNT(*) OVER w AS n FROM a
        WINDOW w AS (PARTITION BY k ORDER BY time ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)""",
        ("id", "s", "n"),
    ),
    "over-then-over": (
        """SELECT STREAM id, s, SUM(s) OVER (PARTITION BY k ORDER BY time RANGE 10 SEC PRECEDING) AS t FROM (
          SELECT STREAM id, k, time, SUM(v) OVER (PARTITION BY k ORDER BY time RANGE 10 SEC PRECEDING) AS s FROM a)""",
        ("id", "s", "t"),
    ),
    "interval-left-then-tumble": (
        """SELECT STREAM window_start, COUNT(*) AS n, COUNT(other) AS matched FROM (
          SELECT STREAM a.time AS time, b.id AS other FROM a
          LEFT JOIN b ON a.k = b.k AND b.time BETWEEN a.time AND a.time + 10 SEC) jj
        GROUP BY TUMBLE(time, 10 SEC)""",
        ("window_start", "n", "matched"),
    ),
}
"""Cases as statements, with the columns of the result in the order of Flink's rows."""
JOIN_TYPES = {"inner": JoinType.INNER, "left": JoinType.LEFT, "right": JoinType.RIGHT, "full": JoinType.FULL}


def stream(name: str) -> Scan:
    """An input of the cases."""
    types = {"id": STRING, "k": STRING, "v": BIGINT, "time": TIMESTAMP}
    return plans.scan(name, types, delay=DELAY)


def plan_of(name: str) -> tuple[Node, tuple[str, ...]]:
    """The plan of a case and its columns in the order of Flink's rows."""
    if name in QUERIES:
        text, columns = QUERIES[name]
        (query,) = penstock.compile(f"{DECLARED} CREATE STREAM result AS {text};").queries
        return query.root, columns
    kind, *rest = name.split("-")
    count = plans.aggregate("n", "COUNT", None, BIGINT)
    if kind == "over":
        total = plans.aggregate("s", "SUM", "v", BIGINT)
        return plans.over(stream("a"), [(total, 10 * SECOND), (count, 10 * SECOND)]), ("id", "s", "n")
    if kind == "tumble":
        return plans.window_aggregate(stream("a"), Tumble(10 * SECOND), (count,), keys=()), ("window_start", "n")
    if kind == "session":
        node = plans.window_aggregate(stream("a"), SessionWindow(5 * SECOND), (count,))
        return node, ("window_start", "window_end", "n")
    bound = plans.bound(10 * SECOND, 0) if "negative" in rest else plans.bound(0, 10 * SECOND)
    return plans.interval_join(JOIN_TYPES[rest[0]], stream("a"), stream("b"), bound), ("l.id", "r.id")


def row_of(fields: list[Value]) -> Row:
    """An input row of the case file; the key '-' is NULL."""
    identity, key, v, second = fields
    return {"id": identity, "k": None if key == "-" else key, "v": v, "time": BASE + milliseconds(second * SECOND)}


def sent(row: Row, columns: tuple[str, ...]) -> Row:
    """A result row as in the case file: columns by place, window ends as seconds of a minute."""
    values = [row[column] for column in columns]
    return {
        str(place): (value - BASE) // milliseconds(SECOND) % 60 if isinstance(value, datetime) else value
        for place, value in enumerate(values)
    }


def by_place(fields: tuple[Value, ...]) -> Row:
    """A row of the case file or of the differences."""
    return {str(place): value for place, value in enumerate(fields)}


@pytest.mark.parametrize("name", CASES)
def test_case(name: str) -> None:
    case = CASES[name]
    plan, columns = plan_of(name)
    inputs = tuple(sorted({node.origin.name for node in walk(plan) if isinstance(node, Scan)}))
    arrivals = [(step["side"], row_of(row)) for step in case["steps"] for row in step["rows"]]
    history = one_row_batches(arrivals, inputs)
    flink = [out for step in case["steps"] for out in step["out"]] + case["at_end"]
    assert {change for change, *_ in flink} <= {"+I"}
    different = FLINK.get(name, Difference("none"))
    expected = [tuple(row) for _, *row in flink]
    for row in different.only_theirs:
        expected.remove(row)
    expected += different.only_ours
    used = accepted(history, clocks(plan)).tables()
    results = [evaluate(plan, used)]
    if name not in QUERIES:
        results.append(run(plan, history).rows)
    if isinstance(plan, Over):
        results.append(answered(plan, used["a"], list(range(len(used["a"]))), batch_size=2))
    for rows in results:
        assert_same_rows([sent(row, columns) for row in rows], map(by_place, expected))


def test_differences_are_of_cases_that_run() -> None:
    assert FLINK.keys() <= CASES.keys()
