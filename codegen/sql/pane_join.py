"""IntervalJoin -> panes: a window aggregation that holds the rows of both sides, and a DuckDB join in each pane.

A pane [k·p, (k+1)·p) has its own rows, those of the preserved side, and the rows that they can meet, as far as the
bound reaches. Hopping windows hold both; when the watermark passes a window's end, no more of them can come, and the
pane's own rows are joined. Each meets all its partners there and in no other pane, so that no pair comes out twice and
a row without a partner is known to be one. Views:

* `<name>_sides`: the rows of both sides, each as a struct beside a NULL, with their keys;
* `<name>_windows`: the same in every window that holds their time;
* `<name>_panes`: per window and keys the pane's own rows and those in reach;
* `<name>_pairs`: DuckDB's join of these, as pairs of structs;
* `<name>`: the columns of the pairs for which the rest of the condition holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from penstock.codegen.program import PaneView, Step, View
from penstock.codegen.sql.printing import print_duckdb, print_sql
from penstock.codegen.sql.trees import (
    beside_time,
    both,
    call,
    column,
    duration,
    is_null,
    named,
    null,
    number,
    select,
    shifted,
    struct_of,
    table,
)
from penstock.planner.plan import Expression, IntervalJoin, JoinType, Node, conjuncts
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
class Side:
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

    @property
    def row(self) -> Expression:
        return struct_of((f"c{place}", column(each.name)) for place, each in enumerate(self.node.schema))


def pane_join_views(node: IntervalJoin, pane: int, name: str, left: str, right: str) -> tuple[Step, ...]:
    """The views; the last one has the node's schema. `pane` is the length of the panes in milliseconds."""
    sides, residual = _sides(node, left, right)
    back, forward = node.bound.reach(node.type)
    rows = View(f"{name}_sides", print_sql(_united(sides, _PRESERVED[node.type])))
    times = [duration(back + pane + forward), duration(pane)]
    offset = -back % pane
    window = call("WINDOW", column("time"), *times, *([duration(offset)] if offset else []))
    windows = View(f"{name}_windows", print_sql(select([exp.Star(), named(window, "window")], rows.name)))
    gathered = View(f"{name}_panes", print_sql(_gathered(node, pane, windows.name)))
    shown = ("left",) if node.type in _ONE_SIDED else ("left", "right")
    pairs = PaneView(
        name=f"{name}_pairs",
        source=gathered.name,
        sql=print_duckdb(_pairs(node, pane)),
        given=("time", "is_left", "fits"),
        kept=("left",),
        picked=() if node.type in _ONE_SIDED else (("right", "right"),),
        schema=print_sql(select([named(_of_first(each), each) for each in shown], gathered.name)),
    )
    joined = select(_columns(node, sides), pairs.name)
    if residual is not None:
        joined = joined.where(residual, copy=False)
    return rows, windows, gathered, pairs, View(name, print_sql(joined))


def _sides(node: IntervalJoin, left: str, right: str) -> tuple[tuple[Side, Side], Expression | None]:
    """The two inputs, and the part of the condition that needs a pair, over the pairs."""
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
        sides.append(Side(side, below, view, time, keys, both(*known, *alone[side])))
    return (sides[0], sides[1]), both(*(_of_pairs(each, sides) for each in crossing))


def _united(sides: Sequence[Side], preserved: Sequence[str]) -> Expression:
    """Columns `time`, `is_left`, `fits`, `k0`, `k1` …, `left`, `right`; rows that can only be left out are."""

    def one(side: Side) -> Expression:
        fits = exp.Boolean(this=True) if side.fits is None else call("COALESCE", side.fits, exp.Boolean(this=False))
        halves = (named(each.row if each is side else null(each.struct), each.name) for each in sides)
        items = [
            named(column(side.time), "time"),
            named(exp.Boolean(this=side.name == "left"), "is_left"),
            named(fits if side.name in preserved else exp.Boolean(this=True), "fits"),
            *(named(beside_time(key, side.node.schema), f"k{place}") for place, key in enumerate(side.keys)),
            *halves,
        ]
        rows = select(items, side.view)
        return rows if side.name in preserved or side.fits is None else rows.where(side.fits, copy=False)

    left, right = sides
    return exp.Union(this=one(left), expression=one(right), distinct=False)


