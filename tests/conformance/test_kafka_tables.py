"""Joins and aggregates of tables from Kafka Streams' own tests, run through the model, one record a micro-batch.

The table at the end has to be the same; what is sent on the way differs where `KAFKA_TABLES` says so.
"""

from __future__ import annotations

import pytest

import penstock
from penstock.evaluator.changes import ChangeRun
from penstock.evaluator.evaluate import evaluate
from penstock.evaluator.history import Tables
from penstock.evaluator.typed_values import Row, Value
from penstock.planner.plan import Node
from tests.conformance.differences import KAFKA_TABLES
from tests.conformance.kafka_tables import (
    CASES,
    INPUTS,
    Sent,
    arrivals,
    expected,
    kafkas,
    newest_by_time,
    of_kind,
    script,
    shown,
    table,
)
from tests.model.arrivals import one_row_batches


def planned(case: Value) -> Node:
    (query,) = penstock.compile(script(case)).queries
    return query.root


def batch_of(name: str, row: Row) -> Tables:
    """A micro-batch of one record."""
    return one_row_batches([(name, row)], INPUTS).batches[0]


def assert_same(sent: Sent, theirs: Sent) -> None:
    assert sorted(sent, key=str) == sorted(theirs, key=str)


@pytest.mark.parametrize("case", [*of_kind("table-table"), *of_kind("foreign-key")])
def test_join_of_tables(case: Value) -> None:
    query = ChangeRun(planned(case))
    sent = Sent()
    for step, name, row in arrivals(case):
        for change in query.step(batch_of(name, row)):
            sent.append((step, str(change.key[0]), None if change.new is None else shown(case, change.new)))
    assert table(sent) == table(kafkas(case))
    if case["kind"] == "foreign-key":  # of each step is known what was sent last for a key
        sent = [(*place, value) for place, value in {(step, key): value for step, key, value in sent}.items()]
    assert_same(sent, expected(case))


@pytest.mark.parametrize("case", of_kind("stream-table"))
def test_join_of_a_stream_with_a_table(case: Value) -> None:
    plan = planned(case)
    rows: list[Row] = []
    if newest_by_time(case):
        rows += evaluate(plan, one_row_batches([(name, row) for _, name, row in arrivals(case)], INPUTS).tables())
    else:
        query = ChangeRun(plan)
        for _, name, row in arrivals(case):
            rows += query.send(batch_of(name, row))
    assert_same([(row["k"], shown(case, row)) for row in rows], expected(case))


@pytest.mark.parametrize("case", of_kind("table-aggregate"))
def test_aggregate_of_a_table(case: Value) -> None:
    query = ChangeRun(planned(case))
    sent = Sent()
    for _, name, row in arrivals(case):
        for change in query.step(batch_of(name, row)):
            sent.append((str(change.key[0]), None if change.new is None else shown(case, change.new)))
    assert table(sent) == table(expected(case))
    assert_same(sent, expected(case))


def test_differences_are_of_cases_that_run() -> None:
    assert KAFKA_TABLES.keys() <= {case["id"] for case in CASES}
