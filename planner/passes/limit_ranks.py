"""A filter on the place of a row of a table -> a ranking that leaves the other rows out."""

from __future__ import annotations

from msgspec.structs import replace
from sqlglot import exp

from penstock.planner.plan import Filter, Intermediate, Node, Project, TableRanked, conjuncts
from penstock.planner.scalars.literals import bare


def limit_ranks(node: Node) -> Node:
    """The plan, whose rankings of tables give no more rows than the filters above them let through."""
    node = node.with_inputs(tuple(map(limit_ranks, node.inputs)))
    if not isinstance(node, Filter):
        return node
    for part in conjuncts(node.condition):
        limit = read_limit(part)
        below = None if limit is None else keep_first(node.input, *limit)
        if below is not None:
            return replace(node, input=below)
    return node


def read_limit(condition: exp.Expression) -> tuple[str, int] | None:
    """The column that is at most a number, and the number; None if the condition says something else."""
    compared = bare(condition)
    if not isinstance(compared, exp.LTE | exp.LT | exp.EQ):
        return None
    column, value = drop_casts(compared.this), drop_casts(compared.expression)
    if not isinstance(column, exp.Column) or not isinstance(value, exp.Literal) or not value.name.isdecimal():
        return None
    return column.name, int(value.name) - isinstance(compared, exp.LT)


def drop_casts(value: exp.Expression) -> exp.Expression:
    """The value without casts that keep a whole number as it is. Texts are not compared as numbers are."""
    inner = bare(value)
    while isinstance(inner, exp.Cast) and inner.to.this in (exp.DType.INT, exp.DType.BIGINT):
        inner = bare(inner.this)
    return inner


def keep_first(node: Node, name: str, most: int) -> Node | None:
    """The node, if its column `name` is the first place of a ranking below it, which now leaves out the rows behind."""
    if isinstance(node, TableRanked):
        is_first = node.rankings[0].name == name
        return replace(node, most=most if node.most is None else min(most, node.most)) if is_first else None
    below = None
    if isinstance(node, Project):
        value = next(each.value for each in node.items if each.name == name)
        below = keep_first(node.input, value.name, most) if isinstance(value, exp.Column) else None
    elif isinstance(node, Intermediate) and not node.shared:
        below = keep_first(node.input, name, most)
    return None if below is None else node.with_inputs((below,))