def _gathered(node: IntervalJoin, pane: int, windows: str) -> Expression:
    """Columns `begin`, where the pane begins, and `pane`: an array of the rows of both sides."""
    back, _ = node.bound.reach(node.type)
    begin = shifted(exp.Dot(this=column("window"), expression=exp.to_identifier("start")), back)
    fields = ("time", "is_left", "fits", "left", "right")
    rows = call("COLLECT_LIST", struct_of((each, column(each)) for each in fields))
    keys = (column(f"k{place}") for place in range(len(node.equalities)))
    tree = select([named(begin, "begin"), named(rows, "pane")], windows)
    if node.type is not JoinType.FULL:
        lower, upper = node.bound.lower.milliseconds, node.bound.upper.milliseconds
        is_own, met = column("is_left"), (lower, upper)
        if node.type is JoinType.RIGHT:
            is_own, met = exp.Not(this=is_own), (-upper, -lower)
        own = _between(begin, 0, pane)
        reached = _between(begin, met[0], pane + met[1] + 1)
        tree = tree.where(exp.Case(ifs=[exp.If(this=is_own, true=own)], default=reached), copy=False)
    return tree.group_by(column("window"), *keys, copy=False)


def _between(begin: Expression, start: int, end: int) -> Expression:
    """Whether a row's time lies in [begin + start, begin + end), in milliseconds."""
    time = column("time")
    return exp.And(
        this=exp.GTE(this=time, expression=shifted(begin.copy(), start)),
        expression=exp.LT(this=time.copy(), expression=shifted(begin.copy(), end)),
    )


def _pairs(node: IntervalJoin, pane: int) -> Expression:
    """DuckDB's SELECT: of each joined row the places of its left and of its right row."""
    lower, upper = node.bound.lower, node.bound.upper
    at_least, at_most = exp.GTE if lower.closed else exp.GT, exp.LTE if upper.closed else exp.LT

    def time(side: str, milliseconds: int = 0) -> Expression:
        value = exp.Column(this=exp.Identifier(this="time", quoted=True), table=_name(side))
        return exp.Add(this=value, expression=number(milliseconds * _MICROSECONDS)) if milliseconds else value

    condition = both(
        exp.EQ(this=_part("l", "pane"), expression=_part("r", "pane")),
        _part("l", "fits"),
        _part("r", "fits"),
        at_least(this=time("r"), expression=time("l", lower.milliseconds)),
        at_most(this=time("r"), expression=time("l", upper.milliseconds)),
    )
    side, kind = _DUCKDB[node.type]
    places = [named(_part("l", "place"), "place")]
    if node.type not in _ONE_SIDED:
        places.append(named(_part("r", "place"), "right"))
    tree = exp.Select(expressions=places).from_(_half("l", column("is_left")), copy=False)
    joined = exp.Join(this=_half("r", exp.Not(this=column("is_left"))), on=condition)
    for argument, value in (("side", side), ("kind", kind)):
        if value:
            joined.set(argument, value)
    tree.append("joins", joined)
    if node.type is JoinType.FULL:
        # Pairs belong to their left row's pane, and a right row alone to its own.
        own_left, own_right = (
            exp.And(
                this=exp.GTE(this=time(each), expression=_part(each, "begin")),
                expression=exp.LT(
                    this=time(each),
                    expression=exp.Add(this=_part(each, "begin"), expression=number(pane * _MICROSECONDS)),
                ),
            )
            for each in "lr"
        )
        alone = exp.And(this=is_null(_part("l", "place")), expression=own_right)
        tree = tree.where(exp.Or(this=own_left, expression=alone), copy=False)
    return tree


def _half(alias: str, condition: Expression) -> exp.Subquery:
    rows = exp.Select(expressions=[exp.Star()]).from_(table("rows"), copy=False).where(condition, copy=False)
    return exp.Subquery(this=rows, alias=exp.TableAlias(this=_name(alias)))


def _name(name: str) -> exp.Identifier:
    return exp.Identifier(this=name, quoted=True)


def _part(side: str, name: str) -> Expression:
    return exp.Column(this=_name(name), table=_name(side))


def _of_first(field: str) -> Expression:
    first = exp.Bracket(this=column("pane"), expressions=[number(0)])
    return exp.Dot(this=first, expression=_name(field))


def _columns(node: IntervalJoin, sides: Iterable[Side]) -> list[Expression]:
    """The node's columns, out of the structs."""
    shown = {each.name for each in node.schema}
    return [
        named(column(side.name, f"c{place}"), each.name)
        for side in sides
        for place, each in enumerate(side.node.schema)
        if each.name in shown
    ]


def _of_pairs(condition: Expression, sides: Iterable[Side]) -> Expression:
    """A condition over the columns of both sides as one over the structs of the pairs."""
    places = {each.name: (side.name, f"c{place}") for side in sides for place, each in enumerate(side.node.schema)}

    def placed(node: exp.Expression) -> exp.Expression:
        return column(*places[node.name]) if isinstance(node, exp.Column) else node

    return condition.copy().transform(placed)
