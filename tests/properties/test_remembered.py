"""DuckDB's answers over the rows remembered equal the oracle's, whatever the micro-batches."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, given, settings

from penstock.evaluator.evaluate import evaluate
from penstock.evaluator.history import DRAINED, History, accepted, clocks, watermarks
from penstock.planner.plan import OverRows
from tests.model.rows import assert_same_rows
from tests.properties import streams
from tests.properties.remembered import Remembering

HISTORIES = 4 * int(os.environ.get("PENSTOCK_HISTORIES", "15"))


def test_remembered_rows_equal_oracle() -> None:
    @settings(max_examples=HISTORIES, deadline=None, suppress_health_check=list(HealthCheck))
    @given(streams.overs_of_rows(most=6))
    def check(case: tuple[OverRows, History]) -> None:
        node, history = case
        streams.tried["over remembered rows"] += 1
        times = clocks(node)
        used = accepted(history, times)
        running = Remembering(node)
        rows = []
        for batch, watermark in zip(used.batches, watermarks(history, times), strict=False):
            rows += running.step(evaluate(node.input, batch), watermark)
        rows += running.step([], DRAINED)
        assert_same_rows(rows, evaluate(node, used.tables()))

    check()
    assert streams.tried["over remembered rows"] >= HISTORIES
