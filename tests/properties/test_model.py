"""Streaming equals batch, in the model: any micro-batch borders, any disorder, state let go as early as bounds allow."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import SearchStrategy

from penstock.planner.plan import Emission, JoinType, Node, WindowAggregate

from tests.model.bounds import state_bound
from tests.model.evaluate import evaluate
from tests.model.history import DRAINED, Fate, History, Tables, accepted, clocks, sort_out, watermarks
from tests.model.incremental import run
from tests.model.rows import assert_same_rows
from tests.model.values import Row
from tests.properties import streams

HISTORIES = 200
KINDS: dict[str, SearchStrategy[tuple[Node, History]]] = {
    **{type_.value: streams.joins(type_) for type_ in JoinType},
    **{kind: streams.window_aggregates(kind) for kind in streams.windows},
    "over": streams.overs(),
}

thorough = settings(max_examples=HISTORIES, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def final(node: Node, sent: list[Row]) -> list[Row]:
    """What the rows sent amount to: all of them, or with CHANGES the newest per key and window."""
    if isinstance(node, WindowAggregate) and node.emission is Emission.CHANGES:
        names = [*(key.name for key in node.keys), "window_start", "window_end"]
        return list({tuple(row[name] for name in names): row for row in sent}.values())
    return sent


def for_all(kind: str, check: Callable[[Node, History], None]) -> None:
    """Runs a check over generated plans and histories of one kind."""

    @thorough
    @given(KINDS[kind])
    def each(case: tuple[Node, History]) -> None:
        check(*case)

    each()


@pytest.mark.parametrize("kind", KINDS)
def test_incremental_equals_batch(kind: str) -> None:
    def check(plan: Node, history: History) -> None:
        streams.tried[kind] += 1
        result = run(plan, history)
        used = accepted(history, clocks(plan))
        assert_same_rows(final(plan, result.rows), evaluate(plan, used.tables()))
        seen: Tables = {}
        for batch, watermark, size in zip(used.batches, watermarks(history, clocks(plan)), result.sizes, strict=False):
            seen = {name: seen.get(name, []) + rows for name, rows in batch.items()}
            assert size <= state_bound(plan, seen, watermark)
        assert result.sizes[-1] == state_bound(plan, seen, DRAINED) == 0

    before = streams.tried[kind]
    for_all(kind, check)
    assert streams.tried[kind] - before >= HISTORIES


@pytest.mark.parametrize("kind", ["full", "hop", "session", "over"])
def test_borders_do_not_matter_within_the_delay(kind: str) -> None:
    def check(plan: Node, history: History) -> None:
        times = clocks(plan)
        if sort_out(history, times)[Fate.LATE].size():
            return
        names = list(history.batches[0])
        whole = History((history.tables(),))
        finest = History(
            tuple(
                {each: [row] if each == name else [] for each in names}
                for batch in history.batches
                for name in names
                for row in batch[name]
            )
        )
        expected = final(plan, run(plan, whole).rows)
        assert_same_rows(final(plan, run(plan, history).rows), expected)
        if not sort_out(finest, times)[Fate.LATE].size():
            assert_same_rows(final(plan, run(plan, finest).rows), expected)

    for_all(kind, check)
