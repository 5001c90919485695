"""The rewrites of plans, one by one: each keeps what a query gives, and a second run of all changes nothing."""

from __future__ import annotations

import pytest

import penstock
from penstock.diagnostics import CompileError
from penstock.planner.passes import pipeline
from penstock.planner.passes.pipeline import CHECKS, REWRITES, plan_query, rewrite_plan
from penstock.planner.plan import Intermediate, Latest, Node, RunningQuery, UnionAll
from penstock.planner.plan.walk import walk

DECLARED = """
CREATE STREAM clicks (id BIGINT KEY, page STRING, note STRING, time TIMESTAMP, WATERMARK FOR time AS time)
WITH (connector = 'files', path = 'in/clicks', format = 'json');
CREATE TABLE users (id BIGINT PRIMARY KEY, name STRING, WATERMARK FOR seen AS seen, seen TIMESTAMP)
WITH (connector = 'files', path = 'in/users', format = 'json');
"""
COUNTS = "SELECT STREAM page, COUNT(*) AS n FROM clicks GROUP BY page, TUMBLE(time, INTERVAL '1' HOUR)"
QUERIES = {
    "filter": "SELECT STREAM page FROM clicks WHERE id > 1",
    "window": COUNTS,
    "union": f"SELECT STREAM page, id AS n FROM clicks UNION ALL {COUNTS}",
    "rank": "SELECT STREAM page, SUM(id) OVER (PARTITION BY page ORDER BY time ROWS 3 PRECEDING) AS s FROM clicks",
}


def query(sql: str) -> RunningQuery:
    (planned,) = penstock.compile(DECLARED + sql).queries
    return planned


def traced(root: Node) -> dict[str, Node]:
    return dict(rewrite_plan(root))


@pytest.mark.parametrize("name", QUERIES)
def test_rewrites_keep_the_schema_and_are_done_after_one_run(name: str) -> None:
    root = query(QUERIES[name]).root
    for plan in traced(root).values():
        assert plan.schema == root.schema
        assert plan.shape == root.shape
    assert list(traced(root).values())[-1] == root


def test_rewrites_keep_which_columns_can_be_null() -> None:
    root = query("SELECT STREAM page, note FROM clicks WHERE page IS NOT NULL").root
    assert [each.nullable for each in root.schema] == [False, True]


def test_an_observer_sees_every_rewrite_in_order() -> None:
    root = query(QUERIES["union"]).root
    assert list(traced(root)) == [each.__name__ for each in REWRITES]


def test_a_branch_with_state_becomes_a_query_of_its_own() -> None:
    (union,) = (node for node in walk(query(QUERIES["union"]).root) if isinstance(node, UnionAll))
    assert any(isinstance(node, Intermediate) for branch in union.inputs for node in walk(branch))


def test_a_table_without_state_gets_its_changes_computed() -> None:
    sql = "CREATE TABLE names WITH (connector = 'files', path = 'out', format = 'json', operation = 'op') AS "
    root = query(sql + "SELECT id, name FROM users").root
    assert isinstance(root, Latest)
    assert traced(root.input)["compute_changes"] == root


@pytest.mark.parametrize("check", CHECKS, ids=lambda each: each.__name__)
def test_checks_find_nothing_in_queries_that_run(check: pipeline.Check) -> None:
    assert [list(check(query(sql))) for sql in QUERIES.values()] == [[] for _ in QUERIES]


def test_the_first_finding_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    planned = query(QUERIES["filter"])
    twice = "CREATE STREAM a WITH (connector = 'console') AS SELECT STREAM NULL AS x, NULL AS y FROM clicks"
    with pytest.raises(CompileError) as refusal:
        penstock.compile(DECLARED + twice)
    assert [each.code for each in refusal.value.diagnostics] == ["K017"]
    monkeypatch.setattr(pipeline, "CHECKS", ())
    assert plan_query(planned.name, planned.root, planned.sink, planned.span) == planned
