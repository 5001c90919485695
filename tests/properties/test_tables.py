"""A table computed from changes is the relational answer over the materialised inputs: for every kind of operator.

With t = f(T) for what a changelog T comes to, join(f(T1), f(T2), …) = f(join(T1, T2, …)), whatever the order in which
records arrive, where micro-batches end, what comes twice or too late, and where the process was killed.
"""

from __future__ import annotations

import copy
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from penstock.evaluator.changes import ChangeRun
from penstock.evaluator.evaluate import evaluate
from penstock.evaluator.held import Change, Key, key_of
from penstock.evaluator.history import History, Tables
from penstock.evaluator.typed_values import Row
from penstock.planner.plan import KTable, Node, Scan
from penstock.planner.plan.walk import walk
from tests.model.rows import assert_same_rows
from tests.properties import tables, windowed_tables
from tests.properties.streams import tried

pytestmark = pytest.mark.draws
HISTORIES = int(os.environ.get("PENSTOCK_HISTORIES", "15"))
KINDS: dict[str, SearchStrategy[str]] = {
    **{f"{kind} join of tables": tables.joins((kind,), 4) for kind in ("INNER", "LEFT", "RIGHT", "FULL")},
    "groups of tables": tables.groupings(),
    "lists of tables": tables.lists(),
    "filtered tables": tables.stateless,
    **{f"{kind} join on a foreign key": tables.foreign(kind) for kind in ("INNER", "LEFT")},
    **{f"{kind} join of windowed tables": windowed_tables.windowed(kind) for kind in windowed_tables.ON_WINDOWS},
    "windowed tables with tables": windowed_tables.mixed,
    "subqueries over tables": tables.memberships,
    "outer joins on a foreign key": tables.outer,
    "ranks of tables": tables.ranks,
    "ranks of windowed tables": windowed_tables.ranked_windows(),
    "united tables": tables.united,
    "sets of tables": tables.sets,
    "subqueries without keys": tables.without_keys,
}


def put(held: dict[Key, Row], changes: list[Change], plan: Node) -> None:
    """Changes what a reader of the changes holds; each has to fit to what is there."""
    assert len({change.key for change in changes}) == len(changes), "two changes of one key"
    for change in changes:
        assert change.old != change.new, "a change that changes nothing"
        assert held.get(change.key) == change.old, "the row before is not the row that was sent before"
        if change.new is None:
            del held[change.key]
        else:
            assert key_of(plan, change.new) == change.key
            held[change.key] = change.new


def compare(plan: Node, held: dict[Key, Row], seen: Tables) -> None:
    """Fails unless what was sent comes to the answer. The one group of a whole table comes with its first row."""
    expected = evaluate(plan, seen)
    if not held and isinstance(plan.shape, KTable) and not plan.shape.key:
        expected = [row for row in expected if row not in evaluate(plan, {name: [] for name in seen})]
    assert_same_rows(held.values(), expected)


def check(plan: Node, history: History, data: st.DataObject) -> None:
    """Runs a history through the plan, with restarts, and compares with the relational answer."""
    names = {node.origin.name for node in walk(plan) if isinstance(node, Scan)}
    in_step = data.draw(st.booleans())
    query, held, seen = ChangeRun(plan), dict[Key, Row](), {name: list[Row]() for name in names}
    empty: Tables = {name: [] for name in names}
    for batch in (*history.batches, empty, empty):
        if data.draw(st.integers(0, 5)) == 0:  # killed in the midst of a micro-batch: it is run again from its start
            copy.deepcopy(query).step(batch)
        reads = (lambda waiting: waiting) if in_step else (lambda waiting: data.draw(st.integers(0, waiting)))
        put(held, query.step(batch, reads), plan)
        seen = {name: seen[name] + batch[name] for name in names}
        if in_step:
            compare(plan, held, seen)
    for _ in range(len(list(walk(plan)))):
        put(held, query.step(empty), plan)
    assert query.idle()
    compare(plan, held, seen)


@pytest.mark.parametrize("kind", KINDS)
def test_changes_come_to_the_relational_answer(kind: str) -> None:
    @settings(max_examples=HISTORIES, deadline=None, suppress_health_check=list(HealthCheck))
    @given(KINDS[kind], st.data())
    def run(sql: str, data: st.DataObject) -> None:
        plan = tables.planned(sql)
        names = tuple(sorted({node.origin.name for node in walk(plan) if isinstance(node, Scan)}))
        tried[kind] += 1
        check(plan, data.draw(tables.histories(names)), data)

    before = tried[kind]
    run()
    assert tried[kind] - before >= HISTORIES


LOOKUPS = {
    **{f"{kind} join of a stream with a table": tables.lookups(kind) for kind in ("INNER", "LEFT")},
    "subqueries of a stream over tables": st.sampled_from(tables.STREAM_MEMBERSHIPS),
}


@pytest.mark.parametrize("kind", LOOKUPS)
def test_a_stream_meets_the_table_as_it_is_known(kind: str) -> None:
    """Each row meets what all records up to its own micro-batch come to; what a query computes may come later."""

    @settings(max_examples=HISTORIES, deadline=None, suppress_health_check=list(HealthCheck))
    @given(LOOKUPS[kind], st.data())
    def run(sql: str, data: st.DataObject) -> None:
        plan = tables.planned(sql)
        names = tuple(sorted({node.origin.name for node in walk(plan) if isinstance(node, Scan)}))
        tried[kind] += 1
        query, seen = ChangeRun(plan), {name: list[Row]() for name in names}
        for batch in data.draw(tables.histories(names)).batches:
            if data.draw(st.integers(0, 5)) == 0:
                copy.deepcopy(query).send(batch)
            seen = {name: seen[name] + batch[name] for name in names}
            assert_same_rows(query.send(batch), evaluate(plan, seen | {"s": batch["s"]}))

    run()
