"""A plan with numbered columns answers as the plan with a script's names does, and is the same for other names."""

from __future__ import annotations

import re
from itertools import chain

from hypothesis import HealthCheck, given, settings
from msgspec.structs import replace

from penstock.codegen.column_names import name_output, number_columns
from penstock.codegen.cut_queries import cut_at_intermediates
from penstock.codegen.program import PackedView, View
from penstock.codegen.sql.spark_query import lower_query
from penstock.compilation import compile
from penstock.evaluator.evaluate import evaluate
from penstock.evaluator.history import History, accepted, clocks
from penstock.planner.plan import DEFAULTS, Node, Project, RunningQuery, Scan, Sink
from penstock.planner.plan.walk import list_nodes
from tests.model.rows import assert_same_rows
from tests.properties import tables
from tests.properties.test_columns import CASES
from tests.properties.test_scripts import compiled


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(CASES)
def test_numbered_plans_answer_the_same(case: tuple[Node, History]) -> None:
    plan, history = case
    tables = accepted(history, clocks(plan)).tables()
    expected = evaluate(plan, tables)
    numbered = number_columns(plan)
    names = {new.name: old.name for new, old in zip(numbered.schema, plan.schema, strict=True)}
    rows = [{names[name]: value for name, value in row.items()} for row in evaluate(numbered, tables)]
    assert_same_rows(rows, expected)
    named = name_output(numbered, plan)
    assert (named.schema, named.shape) == (plan.schema, plan.shape)
    assert_same_rows(evaluate(named, tables), expected)


def list_queries() -> list[RunningQuery]:
    """Queries without intermediate streams, of many kinds."""
    over_tables = [*tables.STATELESS, *tables.FOREIGN, *tables.LOOKUPS]
    scripts = [tables.DECLARED + text.format(kind="LEFT", condition=" AND t.v < u.v") for text in over_tables]
    queries = [*chain.from_iterable(compiled(40)), *chain.from_iterable(compile(each).queries for each in scripts)]
    return [*chain.from_iterable(cut_at_intermediates(query, query.name, ()) for query in queries)]


def test_names_are_unique_below_the_output() -> None:
    for query in list_queries():
        nodes = list_nodes(number_columns(query.root))
        given = [name for node in nodes for name in node.given_names]
        assert len(given) == len(set(given))
        assert not {each.name for node in nodes if isinstance(node, Scan) for each in node.schema} & set(given)


def find_fingerprint(query: RunningQuery) -> str:
    return lower_query(query, DEFAULTS).fingerprint


def test_a_fingerprint_does_not_depend_on_names_below_the_output() -> None:
    renamed_below = 0
    for query in list_queries():
        renamed = number_columns(query.root)
        shown = replace(query, sink=Sink("query", "console", ()))
        assert find_fingerprint(replace(shown, root=renamed)) == find_fingerprint(shown)
        if isinstance(query.root, Project):
            renamed_below += renamed != query.root
            assert find_fingerprint(replace(query, root=name_output(renamed, query.root))) == find_fingerprint(query)
    assert renamed_below > 30


def test_the_state_of_workers_has_no_names_of_scripts() -> None:
    packs = 0
    for query in list_queries():
        views = lower_query(query, DEFAULTS).views
        kept = {view.source for view in views if isinstance(view, PackedView)}
        packs += len(kept)
        for view in views:
            texts = re.findall(r"'(?:[^'\\]|\\.)*'", view.sql) if isinstance(view, View) else [str(view)]
            if view.name in kept or not isinstance(view, View):
                assert not any(re.search(r"#\d", text) for text in texts)
    assert packs > 30
