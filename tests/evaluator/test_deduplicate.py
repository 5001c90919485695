"""DEDUPLICATE as it is planned leaves out what its definition leaves out."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import penstock
from penstock.evaluator.evaluate import evaluate
from penstock.evaluator.history import History
from penstock.evaluator.row_places import numbered
from penstock.evaluator.typed_values import Row
from tests.model.rows import assert_same_rows
from tests.properties import streams

SCRIPT = """CREATE STREAM a (id BIGINT, k STRING, v BIGINT, price DECIMAL(10, 2), time TIMESTAMP,
  WATERMARK FOR time AS time - INTERVAL '4' SECOND)
WITH (connector = 'files', path = 'a', format = 'json');
CREATE STREAM result AS SELECT STREAM * FROM a DEDUPLICATE ON (k, v) WITHIN {within} SECONDS;
"""


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(streams.histories({"a": 4}, max_rows=20, orderly=True), st.integers(1, 5))
def test_a_row_is_left_out_that_comes_soon_after_one_of_its_keys(history: History, within: int) -> None:
    (query,) = penstock.compile(SCRIPT.format(within=within)).queries
    rows = history.tables()["a"]
    assert_same_rows(evaluate(query.root, {"a": rows}), first_ones(rows, timedelta(seconds=within)))


def first_ones(rows: list[Row], within: timedelta) -> list[Row]:
    """What a memory keeps that has the last time of each pair of keys, NULL among them."""
    last: dict[tuple[object, object], Row] = {}
    kept = []
    for row in sorted(numbered(rows), key=lambda row: row["time"]):
        keys = row["k"], row["v"]
        if keys not in last or row["time"] - last[keys]["time"] > within:
            kept.append(row)
        last[keys] = row
    return kept
