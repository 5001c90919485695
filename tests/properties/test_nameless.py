"""A plan without a script's names answers as the plan with them does, and is the same for other names."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from penstock.codegen.nameless import nameless
from penstock.codegen.stages import stages
from penstock.planner.plan import Node
from tests.model.evaluate import evaluate
from tests.model.history import History, accepted, clocks
from tests.model.rows import assert_same_rows
from tests.properties.test_columns import CASES
from tests.properties.test_scripts import compiled


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(CASES)
def test_nameless_plans_answer_the_same(case: tuple[Node, History]) -> None:
    plan, history = case
    tables = accepted(history, clocks(plan)).tables()
    found = nameless(plan)
    names = {new.name: old.name for new, old in zip(found.schema, plan.schema, strict=True)}
    rows = [{names[name]: value for name, value in row.items()} for row in evaluate(found, tables)]
    assert_same_rows(rows, evaluate(plan, tables))
    assert nameless(found) == found


def test_nameless_plans_of_scripts() -> None:
    roots = [part.root for queries in compiled() for query in queries for part in stages(query, query.name, ())]
    assert len(roots) > 100
    for root in roots:
        found = nameless(root)
        assert [each.type for each in found.schema] == [each.type for each in root.schema]
        assert nameless(found) == found
