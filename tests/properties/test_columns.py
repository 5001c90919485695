"""A plan without the columns that nothing uses answers as the whole one does, and holds no others in its panes."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from penstock.codegen.sql.trees import column
from penstock.evaluator.evaluate import evaluate
from penstock.evaluator.history import History, accepted, clocks
from penstock.planner.passes.prune_columns import prune_columns
from penstock.planner.plan import JoinType, Named, Node, Over
from penstock.planner.plan.walk import walk
from tests.codegen.plans import MINUTE, aggregate, over, project, scan
from tests.model.rows import assert_same_rows
from tests.properties import streams

CASES: SearchStrategy[tuple[Node, History]] = st.one_of(
    *(streams.joins(type_) for type_ in JoinType),
    *(streams.window_aggregates(kind) for kind in streams.windows),
    streams.united_windows(),
    streams.rows_of_windows(),
    streams.grouped_by_sets(),
    streams.unnested(),
    streams.overs(),
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(CASES, st.data())
def test_pruned_plans_answer_the_same(case: tuple[Node, History], data: st.DataObject) -> None:
    node, history = case
    shown = data.draw(st.lists(st.sampled_from(node.schema), min_size=1, unique=True))
    plan = project(node, *(Named(each.name, column(each.name), each.type) for each in shown))
    tables = accepted(history, clocks(plan)).tables()
    assert_same_rows(evaluate(prune_columns(plan), tables), evaluate(plan, tables))


def test_panes_hold_what_is_used() -> None:
    node = over(scan(), (aggregate("total", "SUM", "v"), MINUTE))
    assert held(project(node, *(Named(name, column(name), node.column(name).type) for name in ("k", "total")))) == [
        ("k", "time", "v")
    ]
    # The order of rows of one time is that of all their columns.
    node = over(scan(), (aggregate("last", "LAST_VALUE", "v"), MINUTE))
    assert held(project(node, Named("last", column("last"), node.column("last").type))) == [("id", "k", "time", "v")]


def held(plan: Node) -> list[tuple[str, ...]]:
    """The columns below each OVER."""
    return [
        tuple(each.name for each in node.input.schema) for node in walk(prune_columns(plan)) if isinstance(node, Over)
    ]
