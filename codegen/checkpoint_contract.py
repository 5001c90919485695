"""A plan -> the part of it that must stay as it is for a query to go on from its checkpoint.

A checkpoint holds how far each input has been read, and the state of the one operator that keeps any. What is computed
of that operator's rows could be anything, if Spark did not look at a query as a whole. But it moves filters to where
they leave out rows earlier, leaves out aggregates that nothing uses, and keeps the others in the order in which they
are used first. So the state of groups depends on what is above them, and may be that of other columns of the same
types, which Spark does not notice. Nothing moves through what Python workers answer: panes, and remembered rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlglot import exp

from penstock.codegen.sql.trees import column
from penstock.planner.plan import (
    Distinct,
    Expression,
    Filter,
    GroupAggregate,
    IntervalJoin,
    KTable,
    Node,
    Over,
    OverRows,
    Project,
    Ranked,
    Rekey,
    TableLookup,
    WindowAggregate,
    conjuncts,
)
from penstock.planner.plan.substitute import substitute
from penstock.planner.plan.walk import is_retracting, stateful

_COMPARED = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)


@dataclass(frozen=True, slots=True)
class CheckpointContract:
    """What must stay: the operator `root` with all below it, None if that is nothing but the inputs.

    Of the `filters` above it, the `conditions`, over its columns.
    """

    root: Node | None
    filters: tuple[Filter, ...] = ()
    conditions: tuple[Expression, ...] = ()


def find_contract(root: Node) -> CheckpointContract:
    """What must stay of a query whose sink does not hold the rows of earlier runs."""
    above: list[Filter | Project | Rekey] = []
    node = root
    while isinstance(node, Filter | Project | Rekey):
        above.append(node)
        node = node.input
    above.reverse()
    match node:
        case GroupAggregate() if not is_retracting(node) and not any(isinstance(each, Filter) for each in above):
            return _find_group_contract(root, node, above)
        case _ if isinstance(root.shape, KTable):
            return CheckpointContract(root)  # whether a row is new or changed depends on all that has been sent
        case WindowAggregate() | Distinct():
            return _find_group_contract(root, node, above)
        case Over() | OverRows() | Ranked() | TableLookup():
            return CheckpointContract(node)
        case IntervalJoin() if node.pane is not None:
            return CheckpointContract(node)
        case _ if stateful(node) is None:
            return CheckpointContract(None)
        case _:
            return CheckpointContract(root)


def _find_group_contract(
    root: Node, groups: WindowAggregate | GroupAggregate | Distinct, above: Iterable[Filter | Project | Rekey]
) -> CheckpointContract:
    """The groups, if what is above shows that all aggregates are kept in their own order; else the whole.

    Of the filters, conditions on the keys count, which leave rows out below the groups. Comparisons of an aggregate
    with a literal do not. What compares aggregates with keys may be either.
    """
    aggregates = [] if isinstance(groups, Distinct) else [each.name for each in groups.aggregates]
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
                if any(_columns(part) & set(aggregates) for part in others):
                    return CheckpointContract(root)
                compared |= set(free.values())
                conditions += others
                filters += [node] if others else []
            case Project():
                values = {item.name: substitute(item.value, values) for item in node.items}
                shown = _count_shown(values.values(), aggregates)
                if shown is None or not set(aggregates[shown:]) <= compared:
                    return CheckpointContract(root)
    return CheckpointContract(groups, tuple(filters), tuple(conditions))


def _count_shown(items: Iterable[Expression], aggregates: list[str]) -> int | None:
    """How many of the aggregates, the first ones, are items by themselves, in their order; None if others are used.

    An item that is more than a column may use those before it: whatever Spark makes of it, these are there already.
    """
    shown = 0
    for item in items:
        if shown < len(aggregates) and isinstance(item, exp.Column) and item.name == aggregates[shown]:
            shown += 1
        elif _columns(item) & set(aggregates[shown:]):
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


def _columns(value: Expression) -> set[str]:
    return {each.name for each in value.find_all(exp.Column)}
