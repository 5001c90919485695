"""Filter, Project, UnionAll -> one view each."""

from __future__ import annotations

from functools import reduce

from sqlglot import exp

from penstock.codegen.program import View
from penstock.codegen.sql.printing import print_sql
from penstock.codegen.sql.trees import columns, named, select
from penstock.planner.plan import Expression, Filter, Project, UnionAll


def filter_view(node: Filter, name: str, source: str) -> View:
    """SELECT the same columns … WHERE the condition holds."""
    return View(name, print_sql(select(columns(node.schema), source).where(node.condition, copy=False)))


def project_view(node: Project, name: str, source: str) -> View:
    """SELECT the items."""
    return View(name, print_sql(select([named(item.value, item.name) for item in node.items], source)))


def union_view(node: UnionAll, name: str, sources: tuple[str, ...]) -> View:
    """The inputs, one below the other; Spark names the columns as the first input does."""
    branches: list[Expression] = [
        select(columns(each.schema), source) for each, source in zip(node.inputs, sources, strict=True)
    ]
    return View(name, print_sql(reduce(_union_all, branches)))


def _union_all(above: Expression, below: Expression) -> Expression:
    return exp.Union(this=above, expression=below, distinct=False)
