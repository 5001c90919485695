"""What a run in steps has sent by the end of the input is the batch answer: for all kinds of plans and histories."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.evaluator.evaluate import evaluate
from penstock.evaluator.held import Change, Key
from penstock.evaluator.history import History, Tables
from penstock.evaluator.staged_run import Arrival, StagedRun
from penstock.evaluator.typed_values import Row
from penstock.planner.plan import Node
from tests.model.rows import assert_same_rows
from tests.properties import chains, tables
from tests.properties.test_model import KINDS, final
from tests.properties.test_tables import compare, put

pytestmark = pytest.mark.draws
HISTORIES = int(os.environ.get("PENSTOCK_HISTORIES", "6"))


def run_steps(plan: Node, history: History) -> tuple[list[Row], list[list[Change]], Tables]:
    """The rows or the changes that are sent with drain, and the rows that are used."""
    run = StagedRun(plan)
    rows: list[Row] = []
    changes: list[list[Change]] = []
    used: Tables = {name: [] for name in history.tables()}
    for arrival in (*(Arrival(batch) for batch in history.batches), Arrival(is_end=True)):
        answer = run.step(arrival)
        rows += answer.rows
        changes.append(answer.changes)
        left_out = [row for tables in (answer.late, answer.rejected) for each in tables.values() for row in each]
        for name, batch in arrival.rows.items():
            used[name] += [row for row in batch if not any(row is other for other in left_out)]
    return rows, changes, used


@pytest.mark.parametrize("kind", KINDS)
def test_streams(kind: str) -> None:
    @settings(max_examples=4 * HISTORIES, deadline=None, suppress_health_check=list(HealthCheck))
    @given(KINDS[kind])
    def check(case: tuple[Node, History]) -> None:
        plan, history = case
        rows, _, used = run_steps(plan, history)
        assert_same_rows(final(plan, rows), evaluate(plan, used))

    check()


@pytest.mark.parametrize("chain", [*chains.CHAINS, *chains.TABLES])
def test_chains(chain: str) -> None:
    @settings(max_examples=HISTORIES, deadline=None, suppress_health_check=list(HealthCheck))
    @given(chains.delays.flatmap(chains.timed_histories))
    def check(case: tuple[dict[str, int], History]) -> None:
        delays, history = case
        query = chains.compiled(chain, delays)
        rows, _, used = run_steps(query.root, history)
        assert used == history.tables(), "rows are late"
        if query.key:  # the newest of each
            rows = list({tuple(row[name] for name in query.key): row for row in rows}.values())
        assert_same_rows(rows, evaluate(query.root, used))

    check()


@pytest.mark.parametrize("kind", ["joins", "groups", "foreign keys"])
def test_tables(kind: str) -> None:
    statements = {
        "joins": tables.joins(("INNER", "LEFT", "FULL"), 3),
        "groups": tables.groupings(),
        "foreign keys": tables.foreign("LEFT"),
    }[kind]

    @settings(max_examples=4 * HISTORIES, deadline=None, suppress_health_check=list(HealthCheck))
    @given(statements, st.data())
    def check(sql: str, data: st.DataObject) -> None:
        plan = tables.planned(sql)
        names = tuple(StagedRun(plan).stages[-1].scans)
        history = data.draw(tables.histories(names))
        _, changes, used = run_steps(plan, history)
        held: dict[Key, Row] = {}
        for each in changes:
            put(held, each, plan)
        compare(plan, held, history.tables())
        assert all(len(rows) <= len(history.tables()[name]) for name, rows in used.items())

    check()
