"""Conditions of a stream-stream join -> the interval that the difference of the two event times lies in.

Every comparison of sums of event times and constants is brought to `right.time - left.time <op> constant`. The bound is
never narrower than what the condition says. A condition that says more than its bound stays a condition of the join.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import reduce
from math import floor

import msgspec
from sqlglot import exp

from penstock.planner.lower.joins.linear import Linear, Times, make_constant, read_linear
from penstock.planner.plan import BoundEnd, TimeBound
from penstock.planner.scalars.literals import bare

COMPARISONS: dict[type[exp.Expr], str] = {exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<=", exp.EQ: "="}
FLIPPED = {">": "<", ">=": "<=", "<": ">", "<=": ">=", "=": "="}
NEGATED = {">": "<=", ">=": "<", "<": ">=", "<=": ">"}


class Ends(msgspec.Struct, frozen=True):
    """The ends found so far for the difference right.time - left.time. An end is None while open."""

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

    def unite(self, other: Ends) -> Ends:
        """The ends that hold if one of both does."""
        lower = upper = None
        if self.lower and other.lower:
            lower = self.lower if self.above(other.lower).lower != self.lower else other.lower
        if self.upper and other.upper:
            upper = self.upper if self.below(other.upper).upper != self.upper else other.upper
        return Ends(lower, upper)

    def bound(self) -> TimeBound | None:
        """The interval, None while an end is open."""
        return TimeBound(self.lower, self.upper) if self.lower and self.upper else None


def is_empty(bound: TimeBound) -> bool:
    """Whether no difference satisfies the bound. Times have microseconds, so an open millisecond is not empty."""
    lower, upper = bound.lower, bound.upper
    if lower.milliseconds == upper.milliseconds:
        return not (lower.closed and upper.closed)
    return lower.milliseconds > upper.milliseconds


class ReadBound(msgspec.Struct, frozen=True):
    """What a condition says of the difference of the event times. `exact`: it says that and nothing else."""

    ends: Ends
    exact: bool

    def meet(self, other: ReadBound) -> ReadBound:
        return ReadBound(self.ends.meet(other.ends), self.exact and other.exact)

    def unite(self, other: ReadBound) -> ReadBound:
        """What holds for both of two alternatives. One that no difference satisfies does not count."""
        for one, another in ((self, other), (other, self)):
            bound = one.ends.bound()
            if bound is not None and is_empty(bound):
                return ReadBound(another.ends, one.exact and another.exact)
        return ReadBound(self.ends.unite(other.ends), exact=False)


def read_condition(condition: exp.Expression, times: Times, negated: bool = False) -> ReadBound | None:
    """The ends that a condition, or its negation, gives, None where it says nothing of the difference of the times."""
    node = bare(condition)
    match node:
        case exp.Not():
            return read_condition(node.this, times, not negated)
        case exp.And() | exp.Or():
            sides = [read_condition(each, times, negated) for each in (node.this, node.expression)]
            known = [each for each in sides if each is not None]
            if isinstance(node, exp.And) == negated:
                return known[0].unite(known[1]) if len(known) == 2 else None
            if len(known) == 1:
                return ReadBound(known[0].ends, exact=False)
            return known[0].meet(known[1]) if known else None
        case exp.Between():
            low = compare_sides(node.this, "<" if negated else ">=", node.args["low"], times)
            high = compare_sides(node.this, ">" if negated else "<=", node.args["high"], times)
            if low is None or high is None:
                return None
            return low.unite(high) if negated else low.meet(high)
        case exp.In() if node.expressions and not negated:
            readings = [compare_sides(node.this, "=", each, times) for each in node.expressions]
            found = [each for each in readings if each is not None]
            return reduce(ReadBound.unite, found) if len(found) == len(readings) else None
    operator = COMPARISONS.get(type(node))
    if negated and operator is not None:
        operator = NEGATED.get(operator)
    return None if operator is None else compare_sides(node.this, operator, node.expression, times)


def compare_sides(first: exp.Expression, operator: str, second: exp.Expression, times: Times) -> ReadBound | None:
    """What `first operator second` says, None where it does not compare the two event times."""
    for one, sign, other in ((first, operator, second), (second, FLIPPED[operator], first)):
        limit = read_linear(other, times)
        if limit is None or not limit.is_constant:
            continue
        match bare(one):
            case exp.Anonymous(this=name, expressions=[inner]) if str(name).upper() == "ABS":
                return compare_distance(inner, sign, other, times)
            case exp.IntDiv() as quotient:
                return compare_quotient(quotient, sign, limit.constant, times)
    left, right = read_linear(first, times), read_linear(second, times)
    return None if left is None or right is None else compare_with_zero(left.minus(right), operator)


def compare_distance(
    difference: exp.Expression, operator: str, limit: exp.Expression, times: Times
) -> ReadBound | None:
    """What `ABS(difference) operator limit` says."""
    opposite = exp.Neg(this=limit)
    match operator:
        case "<" | "<=":
            upper = compare_sides(difference, operator, limit, times)
            lower = compare_sides(difference, FLIPPED[operator], opposite, times)
            return None if lower is None or upper is None else lower.meet(upper)
        case "=":
            alternatives = [compare_sides(difference, "=", each, times) for each in (limit, opposite)]
            one, other = alternatives
            return None if one is None or other is None else one.unite(other)
    return None


def compare_quotient(quotient: exp.IntDiv, operator: str, limit: Fraction, times: Times) -> ReadBound | None:
    """What `a DIV b operator limit` says. DIV drops the fraction, towards zero."""
    dividend, divisor = read_linear(quotient.this, times), read_linear(quotient.expression, times)
    if dividend is None or divisor is None or not divisor.is_constant or divisor.constant < 1:
        return None
    size = divisor.constant
    if size.denominator != 1 or limit.denominator != 1:
        return None
    if operator == "=":
        both = [compare_quotient(quotient, each, limit, times) for each in (">=", "<=")]
        return both[0].meet(both[1]) if both[0] and both[1] else None
    is_lower = operator in (">", ">=")
    least = limit + (operator == ">") - (operator == "<")  # the whole number that itself satisfies the condition
    if is_lower:
        end = least * size if least > 0 else (least - 1) * size
        return compare_with_zero(dividend.minus(make_constant(end)), ">=" if least > 0 else ">")
    end = least * size if least < 0 else (least + 1) * size
    return compare_with_zero(dividend.minus(make_constant(end)), "<=" if least < 0 else "<")


def compare_with_zero(difference: Linear, operator: str) -> ReadBound | None:
    """What `difference operator 0` says of right.time - left.time, None if it is no multiple of that."""
    if not difference.right or difference.left != -difference.right:
        return None
    if difference.right < 0:
        operator = FLIPPED[operator]
    distance = difference.times(1 / difference.right)
    ends, exact = Ends(), distance.exact
    if operator in (">", ">=", "="):
        end, is_same = round_end(-distance.constant - distance.above, operator != ">", upwards=False)
        ends, exact = ends.above(end), exact and is_same
    if operator in ("<", "<=", "="):
        end, is_same = round_end(-distance.constant + distance.below, operator != "<", upwards=True)
        ends, exact = ends.below(end), exact and is_same
    return ReadBound(ends, exact)


def round_end(microseconds: Fraction, closed: bool, *, upwards: bool) -> tuple[BoundEnd, bool]:
    """The nearest end in whole milliseconds that leaves out no difference, and whether it adds none.

    Differences are whole microseconds.
    """
    sign = 1 if upwards else -1
    last = floor(sign * microseconds)  # the last whole microsecond that counts
    if not closed and last == sign * microseconds:
        last -= 1
    milliseconds, rest = divmod(last, 1_000)
    if rest == 0:
        return BoundEnd(sign * milliseconds, True), True
    return BoundEnd(sign * (milliseconds + 1), False), rest == 999


class SplitBound(msgspec.Struct, frozen=True):
    """The ends that some conjuncts give together.

    `used` gave them. `used` gave them. Conjuncts in `used` that say more than the ends are in `rest` as well, with all
    others.
    """

    ends: Ends
    used: tuple[exp.Expression, ...]
    rest: tuple[exp.Expression, ...]


def split_bound(parts: Iterable[exp.Expression], times: Times, *, exact: bool = False) -> SplitBound:
    """The bound in the conjuncts. With `exact` only conjuncts that say nothing else count."""
    ends, used, rest = Ends(), list[exp.Expression](), list[exp.Expression]()
    for part in parts:
        found = read_condition(part, times)
        if found is not None and found.ends == Ends():
            found = None
        if found is not None and (found.exact or not exact):
            ends = ends.meet(found.ends)
            used.append(part)
        if found is None or not found.exact:
            rest.append(part)
    return SplitBound(ends, tuple(used), tuple(rest))


def bound_within(before: int, after: int) -> Ends:
    """`WITHIN (before BEFORE, after AFTER)`, in milliseconds: both ends closed."""
    return Ends(BoundEnd(-before, True), BoundEnd(after, True))


def list_mentions(expression: exp.Expression, times: Times) -> Sequence[str]:
    """Which of the two event times occur in the expression."""
    found = {times.side(column) for column in expression.find_all(exp.Column)}
    return [name for name in (times.left, times.right) if name in found]
