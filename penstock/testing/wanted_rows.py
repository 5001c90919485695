"""Rows of an operator -> the rows of declared relations that are likely to become them.

They are guesses: the rows are tried before they are shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TypeAlias

from sqlglot import exp

from penstock.evaluator import Row, columns
from penstock.planner.plan import (
    Aggregate,
    Filter,
    ForeignKeyJoin,
    GroupAggregate,
    IntervalJoin,
    JoinType,
    KStream,
    Node,
    Project,
    Ranked,
    RemoteLookup,
    Scan,
    TableJoin,
    TableLookup,
    TableRanked,
    UnionAll,
    WindowAggregate,
    WTable,
)
from penstock.testing.coverage_classes import column_name
from penstock.testing.given_values import START
from penstock.testing.solved_values import MILLISECOND, Types, fit_column, plain_value, solve, step_value

Traced: TypeAlias = list[tuple[str, Row]]
"""Rows of declared relations, by what their columns should be."""
DELETES = "#deletes"
"""A column that no script can name."""
MOST_COPIES = 12
"""Rows that a group may need for a number that is wanted."""


def trace(node: Node, wanted: Row, *, partners: bool = False) -> Traced:
    """The rows of declared relations that are likely to become a row of an operator.

    The name DELETES stands for a record that deletes the row. `partners`: also the rows that keep it out.
    """
    is_gone = DELETES in wanted
    pending: list[tuple[Node, Row]] = [(node, {name: value for name, value in wanted.items() if name != DELETES})]
    traced: Traced = []
    while pending:
        node, wanted = pending.pop(0)
        if isinstance(node, Scan):
            names = {each.name for each in node.schema}
            row = {name: value for name, value in wanted.items() if name in names}
            operation = node.origin.operation
            traced.append((node.origin.name, row | ({operation: "delete"} if is_gone and operation else {})))
        else:
            if isinstance(node, RemoteLookup):
                traced.append((node.origin.name, trace_remote(node, wanted)))
            pending[:0] = trace_operator(node, wanted, partners=partners)
    return traced


def trace_remote(node: RemoteLookup, wanted: Row) -> Row:
    """The row of a database that is looked up."""
    types, row = columns(node.input.schema), Row()
    for key in node.keys:
        name = column_name(key.value)
        if name is not None:
            row[key.column] = wanted.get(name, plain_value(types[name]))
    return row


def trace_operator(node: Node, wanted: Row, *, partners: bool = False) -> list[tuple[Node, Row]]:
    """The rows of its inputs that are likely to become a row of an operator."""
    if isinstance(node, Filter):
        return [(node.input, solve(node.condition, columns(node.input.schema)) | wanted)]
    if isinstance(node, Project):
        named = {item.name: column_name(item.value) for item in node.items}
        return [(node.input, {name: wanted[own] for own, name in named.items() if own in wanted and name is not None})]
    if isinstance(node, UnionAll):
        first = node.inputs[0]
        names = dict(zip((each.name for each in node.schema), (each.name for each in first.schema), strict=True))
        return [(first, {names[name]: value for name, value in wanted.items() if name in names})]
    if isinstance(node, WindowAggregate | GroupAggregate):
        return trace_group(node, wanted)
    if isinstance(node, IntervalJoin):
        type_ = JoinType.SEMI if partners else node.type
        return trace_pair(node, node.left, node.right, node.equalities, wanted, type_)
    if isinstance(node, ForeignKeyJoin):
        type_ = JoinType.SEMI if partners else node.type
        return trace_pair(node, node.left, node.right, node.equalities, wanted, type_)
    if isinstance(node, TableLookup):
        type_ = JoinType.SEMI if partners else node.type
        pair = trace_pair(node, node.stream, node.table, node.equalities, wanted, type_)
        return pair[::-1]  # the table has to be there first
    if isinstance(node, TableJoin):
        return trace_tables(node, wanted)
    if isinstance(node, Ranked | TableRanked):
        places = [value for each in node.rankings if isinstance(value := wanted.get(each.name), int)]
        if places:
            return rank_rows(node, min(max(places), MOST_COPIES))
    return [(each, wanted) for each in node.inputs[:1]]


def trace_group(node: WindowAggregate | GroupAggregate, wanted: Row) -> list[tuple[Node, Row]]:
    """Rows of one group: as many as COUNT should be, with the value that another aggregate should have."""
    types, row, copies = columns(node.input.schema), Row(), 1
    for key in node.keys:
        name = column_name(key.value)
        if name is not None and key.name in wanted:
            row[name] = wanted[key.name]
    if isinstance(node, WindowAggregate) and "window_start" in wanted:
        row[node.time] = wanted["window_start"]
    elif isinstance(node, WindowAggregate) and isinstance(wanted.get("window_end"), datetime):
        row[node.time] = wanted["window_end"] - MILLISECOND
    for each in node.aggregates:
        value = wanted.get(each.name)
        if value is None:
            continue
        if each.condition is not None:
            row = solve(each.condition, types) | row
        if each.function == "COUNT":
            copies = max(copies, min(int(value), MOST_COPIES))
        elif (name := column_name(each.arguments[0])) is not None:
            known = fit_column(value, types[name])
            row |= {} if known is None else {name: known}
    for key in node.keys if copies > 1 else ():
        name = column_name(key.value)
        if name is not None and name not in row:  # all copies are of one group, and other numbers are of another one
            row[name] = step_value(plain_value(types[name]), types[name], copies)
    distinct = next((name for each in node.aggregates if (name := counted_once(each)) and each.name in wanted), None)
    return [(node.input, row | spread(distinct, place, types)) for place in range(copies)]


def rank_rows(node: Ranked | TableRanked, number: int) -> list[tuple[Node, Row]]:
    """So many rows of one partition, each with a place of its own."""
    below, types = node.input, columns(node.input.schema)
    same = {name: plain_value(types[name]) for each in node.partition_by if (name := column_name(each)) is not None}
    sorting = [name for each in node.rankings for key in each.order_by if (name := column_name(key.value)) is not None]
    own = [*sorting, *(() if isinstance(below.shape, KStream) else below.shape.identity)]
    return [
        (
            below,
            {name: step_value(plain_value(types[name]), types[name], place) for name in own if name in types} | same,
        )
        for place in range(number)
    ]


def counted_once(aggregate: Aggregate) -> str | None:
    """The column whose different values are counted."""
    return column_name(aggregate.arguments[0]) if aggregate.distinct and aggregate.arguments else None


def spread(name: str | None, place: int, types: Types) -> Row:
    """A value of its own for each row of a group."""
    if name is None:
        return {}
    value = plain_value(types[name])
    if isinstance(value, str):
        return {name: value + "~" * place}
    return {name: step_value(value, types[name], place)}


def trace_pair(
    node: Node,
    left: Node,
    right: Node,
    equalities: Iterable[tuple[exp.Expression, exp.Expression]],
    wanted: Row,
    type_: JoinType,
) -> list[tuple[Node, Row]]:
    """A row of each side with equal keys, and with times that meet; one alone if the other side should be NULL."""
    types = {**columns(left.schema), **columns(right.schema)}
    condition = node.residual if isinstance(node, IntervalJoin) else getattr(node, "condition", None)
    whole = ({} if condition is None else solve(condition, types)) | wanted
    sides = [{each.name: whole[each.name] for each in side.schema if each.name in whole} for side in (left, right)]
    if type_ in (JoinType.LEFT, JoinType.FULL, JoinType.ANTI) and is_absent(sides[1], wanted):
        return [(left, sides[0])]
    if type_ in (JoinType.RIGHT, JoinType.FULL) and is_absent(sides[0], wanted):
        return [(right, sides[1])]
    if type_ is JoinType.ANTI:
        return [(left, sides[0])]
    if is_absent(sides[1], wanted):  # a partner that keeps the row out
        sides[1] = {name: value for name, value in sides[1].items() if value is not None}
    for one, other in equalities:
        names = column_name(one), column_name(other)
        if names[0] is None or names[1] is None:
            continue
        value = sides[0].get(names[0], sides[1].get(names[1], plain_value(types[names[0]])))
        sides[0].setdefault(names[0], value)
        sides[1].setdefault(names[1], value)
    if isinstance(node, IntervalJoin):
        time = sides[0].setdefault(node.left_time, START)
        lower, upper = node.bound.lower, node.bound.upper
        apart = min(max(0, lower.milliseconds + (not lower.closed)), upper.milliseconds)
        sides[1].setdefault(node.right_time, time + apart * MILLISECOND)
    return [(left, sides[0]), (right, sides[1])]


def is_absent(side: Row, wanted: Row) -> bool:
    """Whether all that is wanted of a side is NULL."""
    asked = [value for name, value in side.items() if name in wanted]
    return bool(asked) and all(value is None for value in asked)


def trace_tables(node: TableJoin, wanted: Row) -> list[tuple[Node, Row]]:
    """A row of each side with the same key."""
    traced: list[tuple[Node, Row]] = []
    keys, latest = list(node.identity), max(side.shift for side in node.sides)
    for side in node.sides:
        row = {each.name: wanted[each.name] for each in side.input.schema if each.name in wanted}
        for name, key in zip(keys, side.keys, strict=False):
            own = column_name(key)
            if own is not None:
                row.setdefault(own, wanted.get(name, plain_value(side.input.column(own).type)))
        if isinstance(side.input.shape, WTable):
            row.setdefault(side.input.shape.start, START + (latest - side.shift) * MILLISECOND)
        traced.append((side.input, row))
    return traced
