"""Stream-stream joins of Kafka Streams' own tests, run through the model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from penstock.evaluator.evaluate import evaluate
from penstock.evaluator.incremental import run
from penstock.evaluator.typed_values import EPOCH, Row, Value, milliseconds
from penstock.planner.plan import IntervalJoin, JoinType
from penstock.planner.types import BIGINT, STRING, TIMESTAMP
from tests.model import plans
from tests.model.arrivals import one_row_batches
from tests.model.rows import assert_same_rows

CASES = json.loads((Path(__file__).parent / "cases" / "kafka_streams.json").read_text(encoding="utf-8"))["cases"]
TYPES = {"inner": JoinType.INNER, "left": JoinType.LEFT, "outer": JoinType.FULL}
DAY = 86_400_000  # a delay that makes no row late
BASE = EPOCH + milliseconds(DAY)


def plan_of(case: Value) -> IntervalJoin:
    """The join of a case."""
    left, right = (
        plans.scan(name, {"k": BIGINT, "value": STRING, "time": TIMESTAMP}, delay=DAY) for name in ("left", "right")
    )
    return plans.interval_join(TYPES[case["type"]], left, right, plans.bound(-case["before_ms"], case["after_ms"]))


def arrivals(case: Value) -> list[tuple[str, Row]]:
    """The records of a case that have a value, in order."""
    return [
        (side, {"k": key, "value": value, "time": BASE + milliseconds(time)})
        for step in case["steps"]
        for side, key, value, time in step["inputs"]
        if value is not None
    ]


def as_record(row: Row, joiner: str) -> Row:
    """A result row as Kafka shows it: the key, both values joined, the newer of both times."""
    texts = ["null" if row[name] is None else str(row[name]) for name in ("l.value", "r.value")]
    time = max(row[name] for name in ("l.time", "r.time") if row[name] is not None)
    key = row["l.k"] if row["l.time"] is not None else row["r.k"]
    return record([key, joiner.join(texts), (time - BASE) // milliseconds(1)])


def record(fields: list[Value]) -> Row:
    """A record of the case file."""
    return dict(zip(("key", "value", "timestamp"), fields, strict=True))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_join(case: Value) -> None:
    plan, history = plan_of(case), one_row_batches(arrivals(case), ("left", "right"))
    sent = [row for step in case["steps"] for row in step["expected"]]
    expected = [record(row) for row in (case["relational"] if case["kafka_differs"] else sent)]
    for rows in (evaluate(plan, history.tables()), run(plan, history).rows):
        assert_same_rows([as_record(row, case["joiner"]) for row in rows], expected)
