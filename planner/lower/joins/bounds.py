"""Conditions of a stream-stream join -> the interval that the difference of the two event times lies in.

Every comparison of sums of event times and fixed intervals is brought to `right.time - left.time <op> constant`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from penstock.parser import name_text
from penstock.planner.intervals import fixed_milliseconds, interval_duration
from penstock.planner.plan import BoundEnd, TimeBound
from penstock.planner.scalars.names import Scope


@dataclass(frozen=True, slots=True)
class Times:
    """What the analysis knows: the joined columns, and which of them are the two event times."""

    scope: Scope
    left: str
    right: str

    def side(self, column: exp.Column) -> str | None:
        """The plan name of the event time that `column` is, None for any other column."""
        found = self.scope.find(column, [])
        return found.column if found and found.column in (self.left, self.right) else None

    def as_sql(self) -> tuple[str, str]:
        """The left and the right event time as SQL."""
        named = {each.column: [each.relation, each.name] for each in self.scope.columns}
        left, right = (".".join(name_text(part) for part in named[time] if part) for time in (self.left, self.right))
        return left, right


@dataclass(frozen=True, slots=True)
class Linear:
    """`left * left.time + right * right.time + constant` (milliseconds)."""

    left: int
    right: int
    constant: int

    def minus(self, other: Linear) -> Linear:
        return Linear(self.left - other.left, self.right - other.right, self.constant - other.constant)


ZERO = Linear(0, 0, 0)
COMPARISONS: dict[type[exp.Expr], str] = {exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<=", exp.EQ: "="}
FLIPPED = {">": "<", ">=": "<=", "<": ">", "<=": ">=", "=": "="}


@dataclass(frozen=True, slots=True)
class Ends:
    """The ends found so far: of the difference right.time - left.time, None while open."""

    lower: BoundEnd | None = None
    upper: BoundEnd | None = None

    def above(self, limit: BoundEnd) -> Ends:
        """Also at least `limit`: the higher one holds, an open end before a closed one."""
        if self.lower and (self.lower.milliseconds, not self.lower.closed) >= (limit.milliseconds, not limit.closed):
            return self
        return Ends(limit, self.upper)

    def below(self, limit: BoundEnd) -> Ends:
        """Also at most `limit`: the lower one holds, an open end before a closed one."""
        if self.upper and (self.upper.milliseconds, self.upper.closed) <= (limit.milliseconds, limit.closed):
            return self
        return Ends(self.lower, limit)

    def meet(self, other: Ends) -> Ends:
        met = self
        if other.lower:
            met = met.above(other.lower)
        if other.upper:
            met = met.below(other.upper)
        return met

    def bound(self) -> TimeBound | None:
        """The interval, None while an end is open."""
        return TimeBound(self.lower, self.upper) if self.lower and self.upper else None


def is_empty(bound: TimeBound) -> bool:
    """Whether no difference satisfies the bound. Times have microseconds, so an open millisecond is not empty."""
    lower, upper = bound.lower, bound.upper
    if lower.milliseconds == upper.milliseconds:
        return not (lower.closed and upper.closed)
    return lower.milliseconds > upper.milliseconds


def read_linear(expression: exp.Expression, times: Times) -> Linear | None:
    """The expression as a sum of event times and fixed intervals, None where it is not one."""
    match expression:
        case exp.Paren():
            return read_linear(expression.this, times)
        case exp.Column():
            side = times.side(expression)
            return None if side is None else Linear(int(side == times.left), int(side == times.right), 0)
        case exp.Interval():
            duration = interval_duration(expression)
            if duration.milliseconds is None:
                return None
            return Linear(0, 0, fixed_milliseconds(duration, "time bound"))
        case exp.Neg():
            inner = read_linear(expression.this, times)
            return None if inner is None else ZERO.minus(inner)
        case exp.Add() | exp.Sub():
            first, second = read_linear(expression.this, times), read_linear(expression.expression, times)
            if first is None or second is None:
                return None
            return first.minus(second if isinstance(expression, exp.Sub) else ZERO.minus(second))
        case _:
            return None


def read_ends(conjunct: exp.Expression, times: Times) -> Ends | None:
    """The ends that one conjunct gives, None where it says nothing of the difference of the event times."""
    node = conjunct.unnest()
    if isinstance(node, exp.Between):
        low = compare_sides(node.this, ">=", node.args["low"], times)
        high = compare_sides(node.this, "<=", node.args["high"], times)
        return low.meet(high) if low and high else None
    operator = COMPARISONS.get(type(node))
    return None if operator is None else compare_sides(node.this, operator, node.expression, times)


def compare_sides(first: exp.Expression, operator: str, second: exp.Expression, times: Times) -> Ends | None:
    """The ends that `first operator second` gives, None where it does not compare the two event times."""
    left, right = read_linear(first, times), read_linear(second, times)
    if left is None or right is None:
        return None
    difference = left.minus(right)
    match difference.left, difference.right:
        case -1, 1:
            constant = -difference.constant
        case 1, -1:
            constant, operator = difference.constant, FLIPPED[operator]
        case _:
            return None
    ends = Ends()
    if operator in (">", ">=", "="):
        ends = ends.above(BoundEnd(constant, operator != ">"))
    if operator in ("<", "<=", "="):
        ends = ends.below(BoundEnd(constant, operator != "<"))
    return ends


def split_bound(
    parts: Iterable[exp.Expression], times: Times
) -> tuple[Ends, list[exp.Expression], list[exp.Expression]]:
    """The ends that the conjuncts give together, the conjuncts that gave them, and all others."""
    ends, used, rest = Ends(), list[exp.Expression](), list[exp.Expression]()
    for part in parts:
        found = read_ends(part, times)
        if found is None:
            rest.append(part)
        else:
            ends = ends.meet(found)
            used.append(part)
    return ends, used, rest


def bound_within(before: int, after: int) -> Ends:
    """`WITHIN (before BEFORE, after AFTER)`, in milliseconds: both ends closed."""
    return Ends(BoundEnd(-before, True), BoundEnd(after, True))


def list_mentions(expression: exp.Expression, times: Times) -> Sequence[str]:
    """Which of the two event times occur in the expression."""
    found = {times.side(column) for column in expression.find_all(exp.Column)}
    return [name for name in (times.left, times.right) if name in found]
