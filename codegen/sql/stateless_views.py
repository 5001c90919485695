"""Filter, Project, Unnest, Rekey, UnionAll -> one view each; GroupingSets -> two."""

from __future__ import annotations

from functools import reduce

from sqlglot import exp

from penstock.codegen.program import View
from penstock.codegen.sql.printing import print_sql
from penstock.codegen.sql.trees import (
    alias,
    call,
    cast,
    column,
    columns,
    function,
    make_free_name,
    null,
    number,
    only_if,
    select,
)
from penstock.planner.plan import Expression, Filter, GroupingSets, Project, Rekey, UnionAll, Unnest
from penstock.planner.plan.substitute import substitute
from penstock.planner.types import BIGINT

_ENTRY = ("key", "value")
"""The fields of an entry of a map."""


def filter_view(node: Filter, name: str, source: str) -> View:
    """SELECT the same columns … WHERE the condition holds."""
    return View(name, print_sql(select(columns(node.schema), source).where(node.condition, copy=False)))


def project_view(node: Project, name: str, source: str) -> View:
    """SELECT the items."""
    return View(name, print_sql(select([alias(item.value, item.name) for item in node.items], source)))


def grouping_sets_views(node: GroupingSets, name: str, source: str, own: tuple[str, ...]) -> tuple[View, ...]:
    """Each row once for each grouping set, with the id of the set, and with NULL for keys that the set leaves out.

    `own`: columns of the row form, which are passed on.
    """
    ids = call("EXPLODE", call("ARRAY", *(cast(number(each), BIGINT) for each in node.ids)))
    passed = [*columns(node.input.schema), *map(column, own)]
    sets = View(f"{name}_sets", print_sql(select([*passed, alias(ids, node.id_column)], source)))
    keys = []
    for place, key in enumerate(reversed(node.keys)):
        bit = exp.BitwiseAnd(this=column(node.id_column), expression=number(1 << place))
        grouped = exp.EQ(this=bit, expression=number(0))
        keys.append(alias(only_if(grouped, key.value), key.name))
    items = [*columns(node.input.schema), column(node.id_column), *reversed(keys), *map(column, own)]
    return sets, View(name, print_sql(select(items, sets.name)))


def unnest_view(node: Unnest, name: str, source: str, own: tuple[str, ...]) -> View:
    """The rows beside a generator, which Spark takes in a SELECT list."""
    generator = ("EXPLODE" if node.position is None else "POSEXPLODE") + "_OUTER" * node.outer
    names = [exp.Identifier(this=each, quoted=True) for each in node.given_names]
    elements = exp.Aliases(this=call(generator, node.value), expressions=names)
    return View(name, print_sql(select([*columns(node.input.schema), elements, *map(column, own)], source)))


def in_some_element(node: Unnest, condition: Expression) -> Expression:
    """Whether a row of the input fulfils the condition on the node's rows with at least one of its elements."""
    used = {each.name for each in condition.find_all(exp.Column)}
    if not used & set(node.given_names):
        return condition
    kept = {each.name: column(each.name) for each in node.input.schema}
    element = exp.Identifier(this=make_free_name("element", node.schema), quoted=True)
    place = exp.Identifier(this=make_free_name("place", node.schema), quoted=True)
    values: list[Expression] = [element]
    elements = node.value.copy()
    if len(node.elements) > 1:
        elements = call("MAP_ENTRIES", elements)
        values = [exp.Dot(this=element.copy(), expression=exp.Identifier(this=each, quoted=True)) for each in _ENTRY]
    given = dict(zip(node.given_names, values if node.position is None else [place, *values], strict=True))
    # TRANSFORM knows the place of an element, EXISTS does not.
    held = exp.Lambda(this=substitute(condition, kept | given), expressions=[element.copy(), place.copy()])
    found = call("EXISTS", call("TRANSFORM", elements, held), function("is_held", body=_make_identifier))
    if not node.outer:
        return found
    nulls = {each: null(node.column(each).type) for each in node.given_names}
    count = call("COALESCE", call("SIZE", node.value.copy()), number(0))
    alone = exp.And(this=exp.LTE(this=count, expression=number(0)), expression=substitute(condition, kept | nulls))
    return exp.Paren(this=exp.Or(this=call("COALESCE", found, exp.Boolean(this=False)), expression=alone))


def _make_identifier(name: str) -> Expression:
    return exp.Identifier(this=name, quoted=True)


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
