"""IntervalJoin -> panes: a window aggregation that holds the rows of both sides, and a DuckDB join in each pane.

A pane [k·p, (k+1)·p) has its own rows, from the preserved side, and the rows that they can meet within the bound.
Hopping windows hold both. When the watermark passes a window's end, no more of its rows can arrive, and the pane's own
rows are joined. Each meets all its partners in this pane and in no other. So no pair is sent twice, and a row without a
partner here has none. Views:

* `<name>_sides`: the rows of both sides, each as a struct beside a NULL, with their keys;
* `<name>_rows`, `<name>_tables`: these in tables of one side;
* `<name>_windows`: the tables in every window that holds their times;
* `<name>_panes`: in every window the tables of the pane's own rows, and the tables of the others;
* `<name>_pairs`: DuckDB's join of these, as pairs of structs;
* `<name>`: the columns of the pairs for which the rest of the condition holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from penstock.codegen.program import AnyView, PaneView, View
from penstock.codegen.sql.gathered import panes_view, rows_view, tables_view
from penstock.codegen.sql.printing import print_duckdb, print_sql
from penstock.codegen.sql.trees import (
    alias,
    both,
    call,
    column,
    column_of,
    duration,
    is_null,
    null,
    number,
    pair_columns,
    row_struct,
    rows_where,
    select,
    shift_time,
)
from penstock.planner.plan import Expression, IntervalJoin, JoinType, Node, conjuncts
from penstock.planner.plan.substitute import substitute
from penstock.planner.types import Struct

_MICROSECONDS = 1_000
_PRESERVED = {
    JoinType.INNER: (),
    JoinType.SEMI: (),
    JoinType.LEFT: ("left",),
    JoinType.ANTI: ("left",),
    JoinType.RIGHT: ("right",),
    JoinType.FULL: ("left", "right"),
}
_ONE_SIDED = (JoinType.SEMI, JoinType.ANTI)
_DUCKDB = {
    JoinType.INNER: ("", ""),
    JoinType.LEFT: ("LEFT", ""),
    JoinType.RIGHT: ("RIGHT", ""),
    JoinType.FULL: ("FULL", ""),
    JoinType.SEMI: ("", "SEMI"),
    JoinType.ANTI: ("", "ANTI"),
}
"""The side and the kind of the join as sqlglot has them."""


@dataclass(frozen=True, slots=True)
class JoinedSide:
    """One input: its rows as a struct of c0, c1 …, its keys, and the condition under which a row can have a partner."""

    name: str
    node: Node
    view: str
    time: str
    keys: tuple[Expression, ...]
    fits: Expression | None

    @property
    def struct(self) -> Struct:
        return Struct(tuple((f"c{place}", each.type) for place, each in enumerate(self.node.schema)))


def pane_join_views(node: IntervalJoin, pane: int, name: str, left: str, right: str) -> tuple[AnyView, ...]:
    """The views; the last one has the node's schema. `pane` is the length of the panes in milliseconds."""
    sides, residual = _sides(node, left, right)
    united = View(f"{name}_sides", print_sql(_union_sides(sides, _PRESERVED[node.type])))
    keys = [f"k{place}" for place in range(len(node.equalities))]
    fields = ("time", "is_left", "fits", *keys, "left", "right")
    held = ((each, column(each)) for each in fields)
    rows = rows_view(name, united.name, "time", [*map(column, keys)], held, beside=("is_left",))
    back, forward = node.bound.reach(node.type)
    tables = tables_view(name, rows, pane, (0, -back, forward), beside=("is_left",))
    times = [duration(back + pane + forward), duration(pane)]
    offset = -back % pane
    window = call("WINDOW", column("time"), *times, *([duration(offset)] if offset else []))
    windows = View(f"{name}_windows", print_sql(select([exp.Star(), alias(window, "window")], tables.name)))
    begin = shift_time(exp.Dot(this=column("window"), expression=exp.to_identifier("start")), back)
    gathered = panes_view(name, windows.name, column("window"), begin, _own(node, begin, pane))
    shown = ("left",) if node.type in _ONE_SIDED else ("left", "right")
    pairs = PaneView(
        name=f"{name}_pairs",
        source=gathered.name,
        order=None,
        sql=print_duckdb(_pairs(node, pane, keys)),
        given=("time", "is_left", "fits", *keys),
        kept=("left",),
        picked=() if node.type in _ONE_SIDED else (("right", "right"),),
        schema=print_sql(select([alias(column("row", each), each) for each in shown], rows.name)),
    )
    columns = pair_columns(node.left.schema, node.right.schema)
    joined = select([alias(columns[each.name], each.name) for each in node.schema], pairs.name)
    if residual is not None:
        joined = joined.where(substitute(residual, columns), copy=False)
    return united, rows, tables, windows, gathered, pairs, View(name, print_sql(joined))


