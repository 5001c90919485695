"""A plan -> its checkpoint contract: the part that must stay the same for a query to go on from its checkpoint.

A checkpoint holds how far each input has been read, and the state of the operators. What is computed from the rows of
the last operator could change freely, but Spark optimises a query as a whole. It pushes filters down, it drops
aggregates that nothing uses, and it orders the others by their first use. So the state of groups depends on what is
above them. After a change it may hold other columns of the same types, which Spark does not notice. Spark moves nothing
through the results of Python workers, that is, panes and remembered rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import assert_never

from sqlglot import exp

from penstock.codegen.sql.trees import column
from penstock.planner.physical.choose import choose
from penstock.planner.physical.physical_operator import Contract
from penstock.planner.plan import (
    Expression,
    Filter,
    GroupAggregate,
    KTable,
    Node,
    Project,
    Rekey,
    Stateful,
    WindowAggregate,
    conjuncts,
    find_columns,
)
from penstock.planner.plan.substitute import substitute
from penstock.planner.plan.walk import stateful

_COMPARED = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)


@dataclass(frozen=True, slots=True)
class CheckpointContract:
    """What must stay the same."""

    root: Node | None
    """An operator with everything below it, None if only the inputs must stay."""
    filters: tuple[Filter, ...] = ()
    """The filters above the operator that the contract includes."""
    conditions: tuple[Expression, ...] = ()
    """The conditions of these filters, over the operator's columns."""


def find_contract(root: Node) -> CheckpointContract:
    """The contract of a query whose sink does not keep the rows of earlier runs."""
    above: list[Filter | Project | Rekey] = []
    node = root
    while isinstance(node, Filter | Project | Rekey):
        above.append(node)
        node = node.input
    above.reverse()
    contract = choose(node).CONTRACT if isinstance(node, Stateful) else Contract.PLAN
    if isinstance(root.shape, KTable):
        # Whether a row is new or changed depends on all that has been sent.
        is_plan = contract is not Contract.GROUPS or any(isinstance(each, Filter) for each in above)
        contract = Contract.PLAN if is_plan else contract
    elif stateful(node) is None:
        return CheckpointContract(None)
    match contract:
        case Contract.GROUPS:
            return _find_group_contract(root, node, above)
        case Contract.OPERATOR:
            return CheckpointContract(node)
        case Contract.PLAN:
            return CheckpointContract(root)


def _find_group_contract(root: Node, groups: Node, above: Iterable[Filter | Project | Rekey]) -> CheckpointContract:
    """The groups, if the operators above use all aggregates in their own order; otherwise the whole plan.

    Conditions on the keys belong to the contract, because Spark moves them below the groups. Comparisons of an
    aggregate with a literal do not. A condition that mixes aggregates and keys makes the whole plan the contract.
    """
    aggregates = (
        [each.name for each in groups.aggregates] if isinstance(groups, WindowAggregate | GroupAggregate) else []
    )
    values: dict[str, Expression] = {each.name: column(each.name) for each in groups.schema}
    compared: set[str] = set()
    filters: list[Filter] = []
    conditions: list[Expression] = []
    for node in above:
        match node:
            case Filter():
                parts = [substitute(part, values) for part in conjuncts(node.condition)]
                free = {part: name for part in parts if (name := _find_compared(part)) in aggregates}
                others = [part for part in parts if part not in free]
                if any(find_columns(part) & set(aggregates) for part in others):
                    return CheckpointContract(root)
                compared |= set(free.values())
                conditions += others
                filters += [node] if others else []
            case Project():
                values = {item.name: substitute(item.value, values) for item in node.items}
                shown = _count_shown(values.values(), aggregates)
                if shown is None or not set(aggregates[shown:]) <= compared:
                    return CheckpointContract(root)
            case Rekey():
                pass
            case _:
                assert_never(node)
    return CheckpointContract(groups, tuple(filters), tuple(conditions))


def _count_shown(items: Iterable[Expression], aggregates: list[str]) -> int | None:
    """How many of the first aggregates are items of their own, in order; None if an item uses another one.

    A computed item may use the aggregates before it, because Spark keeps these already.
    """
    shown = 0
    for item in items:
        if shown < len(aggregates) and isinstance(item, exp.Column) and item.name == aggregates[shown]:
            shown += 1
        elif find_columns(item) & set(aggregates[shown:]):
            return None
    return shown


def _find_compared(condition: Expression) -> str | None:
    """The name of the column that the condition compares with a literal."""
    comparison = condition.unnest()
    if not isinstance(comparison, _COMPARED):
        return None
    sides = (comparison.this, comparison.expression)
    named = [each.name for each in sides if isinstance(each, exp.Column)]
    return named[0] if len(named) == 1 and any(map(_is_literal, sides)) else None


def _is_literal(value: Expression) -> bool:
    while isinstance(value, exp.Cast | exp.Neg | exp.Paren):
        value = value.this
    return isinstance(value, exp.Literal)
