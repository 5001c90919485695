"""LATE INTO in steps: every row is in the result or among the late rows, as the law says."""

from __future__ import annotations

import random
from datetime import timedelta

import pytest

import penstock
from penstock.evaluator import Arrival, StagedRun
from penstock.evaluator.evaluate import evaluate
from penstock.evaluator.history import Clock, Fate, History, sort_out, watermarks
from penstock.evaluator.incremental import Incremental
from penstock.evaluator.typed_values import Row, Unsupported
from tests.model.rows import assert_same_rows
from tests.properties.streams import BASE

DELAY = 5000
SCRIPT = """
CREATE STREAM orders (id BIGINT KEY, product STRING, time TIMESTAMP,
  WATERMARK FOR time AS time - INTERVAL '5' SECOND)
WITH (connector = 'files', path = 'orders', format = 'json');
CREATE STREAM late (lateness BIGINT, id BIGINT, time TIMESTAMP) WITH (connector = 'memory');
CREATE STREAM counted AS {query} LATE INTO late;
"""
QUERIES = [
    "SELECT STREAM id, COUNT(*) OVER (PARTITION BY product ORDER BY time RANGE 3 SEC PRECEDING) AS n FROM orders",
    "SELECT STREAM product, window_start, COUNT(*) AS n FROM orders GROUP BY product, TUMBLE(time, 2 SEC)",
    "SELECT STREAM a.id AS id, b.id AS other FROM orders a JOIN orders b WITHIN 2 SECONDS ON a.product = b.product",
]


def draw_history(seed: int) -> History:
    """Random orders, many of them behind the delay, in micro-batches of several sizes."""
    chance = random.Random(seed)
    rows: list[Row] = [
        {
            "id": number,
            "product": chance.choice("abc"),
            "time": BASE + timedelta(microseconds=max(0, 100_000 * number - 100 * chance.randrange(150_000))),
        }
        for number in range(200)
    ]
    batches = []
    while rows:
        size = chance.randint(1, 40)
        batches.append({"orders": rows[:size]})
        rows = rows[size:]
    return History(tuple(batches))


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("seed", range(2))
def test_a_row_is_used_or_late_by_the_law(query: str, seed: int) -> None:
    history = draw_history(seed)
    result, late = (each.root for each in penstock.compile(SCRIPT.format(query=query)).queries)
    arrivals = [*(Arrival(each) for each in history.batches), Arrival(is_end=True)]
    sent = {plan: [row for run in [StagedRun(plan)] for each in arrivals for row in run.step(each).rows]
            for plan in (result, late)}  # fmt: skip
    clock = {"orders": Clock("time", DELAY)}
    fates = sort_out(history, clock)
    law = [
        {"lateness": -((row["time"] - watermark) // timedelta(milliseconds=1)), "id": row["id"], "time": row["time"]}
        for batch, watermark in zip(fates[Fate.LATE].batches, watermarks(history, clock), strict=False)
        for row in batch["orders"]
    ]
    assert len(law) > 20
    assert_same_rows(sent[late], law)
    assert_same_rows(sent[result], evaluate(result, fates[Fate.USED].tables()))
    assert evaluate(late, history.tables()) == []


def test_late_rows_are_never_lost_without_a_word() -> None:
    _, late = penstock.compile(SCRIPT.format(query=QUERIES[0])).queries
    with pytest.raises(Unsupported, match="LATE INTO"):
        Incremental(late.root)
