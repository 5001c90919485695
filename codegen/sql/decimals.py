"""Exact arithmetic with decimals, as Spark has it: what several operators need."""

from __future__ import annotations

from sqlglot import exp

from penstock.codegen.sql.trees import cast
from penstock.planner.plan import Expression
from penstock.planner.types import MEAN_SCALE, Decimal

# One digit short of the widest type, Spark's addition is exact: the sum of two such numbers is a DECIMAL(38, s). The
# sum of two DECIMAL(38, s) is rounded to fewer decimals. What is larger fails.
EXACT_DIGITS = 37
"""The digits of sums of decimals that are to be added or divided without loss."""


def decimal_mean(total: Expression, count: Expression, result: Decimal) -> Expression:
    """The quotient, rounded once, half up, to the result's decimals.

    Spark's division of wide decimals drops decimals, so the whole part is divided out first. It is exact. What
    remains has few digits before the point, which leaves division enough digits after it.
    """
    assert result.scale <= MEAN_SCALE, "a mean with more decimals than can be divided exactly"
    divisor = cast(count, Decimal(10, 0))
    rest = exp.Mod(this=total, expression=divisor)
    whole = exp.Div(this=exp.Sub(this=total.copy(), expression=rest), expression=divisor.copy())
    part = exp.Div(this=rest.copy(), expression=divisor.copy())
    exact = Decimal(EXACT_DIGITS, result.scale)
    return cast(exp.Add(this=cast(whole, exact), expression=cast(part, exact)), result)
