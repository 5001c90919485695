"""The shape of a plan as a graph: an operator's inputs, and which operators keep state."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

from penstock.planner.plan.aggregate import Distinct, Emission, GroupAggregate, WindowAggregate
from penstock.planner.plan.expressions import Aggregate, Expression
from penstock.planner.plan.intermediate import Intermediate
from penstock.planner.plan.join import IntervalJoin
from penstock.planner.plan.late import WithLate
from penstock.planner.plan.node import KStream, KTable, Node
from penstock.planner.plan.over import Over, OverRows
from penstock.planner.plan.rank import Ranked
from penstock.planner.plan.read import PlainJoin, Sort
from penstock.planner.plan.rekey import Rekey
from penstock.planner.plan.stateless import AssignWindows, Filter, GroupingSets, Project, UnionAll
from penstock.planner.plan.table import ForeignKeyJoin, Latest, TableJoin, TableLookup

T = TypeVar("T")
STATEFUL = (
    *(WindowAggregate, GroupAggregate, Distinct, IntervalJoin, Over, OverRows, Ranked),
    *(Latest, TableJoin, ForeignKeyJoin, TableLookup),
)
_OF_ONE_INPUT = (
    *(Filter, Project, AssignWindows, GroupingSets, Rekey, Sort),
    *(WindowAggregate, GroupAggregate, Distinct, Over, OverRows, Ranked, WithLate, Intermediate, Latest),
)


def inputs(node: Node) -> tuple[Node, ...]:
    """The relations that the operator reads, in order."""
    if isinstance(node, _OF_ONE_INPUT):
        return (node.input,)
    match node:
        case UnionAll():
            return node.inputs
        case IntervalJoin() | ForeignKeyJoin() | PlainJoin():
            return (node.left, node.right)
        case TableLookup():
            return (node.stream, node.table)
        case TableJoin():
            return tuple(side.input for side in node.sides)
        case _:
            return ()


def with_inputs(node: Node, below: tuple[Node, ...]) -> Node:
    """The operator over other inputs of the same schemas; itself where they are the same."""
    if all(one is other for one, other in zip(below, inputs(node), strict=True)):
        return node
    if isinstance(node, _OF_ONE_INPUT):
        return replace(node, input=below[0])
    match node:
        case UnionAll():
            return replace(node, inputs=below)
        case IntervalJoin() | ForeignKeyJoin() | PlainJoin():
            return replace(node, left=below[0], right=below[1])
        case TableLookup():
            return replace(node, stream=below[0], table=below[1])
        case TableJoin():
            sides = (replace(side, input=each) for side, each in zip(node.sides, below, strict=True))
            return replace(node, sides=tuple(sides))
        case _:
            raise AssertionError(f"{type(node).__name__} has no inputs")


def expressions(node: Node) -> Iterator[Expression]:
    """All scalar expressions that the operator itself evaluates."""
    match node:
        case Filter():
            yield node.condition
        case Project():
            yield from (item.value for item in node.items)
        case GroupingSets():
            yield from (key.value for key in node.keys)
        case Rekey():
            yield from node.keys
        case WindowAggregate() | GroupAggregate():
            yield from (key.value for key in node.keys)
            yield from (part for each in node.aggregates for part in parts(each))
        case IntervalJoin():
            yield from (side for equality in node.equalities for side in equality)
            if node.residual is not None:
                yield node.residual
        case ForeignKeyJoin() | TableLookup():
            yield from (side for equality in node.equalities for side in equality)
            if node.condition is not None:
                yield node.condition
        case TableJoin():
            yield from (key for side in node.sides for key in side.keys)
            yield from (step.condition for step in node.steps if step.condition is not None)
        case Over() | OverRows():
            yield from node.partition_by
            yield from (part for each in node.aggregates for part in parts(each.aggregate))
        case Ranked():
            yield from node.partition_by
            yield from (sorting.value for ranking in node.rankings for sorting in ranking.order_by)


def parts(aggregate: Aggregate) -> Iterator[Expression]:
    yield from aggregate.arguments
    if aggregate.condition is not None:
        yield aggregate.condition


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it, inputs before what reads them; a shared node as often as it is read."""
    pending: list[tuple[Node, bool]] = [(node, False)]
    while pending:
        each, is_behind_inputs = pending.pop()
        if is_behind_inputs:
            yield each
        else:
            pending.append((each, True))
            pending += [(below, False) for below in reversed(inputs(each))]


def fold_plan(
    root: Node, value: Callable[[Node, tuple[T, ...]], T], known: dict[int, tuple[Node, T]] | None = None
) -> T:
    """The value of the root, which `value` tells of a node and the values of its inputs; each node is asked once.

    Plans are too deep to recurse. `known`: values from before, by the id of the node, with it so that it lives; grows.
    """
    known = {} if known is None else known
    pending = [root]
    while pending:
        node = pending[-1]
        missing = [each for each in inputs(node) if id(each) not in known]
        if not missing and id(pending.pop()) not in known:
            known[id(node)] = node, value(node, tuple(known[id(each)][1] for each in inputs(node)))
        pending += reversed(missing)
    return known[id(root)][1]


def is_retracting(node: Node) -> bool:
    """Whether it is a group of a table: rows before are taken out of it."""
    return isinstance(node, GroupAggregate) and not isinstance(node.input.shape, KStream)


def is_changing(root: Node) -> bool:
    """Whether rows of the result are replaced by newer ones."""
    if isinstance(root.shape, KStream):
        return False
    return any(
        isinstance(node.shape, KTable) or (isinstance(node, WindowAggregate) and node.emission is Emission.CHANGES)
        for node in walk(root)
    )


def is_timed(node: Node) -> bool:
    """Whether it waits for the watermark. A table without windows is kept forever."""
    if isinstance(node, TableJoin):
        return node.is_windowed
    as_of = isinstance(node, TableLookup) and node.as_of is not None
    return as_of or isinstance(node, WindowAggregate | Distinct | IntervalJoin | Over | OverRows | Ranked)


def rows_leave(root: Node) -> bool:
    """Whether rows of the table can cease to exist: groups of a stream stay, if nothing filters them."""
    match root:
        case Project():
            return rows_leave(root.input)
        case GroupAggregate():
            return is_retracting(root)
        case _:
            return isinstance(root.shape, KTable)


def stateful(node: Node) -> Node | None:
    """The node itself or one below it that keeps state in the same query, None in a stateless one."""
    pending = [node]
    while pending:
        each = pending.pop()
        if isinstance(each, STATEFUL):
            return each
        if not isinstance(each, Intermediate):
            pending += reversed(inputs(each))
    return None
