"""Streaming equals batch, in the model: any micro-batch borders, any disorder, state let go as soon as bounds allow."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from penstock.evaluator.evaluate import evaluate
from penstock.evaluator.history import DRAINED, Clock, History, Tables, accepted, clocks, watermarks
from penstock.evaluator.incremental import run
from penstock.evaluator.state_bounds import state_bound
from penstock.evaluator.typed_values import Row
from penstock.planner.plan import Emission, JoinType, Node, OverRows, WindowAggregate
from tests.model.rows import assert_same_rows
from tests.properties import streams

HISTORIES = 4 * int(os.environ.get("PENSTOCK_HISTORIES", "15"))
KINDS: dict[str, SearchStrategy[tuple[Node, History]]] = {
    **{type_.value: streams.joins(type_) for type_ in JoinType},
    **{kind: streams.window_aggregates(kind) for kind in streams.windows},
    "united windows": streams.united_windows(),
    "rows of windows": streams.rows_of_windows(),
    "grouping sets": streams.grouped_by_sets(),
    "unnest": streams.unnested(),
    "distinct": streams.distinct_rows(),
    "over rows": streams.overs_of_rows(),
    "over": streams.overs(),
}

thorough = settings(max_examples=HISTORIES, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def final(node: Node, sent: list[Row]) -> list[Row]:
    """What the rows sent amount to: all of them, or with CHANGES the newest per key and window."""
    if isinstance(node, WindowAggregate) and node.emission is Emission.CHANGES:
        names = [*(key.name for key in node.keys), "window_start", "window_end"]
        return list({tuple(row[name] for name in names): row for row in sent}.values())
    return sent


@pytest.mark.parametrize("kind", KINDS)
def test_incremental_equals_batch(kind: str) -> None:
    @thorough
    @given(KINDS[kind])
    def check(case: tuple[Node, History]) -> None:
        plan, history = case
        streams.tried[kind] += 1
        result = run(plan, history)
        used = accepted(history, clocks(plan))
        assert_same_rows(final(plan, result.rows), evaluate(plan, used.tables()))
        seen: Tables = {}
        for batch, watermark, size in zip(used.batches, watermarks(history, clocks(plan)), result.sizes, strict=False):
            seen = {name: seen.get(name, []) + rows for name, rows in batch.items()}
            assert size <= state_bound(plan, seen, watermark)
        assert result.sizes[-1] == state_bound(plan, seen, DRAINED)
        assert result.sizes[-1] == 0 or isinstance(plan, OverRows)  # remembered for rows that never come

    before = streams.tried[kind]
    check()
    assert streams.tried[kind] - before >= HISTORIES


@thorough
@given(st.dictionaries(st.sampled_from("abc"), st.integers(0, streams.LONGEST_DELAY), min_size=1), st.data())
def test_disorder_within_the_delay_is_never_late(delays: dict[str, int], data: st.DataObject) -> None:
    history = data.draw(streams.histories(delays, orderly=True))
    times = {name: Clock("time", delay * streams.SECOND) for name, delay in delays.items()}
    assert accepted(history, times) == history
    in_force = watermarks(history, times)
    assert in_force == sorted(in_force)
