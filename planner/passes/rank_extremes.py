"""A join of rows with the greatest or least value of their own window -> a ranking of these rows.

The join reads the stream twice, and waits for a query that computes the windows. The ranking is one query.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec
from msgspec.structs import replace
from sqlglot import exp

from penstock.planner.functions import clock_calls
from penstock.planner.functions.facts import Framing
from penstock.planner.lower.select_items import WINDOW_COLUMNS
from penstock.planner.plan import (
    AssignWindows,
    BoundEnd,
    Column,
    Emission,
    EventTime,
    Expression,
    Filter,
    Intermediate,
    IntervalJoin,
    JoinType,
    KStream,
    Named,
    Node,
    Project,
    Ranked,
    Ranking,
    Sorting,
    TimeBound,
    Tumble,
    WindowAggregate,
    conjunction,
    make_column,
)
from penstock.planner.plan.reserved import choose_unused_name
from penstock.planner.plan.substitute import substitute_names
from penstock.planner.plan.walk import fold_plan
from penstock.planner.types import INT, TIMESTAMP, is_exact

_IS_GREATEST = {Framing.MAX: True, Framing.MIN: False}
_START, _END = WINDOW_COLUMNS
_LONGEST = 600_000
"""Milliseconds: the longest windows without keys that are ranked, because one task ranks a window."""


class _Side(msgspec.Struct, frozen=True):
    """One side of a join: columns of `node` under other names. `names` has the column of `node` for each of these."""

    node: Node
    names: Mapping[str, str]


class _Extremes(msgspec.Struct, frozen=True):
    """Rows of `rows` that have the greatest or least `value` of their window of `size` milliseconds, and of `keys`.

    `columns`: for each column of the join the column of `rows`, or the one of the window, that has its value.
    """

    rows: Node
    time: str
    size: int
    keys: tuple[str, ...]
    value: str
    is_greatest: bool
    columns: Mapping[str, str]


def rank_extremes(root: Node) -> Node:
    """The plan with rankings for such joins: `price = highest` becomes `RANK() OVER (… ORDER BY price DESC) = 1`."""

    def remake(node: Node, below: tuple[Node, ...]) -> Node:
        remade = node.with_inputs(below)
        if not isinstance(remade, IntervalJoin):
            return remade
        found = _read_join(remade)
        return remade if found is None else _rank(remade, found)

    return fold_plan(root, remake)


def _read_join(join: IntervalJoin) -> _Extremes | None:
    """Reads such a join; None if it is another one."""
    if join.type not in (JoinType.INNER, JoinType.SEMI) or join.grace:
        return None
    if join.residual is not None and any(clock_calls(join.residual)):
        return None  # refused where it is a join
    found = _compare(join.left, join.right, join.equalities, (join.left_time, join.right_time), join.bound)
    if found is not None or join.type is JoinType.SEMI:
        return found
    turned = [(of_row, of_group) for of_group, of_row in join.equalities]
    return _compare(join.right, join.left, turned, (join.right_time, join.left_time), _turn(join.bound))


def _compare(
    rows: Node,
    groups: Node,
    equalities: Iterable[tuple[Expression, Expression]],
    times: tuple[str, str],
    bound: TimeBound,
) -> _Extremes | None:
    """`equalities` and `times` have the row's side first. `bound` is of the group's time less the row's."""
    if not isinstance(rows.shape, KStream) or len(rows.shape.times) > 1:
        return None  # a ranking puts the other event times out later than a join does
    row, group = _drop_names(rows), _drop_names(groups, through_intermediates=True)
    aggregate = group.node
    if not isinstance(aggregate, WindowAggregate) or aggregate.emission is not Emission.FINAL or aggregate.grace:
        return None
    source, window = _drop_names(aggregate.input), aggregate.window
    if source.node != row.node or not isinstance(window, Tumble) or len(aggregate.aggregates) != 1:
        return None
    time = source.names[aggregate.time]
    if row.names[times[0]] != time or bound != _bound_window(group.names[times[1]], window.size):
        return None
    (extreme,) = aggregate.aggregates
    if extreme.entry.framing not in _IS_GREATEST or extreme.condition is not None:
        return None
    if not aggregate.keys and window.size > _LONGEST:
        return None
    columns = _find_columns(aggregate, source)
    compared = [(_find_column(of_group, group), _find_column(of_row, row)) for of_row, of_group in equalities]
    if columns is None or Counter(compared) != Counter(columns.items()):
        return None
    taken = {each.name.lower() for each in row.node.schema}
    if taken & {_START, _END} or not all(is_exact(row.node.column(each).type) for each in columns.values()):
        return None
    windows = {_START: _START, _END: _END}
    return _Extremes(
        rows=row.node,
        time=time,
        size=window.size,
        keys=tuple(columns[each.name] for each in aggregate.keys),
        value=columns[extreme.name],
        is_greatest=_IS_GREATEST[extreme.entry.framing],
        columns=dict(row.names) | {name: (columns | windows)[below] for name, below in group.names.items()},
    )


