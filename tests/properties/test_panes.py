"""DuckDB's answers over panes equal the oracle's, whatever the order of arrival and the panes in a batch."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.planner.plan import Over
from tests.model.evaluate import evaluate
from tests.model.history import History, accepted, clocks
from tests.model.rows import assert_same_rows
from tests.properties import streams
from tests.properties.panes import answered

HISTORIES = 200


def test_panes_equal_oracle() -> None:
    @settings(max_examples=HISTORIES, deadline=None, suppress_health_check=list(HealthCheck))
    @given(streams.overs(most=6), st.integers(1, 5), st.randoms(use_true_random=False))
    def check(case: tuple[Over, History], size: int, chance: object) -> None:
        node, history = case
        streams.tried["over in panes"] += 1
        tables = accepted(history, clocks(node)).tables()
        rows = evaluate(node.input, tables)
        order = list(range(len(rows)))
        chance.shuffle(order)  # type: ignore[attr-defined]
        assert_same_rows(answered(node, rows, order, size), evaluate(node, tables))

    check()
    assert streams.tried["over in panes"] >= HISTORIES
