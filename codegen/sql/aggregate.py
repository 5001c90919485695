"""WindowAggregate, GroupAggregate -> one GROUP BY view each."""

from __future__ import annotations

from typing import assert_never

from sqlglot import exp

from penstock.codegen.program import View
from penstock.codegen.sql.printing import print_sql
from penstock.codegen.sql.trees import call, column, duration, named, select
from penstock.planner.plan import (
    Aggregate,
    Emission,
    Expression,
    GroupAggregate,
    Hop,
    Session,
    Tumble,
    Window,
    WindowAggregate,
)


def window_aggregate_view(node: WindowAggregate, name: str, source: str) -> View:
    """One row per keys and window. Whether it comes out once or at every change is the query's output mode."""
    if isinstance(node.window, Session):
        assert node.keys, "Spark runs session windows only with keys"
        assert node.emission is Emission.FINAL, "Spark runs session windows only to their final rows"
    window = _window(node.window, column(node.time))
    items = [
        *(named(key.value, key.name) for key in node.keys),
        named(exp.Dot(this=window, expression=exp.to_identifier("start")), "window_start"),
        named(exp.Dot(this=window, expression=exp.to_identifier("end")), "window_end"),
        *(named(aggregate_call(each), each.name) for each in node.aggregates),
    ]
    tree = select(items, source).group_by(*(key.value for key in node.keys), window, copy=False)
    return View(name, print_sql(tree))


def group_aggregate_view(node: GroupAggregate, name: str, source: str) -> View:
    """One row per keys, kept for ever."""
    items = [
        *(named(key.value, key.name) for key in node.keys),
        *(named(aggregate_call(each), each.name) for each in node.aggregates),
    ]
    tree = select(items, source)
    return View(name, print_sql(tree.group_by(*(key.value for key in node.keys), copy=False) if node.keys else tree))


def aggregate_call(aggregate: Aggregate) -> Expression:
    """FUNCTION([DISTINCT] arguments) [FILTER (WHERE condition)]."""
    arguments = list(aggregate.arguments) or [exp.Star()]
    if aggregate.distinct:
        arguments = [exp.Distinct(expressions=arguments)]
    result = call(aggregate.function, *arguments)
    if aggregate.condition is None:
        return result
    return exp.Filter(this=result, expression=exp.Where(this=aggregate.condition))


def _window(window: Window, time: Expression) -> Expression:
    match window:
        case Tumble():
            return call("WINDOW", time, duration(window.size))
        case Hop():
            return call("WINDOW", time, duration(window.size), duration(window.slide))
        case Session():
            return call("SESSION_WINDOW", time, duration(window.gap))
        case _:
            assert_never(window)
