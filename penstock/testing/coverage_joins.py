"""Classes of joins: rows with and without a partner, NULL and repeated keys, and times at the ends of the bound."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace
from sqlglot import exp

from penstock.evaluator import Row, columns, evaluate
from penstock.planner import duration_text
from penstock.planner.plan import (
    BoundEnd,
    Column,
    ForeignKeyJoin,
    IntervalJoin,
    JoinType,
    KStream,
    Latest,
    Node,
    Project,
    RemoteLookup,
    Scan,
    TableJoin,
    TableLookup,
    TimeBound,
    WTable,
)
from penstock.planner.plan.walk import walk
from penstock.planner.types import BIGINT
from penstock.testing.coverage_classes import (
    CoveredClass,
    Wanted,
    WantedStep,
    Watched,
    column_name,
    may_be_null,
    name_sides,
    stand_in,
    values_of,
    want,
)
from penstock.testing.coverage_conditions import Conditions
from penstock.testing.given_values import START
from penstock.testing.solved_values import MILLISECOND, plain_value, step_value
from penstock.testing.wanted_rows import DELETES, trace_tables

PLACES = ("#left", "#right")
"""Columns with the places of rows, which no script can name."""
Equalities = Iterable[tuple[exp.Expression, exp.Expression]]


def list_interval_classes(node: IntervalJoin) -> Iterator[CoveredClass]:
    """Classes of a join of streams. The evaluator joins: with other types and bounds, over the rows of a test."""
    left, right = name_sides(node.left, node.right)
    yield CoveredClass(
        f"a row of {left} with a partner in {right}", lambda each: bool(join_rows(node, each)), (make_pair(node),)
    )
    for side, name, other in ((0, left, right), (1, right, left)):
        yield CoveredClass(
            f"a row of {name} without a partner in {other}",
            lambda each, side=side: len(count_partners(node, each, side)) < len(each.rows(node.inputs[side])),  # type: ignore[misc]
            (alone(node, side),),
        )
        yield CoveredClass(
            f"a row of {name} with two partners in {other}",
            lambda each, side=side: any(n > 1 for n in count_partners(node, each, side).values()),  # type: ignore[misc]
            (twice(node, 1 - side),),
        )
    yield from list_null_keys(node.inputs, [left, right], node.equalities)
    yield from list_bound_classes(node)
    if node.residual is not None:
        unfiltered = replace(node, residual=None)
        conditions = Conditions(whole_join(node), lambda watched: join_rows(unfiltered, watched))
        yield from conditions.list_filter(node.residual, "the condition of ON")


def whole_join(node: IntervalJoin) -> IntervalJoin:
    """The join with the columns of both sides."""
    return replace(node, type=JoinType.INNER, schema=(*node.left.schema, *node.right.schema))


def join_rows(node: IntervalJoin, watched: Watched, bound: TimeBound | None = None) -> list[Row]:
    """The pairs of a join, maybe within another bound, each with the places of its rows."""
    rows = [watched.rows(each) for each in node.inputs]
    sides = [stand_in(each, name, (Column(name, BIGINT),)) for each, name in zip(node.inputs, PLACES, strict=True)]
    joined = replace(
        whole_join(node), left=sides[0], right=sides[1], bound=node.bound if bound is None else bound, pane=None
    )
    tables = {
        name: [row | {name: place} for place, row in enumerate(found)] for name, found in zip(PLACES, rows, strict=True)
    }
    return evaluate(joined, tables)


def count_partners(node: IntervalJoin, watched: Watched, side: int) -> Counter[int]:
    """How many partners each row of a side has that has one."""
    return Counter(row[PLACES[side]] for row in join_rows(node, watched))


def list_bound_classes(node: IntervalJoin) -> Iterator[CoveredClass]:
    """Pairs whose times are exactly at an end of the bound, and one millisecond before and behind it."""
    left, right = name_sides(node.left, node.right)
    seen: set[int] = set()
    for end in (node.bound.lower, node.bound.upper):
        for apart in (end.milliseconds - 1, end.milliseconds, end.milliseconds + 1):
            if apart in seen:
                continue
            seen.add(apart)
            only = TimeBound(BoundEnd(apart, True), BoundEnd(apart, True))
            yield CoveredClass(
                f"a row of {right} {explain_distance(apart)} {left}",
                lambda each, only=only: bool(join_rows(node, each, only)),  # type: ignore[misc]
                (make_pair(node, apart),),
            )


def explain_distance(milliseconds: int) -> str:
    """How far the time of one row is from the time of its partner."""
    if milliseconds == 0:
        return "at the time of its partner in"
    place = "behind" if milliseconds > 0 else "before"
    return f"{duration_text(abs(milliseconds))} {place} its partner in"


def make_pair(node: IntervalJoin, apart: int | None = None) -> Wanted:
    """Two rows with equal keys, whose times are so many milliseconds apart."""
    if apart is None:
        return want((whole_join(node), {}))
    later = START + max(0, -apart) * MILLISECOND
    return want((whole_join(node), {node.left_time: later, node.right_time: later + apart * MILLISECOND}))


def alone(node: IntervalJoin, side: int) -> Wanted:
    """A row of one side alone."""
    return want((node.inputs[side], {(node.left_time, node.right_time)[side]: START}))


def twice(node: IntervalJoin, side: int) -> Wanted:
    """A pair, and the row of one side once more."""
    whole = whole_join(node)
    return want((whole, {}), (whole, {}))


def list_null_keys(inputs: Sequence[Node], names: Sequence[str], equalities: Equalities) -> Iterator[CoveredClass]:
    """Rows of each side whose key is NULL."""
    for place, (side, name) in enumerate(zip(inputs, names, strict=True)):
        keys = [pair[place] for pair in equalities]
        if any(may_be_null(each, side) for each in keys):
            yield CoveredClass(
                f"a row of {name} whose key is NULL",
                lambda each, side=side, keys=keys: any(  # type: ignore[misc]
                    None in values_of(keys, row, side) for row in each.rows(side)
                ),
                tuple(want((side, {own: None})) for key in keys if (own := column_name(key)) is not None),
            )


def list_reference_classes(node: ForeignKeyJoin | TableLookup) -> Iterator[CoveredClass]:
    """Classes of rows that refer to rows of a table: a lookup meets the table as it is when the row arrives."""
    is_lookup = isinstance(node, TableLookup)
    first, second = node.inputs
    left, right = name_sides(first, second)
    ones, others = [one for one, _ in node.equalities], [other for _, other in node.equalities]

    def meetings(watched: Watched) -> Iterator[tuple[Row, list[Row]]]:
        for step in range(len(watched.steps)) if is_lookup else [len(watched.steps) - 1]:
            table = watched.rows(second, step)
            for row in watched.rows(first, step, alone=is_lookup):
                key = values_of(ones, row, first)
                yield row, [each for each in table if None not in key and values_of(others, each, second) == key]

    both: Wanted = want((node, {}))
    yield CoveredClass(
        f"a row of {left} with a partner in {right}", lambda each: any(found for _, found in meetings(each)), (both,)
    )
    yield CoveredClass(
        f"a row of {left} without a partner in {right}",
        lambda each: any(not found and None not in values_of(ones, row, first) for row, found in meetings(each)),
        (want((first, plain_keys(first, ones))),),
    )
    yield from list_null_keys([first], [left], [(one, one) for one in ones])
    yield CoveredClass(
        f"two rows of {left} with one partner in {right}",
        lambda each: any(
            n > 1 for n in Counter(values_of(ones, row, first) for row, found in meetings(each) if found).values()
        ),
        (want((node, {}), (node, {})), want((node, {}), (node, different_key(first)))),
    )
    if not is_lookup:
        yield CoveredClass(
            f"a row of {right} that no row of {left} refers to",
            lambda each: bool(
                {values_of(others, row, second) for row in each.rows(second)}
                - {values_of(ones, row, first) for row in each.rows(first)}
            ),
            (want((second, {})),),
        )
    yield from list_change_classes(second, right)
    if node.condition is not None:
        shown = replace(node, condition=None, type=JoinType.INNER, schema=(*first.schema, *second.schema))
        yield from Conditions(shown, lambda watched: watched.rows(shown)).list_filter(
            node.condition, "the condition of ON"
        )


def plain_keys(node: Node, keys: Iterable[exp.Expression]) -> Row:
    """A row whose key is not NULL."""
    types = columns(node.schema)
    names = (column_name(key) for key in keys)
    return {name: plain_value(types[name]) for name in names if name is not None}


def plain_identity(node: Node) -> Row:
    """The key of a table as rows usually have it."""
    types = columns(node.schema)
    return {} if isinstance(node.shape, KStream) else {name: plain_value(types[name]) for name in node.shape.identity}


def different_key(node: Node, steps: int = 1) -> Row:
    """A row of a table with another key than rows usually have."""
    types = columns(node.schema)
    return {name: step_value(value, types[name], steps) for name, value in plain_identity(node).items()}


def list_change_classes(table: Node, name: str) -> Iterator[CoveredClass]:
    """Rows of a table that change, or cease to exist, after they were there in an earlier step."""
    first = WantedStep(((table, plain_identity(table)),))
    yield CoveredClass(
        f"a row of {name} that changes in a later step",
        lambda each: has_change(each, table, gone=False),
        ((first, first),),
    )
    if never_loses(table):
        return
    yield CoveredClass(
        f"a row of {name} that ceases to exist in a later step",
        lambda each: has_change(each, table, gone=True),
        ((first, WantedStep(((table, plain_identity(table) | {DELETES: True}),))),),
    )


def never_loses(table: Node) -> bool:
    """Whether no record can delete a row of the table, and no condition leaves it out."""
    return all(
        isinstance(node, Scan | Project | Latest) and (not isinstance(node, Scan) or node.origin.operation is None)
        for node in walk(table)
    )


def has_change(watched: Watched, table: Node, *, gone: bool) -> bool:
    """Whether a row of a table has another value in a later step, or is gone."""
    names = () if isinstance(table.shape, KStream) else table.shape.identity
    before: dict[tuple[str, ...], Row] = {}
    for step in range(len(watched.steps)):
        now = {tuple(repr(row[name]) for name in names): row for row in watched.rows(table, step)}
        if gone and before.keys() - now.keys():
            return True
        if not gone and any(key in before and before[key] != row for key, row in now.items()):
            return True
        before = now
    return False


def list_table_classes(node: TableJoin) -> Iterator[CoveredClass]:
    """Classes of tables that are joined on their keys: which sides have a row of a key."""
    inputs = [side.input for side in node.sides]
    names = name_sides(*inputs)

    def keys_of(watched: Watched, place: int) -> set[tuple[object, ...]]:
        side = node.sides[place]
        shape = side.input.shape
        start = shape.start if isinstance(shape, WTable) else None
        rows = watched.rows(side.input)
        windows = [None if start is None else row[start] + side.shift * MILLISECOND for row in rows]
        found = {(values_of(side.keys, row, side.input), window) for row, window in zip(rows, windows, strict=True)}
        return {key for key in found if None not in key[0]}

    conditions = [each.condition for each in node.steps if each.condition is not None]
    if conditions:
        shown = replace(node, steps=tuple(replace(each, condition=None) for each in node.steps))
        for condition in conditions:
            yield from Conditions(shown, lambda watched: watched.rows(shown)).list_filter(condition)
    everywhere = " and ".join(names)
    yield CoveredClass(
        f"a key in {everywhere}",
        lambda each: bool(set.intersection(*(keys_of(each, place) for place in range(len(inputs))))),
        (want((node, {})),),
    )
    for place, name in enumerate(names):
        others = [other for other in range(len(inputs)) if other != place]
        yield CoveredClass(
            f"a key in {name} alone",
            lambda each, place=place, others=others: bool(  # type: ignore[misc]
                keys_of(each, place).difference(*(keys_of(each, other) for other in others))
            ),
            (want((inputs[place], {})),),
        )
        if len(others) > 1:
            yield CoveredClass(
                f"a key everywhere but in {name}",
                lambda each, place=place, others=others: bool(  # type: ignore[misc]
                    set.intersection(*(keys_of(each, other) for other in others)) - keys_of(each, place)
                ),
                (want(*(row for row in trace_tables(node, {}) if row[0] is not inputs[place])),),
            )
        if not node.is_windowed:
            yield from list_change_classes(inputs[place], name)


def list_remote_classes(node: RemoteLookup) -> Iterator[CoveredClass]:
    """Classes of lookups in a database."""
    keys, table = [each.value for each in node.keys], node.origin.name
    (name,) = name_sides(node.input)
    own = [each.column for each in node.keys]

    def is_found(watched: Watched, row: Row, step: int) -> bool:
        key = values_of(keys, row, node.input)
        there = watched.steps[step].get(table, [])
        return None not in key and any(tuple(repr(each[column]) for column in own) == key for each in there)

    def meetings(watched: Watched) -> Iterator[tuple[Row, bool]]:
        for step in range(len(watched.steps)):
            for row in watched.rows(node.input, step, alone=True):
                yield row, is_found(watched, row, step)

    yield CoveredClass(
        f"a row of {name} that {table} has a row for",
        lambda each: any(found for _, found in meetings(each)),
        (want((node, plain_keys(node.input, keys))),),
    )
    yield CoveredClass(
        f"a row of {name} that {table} has no row for",
        lambda each: any(not found and None not in values_of(keys, row, node.input) for row, found in meetings(each)),
        (want((node.input, plain_keys(node.input, keys))),),
    )
    yield from list_null_keys([node.input], [name], [(key, key) for key in keys])
