"""TableJoin -> the newest upsert of each side by key, from one aggregation whose state is all the tables.

Then each step of the join decides which sides show their rows. Rows of windowed tables share a group with the rows of
the windows that they meet. The latest end of these windows is the time of the group. When the watermark has passed it,
the group is final and Spark drops it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

from sqlglot import exp

from penstock.codegen.program import View
from penstock.codegen.sql.latest_views import count_arrivals, upsert_struct
from penstock.codegen.sql.printing import print_sql
from penstock.codegen.sql.row_forms import DELETED, ORDER, group_by_key, key_columns, key_value, own_key
from penstock.codegen.sql.trees import alias, both, call, column, either, is_null, only_if, select, shift_time
from penstock.planner.plan import Expression, JoinType, Node, Step, TableJoin, WTable

_KEEPS_LEFT = (JoinType.LEFT, JoinType.FULL)
_KEEPS_RIGHT = (JoinType.RIGHT, JoinType.FULL)
_FOUND, _START, _TIME = "_found", "_start", "_time"


def table_join_views(node: TableJoin, name: str, sources: tuple[str, ...], own: tuple[str, ...]) -> tuple[View, ...]:
    """Upserts of all sides -> key results with the joined row; for windowed tables, only the joined rows that exist."""
    tagged = View(f"{name}_sides", print_sql(_union_sides(node, sources)))
    key = key_value(map(column, (*_keys(node), *([_START] if node.is_windowed else []))))
    newest = [
        alias(call("MAX_BY", column(_side(place)), column(_order(place))), _side(place))
        for place in range(len(node.sides))
    ]
    groups = group_by_key([*newest, count_arrivals()], tagged.name, key)
    if node.is_windowed:
        groups = groups.select(column(_TIME), copy=False).group_by(column(_TIME), copy=False)
    tables = View(f"{name}_tables", print_sql(groups))
    views = [tagged, tables, View(f"{name}_0", print_sql(_first(node, tables.name)))]
    for number in range(1, len(node.sides)):
        views += _step_views(node, number, f"{name}_{number}", views[-1].name)
    items = [column(each.name) for each in node.schema]
    shown = reduce(_either, (column(_shows(place)) for place in range(len(node.sides))))
    if node.is_windowed:
        rows = select([*items, *map(column, own)], views[-1].name).where(shown, copy=False)
    else:
        marks = [*own_key(key), column(ORDER), alias(exp.Not(this=exp.Paren(this=shown)), DELETED)]
        rows = select([*items, *marks], views[-1].name)
    return *views, View(name, print_sql(rows))


def _keys(node: TableJoin) -> tuple[str, ...]:
    """The columns of the key, without the window."""
    return node.identity[: len(node.sides[0].keys)]


def _union_sides(node: TableJoin, sources: tuple[str, ...]) -> Expression:
    """The union of the upserts of all sides, each in the columns of its side."""
    branches: list[tuple[int, Expression]] = []
    least = min(side.shift for side in node.sides)
    for place, (side, source) in enumerate(zip(node.sides, sources, strict=True)):
        items = [alias(key, name) for key, name in zip(side.keys, _keys(node), strict=True)]
        if isinstance(side.input.shape, WTable):
            items.append(alias(shift_time(column(side.input.shape.start), side.shift), _START))
            items.append(alias(shift_time(column(side.input.shape.end), side.shift - least), _TIME))
        for other in range(len(node.sides)):
            mine = other == place
            items.append(alias(upsert_struct(side.input) if mine else exp.Null(), _side(other)))
            items.append(alias(column(ORDER) if mine else exp.Null(), _order(other)))
        branch = select(items, source)
        if not _shows_alone(node, place):
            # NULL equals nothing: such a row would never be seen.
            known = both(*(exp.Not(this=is_null(key.copy())) for key in side.keys))
            assert known is not None
            branch = branch.where(known, copy=False)
        branches.append((side.shift, branch))
    # A column of a union is an event time to Spark if it is one in the first branch. A time that is shifted is no event
    # time.
    return reduce(_union_all, (branch for _, branch in sorted(branches, key=lambda each: each[0])))


def _shows_alone(node: TableJoin, place: int) -> bool:
    """Whether a row of that side comes out where no other side has one."""
    own = (node.steps[place - 1].type in _KEEPS_RIGHT) if place else True
    return own and all(step.type in _KEEPS_LEFT for step in node.steps[place:])


def _first(node: TableJoin, source: str) -> Expression:
    """The columns of all sides, NULL where a side has no row, and whether it has; the first side shows its row."""
    items: list[Expression] = [*own_key(_keys(node) or None), column(ORDER)]
    names = _keys(node)
    parts = key_columns(len(names) + node.is_windowed)
    items += [alias(part, each) for part, each in zip(parts, names, strict=False)]
    if node.is_windowed:
        start, end = node.identity[len(names) :]
        least = min(side.shift for side in node.sides)
        items += [alias(parts[-1], start), alias(shift_time(column(_TIME), least), end)]
    for place, side in enumerate(node.sides):
        there = call("COALESCE", exp.Not(this=column(_side(place), DELETED)), exp.Boolean(this=False))
        items.append(alias(there, _shows(place) if place == 0 else _there(place)))
        for field, each in enumerate(side.input.schema):
            items.append(alias(only_if(there.copy(), column(_side(place), f"c{field}")), each.name))
    return select(items, source)


def _step_views(node: TableJoin, number: int, name: str, source: str) -> Iterator[View]:
    """Whether the row of one more side matches; and then which sides show their rows."""
    step = node.steps[number - 1]
    later = [
        part
        for place in range(number + 1, len(node.sides))
        for part in (_there(place), *_names(node.sides[place].input))
    ]
    common = [*own_key(_keys(node) or None), column(ORDER), *map(column, node.identity)]
    before = [part for place in range(number) for part in (_shows(place), *_names(node.sides[place].input))]
    own = [_there(number), *_names(node.sides[number].input)]
    joined = View(
        f"{name}_found",
        print_sql(
            select([*common, *map(column, (*before, *own, *later)), alias(_matches(step, number), _FOUND)], source)
        ),
    )
    items = list(common)
    stays = None if step.type in _KEEPS_LEFT else column(_FOUND)
    for place in range(number):
        shows = both(column(_shows(place)), stays)
        assert shows is not None
        items.append(alias(shows.copy(), _shows(place)))
        items += [alias(only_if(stays, column(each)), each) for each in _names(node.sides[place].input)]
    shows = column(_there(number)) if step.type in _KEEPS_RIGHT else column(_FOUND)
    items.append(alias(shows, _shows(number)))
    items += [
        alias(column(each) if step.type in _KEEPS_RIGHT else only_if(column(_FOUND), column(each)), each)
        for each in _names(node.sides[number].input)
    ]
    yield joined
    yield View(name, print_sql(select([*items, *map(column, later)], joined.name)))


def _matches(step: Step, number: int) -> Expression:
    """Whether the sides whose keys are compared show a row, the new one has one, and the condition holds."""
    through = [reduce(_either, (column(_shows(each)) for each in sorted(group))) for group in step.through]
    meets = both(column(_there(number)), *(exp.Paren(this=each) for each in through))
    assert meets is not None
    if step.condition is None:
        return meets
    holds = call("COALESCE", step.condition, exp.Boolean(this=False))
    return either(meets, holds, exp.Boolean(this=False))


def _names(node: Node) -> list[str]:
    return [each.name for each in node.schema]


def _side(place: int) -> str:
    return f"_side{place}"


def _order(place: int) -> str:
    return f"_order{place}"


def _there(place: int) -> str:
    """The column that says whether a side has a row."""
    return f"_there{place}"


def _shows(place: int) -> str:
    """The column that says whether a side shows its row in the join so far."""
    return f"_shows{place}"


def _either(one: Expression, other: Expression) -> Expression:
    return exp.Or(this=one, expression=other)


def _union_all(above: Expression, below: Expression) -> Expression:
    return exp.Union(this=above, expression=below, distinct=False)
