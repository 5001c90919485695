"""A plan -> the same plan with numbered columns below its output, such as `amount#3`, whose names are unique.

Plans that differ only in the names that a script chooses get the same numbers, and so the same fingerprint. Columns of
scans keep their names, because files are read by them. So do columns that operators name, such as `window_start`.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any

from msgspec.structs import replace
from sqlglot import exp

from penstock.codegen.sql.trees import column
from penstock.planner.plan import (
    Aggregate,
    Expression,
    FramedAggregate,
    GroupAggregate,
    KStream,
    LookupColumn,
    LookupKey,
    Named,
    Node,
    Project,
    Ranking,
    Scan,
    Shape,
    Sorting,
    UnionAll,
    WindowAggregate,
    WithLate,
    WTable,
)
from penstock.planner.plan.substitute import substitute_columns
from penstock.planner.plan.table import Side, Step
from penstock.planner.plan.walk import fold_plan, list_nodes

Names = Mapping[str, str]


def number_columns(root: Node) -> Node:
    """The plan in which each column that a script names ends in a number. Types and order of columns stay the same."""
    scanned = [each.name for node in list_nodes(root) if isinstance(node, Scan) for each in node.schema]
    taken = {name.rpartition("#")[2] for name in scanned if "#" in name}
    numbers = (number for number in count(1) if str(number) not in taken)
    done: dict[Node, Node] = {}

    def rename(node: Node, below: tuple[Node, ...]) -> Node:
        if node not in done:
            given = {name: f"{name}#{next(numbers)}" for name in node.given_names}
            done[node] = _rename_node(node, below, given)
        return done[node]

    return fold_plan(root, rename)


def name_output(root: Node, named: Node) -> Node:
    """A numbered plan whose last operator gives the output the names, and the shape, of the plan `named`."""
    schema, shape, span = named.schema, named.shape, named.span
    if root.schema == schema:
        return root
    below, values = root, [column(each.name) for each in root.schema]
    if isinstance(root, Project):
        below, values = root.input, [each.value for each in root.items]
    items = tuple(Named(each.name, value, each.type) for each, value in zip(schema, values, strict=True))
    return Project(schema=schema, shape=shape, span=span, input=below, items=items)


def _rename_node(node: Node, below: tuple[Node, ...], given: Names) -> Node:
    """The operator over the renamed inputs `below`. `given` maps the names that it introduces to numbers."""
    if isinstance(node, Scan):
        return node
    # A union has the names of its first input.
    sources = list(zip(node.inputs, below, strict=True))[: 1 if isinstance(node, UnionAll) else None]
    passed = {old.name: new.name for source, now in sources for old, new in zip(source.schema, now.schema, strict=True)}
    moved = node.with_inputs(below)
    if isinstance(node, WithLate):  # its columns have names of their own
        return moved
    fresh = isinstance(node, Project | WindowAggregate | GroupAggregate)
    known = given if fresh else {**passed, **given}
    own = {each.name: known.get(each.name, each.name) for each in node.schema}
    parts = {
        name: _part(getattr(moved, name), passed, given)
        for name in moved.__struct_fields__
        if name not in ("schema", "shape", *Node.UNCOUNTED)
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
        case LookupKey():
            return replace(part, value=rename_part(part.value))
        case LookupColumn():
            return replace(part, name=given[part.name])
        case Named() | Aggregate() | FramedAggregate() | Ranking() | Sorting() | Side() | Step():
            names = [name for name in part.__struct_fields__ if name not in ("name", "function", "type")]
            values = {name: rename_part(getattr(part, name)) for name in names}
            if isinstance(part, Named | Aggregate | Ranking):
                values["name"] = given[part.name]
            return replace(part, **values)
        case _:
            return part


def _expression(value: Expression, names: Names) -> Expression:
    def rename_column(old: exp.Column) -> Expression:
        new = column(names[old.name])
        new.meta.update(old.meta)
        return new

    return substitute_columns(value, rename_column)


def _shape(shape: Shape, names: Names) -> Shape:
    if isinstance(shape, KStream):
        return shape.rename(names)
    key = tuple(names[each] for each in shape.key)
    same = tuple(tuple(frozenset(names.get(each, each) for each in group) for group in groups) for groups in shape.same)
    if isinstance(shape, WTable):
        return WTable(key, names[shape.start], names[shape.end], same)
    return replace(shape, key=key, same=same)
