"""A plan without a script's names answers as the plan with them does, and is the same for other names."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

from hypothesis import HealthCheck, given, settings

from penstock.codegen.canonical import canonicalise
from penstock.codegen.intermediates import cut_at_intermediates
from penstock.codegen.program import PackedView, View
from penstock.codegen.sql.query import lower_query
from penstock.compilation import compile
from penstock.planner.plan import DEFAULTS, Node
from tests.model.evaluate import evaluate
from tests.model.history import History, accepted, clocks
from tests.model.rows import assert_same_rows
from tests.properties import tables
from tests.properties.test_columns import CASES
from tests.properties.test_scripts import compiled


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(CASES)
def test_canonical_plans_answer_the_same(case: tuple[Node, History]) -> None:
    plan, history = case
    tables = accepted(history, clocks(plan)).tables()
    found = canonicalise(plan)
    names = {new.name: old.name for new, old in zip(found.schema, plan.schema, strict=True)}
    rows = [{names[name]: value for name, value in row.items()} for row in evaluate(found, tables)]
    assert_same_rows(rows, evaluate(plan, tables))
    assert canonicalise(found) == found


def test_canonical_plans_of_scripts() -> None:
    """They stay as they are when it is done again; and what workers keep in Spark's state has no names of scripts."""
    over_tables = [*tables.STATELESS, *tables.FOREIGN, *tables.LOOKUPS]
    scripts = [tables.DECLARED + text.format(kind="LEFT", condition=" AND t.v < u.v") for text in over_tables]
    queries = [*chain.from_iterable(compiled(40)), *chain.from_iterable(compile(each).queries for each in scripts)]
    packs = 0
    for part in chain.from_iterable(cut_at_intermediates(query, query.name, ()) for query in queries):
        found = replace(part, root=canonicalise(part.root))
        assert [each.type for each in found.root.schema] == [each.type for each in part.root.schema]
        assert canonicalise(found.root) == found.root
        views = lower_query(found, DEFAULTS).views
        kept = {view.source for view in views if isinstance(view, PackedView)}
        packs += len(kept)
        for view in views:
            assert view.name not in kept or "'#" not in str(view)
            assert isinstance(view, View | PackedView) or "#" not in str(view)
    assert packs > 30
