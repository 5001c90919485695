"""Filter, Project, Unnest, Rekey, UnionAll -> one view each; GroupingSets -> two."""

from __future__ import annotations

from functools import reduce

from sqlglot import exp

from penstock.codegen.program import View
from penstock.codegen.sql.printing import print_sql
from penstock.codegen.sql.trees import alias, call, cast, column, columns, number, only_if, select
from penstock.planner.plan import Expression, Filter, GroupingSets, Project, Rekey, UnionAll, Unnest
from penstock.planner.types import BIGINT


def filter_view(node: Filter, name: str, source: str) -> View:
    """SELECT the same columns … WHERE the condition holds."""
    return View(name, print_sql(select(columns(node.schema), source).where(node.condition, copy=False)))


def project_view(node: Project, name: str, source: str) -> View:
    """SELECT the items."""
    return View(name, print_sql(select([alias(item.value, item.name) for item in node.items], source)))


def grouping_sets_views(node: GroupingSets, name: str, source: str, own: tuple[str, ...]) -> tuple[View, ...]:
    """The rows with each set's id, then with the keys that the set has. Moves are once per set, too."""
    ids = call("EXPLODE", call("ARRAY", *(cast(number(each), BIGINT) for each in node.ids)))
    passed = [*columns(node.input.schema), *map(column, own)]
    times = View(f"{name}_sets", print_sql(select([*passed, alias(ids, node.id_column)], source)))
    keys = []
    for place, key in enumerate(reversed(node.keys)):
        count_left_out = exp.BitwiseAnd(this=column(node.id_column), expression=number(1 << place))
        grouped = exp.EQ(this=count_left_out, expression=number(0))
        keys.append(alias(only_if(grouped, key.value), key.name))
    items = [*columns(node.input.schema), column(node.id_column), *reversed(keys), *map(column, own)]
    return times, View(name, print_sql(select(items, times.name)))


def unnest_view(node: Unnest, name: str, source: str, own: tuple[str, ...]) -> View:
    """The rows beside a generator, which Spark takes in a SELECT list."""
    function = ("EXPLODE" if node.position is None else "POSEXPLODE") + "_OUTER" * node.outer
    names = [exp.Identifier(this=each, quoted=True) for each in node.given_names]
    elements = exp.Aliases(this=call(function, node.value), expressions=names)
    return View(name, print_sql(select([*columns(node.input.schema), elements, *map(column, own)], source)))


def rekey_view(node: Rekey, name: str, source: str) -> View:
    """The same rows: Spark moves them where a join needs them, and there to as many partitions as the plan says."""
    return View(name, print_sql(select(columns(node.schema), source)))


def union_view(node: UnionAll, name: str, sources: tuple[str, ...], own: tuple[str, ...] = ()) -> View:
    """The inputs, one below the other; Spark names the columns as the first input does."""
    branches: list[Expression] = [
        select([*columns(each.schema), *map(column, own)], source)
        for each, source in zip(node.inputs, sources, strict=True)
    ]
    return View(name, print_sql(reduce(_union_all, branches)))


def _union_all(above: Expression, below: Expression) -> Expression:
    return exp.Union(this=above, expression=below, distinct=False)