def _sides(node: IntervalJoin, left: str, right: str) -> tuple[tuple[JoinedSide, JoinedSide], Expression | None]:
    """The two inputs, and the part of the condition that needs a pair."""
    views = {"left": (node.left, left, node.left_time), "right": (node.right, right, node.right_time)}
    alone: dict[str, list[Expression]] = {"left": [], "right": []}
    crossing: list[Expression] = []
    for condition in conjuncts(node.residual):
        used = {each.name for each in condition.find_all(exp.Column)}
        side = next((s for s in views if used and used <= {c.name for c in views[s][0].schema}), None)
        (crossing if side is None else alone[side]).append(condition)
    assert node.type is JoinType.INNER or not crossing, "a condition on both sides decides who is a partner"
    sides = []
    for place, (side, (below, view, time)) in enumerate(views.items()):
        keys = tuple(equality[place] for equality in node.equalities)
        known = (exp.Not(this=is_null(key.copy())) for key in keys)
        sides.append(JoinedSide(side, below, view, time, keys, both(*known, *alone[side])))
    return (sides[0], sides[1]), both(*crossing)


def _union_sides(sides: Sequence[JoinedSide], preserved: Sequence[str]) -> Expression:
    """Columns `time`, `is_left`, `fits`, `k0`, `k1` …, `left`, `right`; rows that can only be left out are."""

    def one(side: JoinedSide) -> Expression:
        fits = exp.Boolean(this=True) if side.fits is None else call("COALESCE", side.fits, exp.Boolean(this=False))
        halves = (
            alias(row_struct(each.node.schema) if each is side else null(each.struct), each.name) for each in sides
        )
        items = [
            alias(column(side.time), "time"),
            alias(exp.Boolean(this=side.name == "left"), "is_left"),
            alias(fits if side.name in preserved else exp.Boolean(this=True), "fits"),
            *(alias(key, f"k{place}") for place, key in enumerate(side.keys)),
            *halves,
        ]
        rows = select(items, side.view)
        return rows if side.name in preserved or side.fits is None else rows.where(side.fits, copy=False)

    left, right = sides
    return exp.Union(this=one(left), expression=one(right), distinct=False)


def _own(node: IntervalJoin, begin: Expression, pane: int) -> Expression | None:
    """Which tables a window has: the pane's own tables of the side that panes divide, and all tables of the other side.

    None: all of both.
    """
    if node.type is JoinType.FULL:
        return None
    time, is_other = column("time"), column("is_left")
    if node.type is not JoinType.RIGHT:
        is_other = exp.Not(this=is_other)
    since = exp.GTE(this=time, expression=begin.copy())
    until = exp.LT(this=time.copy(), expression=shift_time(begin.copy(), pane))
    return exp.Or(this=is_other, expression=exp.paren(exp.And(this=since, expression=until)))


def _pairs(node: IntervalJoin, pane: int, keys: Iterable[str]) -> Expression:
    """DuckDB's SELECT: for each joined row, the places of its left and of its right row."""
    lower, upper = node.bound.lower, node.bound.upper
    at_least, at_most = exp.GTE if lower.closed else exp.GT, exp.LTE if upper.closed else exp.LT

    def time(side: str, milliseconds: int = 0) -> Expression:
        value = column_of(side, "time")
        return exp.Add(this=value, expression=number(milliseconds * _MICROSECONDS)) if milliseconds else value

    condition = both(
        *(exp.EQ(this=column_of("l", each), expression=column_of("r", each)) for each in ("pane", *keys)),
        column_of("l", "fits"),
        column_of("r", "fits"),
        at_least(this=time("r"), expression=time("l", lower.milliseconds)),
        at_most(this=time("r"), expression=time("l", upper.milliseconds)),
    )
    side, kind = _DUCKDB[node.type]
    places = [alias(column_of("l", "place"), "place")]
    if node.type not in _ONE_SIDED:
        places.append(alias(column_of("r", "place"), "right"))
    tree = exp.Select(expressions=places).from_(rows_where(column("is_left"), "l"), copy=False)
    joined = exp.Join(this=rows_where(exp.Not(this=column("is_left")), "r"), on=condition)
    for argument, value in (("side", side), ("kind", kind)):
        if value:
            joined.set(argument, value)
    tree.append("joins", joined)
    if node.type is JoinType.FULL:
        # Pairs belong to their left row's pane, and a right row alone to its own.
        own_left, own_right = (
            exp.And(
                this=exp.GTE(this=time(each), expression=column_of(each, "begin")),
                expression=exp.LT(
                    this=time(each),
                    expression=exp.Add(this=column_of(each, "begin"), expression=number(pane * _MICROSECONDS)),
                ),
            )
            for each in "lr"
        )
        alone = exp.And(this=is_null(column_of("l", "place")), expression=own_right)
        tree = tree.where(exp.Or(this=own_left, expression=alone), copy=False)
    return tree
