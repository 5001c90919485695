"""A plan cut at its intermediate streams answers as the whole plan does: no row is late on the way, none is lost."""

from __future__ import annotations

import os
from datetime import datetime
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.codegen.cut_queries import cut_at_intermediates
from penstock.evaluator.evaluate import evaluate
from penstock.evaluator.history import DRAINED, History, Tables, accepted, clocks, watermarks
from penstock.evaluator.incremental import Incremental
from penstock.evaluator.typed_values import Row, milliseconds
from penstock.planner.plan import Origin, RunningQuery, Scan
from penstock.planner.plan.walk import walk
from tests.model.rows import assert_same_rows
from tests.properties import chains, streams

HISTORIES = int(os.environ.get("PENSTOCK_HISTORIES", "8"))


@pytest.mark.parametrize("chain", [*chains.CHAINS, *chains.TABLES])
def test_stages_equal_the_whole(chain: str) -> None:
    @settings(max_examples=HISTORIES, deadline=None, suppress_health_check=list(HealthCheck))
    @given(chains.delays.flatmap(chains.timed_histories), st.randoms(use_true_random=True))
    def check(case: tuple[dict[str, int], History], chance: Random) -> None:
        streams.tried[chain] += 1
        delays, history = case
        query = chains.compiled(chain, delays)
        arrivals: dict[str, list[list[Row]]] = {name: [batch[name] for batch in history.batches] for name in delays}
        passed: dict[str, list[datetime]] = {}
        for stage in cut_at_intermediates(query, "result", ()):
            arrivals[stage.sink.name], passed[stage.sink.name] = sent(stage, arrivals, chance)
            for scan in (node for node in walk(stage.root) if isinstance(node, Scan)):
                if scan.origin.lag is not None:
                    assert_no_older(scan.origin, arrivals[scan.origin.name], passed[scan.origin.name])
        rows = [row for batch in arrivals["result"] for row in batch]
        if query.key:  # the newest of each
            rows = list({tuple(row[name] for name in query.key): row for row in rows}.values())
        assert_same_rows(rows, evaluate(query.root, history.tables()))

    check()


def assert_no_older(origin: Origin, batches: list[list[Row]], passed: list[datetime]) -> None:
    """What a query has yet to send is not further behind its watermark than its readers are told."""
    for number, watermark in enumerate(passed):
        for row in (row for batch in batches[number + 1 :] for row in batch):
            assert origin.time is not None
            assert row[origin.time] >= watermark - milliseconds(origin.lag or 0), (origin, watermark, row)


def sent(
    query: RunningQuery, arrivals: dict[str, list[list[Row]]], chance: Random
) -> tuple[list[list[Row]], list[datetime]]:
    """What a query sends, micro-batch by micro-batch, and what its drain gives; the watermarks of the micro-batches.

    Its own borders are drawn anew: hundreds of numbers, too many for Hypothesis to choose each.
    """
    names = dict.fromkeys(node.origin.name for node in walk(query.root) if isinstance(node, Scan))
    batches: list[Tables] = []
    waiting = {name: list(arrivals[name]) for name in names}
    while any(waiting.values()):
        batch: Tables = {name: [] for name in names}
        for name, rest in waiting.items():
            for _ in range(min(len(rest), chance.randint(0, 2))):
                batch[name] += rest.pop(0)
        batches.append(batch)
    history, times = History(tuple(batches)), clocks(query.root)
    assert accepted(history, times) == history, "rows are late"
    run = Incremental(query.root)
    steps = list(zip(history.batches, watermarks(history, times), strict=False))
    rows = [run.step(batch, watermark) for batch, watermark in steps]
    return [*rows, run.step({name: [] for name in names}, DRAINED)], [watermark for _, watermark in steps]