def _drop_names(node: Node, *, through_intermediates: bool = False) -> _Side:
    """The node below projections that only give columns other names."""
    names = {each.name: each.name for each in node.schema}
    while True:
        if isinstance(node, Project) and all(isinstance(each.value, exp.Column) for each in node.items):
            below = {each.name: each.value.name for each in node.items}
            names = {name: below[inner] for name, inner in names.items()}
        elif not (through_intermediates and isinstance(node, Intermediate) and not node.shared):
            return _Side(node, names)
        node = node.input


def _find_columns(aggregate: WindowAggregate, source: _Side) -> dict[str, str] | None:
    """The column that each key, and the only aggregate, is computed from; None where one is from an expression."""
    (extreme,) = aggregate.aggregates
    computed = {each.name: each.value for each in aggregate.keys} | {extreme.name: extreme.arguments[0]}
    found = {name: _find_column(value, source) for name, value in computed.items()}
    columns = {name: column for name, column in found.items() if column is not None}
    return columns if len(columns) == len(found) else None


def _find_column(value: Expression, side: _Side) -> str | None:
    """The column that the value is, None if it is computed."""
    return side.names[value.name] if isinstance(value, exp.Column) else None


def _bound_window(time: str, size: int) -> TimeBound | None:
    """The bound that joins a row with its own window, by the start or the end of this; None by another column."""
    if time == _START:
        return TimeBound(BoundEnd(-size, closed=False), BoundEnd(0, closed=True))
    return TimeBound(BoundEnd(0, closed=False), BoundEnd(size, closed=True)) if time == _END else None


def _turn(bound: TimeBound) -> TimeBound:
    """The bound with the sides of the join exchanged."""
    lower, upper = (replace(each, milliseconds=-each.milliseconds) for each in (bound.upper, bound.lower))
    return TimeBound(lower, upper)


def _rank(join: IntervalJoin, found: _Extremes) -> Node:
    """The ranking with the columns and rows of the join."""
    rows, span = found.rows, join.span
    assert isinstance(rows.shape, KStream)
    assigned = AssignWindows(
        schema=(*rows.schema, *(Column(each, TIMESTAMP, nullable=False) for each in (_START, _END))),
        shape=rows.shape,
        span=span,
        input=rows,
        window=Tumble(found.size),
        time=found.time,
    )
    place = choose_unused_name("rank", [each.name for each in assigned.schema])
    order = Sorting(make_column(found.value), descending=found.is_greatest, nulls_first=False)
    ranked = Ranked(
        schema=(*assigned.schema, Column(place, INT, nullable=False)),
        shape=KStream(rows.shape.key, (EventTime(found.time, 0),)),
        span=span,
        input=assigned,
        time=found.time,
        partition_by=tuple(make_column(each) for each in (*found.keys, _START, _END)),
        rankings=(Ranking(place, "RANK", (order,)),),
        pane=found.size,
    )
    compared = [each for each in (*found.keys, found.value) if rows.column(each).nullable]
    conditions: list[Expression] = [exp.EQ(this=make_column(place), expression=exp.Literal.number(1))]
    conditions += [exp.Not(this=exp.Is(this=make_column(each), expression=exp.Null())) for each in compared]
    if join.residual is not None:
        conditions.append(substitute_names(join.residual, found.columns))
    condition = conjunction(conditions)
    assert condition is not None
    first = Filter(schema=ranked.schema, shape=ranked.shape, span=span, input=ranked, condition=condition)
    items = tuple(Named(each.name, make_column(found.columns[each.name]), each.type) for each in join.schema)
    return Project(schema=join.schema, shape=join.shape, span=span, input=first, items=items)
