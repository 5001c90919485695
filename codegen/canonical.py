"""A plan -> its canonical form, in which the columns that a script names are numbered.

Plans that differ only in such names have the same canonical form. Columns of scans keep their names, because files are
read by them. So do columns that operators name, such as `window_start`. The canonical form is compared, never run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from itertools import count
from typing import Any

from sqlglot import exp

from penstock.planner.plan import (
    Aggregate,
    Expression,
    FramedAggregate,
    GroupAggregate,
    GroupingSets,
    KStream,
    Named,
    Node,
    Over,
    OverRows,
    Project,
    Ranked,
    Ranking,
    Scan,
    Shape,
    Sorting,
    UnionAll,
    WindowAggregate,
    WithLate,
    WTable,
)
from penstock.planner.plan.substitute import substitute
from penstock.planner.plan.table import Side, Step
from penstock.planner.plan.walk import fold_plan, inputs, with_inputs

Names = Mapping[str, str]


def canonicalise(root: Node) -> Node:
    """The plan with numbered columns. Their types and their order stay the same."""
    numbers = count()
    done: dict[Node, Node] = {}

    def rename(node: Node, below: tuple[Node, ...]) -> Node:
        if node not in done:
            given = {name: f"#{next(numbers)}" for name in _list_chosen_names(node)}
            done[node] = _rename_node(node, below, given)
        return done[node]

    return fold_plan(root, rename)


def _list_chosen_names(node: Node) -> list[str]:
    """The names of columns that the operator introduces and the script has chosen."""
    match node:
        case Project():
            return [each.name for each in node.items]
        case WindowAggregate() | GroupAggregate():
            return [*(key.name for key in node.keys), *(aggregate.name for aggregate in node.aggregates)]
        case GroupingSets():
            return [node.id_column, *(key.name for key in node.keys)]
        case Over() | OverRows():
            return [framed.aggregate.name for framed in node.aggregates]
        case Ranked():
            return [ranking.name for ranking in node.rankings]
        case _:
            return []


def _rename_node(node: Node, below: tuple[Node, ...], given: Names) -> Node:
    """The operator over the renamed inputs `below`. `given` maps the names that it introduces to numbers."""
    if isinstance(node, Scan):
        return node
    # A union has the names of its first input.
    sources = list(zip(inputs(node), below, strict=True))[: 1 if isinstance(node, UnionAll) else None]
    passed = {old.name: new.name for source, now in sources for old, new in zip(source.schema, now.schema, strict=True)}
    moved = with_inputs(node, below)
    if isinstance(node, WithLate):  # its columns have names of their own
        return moved
    fresh = isinstance(node, Project | WindowAggregate | GroupAggregate)
    known = given if fresh else {**passed, **given}
    own = {each.name: known.get(each.name, each.name) for each in node.schema}
    parts = {
        each.name: _part(getattr(moved, each.name), passed, given)
        for each in fields(moved)
        if each.init and each.name not in ("schema", "shape", "span")
    }
    schema = tuple(replace(each, name=own[each.name]) for each in node.schema)
    return replace(moved, **parts, schema=schema, shape=_shape(node.shape, own))


def _part(part: Any, passed: Names, given: Names) -> Any:
    """A field of an operator, or a part of a field, with the new names of the inputs."""

    def rename_part(value: Any) -> Any:
        return _part(value, passed, given)

    match part:
        case str():
            return passed.get(part, given.get(part, part))
        case exp.Expression():
            return _expression(part, passed)
        case tuple():
            return tuple(map(rename_part, part))
        case Named():
            return replace(part, name=given[part.name], value=rename_part(part.value))
        case Aggregate():
            arguments, condition = rename_part(part.arguments), rename_part(part.condition)
            return replace(part, name=given[part.name], arguments=arguments, condition=condition)
        case FramedAggregate():
            return replace(part, aggregate=rename_part(part.aggregate))
        case Ranking():
            return replace(part, name=given[part.name], order_by=rename_part(part.order_by))
        case Sorting():
            return replace(part, value=rename_part(part.value))
        case Side():
            return replace(part, keys=rename_part(part.keys))
        case Step():
            return replace(part, condition=rename_part(part.condition))
        case _:
            return part


def _expression(value: Expression, names: Names) -> Expression:
    return substitute(value, {old: exp.column(new, quoted=True) for old, new in names.items()})


def _shape(shape: Shape, names: Names) -> Shape:
    if isinstance(shape, KStream):
        return shape.rename(names)
    key = tuple(names[each] for each in shape.key)
    same = tuple(tuple(frozenset(names.get(each, each) for each in group) for group in groups) for groups in shape.same)
    if isinstance(shape, WTable):
        return WTable(key, names[shape.start], names[shape.end], same)
    return replace(shape, key=key, same=same)
