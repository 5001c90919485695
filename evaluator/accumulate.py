"""Groups that rows can be taken out of: what is kept of them are counts and exact sums, or how often values come."""

from __future__ import annotations

import math
from collections import Counter
from decimal import Decimal
from fractions import Fraction

from penstock.evaluator.expression_values import evaluate_scalar, holds
from penstock.evaluator.row_groups import aggregate_values, argument_values
from penstock.evaluator.typed_values import EXACT, Row, Types, Unsupported, Value, columns, fit
from penstock.planner.plan import Aggregate, GroupAggregate
from penstock.planner.types import DOUBLE

_TRUE = ("EVERY", "BOOL_AND")
_SOME = ("ANY", "SOME", "BOOL_OR")
_SAMPLE = ("VARIANCE", "VAR_SAMP", "STDDEV", "STDDEV_SAMP")
_POPULATION = ("VAR_POP", "STDDEV_POP")
_SUMMED = ("COUNT", "COUNT_IF", "SUM", "AVG", "MEAN", *_TRUE, *_SOME, *_SAMPLE, *_POPULATION)
"""Aggregates whose values are known from counts and sums."""


def to_float(exact: Fraction) -> float:
    """Raises Unsupported if no DOUBLE is so large."""
    try:
        return float(exact)
    except OverflowError:
        raise Unsupported("a sum of DOUBLE beyond its range") from None


class AggregateSums:
    """The values of one aggregate, added up: their number, their sum, the sum of their squares, how many are true."""

    def __init__(self, aggregate: Aggregate) -> None:
        self.aggregate = aggregate
        self.count = self.trues = 0
        self.sum, self.squares = Fraction(0), Fraction(0)
        self.endless: list[float] = []
        """Infinities and NaN that have come. None of them can leave."""

    def add(self, row: Row, types: Types, sign: int) -> None:
        """Puts a row in (1) or takes it out (-1)."""
        if not holds(self.aggregate.condition, row, types):
            return
        values = [evaluate_scalar(each, row, types) for each in self.aggregate.arguments]
        if None in values:
            return
        self.count += sign
        if not values:
            return
        if isinstance(values[0], bool):
            self.trues += sign * values[0]
        elif isinstance(values[0], float) and not math.isfinite(values[0]):
            if sign < 0 and self.aggregate.function != "COUNT":
                raise Unsupported("a sum that NaN or Infinity leaves")
            self.endless.append(values[0])
        elif isinstance(values[0], int | float | Decimal):
            value = Fraction(values[0])
            self.sum += sign * value
            self.squares += sign * value * value

    def value(self) -> Value:
        """The aggregate over the rows that are in."""
        name, type_ = self.aggregate.function, self.aggregate.type
        if name == "COUNT":
            return self.count
        if name == "COUNT_IF":
            return self.trues
        if self.count == 0:
            return None
        if name in _TRUE or name in _SOME:
            return self.trues == self.count if name in _TRUE else self.trues > 0
        if name in ("SUM", "AVG", "MEAN"):
            if self.endless:
                return sum(self.endless)
            exact = self.sum / (1 if name == "SUM" else self.count)
            if type_ == DOUBLE:
                return to_float(exact)
            return fit(
                EXACT.divide(Decimal(exact.numerator), Decimal(exact.denominator))
                if exact.denominator > 1
                else int(exact),
                type_,
            )
        if name in _SAMPLE or name in _POPULATION:
            divisor = self.count - (name in _SAMPLE)
            if divisor == 0:
                return None
            if self.endless:
                return math.nan
            variance = to_float((self.squares - self.sum * self.sum / self.count) / divisor)
            return math.sqrt(variance) if name.startswith("STDDEV") else variance
        raise Unsupported(f"{name} of rows that can leave")


class Multiset:
    """How many rows have each of the different values of the arguments of one aggregate."""

    def __init__(self, aggregate: Aggregate) -> None:
        self.aggregate = aggregate
        self.counts: Counter[str] = Counter()
        self.values: dict[str, tuple[Value, ...]] = {}

    def add(self, row: Row, types: Types, sign: int) -> None:
        """Puts a row in (1) or takes it out (-1)."""
        if holds(self.aggregate.condition, row, types):
            values = argument_values(self.aggregate, row, types)
            name = repr(values)  # lists and maps have no hash
            self.values[name] = values
            self.counts[name] += sign
            if not self.counts[name]:
                del self.counts[name]

    def value(self) -> Value:
        """The aggregate over the rows that are in."""
        return aggregate_values(self.aggregate, [self.values[name] for name in self.counts.elements()])


class GroupState:
    """One group: the number of its rows and the sums of its aggregates. Without rows it is not there."""

    def __init__(self, node: GroupAggregate) -> None:
        self.node = node
        self.rows = 0
        self.sums = [
            AggregateSums(each)
            if each.function in _SUMMED and not (each.keeps_values or each.distinct)
            else Multiset(each)
            for each in node.aggregates
        ]
        self.touched = False

    def add(self, row: Row, sign: int) -> None:
        self.rows += sign
        self.touched = True
        assert self.rows >= 0, "a row left a group that it was not in"
        for each in self.sums:
            each.add(row, columns(self.node.input.schema), sign)

    def row(self, key: tuple[Value, ...]) -> Row | None:
        """The group's row; the one group of a table without keys stays when all rows have left."""
        if self.rows == 0 and (self.node.keys or not self.touched):
            return None
        names = [each.name for each in self.node.keys]
        return dict(zip(names, key, strict=True)) | {each.aggregate.name: each.value() for each in self.sums}
